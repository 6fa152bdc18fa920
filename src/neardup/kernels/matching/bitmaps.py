"""BITMAPS of sets: a bit for each element, by a hash. They tell that two sets have too little in common, without their elements.

A bit in which two bitmaps differ is that of an element which one set has and the other lacks. So there are at least as many of
these as bits that differ (Sandes, Teodoro and Melo 2017, section 4). Larger sets have longer bitmaps, of 2^k words, which fold.
"""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import popcount
from neardup.kernels.matching.similarities import BY_NORM, may_reach

u64 = np.uint64
MIX = u64(0x9E3779B97F4A7C15)


@kernel
def fill_bitmaps(values, offsets, bitmap_offsets, out):
    """The bitmaps out[bitmap_offsets[i]:bitmap_offsets[i + 1]] of sets values[offsets[i]:offsets[i + 1]].

    uint64[], int64[n + 1], int64[n + 1] -> uint64[], which is zero at first. Each has a power of two of words, or none.
    """
    for i in range(len(offsets) - 1):
        begin, words = bitmap_offsets[i], bitmap_offsets[i + 1] - bitmap_offsets[i]
        if words == 0:
            continue
        for j in range(offsets[i], offsets[i + 1]):
            mixed = (values[j] * MIX) >> u64(40)
            out[begin + (np.int64(mixed >> u64(6)) & (words - 1))] |= u64(1) << (mixed & u64(63))


@kernel
def folded(bitmaps, begin, end, words, word):
    """A word of the bitmap bitmaps[begin:end], folded to so many words, which are no more."""
    found = u64(0)
    for at in range(begin + word, end, words):
        found |= bitmaps[at]
    return found


@kernel
def differing(bitmaps, a, a_end, b, b_end):
    """How many bits differ of the bitmaps bitmaps[a:a_end] and bitmaps[b:b_end], the longer one folded."""
    found, words = 0, min(a_end - a, b_end - b)
    if a_end - a == b_end - b:
        for word in range(words):
            found += np.int64(popcount(bitmaps[a + word] ^ bitmaps[b + word]))
        return found
    for word in range(words):
        one, other = folded(bitmaps, a, a_end, words, word), folded(bitmaps, b, b_end, words, word)
        found += np.int64(popcount(one ^ other))
    return found


@kernel
def may_share_enough(code, threshold, sizes, maps, starts, pairs, out):
    """Whether pairs of n sets can reach a similarity, by their sizes and bitmaps.

    sizes: int64[n]; maps: uint64[], the bitmaps; starts: int64[n + 1], where they begin; pairs: (int64[p], int64[p]); out: bool[p].
    """
    left, right = pairs
    for i in range(len(out)):
        out[i] = True
        if code in BY_NORM:
            continue
        a, b = left[i], right[i]
        apart = differing(maps, starts[a], starts[a + 1], starts[b], starts[b + 1])
        out[i] = may_reach(code, (sizes[a] + sizes[b] - apart) >> 1, sizes[a], sizes[b], threshold)
