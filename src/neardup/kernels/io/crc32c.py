"""CRC-32C (Castagnoli, reflected polynomial 0x82F63B78), raw: it starts at 0xFFFFFFFF and nothing is xored at its end.

Eight bytes a turn by eight tables (Kounavis and Berry 2005, "A systematic approach to building high performance, software-based,
CRC generators").
"""

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import load64

u64 = np.uint64
POLYNOMIAL = 0x82F63B78
START = u64(0xFFFFFFFF)
BYTE, EIGHT = u64(0xFF), u64(8)


def _tables() -> Array:
    """uint64[8, 256]: row k has what each byte becomes when k zero bytes follow it."""
    rows = np.empty((8, 256), np.uint64)
    for byte in range(256):
        value = byte
        for k in range(8):
            for _ in range(8):
                value = value >> 1 ^ POLYNOMIAL * (value & 1)
            rows[k, byte] = value
    return rows


TABLES = _tables()


@kernel
def crc32c(data, start, end):
    """Raw CRC-32C of data[start:end] (uint8 -> uint64 below 2^32)."""
    h = START
    while end - start >= 8:
        x = load64(data, start) ^ h
        h = TABLES[7, x & BYTE] ^ TABLES[6, x >> u64(8) & BYTE] ^ TABLES[5, x >> u64(16) & BYTE]
        h ^= TABLES[4, x >> u64(24) & BYTE] ^ TABLES[3, x >> u64(32) & BYTE] ^ TABLES[2, x >> u64(40) & BYTE]
        h ^= TABLES[1, x >> u64(48) & BYTE] ^ TABLES[0, x >> u64(56)]
        start += 8
    for i in range(start, end):
        h = h >> EIGHT ^ TABLES[0, (h ^ u64(data[i])) & BYTE]
    return h


@kernel
def crc32c_features(data, offsets, out):
    """out[f, 0] (uint64[n, 1]): raw CRC-32C of data[offsets[f]:offsets[f + 1]] (uint8, int64[n + 1])."""
    for f in range(len(out)):
        out[f, 0] = crc32c(data, offsets[f], offsets[f + 1])
