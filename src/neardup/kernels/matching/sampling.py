"""Compare some documents of a corpus with all: distances counted, and every similar set found."""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import popcount


class SampledSets(NamedTuple):
    """The s sampled sets, and their prefix shingles.

    Attributes:
        marks: uint8[2^m], 1 where a hash of `hashes` has these lowest bits: most lookups end here.
        hashes, posting_starts, postings: uint64[p] ascending, int64[p + 1], int64[]: the sampled sets with that prefix shingle.
        values, starts, ends: uint64[], int64[s], int64[s].
    """

    marks: Array
    hashes: Array
    posting_starts: Array
    postings: Array
    values: Array
    starts: Array
    ends: Array


class SimilarSets(NamedTuple):
    """Numbers of sampled and of other sets, and their Jaccard: int64[room], int64[room], float64[room]."""

    sampled: Array
    other: Array
    similarity: Array


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
def place_of(value, hashes):
    """Where the value is among ascending hashes, or -1."""
    low, high = np.int64(0), len(hashes)
    while low < high:
        middle = (low + high) >> 1
        if hashes[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low if low < len(hashes) and hashes[low] == value else -1


@kernel
def find_similar(values, offsets, sampled, threshold, met, pairs):
    """Find every set of a batch whose Jaccard with a sampled set is at least `threshold`.

    A sampled set is looked for by its prefix alone: those of its shingles of which a set that is similar enough must have one.

    Args:
        values, offsets: uint64[], int64[batch + 1]: sorted sets.
        sampled: `SampledSets`.
        threshold: above 0.
        met: int64[s], -1 each: scratch.
        pairs: `SimilarSets`, filled.

    Returns:
        How many there are; only as many as there is room for are written.
    """
    mask = np.uint64(len(sampled.marks) - 1)
    count = np.int64(0)
    for d in range(len(offsets) - 1):
        size = offsets[d + 1] - offsets[d]
        for i in range(offsets[d], offsets[d + 1]):
            value = values[i]
            if sampled.marks[value & mask] == 0:
                continue
            place = place_of(value, sampled.hashes)
            if place < 0:
                continue
            for p in range(sampled.posting_starts[place], sampled.posting_starts[place + 1]):
                s = sampled.postings[p]
                if met[s] == d:
                    continue
                met[s] = d
                start, end = sampled.starts[s], sampled.ends[s]
                other = end - start
                if min(size, other) < threshold * max(size, other) - 1e-6:
                    continue
                both = common(values, offsets[d], offsets[d + 1], sampled.values, start, end)
                jaccard = both / (size + other - both)
                if jaccard >= threshold:
                    if count < len(pairs.similarity):
                        pairs.sampled[count], pairs.other[count], pairs.similarity[count] = s, d, jaccard
                    count += 1
    return count
