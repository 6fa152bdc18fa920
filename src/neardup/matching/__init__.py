"""MATCHING: CANDIDATES → JOIN → VERIFY: which documents may match, and how similar they are.

In: documents of one pass, and the corpus, which is read again where texts are compared. Out: a graph of candidates, similarities.
Methods of finding candidates are one table, similarities another.
May import: hamming, fingerprints, and what is below.
"""
