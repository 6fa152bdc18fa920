"""What two sets must share to reach a similarity: bounds that a prefix-filter join never violates.

Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007; Xiao, Wang, Lin and Yu 2008. A bound is the smallest number that
passes the very comparison, `common / other >= least` in float64, that verification makes; float64 division rounds monotonely, so
no pair that verification would accept falls short of it. `least` is above 0 and at most 1; sets have fewer than 2^50 elements.

Elements are those of `neardup.matching.similarities`: the set of shingles (Jaccard, containment), occurrences of shingles (weighted
Jaccard), features with weights (cosine), occurrences of tokens (edit: an alignment of d edits leaves max(a, b) - d tokens or more
in common).
"""

import numpy as np

from neardup.kernels.compilation import kernel

JACCARD, WEIGHTED, CONTAINMENT, COSINE, EDIT = range(5)
"""Codes of the similarities, for kernels."""


@kernel
def least_part(whole, least):
    """The smallest o with o / whole >= least, at least 1; 1 for a `whole` of 0, which has no part so large."""
    if whole <= 0:
        return np.int64(1)
    o = max(np.int64(np.ceil(least * whole)) - 1, 1)  # one less: the product may have been rounded up
    while o / whole < least:
        o += 1
    return o


@kernel
def least_common(code, a, b, least):
    """The smallest number of common elements with which sets of a and b elements can reach `least`; not for the cosine.

    It may be more than the smaller set has: then they cannot.
    """
    if code == CONTAINMENT:
        return least_part(min(a, b), least)
    if code == EDIT:
        return least_part(max(a, b), least)
    both = a + b
    if both <= 0:
        return np.int64(1)
    o = max(np.int64(np.ceil(least * both / (1.0 + least))) - 1, 1)
    while o / (both - o) < least:
        o += 1
    return o


@kernel
def sizes_may_match(code, a, b, least):
    """Whether sets of a and b elements can reach `least`, by their sizes alone; empty ones reach nothing."""
    if min(a, b) == 0:
        return False
    return code in (CONTAINMENT, COSINE) or min(a, b) / max(a, b) >= least


@kernel
def prefix_length(code, n, least):
    """How many of the first elements of a set of n, in one order of all, hold one of every similar set.

    The other set's prefix has it as well, but for containment: there the smaller set's prefix has it, and the larger set, the
    whole of it. So the smaller is to be looked up in the larger. For the cosine, all: see `cosine_prefix` for less.
    """
    return n if n == 0 or code == COSINE else n - least_part(n, least) + 1


@kernel
def index_length(code, n, least):
    """How many of the first elements of a set of n must be indexed, for sets no smaller to find it by their prefixes.

    For containment: for sets no larger. All for the cosine: see `cosine_prefix` for less. (Xiao et al. 2008, section 3.3.)
    """
    return n if n == 0 or code in (CONTAINMENT, COSINE) else n - least_common(code, n, n, least) + 1


@kernel
def cosine_prefix(weights, start, end, least):
    """How many of the first weights leave a rest whose norm is below `least` times the whole's: weights[start:end], float64[].

    The rest alone cannot reach `least` with any vector (Cauchy and Schwarz). Of two similar vectors in one order of features,
    hence, both prefixes hold a common feature. What rounding can do is allowed for: the prefix may be longer than needed.
    """
    whole = 0.0
    for i in range(start, end):
        whole += weights[i] * weights[i]
    limit = (least * least * (1.0 - 1e-12) - (end - start) * 2.0**-50) * whole
    rest, n = whole, 0
    while start + n < end and rest >= limit:
        rest -= weights[start + n] * weights[start + n]
        n += 1
    return n
