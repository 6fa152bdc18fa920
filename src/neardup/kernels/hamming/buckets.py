"""Sort rows into buckets by a hash of some of their bits.

Rows are those of a uint64[n, words] array. A bucket may hold several keys, never a key several buckets: so the number of buckets
can follow the number of rows, whatever the width of a key, and bits that seldom change do not leave most buckets empty.
"""

import numpy as np

from neardup.kernels.compilation import kernel

u64 = np.uint64


@kernel
def number_buckets(rows, first, last, mask, first_word, last_word, multipliers, shift, numbers):
    """Write to `numbers` (int32) the buckets of rows [first, last).

    That is the upper 64 - `shift` bits of a multiplicative hash of the words [first_word, last_word) under `mask`.
    """
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
def count_buckets(rows, first, last, mask, first_word, last_word, multipliers, shift, numbers, counts):
    """Add to `counts` (int64) how many of the rows [first, last) each bucket has; `numbers` (int32) is scratch."""
    for begin in range(first, last, len(numbers)):
        end = min(begin + len(numbers), last)
        number_buckets(rows, begin, end, mask, first_word, last_word, multipliers, shift, numbers)
        for i in range(end - begin):
            counts[numbers[i]] += 1


@kernel
def scatter_rows(rows, first, last, mask, first_word, last_word, multipliers, shift, numbers, at, out):
    """Copy rows [first, last) to `out`, each to the place that `at` (int64) has for its bucket, which then moves on by one."""
    for begin in range(first, last, len(numbers)):
        end = min(begin + len(numbers), last)
        number_buckets(rows, begin, end, mask, first_word, last_word, multipliers, shift, numbers)
        for i in range(end - begin):
            place = at[numbers[i]]
            at[numbers[i]] = place + 1
            for w in range(rows.shape[1]):
                out[place, w] = rows[begin + i, w]


@kernel
def split_rows(rows, low, high, mask, first_word, last_word, multipliers, bits, numbers, ends, out):
    """Put rows [low, high) into `out` in order of 2^bits buckets; bucket g ends at ends[g] (int64). `numbers` is scratch."""
    number_buckets(rows, low, high, mask, first_word, last_word, multipliers, u64(64 - bits), numbers)
    ends[: (1 << bits) + 1] = 0
    for i in range(high - low):
        ends[numbers[i] + 1] += 1
    for g in range(1 << bits):
        ends[g + 1] += ends[g]
    for i in range(high - low):
        place = ends[numbers[i]]
        ends[numbers[i]] = place + 1
        numbers[i] = place
    # Word by word: the copy of one word is a plain loop, whatever the number of words.
    for w in range(rows.shape[1]):
        for i in range(high - low):
            out[numbers[i], w] = rows[low + i, w]
