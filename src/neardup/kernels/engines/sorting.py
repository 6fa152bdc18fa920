"""SORTING of words by some of their bits: a radix sort, as numpy's of 64 bits takes five times as long."""

import numpy as np

from neardup.kernels.compilation import kernel

u64 = np.uint64
DIGIT = 11
"""Bits by which words are dealt in a pass: the ends of 2048 runs are in the nearest cache."""


@kernel
def sort_words(words, first, last, spare, ends):
    """Sort words by their bits from `first` to before `last`; words that agree in these stay as they are.

    Args:
        words: uint64[n], which are overwritten.
        first, last: of 0 to 64.
        spare: uint64[n].
        ends: int64[2**DIGIT].

    Returns:
        Whether the sorted words are in `spare`, instead of `words`.
    """
    mask, is_moved = u64((1 << DIGIT) - 1), False
    for shift in range(first, last, DIGIT):
        if last - shift < DIGIT:
            mask = u64((1 << (last - shift)) - 1)
        ends[:] = 0
        for word in words:
            ends[np.int64(word >> u64(shift) & mask)] += 1
        total = 0
        for digit in range(len(ends)):
            count = ends[digit]
            ends[digit] = total
            total += count
        for word in words:
            digit = np.int64(word >> u64(shift) & mask)
            spare[ends[digit]] = word
            ends[digit] += 1
        words, spare = spare, words
        is_moved = not is_moved
    return is_moved
