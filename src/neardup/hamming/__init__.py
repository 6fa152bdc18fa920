"""HAMMING: search fingerprints by Hamming distance: joins of many with many, an index for queries, planners, probabilities.

In: fingerprints. Out: pairs within a distance, neighbors of a query, a graph of candidates. Every exact method finds what brute
force finds. This room does not read texts; the next room decides whether neighbors are similar.
May import: fingerprints, and what is below.
"""
