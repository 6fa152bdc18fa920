"""FNV-1 and FNV-1a, 32 and 64 bits, of many features.

The definition is Fowler, Noll and Vo's, with their offset bases and primes (RFC 9923): FNV-1 multiplies, then xors the next byte;
FNV-1a xors, then multiplies. All arithmetic is modulo 2^64 or 2^32. Byte i of feature f is data[offsets[f] + i].
"""

import numpy as np

from neardup.kernels.compilation import kernel

u64 = np.uint64
BASIS_32, PRIME_32 = u64(0x811C9DC5), u64(0x01000193)
BASIS_64, PRIME_64 = u64(0xCBF29CE484222325), u64(0x00000100000001B3)
LOW32 = u64(0xFFFFFFFF)
SIGN = u64(1 << 63)


@kernel
def fnv1_64(data, offsets, out):
    """out[f, 0] (uint64[n, 1]): FNV-1 64 of data[offsets[f]:offsets[f + 1]] (uint8, int64[n + 1])."""
    for f in range(len(out)):
        h = BASIS_64
        for i in range(offsets[f], offsets[f + 1]):
            h = h * PRIME_64 ^ u64(data[i])
        out[f, 0] = h


@kernel
def fnv1a_64(data, offsets, out):
    """out[f, 0] (uint64[n, 1]): FNV-1a 64 of data[offsets[f]:offsets[f + 1]] (uint8, int64[n + 1])."""
    for f in range(len(out)):
        h = BASIS_64
        for i in range(offsets[f], offsets[f + 1]):
            h = (h ^ u64(data[i])) * PRIME_64
        out[f, 0] = h


@kernel
def go_fnv1a(data, offsets, out):
    """out[f, 0] (uint64[n, 1]): FNV-1a 64 of data[offsets[f]:offsets[f + 1]] (uint8, int64[n + 1]), printed as a signed number.

    A Go program prints the hash by `%064b` as an int64, and takes each character but `0` as a 1. A hash of 2^63 or more is
    negative: it is printed as `-` and the 63 binary digits of its magnitude, 2^64 minus the hash.
    """
    for f in range(len(out)):
        h = BASIS_64
        for i in range(offsets[f], offsets[f + 1]):
            h = (h ^ u64(data[i])) * PRIME_64
        out[f, 0] = h if h < SIGN else SIGN | (~h + u64(1))


@kernel
def fnv1a_32(data, offsets, out):
    """out[f, 0] (uint64[n, 1], below 2^32): FNV-1a 32 of data[offsets[f]:offsets[f + 1]] (uint8, int64[n + 1])."""
    for f in range(len(out)):
        h = BASIS_32
        for i in range(offsets[f], offsets[f + 1]):
            h = (h ^ u64(data[i])) * PRIME_32  # its low 32 bits depend on those alone
        out[f, 0] = h & LOW32
