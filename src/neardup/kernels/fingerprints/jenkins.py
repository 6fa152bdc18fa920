"""Bob Jenkins's lookup3 (`hashlittle2`, 2006), and Erlang's `phash2` of a binary: his lookup2 (1996), from another start.

Both mix twelve bytes a turn, as three little-endian 32-bit integers, modulo 2^32. Integers are held in 64 bits; what lies above
the low 32 is cut off before it could move down.
"""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import load32

u64 = np.uint64
LOW32 = u64(0xFFFFFFFF)
LOOKUP3_START = u64(0xDEADBEEF)
GOLDEN = u64(0x9E3779B9)
BINARY_START = u64(13 * 0x9E3779B9 & 0xFFFFFFFF)
"""Where Erlang starts the hash of a term that is a binary."""


@kernel
def load_part(data, start, end):
    """data[start:end] as a little-endian integer, of four bytes at most; of those that lie before `end` only, 0 if none does."""
    if end - start >= 4:
        return load32(data, start)
    value = u64(0)
    for i in range(end - 1, start - 1, -1):
        value = value << u64(8) | u64(data[i])
    return value


@kernel
def rotate(x, k):
    """The low 32 bits of `x`, rotated left by k."""
    x &= LOW32
    return (x << u64(k) | x >> u64(32 - k)) & LOW32


@kernel
def lookup3(data, start, end, pc, pb):
    """`hashlittle2` of data[start:end] (uint8), seeds `pc` and `pb` (uint64 below 2^32): (pc << 32) | pb as it leaves them."""
    a = b = (LOOKUP3_START + u64(end - start) + pc) & LOW32
    c = (a + pb) & LOW32
    if start == end:
        return c << u64(32) | b
    while end - start > 12:
        a += load32(data, start)
        b += load32(data, start + 4)
        c += load32(data, start + 8)
        start += 12
        a = (a - c) ^ rotate(c, 4)
        c += b
        b = (b - a) ^ rotate(a, 6)
        a += c
        c = (c - b) ^ rotate(b, 8)
        b += a
        a = (a - c) ^ rotate(c, 16)
        c += b
        b = (b - a) ^ rotate(a, 19)
        a += c
        c = (c - b) ^ rotate(b, 4)
        b += a
    a += load_part(data, start, end)
    b += load_part(data, start + 4, end)
    c += load_part(data, start + 8, end)
    c = (c ^ b) - rotate(b, 14)
    a = (a ^ c) - rotate(c, 11)
    b = (b ^ a) - rotate(a, 25)
    c = (c ^ b) - rotate(b, 16)
    a = (a ^ c) - rotate(c, 4)
    b = (b ^ a) - rotate(a, 14)
    c = (c ^ b) - rotate(b, 24)
    return (c & LOW32) << u64(32) | (b & LOW32)


@kernel
def mix2(a, b, c):
    """The mixing of lookup2; takes any 64-bit integers, gives 32-bit ones."""
    for first, second, third in ((13, 8, 13), (12, 16, 5), (3, 10, 15)):
        c &= LOW32
        a = (a - b - c) ^ c >> u64(first)
        a &= LOW32
        b = (b - c - a) ^ a << u64(second)
        b &= LOW32
        c = (c - a - b) ^ b >> u64(third)
    return a, b, c & LOW32


@kernel
def phash2(data, start, end):
    """`erlang:phash2(<<data[start:end]>>, 1 bsl 32)` (uint8 -> uint64 below 2^32)."""
    length = u64(end - start)
    if start == end:
        return BINARY_START
    a, b, c = GOLDEN, GOLDEN, BINARY_START
    while end - start >= 12:
        a, b, c = mix2(a + load32(data, start), b + load32(data, start + 4), c + load32(data, start + 8))
        start += 12
    # The lowest byte of the last third is the length's.
    last = length + (load_part(data, start + 8, end) << u64(8))
    return mix2(a + load_part(data, start, end), b + load_part(data, start + 4, end), c + last)[2]


@kernel
def lookup3_features(data, offsets, out):
    """out[f, 0] (uint64[n, 1]): lookup3, seeds 0, of data[offsets[f]:offsets[f + 1]] (uint8, int64[n + 1])."""
    for f in range(len(out)):
        out[f, 0] = lookup3(data, offsets[f], offsets[f + 1], u64(0), u64(0))


@kernel
def phash2_features(data, offsets, out):
    """out[f, 0] (uint64[n, 1]): `phash2` of data[offsets[f]:offsets[f + 1]] (uint8, int64[n + 1])."""
    for f in range(len(out)):
        out[f, 0] = phash2(data, offsets[f], offsets[f + 1])
