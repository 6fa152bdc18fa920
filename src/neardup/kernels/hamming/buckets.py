"""Sort rows into buckets by a hash of some of their bits.

Rows are those of a uint64[n, words] array. A bucket may hold several keys, never a key several buckets: so the number of buckets
can follow the number of rows, whatever the width of a key, and bits that seldom change do not leave most buckets empty.
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel

u64 = np.uint64


class BlockHash(NamedTuple):
    """The hash that decides the bucket of a row.

    Attributes:
        mask: uint64[words], the bits of the block.
        first_word, last_word: the first word that has any of them, and the one behind the last.
        multipliers: uint64[words], odd.
        shift: uint64, 64 less the bits of the number of a bucket.
    """

    mask: Array
    first_word: int
    last_word: int
    multipliers: Array
    shift: np.uint64


@kernel
def number_buckets(rows, first, last, how, numbers):
    """Write to `numbers` (int32) the buckets of rows [first, last).

    That is the upper 64 - `how.shift` bits of a multiplicative hash of the words of the block under its mask.
    """
    mask, first_word, last_word, multipliers, shift = how
    if last_word - first_word == 1:
        key, multiplier = mask[first_word], multipliers[first_word]
        for i in range(last - first):
            numbers[i] = np.int64(((rows[first + i, first_word] & key) * multiplier) >> shift)
        return
    for i in range(last - first):
        h = u64(0)
        for w in range(first_word, last_word):
            h += (rows[first + i, w] & mask[w]) * multipliers[w]
        numbers[i] = np.int64(h >> shift)


@kernel
def count_buckets(rows, first, last, how, numbers, counts):
    """Add to `counts` (int64) how many of the rows [first, last) each bucket has; `numbers` (int32) is scratch."""
    for begin in range(first, last, len(numbers)):
        end = min(begin + len(numbers), last)
        number_buckets(rows, begin, end, how, numbers)
        for i in range(end - begin):
            counts[numbers[i]] += 1


@kernel
def scatter_rows(rows, first, last, how, numbers, at, out):
    """Copy rows [first, last) to `out`, each to the place that `at` (int64) has for its bucket, which then moves on by one."""
    for begin in range(first, last, len(numbers)):
        end = min(begin + len(numbers), last)
        number_buckets(rows, begin, end, how, numbers)
        for i in range(end - begin):
            place = at[numbers[i]]
            at[numbers[i]] = place + 1
            for w in range(rows.shape[1]):
                out[place, w] = rows[begin + i, w]


@kernel
def split_rows(rows, low, high, how, numbers, ends, out):
    """Put rows [low, high) into `out` in order of their buckets; bucket g ends at ends[g] (int64). `numbers` is scratch."""
    number_buckets(rows, low, high, how, numbers)
    buckets = np.int64(1) << np.int64(u64(64) - how.shift)
    ends[: buckets + 1] = 0
    for i in range(high - low):
        ends[numbers[i] + 1] += 1
    for g in range(buckets):
        ends[g + 1] += ends[g]
    for i in range(high - low):
        place = ends[numbers[i]]
        ends[numbers[i]] = place + 1
        numbers[i] = place
    # Word by word: the copy of one word is a plain loop, whatever the number of words.
    for w in range(rows.shape[1]):
        for i in range(high - low):
            out[numbers[i], w] = rows[low + i, w]
