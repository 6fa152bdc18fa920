"""The slow, obvious definition of a vector's fingerprint."""

from statistics import NormalDist

import xxhash


def _integer(value, size=8):
    return value.to_bytes(size, "little")


def _hash(*words):
    return xxhash.xxh3_64_intdigest(b"".join(map(_integer, words)))


def hash_of_dimension(dimension, *, bits, seed):
    """The integer of `bits` bits that a dimension is hashed to."""
    feature = _hash(dimension, seed)
    words = -(-bits // 64)
    if words == 1:
        return feature & ((1 << bits) - 1)
    parts = xxhash.xxh3_128_digest(_integer(feature))
    for k in range(1, words):
        parts += xxhash.xxh3_128_digest(_integer(feature) + _integer(k))
    return int.from_bytes(parts[: 8 * words], "big") & ((1 << bits) - 1)


def _normal(part):
    half, below = 1 << 15, part < 1 << 15
    level = (1 << 16) - 1 - part if below else part
    value = round(NormalDist().inv_cdf((level + 0.5) / (2 * half)) * 4096) / 4096
    return -value if below else value


def plane_entries(dimension, *, bits, seed, method):
    """What a dimension has in each plane, the one of the most significant bit first."""
    if method == "signs":
        hashed = hash_of_dimension(dimension, bits=bits, seed=seed)
        return [1.0 if hashed >> (bits - 1 - j) & 1 else -1.0 for j in range(bits)]
    if method == "independent":
        return [1.0 if _hash(seed, dimension, j) >> 63 else -1.0 for j in range(bits)]
    feature = _hash(dimension, seed)
    return [_normal(_hash(feature, j // 4) >> 16 * (j % 4) & 0xFFFF) for j in range(bits)]


def fingerprint(vector, planes):
    """The integer whose bits are the signs of the dot products with the columns of `planes`."""
    value = 0
    for j in range(len(planes[0])):
        total = 0.0
        for x, entries in zip(vector, planes, strict=True):
            total += float(x) * float(entries[j])
        value = value << 1 | (total > 0)
    return value


def fingerprints(rows, *, bits, seed=0, method="signs"):
    planes = [plane_entries(i, bits=bits, seed=seed, method=method) for i in range(len(rows[0]))]
    return [fingerprint(row, planes) for row in rows]
