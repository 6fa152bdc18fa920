"""RESULTS: the rows of documents that do not survive, of pairs, and the summary of a run."""
