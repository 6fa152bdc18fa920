"""How central each feature of a text is among those that stand near it (Mihalcea and Tarau 2004, "TextRank", section 2)."""

from neardup.kernels.compilation import kernel


@kernel
def count_neighbors(feature_of, offsets, window, degrees):
    """How often another feature stands fewer than `window` places from each. degrees: int64[f], zeros before."""
    for d in range(len(offsets) - 1):
        for i in range(offsets[d], offsets[d + 1]):
            for j in range(i + 1, min(i + window, offsets[d + 1])):
                if feature_of[i] != feature_of[j]:
                    degrees[feature_of[i]] += 1
                    degrees[feature_of[j]] += 1


@kernel
def list_neighbors(feature_of, offsets, window, places, neighbors):
    """The features near each, as often as they are, in the order of the text.

    places: int64[f], where the list of each begins; afterwards, where it ends. neighbors: int64[], all lists.
    """
    for d in range(len(offsets) - 1):
        for i in range(offsets[d], offsets[d + 1]):
            for j in range(i + 1, min(i + window, offsets[d + 1])):
                a, b = feature_of[i], feature_of[j]
                if a != b:
                    neighbors[places[a]] = b
                    neighbors[places[b]] = a
                    places[a] += 1
                    places[b] += 1


@kernel
def rank_features(neighbors, ends, degrees, damping, rounds, shares, scores):
    """The scores after so many rounds: 1 - damping + damping × what the neighbors gave, each its score in equal shares.

    ends: int64[f], where the list of each ends, which has degrees[f] neighbors. shares, scratch, and scores: float64[f].
    """
    for f in range(len(scores)):
        scores[f] = 1.0
    for _ in range(rounds):
        for f in range(len(scores)):
            shares[f] = scores[f] / max(degrees[f], 1)
        for f in range(len(scores)):
            given = 0.0
            for k in range(ends[f] - degrees[f], ends[f]):
                given += shares[neighbors[k]]
            scores[f] = (1.0 - damping) + damping * given
