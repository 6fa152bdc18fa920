"""Sort fingerprints with their positions, find them again by value, and turn pairs of distinct ones into pairs of positions.

Fingerprints are rows of a uint64[n, words] array, compared word by word, word 0 first. The callers check arguments.
"""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import popcount

u64 = np.uint64

INSERTION_ROWS = 24
"""So few rows are sorted by insertion."""

WALKED_ROWS = 16
"""Among so few rows one is found by looking at them in turn."""


@kernel
def count_digits(rows, first, last, word, shift, digits, counts):
    """Add to `counts` (int64) the rows [first, last) with each digit: `word` >> shift & digits."""
    for i in range(first, last):
        counts[np.int64((rows[i, word] >> shift) & digits)] += 1


@kernel
def scatter_positions(rows, first, last, word, shift, digits, at, out, order):
    """Copy rows [first, last) to `out` and their positions to `order`, to the places that `at` names for their digits."""
    for i in range(first, last):
        digit = np.int64((rows[i, word] >> shift) & digits)
        place = at[digit]
        at[digit] = place + 1
        order[place] = i
        for w in range(rows.shape[1]):
            out[place, w] = rows[i, w]


@kernel
def precedes(a, i, b, j):
    """Whether row `i` of `a` comes before row `j` of `b`."""
    for w in range(a.shape[1]):
        if a[i, w] != b[j, w]:
            return a[i, w] < b[j, w]
    return False


@kernel
def insert_sorted(rows, order, low, high):
    """Sort rows [low, high) and their positions by insertion; equal rows keep their order."""
    words = rows.shape[1]
    for i in range(low + 1, high):
        j = i
        while j > low and precedes(rows, j, rows, j - 1):
            for w in range(words):
                value = rows[j, w]
                rows[j, w] = rows[j - 1, w]
                rows[j - 1, w] = value
            position = order[j]
            order[j] = order[j - 1]
            order[j - 1] = position
            j -= 1


@kernel
def highest_difference(rows, low, high):
    """First word in which rows [low, high) are not all equal, and how many low bits of it hold all differences; else -1, 0."""
    for w in range(rows.shape[1]):
        first, varying = rows[low, w], u64(0)
        for i in range(low, high):
            varying |= rows[i, w] ^ first
        if varying:
            shift = 1
            while shift < 64:
                varying |= varying >> u64(shift)
                shift *= 2
            return w, np.int64(popcount(varying))
    return -1, 0


@kernel
def sort_buckets(rows, order, starts, first, last, spare_rows, spare_order, ends, waiting):
    """Sort the rows of each of the buckets [first, last), which begin at `starts` (int64); equal rows keep their order.

    Radix sort from the highest bit that differs within a bucket, so that common prefixes and equal rows cost one look.

    Args:
        rows: uint64[n, words], sorted in place.
        order: int64[n], their positions, moved along.
        starts: int64[buckets + 1].
        first: the first bucket.
        last: the one behind the last.
        spare_rows: uint64[m, words], scratch; m = the largest bucket.
        spare_order: int64[m], scratch.
        ends: int64[2^11 + 1], scratch.
        waiting: int64[1 + m // 24, 2], scratch.
    """
    words = rows.shape[1]
    for s in range(first, last):
        waiting[0, 0], waiting[0, 1] = starts[s], starts[s + 1]
        count = 1
        while count:
            count -= 1
            low, high = waiting[count, 0], waiting[count, 1]
            if high - low <= INSERTION_ROWS:
                insert_sorted(rows, order, low, high)
                continue
            word, bits = highest_difference(rows, low, high)
            if word < 0:
                continue
            width = 1
            while width < min(bits, 11) and (4 << width) < high - low:
                width += 1
            shift, digits = u64(bits - width), u64((1 << width) - 1)
            ends[: (1 << width) + 1] = 0
            for i in range(low, high):
                ends[np.int64((rows[i, word] >> shift) & digits) + 1] += 1
            for g in range(1 << width):
                ends[g + 1] += ends[g]
            for i in range(low, high):
                digit = np.int64((rows[i, word] >> shift) & digits)
                place = ends[digit]
                ends[digit] = place + 1
                spare_order[place] = order[i]
                for w in range(words):
                    spare_rows[place, w] = rows[i, w]
            for i in range(high - low):
                order[low + i] = spare_order[i]
                for w in range(words):
                    rows[low + i, w] = spare_rows[i, w]
            begin = 0
            for g in range(1 << width):
                end = ends[g]
                if end - begin > INSERTION_ROWS:
                    waiting[count, 0], waiting[count, 1] = low + begin, low + end
                    count += 1
                elif end - begin > 1:
                    insert_sorted(rows, order, low + begin, low + end)
                begin = end


@kernel
def name_distinct(rows, starts):
    """Move the first of each run of equal rows up, so that they come first, and write to `starts` (int64) where the runs begin.

    Behind the last start comes the number of rows. Returns how many runs there are; there is at least one row.
    """
    words, count = rows.shape[1], 1
    starts[0] = 0
    for i in range(1, len(rows)):
        differing = u64(0)
        for w in range(words):
            differing |= rows[i, w] ^ rows[count - 1, w]
        if differing:
            starts[count] = i
            for w in range(words):
                rows[count, w] = rows[i, w]
            count += 1
    starts[count] = len(rows)
    return count


@kernel
def guide_rows(values, lowest, shift, guide):
    """Write to guide[g] (int64) the first of the sorted rows whose first word exceeds `lowest` by g << shift or more.

    `lowest` is the first word of the first row, `shift` at most 63, and `guide` two longer than what the last row exceeds by.
    """
    g = 0
    for i in range(len(values)):
        bucket = np.int64((values[i, 0] - lowest) >> shift)
        while g <= bucket:
            guide[g] = i
            g += 1
    while g < len(guide):
        guide[g] = len(values)
        g += 1


@kernel
def find_rows(values, guide, lowest, shift, wanted, first_word, out):
    """Write to `out` (int64) where in `values` (sorted, distinct) the words from `first_word` on of each row of `wanted` are.

    Every row is there. Large buckets of `guide` are halved; what is left is walked through, which lets the processor fetch ahead.
    """
    words = values.shape[1]
    for i in range(len(out)):
        x = wanted[i, first_word]
        g = np.int64((x - lowest) >> shift)
        low, high = guide[g], guide[g + 1]
        while high - low > WALKED_ROWS:
            middle, w = (low + high) >> 1, 0
            while w < words - 1 and values[middle, w] == wanted[i, first_word + w]:
                w += 1
            if values[middle, w] <= wanted[i, first_word + w]:
                low = middle
            else:
                high = middle
        while values[low, 0] < x:
            low += 1
        w = 1
        while w < words:
            if values[low, w] == wanted[i, first_word + w]:
                w += 1
            else:
                low, w = low + 1, 1
        out[i] = low


@kernel
def expand_pairs(left, right, left_order, left_starts, right_order, right_starts, same, out):
    """Write to `out` (uint64) every pair of a member of left[i] and a member of right[i], as left << 32 | right.

    With `same`, the smaller position comes first. Returns how many there are.
    """
    count = 0
    for p in range(len(left)):
        for i in range(left_starts[left[p]], left_starts[left[p] + 1]):
            for j in range(right_starts[right[p]], right_starts[right[p] + 1]):
                a, b = left_order[i], right_order[j]
                if same and a > b:
                    a, b = b, a
                out[count] = (u64(a) << u64(32)) | u64(b)
                count += 1
    return count


@kernel
def expand_equal(order, starts, out):
    """Write to `out` (uint64) every pair of positions with one fingerprint, as left << 32 | right, the smaller first."""
    count = 0
    for u in range(len(starts) - 1):
        for i in range(starts[u], starts[u + 1]):
            for j in range(i + 1, starts[u + 1]):
                out[count] = (u64(order[i]) << u64(32)) | u64(order[j])
                count += 1
