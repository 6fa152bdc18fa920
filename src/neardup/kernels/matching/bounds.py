"""What two sets must share to reach a similarity: bounds that a prefix-filter join never violates.

Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007; Xiao, Wang, Lin and Yu 2008. A bound is the smallest number that
passes the very comparison, `common / other >= threshold` in float64, that verification makes; float64 division rounds monotonely,
so no pair that verification would accept falls short of it. `threshold` is above 0 and at most 1; sets have fewer than 2^50
elements.

`neardup.kernels.matching.similarities` says which of them hold for a similarity.
"""

import numpy as np

from neardup.kernels.compilation import kernel


@kernel
def required_part(whole, threshold):
    """The smallest o with o / whole >= threshold, at least 1; 1 for a `whole` of 0, which has no part so large."""
    if whole <= 0:
        return np.int64(1)
    o = max(np.int64(np.ceil(threshold * whole)) - 1, 1)  # one less: the product may have been rounded up
    while o / whole < threshold:
        o += 1
    return o


@kernel
def required_intersection(both, threshold):
    """The smallest o with o / (both - o) >= threshold, at least 1: the intersection over the union of sets of `both` elements.

    1 for a `both` of 0 or 1, where one set is empty.
    """
    if both <= 1:
        return np.int64(1)
    o = max(np.int64(np.ceil(threshold * both / (1.0 + threshold))) - 1, 1)
    while o / (both - o) < threshold:
        o += 1
    return o


@kernel
def cosine_prefix(weights, start, end, threshold):
    """How many of the first weights leave a rest whose norm is below `threshold` times the whole's: weights[start:end], float64[].

    The rest alone cannot reach `threshold` with any vector (Cauchy and Schwarz). Of two similar vectors in one order of features,
    hence, both prefixes hold a common feature. What rounding can do is allowed for: the prefix may be longer than needed.
    """
    whole = 0.0
    for i in range(start, end):
        whole += weights[i] * weights[i]
    limit = (threshold * threshold * (1.0 - 1e-12) - (end - start) * 2.0**-50) * whole
    rest, n = whole, 0
    while start + n < end and rest >= limit:
        rest -= weights[start + n] * weights[start + n]
        n += 1
    return n
