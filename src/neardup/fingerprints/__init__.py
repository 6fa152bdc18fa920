"""FINGERPRINTS: FEATURES → WEIGH → HASH → BITS; MinHash signatures; fingerprints of vectors; other tools' bits; their files.

In: texts or vectors, and a recipe. Out: SimHash fingerprints, digests of normalized texts, signatures. One pass over a corpus keeps
a few dozen bytes per document (`documents.py`).
May import: io, text, and every layer below them.
"""
