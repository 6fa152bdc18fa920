"""Set Jaccard of sorted shingle sets, given up as soon as it cannot reach what is asked."""

import numpy as np

from neardup.kernels.compilation import kernel


@kernel
def in_common(values, a, a_end, b, b_end, needed):
    """How many values two ascending distinct runs share, values[a:a_end] and values[b:b_end]; -1 once it is fewer than `needed`."""
    common = np.int64(0)
    while a < a_end and b < b_end:
        x, y = values[a], values[b]
        if x == y:
            common += 1
            a += 1
            b += 1
        else:
            if x < y:
                a += 1
            else:
                b += 1
            if common + min(a_end - a, b_end - b) < needed:
                return np.int64(-1)
    return common


@kernel
def jaccard(values, a, a_end, b, b_end, threshold):
    """|A ∩ B| / |A ∪ B| of the ascending distinct values[a:a_end] and values[b:b_end], or -1 where that is below `threshold`.

    uint64[] -> float. Two empty sets have 0: nothing says that they are alike.
    """
    both = (a_end - a) + (b_end - b)
    if both == 0:
        return 0.0 if threshold <= 0 else -1.0
    # J >= t if and only if the intersection is at least t (|A| + |B|) / (1 + t); one less guards against rounding.
    common = in_common(values, a, a_end, b, b_end, np.int64(np.ceil(threshold * both / (1.0 + threshold))) - 1)
    similarity = common / (both - common)
    return similarity if common >= 0 and similarity >= threshold else -1.0


@kernel
def similarities(values, starts, ends, left, right, threshold, out):
    """Jaccard of the sets left[i] and right[i], or -1 where below `threshold`. Set d is values[starts[d]:ends[d]].

    uint64[], int64[n], int64[n], int64[p], int64[p] -> float64[p].
    """
    for i in range(len(left)):
        x, y = left[i], right[i]
        out[i] = jaccard(values, starts[x], ends[x], starts[y], ends[y], threshold)
