"""HAMMING: search by distance: joins of many with many, an index for one against many, planners and probabilities.

In: fingerprints. Out: pairs within a distance, neighbors of a query, a graph of candidates; every exact method equals brute force.
It knows nothing of texts: whether neighbors are alike is for the next room.
May import: fingerprints, and what is below.
"""
