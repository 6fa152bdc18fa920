"""Hashes that are narrower than the fingerprint, widened."""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.xxh3 import xxh3_128

u64 = np.uint64


@kernel
def put_above(out, row, shift, value):
    """Or `value` (uint64) into out[row] (uint64[n, words], the most significant word first) `shift` bits above its lowest.

    What would lie above the highest word is dropped.
    """
    word, inside = out.shape[1] - 1 - shift // 64, u64(shift % 64)
    if word >= 0:
        out[row, word] |= value << inside
    if word > 0 and inside != u64(0):
        out[row, word - 1] |= value >> (u64(64) - inside)


@kernel
def widen_values(values, native, key, key_bytes, out):
    """Put bits above a hash's own: out[f] = values[f] + sum over k > 0 of E(k) 2^(native + 128 (k - 1)), the lowest 64 w bits.

    E(k) is XXH3-128 of values[f] and then k, each of the integer's 64-bit words little-endian and the least significant first.
    uint64[n, v] of `native` bits each -> uint64[n, w], w >= v. `key` is scratch, uint64[v + 1], and `key_bytes` the same memory.
    """
    v, w = values.shape[1], out.shape[1]
    for f in range(len(values)):
        for j in range(w):
            out[f, j] = u64(0)
        for j in range(v):
            key[j] = values[f, v - 1 - j]
            out[f, w - 1 - j] = key[j]
        shift, k = native, 1
        while shift < 64 * w:
            key[v] = u64(k)
            high, low = xxh3_128(key_bytes, 0, 8 * (v + 1))
            put_above(out, f, shift, low)
            put_above(out, f, shift + 64, high)
            shift += 128
            k += 1
