"""Methods of finding candidates on an engine: the keys of documents, and the pairs of documents that have a key in common."""
