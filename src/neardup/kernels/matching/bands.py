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
        least_agreeing: in how many of all values the signatures must agree.
    """

    fingerprints: Array
    max_distance: np.uint64
    least_agreeing: int


@kernel
def hash_band(values, sizes, band, hashes, buckets):
    """Hash the columns of `band` (`Band`) of every row, and count the rows of each bucket.

    -> hashes uint64[n]; the counts go to the ends of `buckets`. Rows of size 0 are in no bucket.
    """
    buckets.ends[:] = 0
    first, last = band.number * band.rows, (band.number + 1) * band.rows
    for d in range(len(values)):
        h = u64(0)
        for j in range(first, last):
            h = (h + u64(values[d, j])) * P64_1
            h ^= h >> u64(32)
        hashes[d] = h * P64_1
        if sizes[d] > 0:
            buckets.ends[hashes[d] >> buckets.shift] += 1


@kernel
def fill_buckets(hashes, sizes, buckets):
    """Put rows and their hashes in order of buckets, after `hash_band` counted them. Returns how many rows are in buckets."""
    total = np.int64(0)
    ends, shift = buckets.ends, buckets.shift
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
def pairs_of_band(values, band, buckets, sieve, across, place, out):
    """List pairs of rows that agree in the band and in no earlier one, as left << 32 | right, and that the `Sieve` lets through.

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
                a, b = rows[i], rows[j]
                if (
                    distance <= sieve.max_distance
                    and agree_in_band(values, a, b, band)
                    and (sieve.least_agreeing == 0 or agreeing(values, a, b) >= sieve.least_agreeing)
                ):
                    out[count] = u64(a) << u64(32) | u64(b)
                    count += 1
            j += 1
        i += 1
        j = 0
    place[0], place[1] = i, j
    return count
