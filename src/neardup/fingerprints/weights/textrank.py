"""TextRank (Mihalcea and Tarau 2004): a feature's weight comes from its neighbors, like a page's rank in PageRank."""

from typing import TYPE_CHECKING

import numpy as np

from neardup.arrays import Array
from neardup.kernels.fingerprints.textrank import count_neighbors, list_neighbors, rank_features

if TYPE_CHECKING:
    from neardup.fingerprints.feature_arrays import Occurrences


WINDOW, DAMPING, ROUNDS = 5, 0.85, 30
"""Features in a window of this many are neighbors; DAMPING is PageRank's; the number of rounds is fixed, so that the result
depends on the text alone."""


def text_rank(found: "Occurrences") -> Array:
    """The score of each feature, float64[f]. The mean is 1 in a text whose features all have a neighbor."""
    f = len(found.features.counts)
    degrees, shares, scores = np.zeros(f, np.int64), np.empty(f), np.empty(f)
    count_neighbors(found.feature_of, found.offsets, WINDOW, degrees)
    places = np.cumsum(degrees) - degrees
    neighbors = np.empty(int(degrees.sum()), np.int64)
    list_neighbors(found.feature_of, found.offsets, WINDOW, places, neighbors)
    rank_features(neighbors, places, degrees, DAMPING, ROUNDS, shares, scores)
    return scores
