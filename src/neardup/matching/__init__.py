"""MATCHING: CANDIDATES → JOIN → VERIFY: which documents may match, and how similar they are.

In: documents from one pass, and the corpus, which is read again to compare texts. Out: a graph of candidates, similarities.
Candidate methods are one table, similarities another.
May import: hamming, fingerprints, and what is below.
"""
