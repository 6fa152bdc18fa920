"""Tokens of normalized text, as hashes: maximal runs of letters, marks and numbers; each Han or Kana character by itself."""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import trailing_zeros, word_masks
from neardup.kernels.normalization import CLASS_SHIFT, TWO_BITS, decode, fold_entry
from neardup.kernels.xxh3 import xxh3_64

u64 = np.uint64
ONE, ALL = u64(1), ~u64(0)
WORD, CJK = 1, 2


def most_tokens(length: int) -> int:
    """The most tokens that `length` bytes can hold: one-letter words with something between, ideographs of three bytes."""
    return length // 2 + 1


@kernel
def add_token(data, start, end, kind, hashes, kinds, n):
    hashes[n] = xxh3_64(data, start, end)
    kinds[n] = kind
    return n + 1


@kernel
def tokenize(data, i, end, hashes, kinds, tables):
    """Hash the tokens of `data[i:end]`: XXH3-64 of each token's UTF-8 bytes, and its kind (WORD or CJK), in order.

    uint8[], int, int -> uint64[], uint8[]; both of at least `most_tokens(end - i)` places. `data` must be normalized, valid
    UTF-8, with 64 spare bytes behind `end`. Returns the number of tokens.
    """
    n, start, inside = 0, i, False
    while i < end:
        word, other = word_masks(data, i)
        plain = min(np.int64(trailing_zeros(other)), end - i)  # bytes before the first that is not ASCII
        if plain > 0:
            keep = ALL if plain == 64 else (ONE << u64(plain)) - ONE
            word &= keep
            edges = (word ^ (word << ONE | u64(inside))) & keep
            while edges != 0:
                edge = i + np.int64(trailing_zeros(edges))
                edges &= edges - ONE
                if inside:
                    n = add_token(data, start, edge, WORD, hashes, kinds, n)
                inside = not inside
                start = edge
            i += plain
        while i < end and data[i] >= 0x80:
            code, length = decode(data, i)
            kind = np.int64(fold_entry(code, tables) >> CLASS_SHIFT & TWO_BITS)
            if kind == WORD:
                if not inside:
                    start, inside = i, True
            else:
                if inside:
                    n = add_token(data, start, i, WORD, hashes, kinds, n)
                    inside = False
                if kind == CJK:
                    n = add_token(data, i, i + length, CJK, hashes, kinds, n)
            i += length
    if inside:
        n = add_token(data, start, end, WORD, hashes, kinds, n)
    return n
