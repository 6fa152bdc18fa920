"""LEAKS: what of a test set is in the training set: counted, and as a table."""
