"""HASH: a family of hashes of features behind one table."""
