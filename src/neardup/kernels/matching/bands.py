"""Pairs of signatures that agree in a whole band: rows go into buckets by a hash of the band, and are compared in them.

Signatures are rows of a uint32[n, k] or uint16[n, k] array; band t of r rows is the columns [t r, (t + 1) r).
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import popcount
from neardup.kernels.xxh3 import P64_1

u64 = np.uint64


class Band(NamedTuple):
    """The columns [number rows, (number + 1) rows) of signatures."""

    number: int
    rows: int


class Buckets(NamedTuple):
    """Rows of signatures by the upper 64 - `shift` bits of a hash of their band.

    Attributes:
        shift: uint64.
        ends: int64[2^(64 - shift)], the end of each bucket.
        keys, rows: uint64[n], uint32[n], hashes and rows in order of buckets, rows ascending in each.
    """

    shift: np.uint64
    ends: Array
    keys: Array
    rows: Array


class Sieve(NamedTuple):
    """Which pairs of a bucket are let through.

    Attributes:
        fingerprints: uint64[filled, words], in the order of the buckets; with 0 words all pairs are within the distance.
        max_distance: uint64, in how many bits they may differ.
    """

    fingerprints: Array
    max_distance: np.uint64


@kernel
def hash_band(values, places, order, band, hashes):
    """Hash the columns of `band` (`Band`) of the rows values[places[i]] (int64[n]) -> hashes uint64[n].

    `order` (int64[n]): the i by their places, so that the values are read in the order in which they lie.
    """
    first, last = band.number * band.rows, (band.number + 1) * band.rows
    for i in order:
        d = places[i]
        h = u64(0)
        for j in range(first, last):
            h = (h + u64(values[d, j])) * P64_1
            h ^= h >> u64(32)
        hashes[i] = h * P64_1


@kernel
def fill_buckets(hashes, sizes, buckets):
    """Put rows and their hashes in order of buckets. Returns how many rows are in buckets: those of size 0 are in none."""
    total = np.int64(0)
    ends, shift = buckets.ends, buckets.shift
    ends[:] = 0
    for d in range(len(hashes)):
        if sizes[d] > 0:
            ends[hashes[d] >> shift] += 1
    for b in range(len(ends)):
        count = ends[b]
        ends[b] = total
        total += count
    for d in range(len(hashes)):
        if sizes[d] > 0:
            b = hashes[d] >> shift
            place = ends[b]
            ends[b] = place + 1
            buckets.keys[place] = hashes[d]
            buckets.rows[place] = d
    return total


@kernel
def agree_in_band(values, a, b, band):
    """Whether rows a and b agree in the band, and in no earlier one."""
    first = band.number * band.rows
    for c in range(first, first + band.rows):
        if values[a, c] != values[b, c]:
            return False
    for begin in range(0, first, band.rows):  # a band that disagrees is known by one value
        c = begin
        while c < begin + band.rows and values[a, c] == values[b, c]:
            c += 1
        if c == begin + band.rows:
            return False
    return True


@kernel
def agreeing(values, a, b):
    """In how many values rows a and b agree."""
    count = 0
    for c in range(values.shape[1]):
        count += values[a, c] == values[b, c]
    return count


@kernel
def keep_agreeing(values, left, right, band, least, packed):
    """Keep those of the pairs `packed` (uint64[p]) that agree in the band, in no earlier one, and in `least` values in all.

    Pair i is of the rows left[i] and right[i] of `values` (int64[p]). Kept pairs move to the front. Returns their number.
    """
    count = np.int64(0)
    for i in range(len(packed)):
        a, b = left[i], right[i]
        if agree_in_band(values, a, b, band) and (least == 0 or agreeing(values, a, b) >= least):
            packed[count] = packed[i]
            count += 1
    return count


@kernel
def fill_agreeing(left, left_at, right, right_at, rows, least, out):
    """Whether signatures agree in a band of so many values, and in `least` values in all.

    uint32[n, values], int64[p], uint32[m, values], int64[p] -> bool[p]: left[left_at[i]] and right[right_at[i]].
    """
    for i in range(len(out)):
        one, other = left[left_at[i]], right[right_at[i]]
        count, in_band = 0, False
        for begin in range(0, len(one), rows):
            equal = 0
            for c in range(begin, begin + rows):
                equal += one[c] == other[c]
            count += equal
            in_band |= equal == rows
        out[i] = in_band and count >= least


@kernel
def first_from(rows, begin, end, least):
    """The first place from `begin` to `end` where the ascending `rows` (uint32[]) are `least` or more; `end` if there is none."""
    while begin < end:
        middle = (begin + end) >> 1
        if rows[middle] < least:
            begin = middle + 1
        else:
            end = middle
    return begin


@kernel
def pairs_of_buckets(buckets, sieve, across, place, out):
    """List pairs of rows of equal keys that the `Sieve` lets through, as left << 32 | right.

    With `across` (int64) above 0, only pairs of one of the first so many rows and one of the others.

    Goes on from the places in the buckets that `place` (int64[2]) has, and leaves there where to go on when `out` (uint64[]) is
    full; the first is as many as there are rows in buckets at the end. Returns how many pairs were listed.
    """
    keys, rows, prints = buckets.keys, buckets.rows, sieve.fingerprints
    count, filled = np.int64(0), len(prints)
    i, j = place[0], place[1]
    while i < filled:
        key = keys[i]
        end = buckets.ends[key >> buckets.shift]
        if across > 0 and rows[i] >= across:  # rows of a bucket ascend
            i, j = end, np.int64(0)
            continue
        j = max(j, i + 1)
        if across > 0:
            j = first_from(rows, j, end, across)
        while j < end:
            if keys[j] == key:
                if count == len(out):
                    place[0], place[1] = i, j
                    return count
                distance = u64(0)
                for w in range(prints.shape[1]):
                    distance += popcount(prints[i, w] ^ prints[j, w])
                if distance <= sieve.max_distance:
                    out[count] = u64(rows[i]) << u64(32) | u64(rows[j])
                    count += 1
            j += 1
        i += 1
        j = 0
    place[0], place[1] = i, j
    return count
