"""TextRank (Mihalcea and Tarau 2004): a feature weighs what those beside it give, as a page does in PageRank."""

from typing import TYPE_CHECKING

import numpy as np

from neardup.arrays import Array
from neardup.kernels.fingerprints.textrank import count_neighbors, list_neighbors, rank_features

if TYPE_CHECKING:
    from neardup.fingerprints.feature_arrays import Occurrences


WINDOW, DAMPING, ROUNDS = 5, 0.85, 30
"""Features are neighbors in one window of so many; the damping of PageRank; and a fixed number of rounds, so that the result is
a matter of the text alone."""


def text_rank(found: "Occurrences") -> Array:
    """The score of each feature, float64[f]; the mean of a text in which each has a neighbor is 1."""
    f = len(found.features.counts)
    degrees, shares, scores = np.zeros(f, np.int64), np.empty(f), np.empty(f)
    count_neighbors(found.feature_of, found.offsets, WINDOW, degrees)
    places = np.cumsum(degrees) - degrees
    neighbors = np.empty(int(degrees.sum()), np.int64)
    list_neighbors(found.feature_of, found.offsets, WINDOW, places, neighbors)
    rank_features(neighbors, places, degrees, DAMPING, ROUNDS, shares, scores)
    return scores
