"""CORPORA: what can be read more than once as documents, from files or from memory; `protocol.py` says what a corpus is."""
