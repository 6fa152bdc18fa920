"""All that kernels know of a similarity, by its code: its bounds, its comparison and the working memory of that.

The elements compared are those of `neardup.matching.similarities`: the set of shingles (Jaccard, containment), occurrences of
shingles (weighted Jaccard), features with weights (cosine), occurrences of tokens (the bounds of edit: an alignment of d edits
leaves max(a, b) - d tokens or more in common), the tokens in order (the comparison of edit). No other kernel names a code, so a
further similarity is a code and a case in the functions here. Bounds are proved in `neardup.kernels.matching.bounds`; every
comparison is given up as soon as it cannot reach the threshold.
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.matching.bounds import required_intersection, required_part
from neardup.kernels.matching.edit import edit_memory, edit_similarity
from neardup.kernels.matching.jaccard import in_common, jaccard

JACCARD, WEIGHTED, CONTAINMENT, COSINE, EDIT = range(5)
CODES = {"jaccard": JACCARD, "weighted": WEIGHTED, "containment": CONTAINMENT, "cosine": COSINE, "edit": EDIT}
"""By the names of `neardup.recipe.tables.similarities.SIMILARITIES`."""
BY_NORM = (COSINE,)
"""Those whose prefixes are chosen by the weights of the elements, with `bounds.cosine_prefix`, and not by their number."""
OF_ANY_SIZES = (CONTAINMENT, COSINE)
"""Those that sets of very different sizes can reach."""


class Stored(NamedTuple):
    """What verification reads of n texts, and its working memory: for one thread at a time.

    Attributes:
        code: which similarity, one of CODES.
        values: uint64[]; text p has values[starts[p]:ends[p]]: ascending and distinct; for edit, its tokens in order.
        weights: float64[], of the values, for the cosine; else empty.
        starts, ends: int64[n].
        memory: `working_memory` for the longest text.
    """

    code: int
    values: Array
    weights: Array
    starts: Array
    ends: Array
    memory: Array


def working_memory(code: int, longest: int) -> Array:
    """Working memory to compare one pair at a time of texts of at most `longest` elements: uint64[]."""
    return edit_memory(longest if code == EDIT else 0)


@kernel
def required_overlap(code, a, b, threshold):
    """The smallest number of common elements with which sets of a and b elements can reach `threshold`; not for those BY_NORM.

    It may be more than the smaller set has: then they cannot.
    """
    if code == CONTAINMENT:
        return required_part(min(a, b), threshold)
    if code == EDIT:
        return required_part(max(a, b), threshold)
    return required_intersection(a + b, threshold)


@kernel
def may_reach(code, common, a, b, threshold):
    """Whether sets of a and b elements can reach `threshold` with at most so many in common: whether it is `required_overlap`."""
    common = min(common, a, b)
    if common < 1:
        return False
    if code == CONTAINMENT:
        return common / min(a, b) >= threshold
    if code == EDIT:
        return common / max(a, b) >= threshold
    return common / (a + b - common) >= threshold


@kernel
def sizes_may_match(code, a, b, threshold):
    """Whether sets of a and b elements can reach `threshold`, by their sizes alone; empty ones reach nothing."""
    if code in OF_ANY_SIZES:
        return min(a, b) > 0
    return min(a, b) > 0 and min(a, b) / max(a, b) >= threshold


@kernel
def prefix_length(code, n, threshold):
    """How many of the first elements of a set of n, in one order of all, hold one of every similar set.

    The other set's prefix has it as well, but for containment: there the smaller set's prefix has it, and the larger set, the
    whole of it. So the smaller is to be looked up in the larger. All for those BY_NORM: see `cosine_prefix` for fewer.
    """
    return n if n == 0 or code in BY_NORM else n - required_part(n, threshold) + 1


@kernel
def index_length(code, n, threshold):
    """How many of the first elements of a set of n must be indexed, for sets no smaller to find it by their prefixes.

    For containment: for sets no larger. All for those BY_NORM: see `cosine_prefix` for fewer. (Xiao et al. 2008, section 3.3.)
    """
    if n == 0 or code in OF_ANY_SIZES:
        return n
    return n - required_overlap(code, n, n, threshold) + 1


@kernel
def containment(values, a, a_end, b, b_end, threshold):
    """|A ∩ B| / min(|A|, |B|) of the ascending distinct values[a:a_end] and values[b:b_end], or -1 where below `threshold`.

    uint64[] -> float. 0 where one is empty.
    """
    smaller = min(a_end - a, b_end - b)
    if smaller == 0:
        return 0.0 if threshold <= 0 else -1.0
    needed = required_part(smaller, threshold) if threshold > 0 else 0
    common = in_common(values, a, a_end, b, b_end, needed)
    similarity = common / smaller
    return similarity if common >= 0 and similarity >= threshold else -1.0


@kernel
def squares(weights, start, end):
    total = 0.0
    for i in range(start, end):
        total += weights[i] * weights[i]
    return total


@kernel
def cosine(values, weights, a, a_end, b, b_end, threshold):
    """The cosine of two vectors of whole numbers, or -1 where below `threshold`; 0 where one is empty.

    uint64[] ascending and distinct from a to a_end and from b to b_end, float64[] -> float. Sums are exact below 2^53.
    """
    whole = np.sqrt(squares(weights, a, a_end) * squares(weights, b, b_end))
    if whole == 0:
        return 0.0 if threshold <= 0 else -1.0
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
    return similarity if similarity >= threshold else -1.0


@kernel
def unlike_jaccard(stored, a, a_end, b, b_end, threshold):
    """As `similarity_of`, for all but Jaccard, of the elements from a to a_end and from b to b_end."""
    if stored.code == CONTAINMENT:
        return containment(stored.values, a, a_end, b, b_end, threshold)
    if stored.code == COSINE:
        return cosine(stored.values, stored.weights, a, a_end, b, b_end, threshold)
    return edit_similarity(stored.values, a, a_end, b, b_end, threshold, stored.memory)


@kernel
def similarity_of(stored, p, q, threshold):
    """The similarity of texts p and q, or -1 where below `threshold`; two without any element have 0."""
    a, a_end, b, b_end = stored.starts[p], stored.ends[p], stored.starts[q], stored.ends[q]
    if stored.code in (JACCARD, WEIGHTED):
        # By itself it is small enough to become part of its callers: most pairs are given up at once.
        return jaccard(stored.values, a, a_end, b, b_end, threshold)
    return unlike_jaccard(stored, a, a_end, b, b_end, threshold)


@kernel
def similarities_of(stored, left, right, threshold, out):
    """The similarity of texts left[i] and right[i], or -1 where below `threshold`. int64[p], int64[p] -> float64[p]."""
    for i in range(len(left)):
        out[i] = similarity_of(stored, left[i], right[i], threshold)
