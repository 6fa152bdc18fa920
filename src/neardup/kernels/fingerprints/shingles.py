"""Shingles: windows of tokens, as 64-bit hashes; and sorting these."""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.text.tokens import CJK, WORD
from neardup.kernels.xxh3 import (
    xxh3_64,
    xxh3_64_of_each_five,
    xxh3_64_of_each_three,
    xxh3_64_of_each_two,
    xxh3_64_of_three,
    xxh3_64_of_two,
)

u64 = np.uint64


@kernel
def any_cjk(kinds, n):
    """Whether one of the n tokens is a Han or Kana character."""
    found = np.uint8(0)
    for i in range(n):
        found |= kinds[i]
    return found & np.uint8(CJK) != 0


@kernel
def count_words(kinds, n):
    """How many of the n tokens are words."""
    words = np.int64(0)
    for i in range(n):
        words += kinds[i] == WORD
    return words


FEW_WORDS = 8
"""If fewer than one token in eight is a word, the shingles of words are made one by one."""


@kernel
def replace_by_threes(hashes, kinds, n, words, out):
    """Put the shingle of three words where a word begins, into the n - 4 shingles of `out`. `words`: how many there are."""
    if words < n // FEW_WORDS:
        for i in range(n - 4):
            if kinds[i] == WORD:
                out[i] = xxh3_64_of_three(hashes, i)
        return
    for i in range(n - 4):
        three = xxh3_64_of_three(hashes, i)
        out[i] = three if kinds[i] == WORD else out[i]


@kernel
def shingle_pairs(hashes, kinds, n, out):
    """`shingle` with windows of 1 and 2, for n of at least 1."""
    xxh3_64_of_each_two(hashes, hashes[1:], n - 1, out)
    for i in range(n - 1):
        out[i] = hashes[i] if kinds[i] == WORD else out[i]
    if n == 1 or kinds[n - 1] == WORD:
        out[n - 1] = hashes[n - 1]
        return n
    return n - 1


@kernel
def shingle_runs(hashes, kinds, n, out):
    """`shingle` with windows of 3 and 5, for n of at least 5."""
    words = count_words(kinds, n)
    if words == n:
        xxh3_64_of_each_three(hashes, n - 2, out)
        return n - 2
    xxh3_64_of_each_five(hashes, n - 4, out)
    if words > 0:
        replace_by_threes(hashes, kinds, n, words, out)
    m = n - 4
    for i in range(n - 4, n - 2):
        if kinds[i] == WORD:
            out[m] = xxh3_64_of_three(hashes, i)
            m += 1
    return m


@kernel
def shingle(tokens, n, word_size, cjk_size, out):
    """Hash the window that starts at each token: `word_size` tokens from a word, `cjk_size` from a Han or Kana character.

    `TokenArrays`, with the hashes and kinds of n tokens -> uint64[n]. A window of one token has the token's hash, a longer
    one XXH3-64 of its tokens' hashes, little-endian. Windows that would run over the end are none; if that leaves none at
    all, the whole text is one. Returns their number. The common sizes have loops of their own, several times as fast.
    """
    hashes, hash_bytes, kinds = tokens.hashes, tokens.hash_bytes, tokens.kinds
    if word_size == 1 and cjk_size == 2 and n >= 1:
        return shingle_pairs(hashes, kinds, n, out)
    if word_size == 3 and cjk_size == 5 and n >= 5:
        return shingle_runs(hashes, kinds, n, out)
    m = u64(0)
    for i in range(n):
        size = word_size if kinds[i] == WORD else cjk_size
        if size == 1:
            out[m] = hashes[i]
        elif i + size > n:
            continue
        elif size == 2:
            out[m] = xxh3_64_of_two(hashes[i], hashes[i + 1])
        else:
            out[m] = xxh3_64(hash_bytes, 8 * i, 8 * (i + size))
        m += u64(1)
    if m == 0 and n > 0:
        out[0] = hashes[0] if n == 1 else xxh3_64(hash_bytes, 0, 8 * n)
        m = u64(1)
    return np.int64(m)


@kernel
def sift_down(values, root, n):
    value = values[root]
    child = 2 * root + 1
    while child < n:
        if child + 1 < n and values[child] < values[child + 1]:
            child += 1
        if values[child] <= value:
            break
        values[root] = values[child]
        root, child = child, 2 * child + 1
    values[root] = value


@kernel
def heap_sort(values):
    n = len(values)
    for root in range(n // 2 - 1, -1, -1):
        sift_down(values, root, n)
    for last in range(n - 1, 0, -1):
        values[0], values[last] = values[last], values[0]
        sift_down(values, 0, last)


@kernel
def insertion_sort(source, values):
    """Sort `source`, which is nearly sorted, into `values`, which is as long and may be the same."""
    if len(values) == 0:
        return
    largest = values[0] = source[0]
    for i in range(1, len(values)):
        value = source[i]
        if value < largest:
            j = i
            while j > 0 and values[j - 1] > value:
                values[j] = values[j - 1]
                j -= 1
            values[j] = value
        else:
            values[i] = largest = value


MOST_INSERTED = 32
"""Buckets of more values are sorted by themselves beforehand: many are equal, or they are not evenly distributed."""


@kernel
def sort_hashes(values, spare):
    """Sort evenly distributed uint64 values, which may be repeated, in place; `spare`: see `sort_spare`. About linear time, n log n
    at worst.

    One pass distributes by the top bits, about a value to two buckets, so that insertion finds little to put right: a guess of
    the processor that goes wrong costs more than two counts.
    """
    n = len(values)
    if n <= 32:
        insertion_sort(values, values)
        return
    bits = 1
    while bits < 16 and n >> bits > 0:
        bits += 1
    shift = np.uint64(64 - bits)
    buckets = 1 << bits
    ends = spare[n : n + buckets + 1]
    ends[:] = np.uint64(0)
    for i in range(n):
        ends[np.int64(values[i] >> shift) + 1] += np.uint64(1)
    largest = np.uint64(0)
    for b in range(buckets):
        largest = max(largest, ends[b + 1])
        ends[b + 1] += ends[b]
    for i in range(n):
        b = np.int64(values[i] >> shift)
        spare[np.int64(ends[b])] = values[i]
        ends[b] += np.uint64(1)
    if largest > MOST_INSERTED:
        begin = np.int64(0)
        for b in range(buckets):
            end = np.int64(ends[b])
            if end - begin > MOST_INSERTED:
                heap_sort(spare[begin:end])
            begin = end
    insertion_sort(spare, values)


def sort_spare(n: int) -> int:
    """Places that `sort_hashes` needs in its second argument to sort up to `n` values."""
    return n + (1 << 16) + 1
