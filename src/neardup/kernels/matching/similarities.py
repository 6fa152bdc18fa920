"""The similarities of stored texts, by their codes; each is given up as soon as it cannot reach what is asked."""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.matching.bounds import CONTAINMENT, COSINE, EDIT, least_common
from neardup.kernels.matching.edit import edit_similarity
from neardup.kernels.matching.jaccard import in_common, jaccard


class Stored(NamedTuple):
    """What verification reads of n texts, and its working memory: for one thread at a time.

    Attributes:
        code: which similarity, one of bounds.py's.
        values: uint64[]; text p has values[starts[p]:ends[p]]: ascending and distinct; for edit, its tokens in order.
        weights: float64[], of the values, for the cosine; else empty.
        starts, ends: int64[n].
        memory: `edit_memory` for the longest, where edit is asked for; else for sequences of length 0.
    """

    code: int
    values: Array
    weights: Array
    starts: Array
    ends: Array
    memory: Array


@kernel
def containment(values, a, a_end, b, b_end, least):
    """|A ∩ B| / min(|A|, |B|) of the ascending distinct values[a:a_end] and values[b:b_end], or -1 where below `least`.

    uint64[] -> float. 0 where one is empty.
    """
    smaller = min(a_end - a, b_end - b)
    if smaller == 0:
        return 0.0 if least <= 0 else -1.0
    needed = least_common(CONTAINMENT, a_end - a, b_end - b, least) if least > 0 else 0
    common = in_common(values, a, a_end, b, b_end, needed)
    similarity = common / smaller
    return similarity if common >= 0 and similarity >= least else -1.0


@kernel
def squares(weights, start, end):
    total = 0.0
    for i in range(start, end):
        total += weights[i] * weights[i]
    return total


@kernel
def cosine(values, weights, a, a_end, b, b_end, least):
    """The cosine of two vectors of whole numbers, or -1 where below `least`; 0 where one is empty.

    uint64[] ascending and distinct from a to a_end and from b to b_end, float64[] -> float. Sums are exact below 2^53.
    """
    whole = np.sqrt(squares(weights, a, a_end) * squares(weights, b, b_end))
    if whole == 0:
        return 0.0 if least <= 0 else -1.0
    product = 0.0
    while a < a_end and b < b_end:
        x, y = values[a], values[b]
        if x == y:
            product += weights[a] * weights[b]
            a += 1
            b += 1
        elif x < y:
            a += 1
        else:
            b += 1
    similarity = min(product / whole, 1.0)  # sums that were rounded may be a little more
    return similarity if similarity >= least else -1.0


@kernel
def similarity_of(stored, p, q, least):
    """The similarity of texts p and q, or -1 where below `least`; two without any element have 0."""
    a, a_end, b, b_end = stored.starts[p], stored.ends[p], stored.starts[q], stored.ends[q]
    if stored.code == CONTAINMENT:
        return containment(stored.values, a, a_end, b, b_end, least)
    if stored.code == COSINE:
        return cosine(stored.values, stored.weights, a, a_end, b, b_end, least)
    if stored.code == EDIT:
        return edit_similarity(stored.values, a, a_end, b, b_end, least, stored.memory)
    return jaccard(stored.values, a, a_end, b, b_end, least)


@kernel
def similarities_of(stored, left, right, least, out):
    """The similarity of texts left[i] and right[i], or -1 where below `least`. int64[p], int64[p] -> float64[p]."""
    for i in range(len(left)):
        out[i] = similarity_of(stored, left[i], right[i], least)
