"""Compare some documents of a corpus with all: distances counted, and every similar set found."""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import popcount


@kernel
def count_distances(rows, chosen, first, last, out):
    """Add to out[c, d] the rows at Hamming distance d from row chosen[c], itself left out, for c from first to last - 1.

    uint64[n, words], int64[chosen] -> int64[chosen, 64 * words + 1].
    """
    words = rows.shape[1]
    for c in range(first, last):
        here = chosen[c]
        for row in range(len(rows)):
            distance = np.uint64(0)
            for word in range(words):
                distance += popcount(rows[here, word] ^ rows[row, word])
            out[c, distance] += 1
        out[c, 0] -= 1


@kernel
def common(a_values, a, a_end, b_values, b, b_end):
    """How many of the ascending distinct a_values[a:a_end] are among the likewise ascending b_values[b:b_end]."""
    count = np.int64(0)
    while a < a_end and b < b_end:
        x, y = a_values[a], b_values[b]
        count += x == y
        a += x <= y
        b += y <= x
    return count


@kernel
def find_similar(
    values, offsets, marks, hashes, posting_starts, postings, sets, starts, ends, least, met, left, right, similarity
):  # fmt: skip
    """Find every set of a batch whose Jaccard with a sampled set is at least `least`.

    A sampled set is looked for by its prefix alone: those of its shingles of which a set that is similar enough must have one.

    Args:
        values, offsets: uint64[], int64[batch + 1]: sorted sets.
        marks: uint8[2^m], 1 where a hash of `hashes` has these lowest bits: most lookups end here.
        hashes, posting_starts, postings: uint64[p] ascending, int64[p + 1], int64[]: the sampled sets with that prefix shingle.
        sets, starts, ends: uint64[], int64[s], int64[s]: the sampled sets.
        least: above 0.
        met: int64[s], -1 each: scratch.
        left, right, similarity: int64[room], int64[room], float64[room]: numbers of the sampled and of the other set, Jaccard.

    Returns:
        How many there are; only as many as there is room for are written.
    """
    mask = np.uint64(len(marks) - 1)
    found = np.int64(0)
    for d in range(len(offsets) - 1):
        size = offsets[d + 1] - offsets[d]
        for i in range(offsets[d], offsets[d + 1]):
            value = values[i]
            if marks[value & mask] == 0:
                continue
            low, high = np.int64(0), len(hashes)
            while low < high:
                middle = (low + high) >> 1
                if hashes[middle] < value:
                    low = middle + 1
                else:
                    high = middle
            if low == len(hashes) or hashes[low] != value:
                continue
            for p in range(posting_starts[low], posting_starts[low + 1]):
                s = postings[p]
                if met[s] == d:
                    continue
                met[s] = d
                other = ends[s] - starts[s]
                if min(size, other) < least * max(size, other) - 1e-6:
                    continue
                both = common(values, offsets[d], offsets[d + 1], sets, starts[s], ends[s])
                jaccard = both / (size + other - both)
                if jaccard >= least:
                    if found < len(left):
                        left[found], right[found], similarity[found] = s, d, jaccard
                    found += 1
    return found
