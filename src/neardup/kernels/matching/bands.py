"""Pairs of signatures that agree in a whole band: rows go into buckets by a hash of the band, and are compared in them.

Signatures are rows of a uint32[n, k] or uint16[n, k] array; band t of r rows is the columns [t r, (t + 1) r).
"""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import popcount
from neardup.kernels.xxh3 import P64_1

u64 = np.uint64


@kernel
def hash_band(values, sizes, first, last, shift, hashes, ends):
    """Hash the columns [first, last) of every row, and count the rows of each bucket, the upper 64 - `shift` bits.

    -> hashes uint64[n]; ends int64[buckets]. Rows of size 0 are in no bucket.
    """
    ends[:] = 0
    for d in range(len(values)):
        h = u64(0)
        for j in range(first, last):
            h = (h + u64(values[d, j])) * P64_1
            h ^= h >> u64(32)
        hashes[d] = h * P64_1
        if sizes[d] > 0:
            ends[hashes[d] >> shift] += 1


@kernel
def fill_buckets(hashes, sizes, shift, ends, keys, rows):
    """Put rows and their hashes in order of buckets, rows ascending in each.

    uint64[n], int64[n] and the counts of `hash_band` -> keys uint64[n], rows uint32[n]; `ends` becomes the end of each bucket.
    Returns how many rows are in buckets.
    """
    total = np.int64(0)
    for b in range(len(ends)):
        count = ends[b]
        ends[b] = total
        total += count
    for d in range(len(hashes)):
        if sizes[d] > 0:
            b = hashes[d] >> shift
            place = ends[b]
            ends[b] = place + 1
            keys[place] = hashes[d]
            rows[place] = d
    return total


@kernel
def pairs_of_band(
    values, band, band_rows, shift, ends, keys, rows, filled, fingerprints, max_distance, least_agreeing, i, j, out
):  # fmt: skip
    """List pairs of rows that agree in the band and in no earlier one, from places (i, j) on, as left << 32 | right.

    Only those whose fingerprints, uint64[filled, words] in the order of `rows`, differ in `max_distance` bits at most (with 0
    words all of them), and that agree in at least `least_agreeing` of all values. Stops when `out`, uint64[], is full. Returns
    how many were found, and the places to go on from; i is `filled` at the end.
    """
    found = np.int64(0)
    first, last = band * band_rows, (band + 1) * band_rows
    while i < filled:
        key = keys[i]
        end = ends[key >> shift]
        j = max(j, i + 1)
        while j < end:
            if keys[j] == key:
                if found == len(out):
                    return found, i, j
                far = u64(0)
                for w in range(fingerprints.shape[1]):
                    far += popcount(fingerprints[i, w] ^ fingerprints[j, w])
                near = far <= max_distance
                a, b = rows[i], rows[j]
                if near:
                    for c in range(first, last):
                        near &= values[a, c] == values[b, c]
                c = 0
                while near and c < first:
                    # A band that disagrees is known by one value; the next one begins `band_rows` on.
                    agreeing = 0
                    while agreeing < band_rows and values[a, c + agreeing] == values[b, c + agreeing]:
                        agreeing += 1
                    near = agreeing < band_rows
                    c += band_rows
                if near and least_agreeing > 0:
                    agreeing = 0
                    for c in range(values.shape[1]):
                        agreeing += values[a, c] == values[b, c]
                    near = agreeing >= least_agreeing
                if near:
                    out[found] = u64(a) << u64(32) | u64(b)
                    found += 1
            j += 1
        i += 1
        j = 0
    return found, i, j
