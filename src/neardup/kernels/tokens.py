"""Tokens of normalized text, as hashes: maximal runs of letters, marks and numbers; each Han or Kana character by itself."""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import load32, load64, trailing_zeros, word_masks
from neardup.kernels.normalization import CLASS_SHIFT, TWO_BITS, decode, fold_entry, ideograph_bytes
from neardup.kernels.xxh3 import xxh3_64, xxh3_64_of_9_to_16

u64 = np.uint64
ONE, ALL = u64(1), ~u64(0)
THREE_BYTES = u64(0xFFFFFF)
WORD, CJK = 1, 2
# Of a token of n bytes, which of its first and of its second eight bytes are its own.
KEEP_FIRST = np.array([(1 << 8 * min(n, 8)) - 1 for n in range(17)], np.uint64)
KEEP_LAST = np.array([(1 << 8 * max(n - 8, 0)) - 1 for n in range(17)], np.uint64)


def most_tokens(length: int) -> int:
    """The most tokens that `length` bytes can hold: one-letter words with something between, ideographs of three bytes."""
    return length // 2 + 1


@kernel
def hash_token(data, start, end):
    """XXH3-64 of `data[start:end]`, filled up with zero bytes to 16.

    No token holds a zero byte, so different tokens stay different; and one path for all short tokens leaves no branch to be
    mispredicted. Needs 16 readable bytes from `start` on.
    """
    n = u64(end - start)
    if n > 16:
        return xxh3_64(data, start, end)
    return xxh3_64_of_9_to_16(load64(data, start) & KEEP_FIRST[n], load64(data, start + 8) & KEEP_LAST[n], u64(16))


@kernel
def tokenize(data, i, end, hashes, kinds, tables):
    """Hash the tokens of `data[i:end]` (see `hash_token`), with each one's kind (WORD or CJK), in order.

    uint8[], int, int -> uint64[], uint8[]; both of at least `most_tokens(end - i)` places. `data` must be normalized, valid
    UTF-8, with 64 spare bytes behind `end`. Returns the number of tokens.
    """
    n, start, inside = u64(0), i, False  # n is unsigned: a signed index costs a look whether it is negative
    while i < end:
        word, other = word_masks(data, i)
        plain = min(np.int64(trailing_zeros(other)), end - i)  # bytes before the first that is not ASCII
        if plain > 0:
            keep = ALL if plain == 64 else (ONE << u64(plain)) - ONE
            word &= keep
            shifted = word << ONE | u64(inside)
            starts, ends = word & ~shifted, ~word & shifted & keep
            while ends != 0:
                if not inside:
                    start = i + np.int64(trailing_zeros(starts))
                    starts &= starts - ONE
                inside = False
                hashes[n] = hash_token(data, start, i + np.int64(trailing_zeros(ends)))
                kinds[n] = WORD
                n += ONE
                ends &= ends - ONE
            if starts != 0:
                start, inside = i + np.int64(trailing_zeros(starts)), True
            i += plain
        while i < end and data[i] >= 0x80:
            run = 0 if inside else min(ideograph_bytes(data, i), end - i)
            if run > 0:
                for at in range(i, i + run, 3):
                    hashes[n] = xxh3_64_of_9_to_16(load32(data, at) & THREE_BYTES, u64(0), u64(16))
                    kinds[n] = CJK
                    n += ONE
                i += run
                continue
            code, length = decode(data, i)
            kind = np.int64(fold_entry(code, tables) >> CLASS_SHIFT & TWO_BITS)
            if kind == WORD:
                if not inside:
                    start, inside = i, True
            else:
                if inside:
                    hashes[n] = hash_token(data, start, i)
                    kinds[n] = WORD
                    n += ONE
                    inside = False
                if kind == CJK:
                    hashes[n] = hash_token(data, i, i + length)
                    kinds[n] = CJK
                    n += ONE
            i += length
    if inside:
        hashes[n] = hash_token(data, start, end)
        kinds[n] = WORD
        n += ONE
    return np.int64(n)
