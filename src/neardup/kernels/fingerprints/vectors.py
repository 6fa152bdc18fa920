"""Fingerprints of vectors: planes from hashes, dot products in a fixed order, and the bits of these.

The dot product of x and a plane p is, by definition, the sum of x[i] p[i] over ascending i, each step rounded to float64. A bit
is 1 where it is above 0. Planes are numbered from the most significant bit of the fingerprint on.
"""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.fingerprints.votes import signs, widen
from neardup.kernels.xxh3 import xxh3_64, xxh3_64_of_two

u64 = np.uint64
ONE = u64(1)


@kernel
def hash_dimensions(first, seed, lanes, hashes, pair, pair_bytes):
    """lanes[w, i] (uint64[words, n]): word w of the hash of dimension first + i: XXH3-64 of it and the seed, widened.

    `hashes`, scratch: uint64[n]; `pair`: uint64[2], and `pair_bytes` the same memory.
    """
    n = lanes.shape[1]
    for i in range(n):
        hashes[i] = xxh3_64_of_two(u64(first + i), seed)
    widen(hashes, n, lanes, pair, pair_bytes)


@kernel
def sign_planes(lanes, planes):
    """planes[j, i] (float32[bits, n]): 1 where the hash of dimension i has the bit, else -1; j = 0: the most significant bit."""
    bits, n = planes.shape
    words = lanes.shape[0]
    for j in range(bits):
        place = bits - 1 - j
        w, shift = words - 1 - place // 64, u64(place % 64)
        for i in range(n):
            planes[j, i] = 1.0 if lanes[w, i] >> shift & ONE else -1.0


@kernel
def gaussian_planes(first, seed, table, planes):
    """planes[j, i] (float32[bits, n]): the entry of `table` (float32[2^16]) that sixteen bits of a hash choose.

    Planes 4 k to 4 k + 3 of a dimension have the sixteen-bit parts, the lowest first, of XXH3-64 of its hash and k.
    """
    bits, n = planes.shape
    for i in range(n):
        dimension = xxh3_64_of_two(u64(first + i), seed)
        chosen = u64(0)
        for j in range(bits):
            if j % 4 == 0:
                chosen = xxh3_64_of_two(dimension, u64(j // 4))
            planes[j, i] = table[chosen & u64(0xFFFF)]
            chosen >>= u64(16)


@kernel
def independent_sign(dimension, plane, seed, key, key_bytes):
    """1 or -1: the highest bit of XXH3-64 of the seed, the dimension and the plane. `key`: scratch, uint64[3]."""
    key[0], key[1], key[2] = seed, u64(dimension), u64(plane)
    return 1.0 if xxh3_64(key_bytes, 0, 24) >> u64(63) else -1.0


@kernel
def independent_planes(first, seed, key, key_bytes, planes):
    """planes[j, i] (float32[bits, n]): the sign of dimension first + i and plane j."""
    for j in range(planes.shape[0]):
        for i in range(planes.shape[1]):
            planes[j, i] = independent_sign(first + i, j, seed, key, key_bytes)


@kernel
def ordered_dot(x, plane):
    """The dot product as defined."""
    total = np.float64(0)
    for i in range(len(x)):
        total += np.float64(x[i]) * np.float64(plane[i])
    return total


@kernel
def is_positive(x, plane, error):
    """Whether the dot product, as defined, is above 0. Any other order of float64 sums is off by at most `error`."""
    a, b, c, d = np.float64(0), np.float64(0), np.float64(0), np.float64(0)
    n = len(x)
    for k in range(n // 4):
        i = u64(k) << u64(2)
        a += np.float64(x[i]) * np.float64(plane[i])
        b += np.float64(x[i + u64(1)]) * np.float64(plane[i + u64(1)])
        c += np.float64(x[i + u64(2)]) * np.float64(plane[i + u64(2)])
        d += np.float64(x[i + u64(3)]) * np.float64(plane[i + u64(3)])
    for i in range(n // 4 * 4, n):
        a += np.float64(x[i]) * np.float64(plane[i])
    total = (a + b) + (c + d)
    if abs(total) > error:
        return total > 0
    return ordered_dot(x, plane) > 0


@kernel
def is_zero(x):
    for i in range(len(x)):
        if x[i] != 0:
            return False
    return True


@kernel
def bits_of_products(products, bounds, errors, x, planes, out):
    """Bits of dot products that were summed in any order; what is too near 0 to be sure of is summed again as defined.

    products: float[n, bits]; bounds: float[n], how far each row's may be off; errors: float64[n], the same of float64 sums;
    x: float[n, d]; planes: float[bits, d] -> out uint64[n, words].
    """
    n, bits = products.shape
    words = out.shape[1]
    for r in range(n):
        bound, unsure = bounds[r], 0
        row = products[r]
        for j in range(bits):
            unsure += not abs(row[j]) > bound
        first = 0
        for w in range(words):
            last = bits - 64 * (words - 1 - w)
            word = u64(0)
            for j in range(first, last):
                word = word << ONE | u64(row[j] > 0)
            out[r, w] = word
            first = last
        if unsure == 0:
            continue
        if is_zero(x[r]):
            out[r, :] = u64(0)
            continue
        for j in range(bits):
            if not abs(row[j]) > bound:
                place = bits - 1 - j
                w, bit = words - 1 - place // 64, ONE << u64(place % 64)
                if is_positive(x[r], planes[j], errors[r]):
                    out[r, w] |= bit
                else:
                    out[r, w] &= ~bit


@kernel
def hashed_rows(indptr, indices, data, seed, top_mask, hashes, lanes, pair, pair_bytes, sums, out):
    """Sparse rows by hashed dimensions: int[n + 1], int[], float[] with ascending indices -> out uint64[n, words].

    `hashes`: scratch, uint64[k], `lanes`: uint64[words, k] for rows of up to k entries; `sums`: float64[64 words].
    """
    for r in range(len(indptr) - 1):
        start, m = indptr[r], indptr[r + 1] - indptr[r]
        for i in range(m):
            hashes[i] = xxh3_64_of_two(u64(indices[start + i]), seed)
        widen(hashes, m, lanes, pair, pair_bytes)
        sums[:] = 0
        for w in range(lanes.shape[0]):
            part = sums[64 * w : 64 * w + 64]
            for i in range(m):
                bits, value = lanes[w, i], np.float64(data[start + i])
                for j in range(64):
                    part[j] += value if bits >> u64(63 - j) & ONE else -value
        signs(sums, out[r])
        out[r, 0] &= top_mask


@kernel
def sums_to_bits(sums, bits, out):
    """Fill out (uint64[words]) from sums (float64[bits]), the most significant bit first."""
    words = len(out)
    first = 0
    for w in range(words):
        last = bits - 64 * (words - 1 - w)
        word = u64(0)
        for j in range(first, last):
            word = word << ONE | u64(sums[j] > 0)
        out[w] = word
        first = last


@kernel
def independent_rows(indptr, indices, data, seed, key, key_bytes, sums, out):
    """Sparse rows by a hash for each entry and bit, the slow baseline; sums: scratch, float64[bits]."""
    for r in range(len(indptr) - 1):
        sums[:] = 0
        for i in range(indptr[r], indptr[r + 1]):
            value = np.float64(data[i])
            for j in range(len(sums)):
                sums[j] += value * independent_sign(indices[i], j, seed, key, key_bytes)
        sums_to_bits(sums, len(sums), out[r])


@kernel
def planes_rows(indptr, indices, data, planes, sums, out):
    """Sparse rows by planes that are there: float[bits, d]; sums: scratch, float64[bits]."""
    for r in range(len(indptr) - 1):
        sums[:] = 0
        for i in range(indptr[r], indptr[r + 1]):
            value, dimension = np.float64(data[i]), indices[i]
            for j in range(len(sums)):
                sums[j] += value * np.float64(planes[j, dimension])
        sums_to_bits(sums, len(sums), out[r])


@kernel
def is_ascending(indptr, indices):
    """Whether the indices of every row rise, none twice."""
    for r in range(len(indptr) - 1):
        for i in range(indptr[r] + 1, indptr[r + 1]):
            if indices[i] <= indices[i - 1]:
                return False
    return True


@kernel
def sum_repeated(indptr, indices, data, starts):
    """Add up, in their order, entries of a row that have the same index, in place; starts (int64[n + 1]): where rows begin then."""
    kept = 0
    for r in range(len(indptr) - 1):
        starts[r] = kept
        for i in range(indptr[r], indptr[r + 1]):
            if kept > starts[r] and indices[kept - 1] == indices[i]:
                data[kept - 1] += data[i]
            else:
                indices[kept], data[kept] = indices[i], data[i]
                kept += 1
    starts[len(indptr) - 1] = kept
