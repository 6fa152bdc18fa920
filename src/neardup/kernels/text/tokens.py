"""Tokens of normalized text, as hashes: maximal runs of letters, marks and numbers; each Han or Kana character by itself."""

import numpy as np

from neardup.kernels.chosen_bytes import PLACES_BEHIND, put_positions
from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import load64, word_masks
from neardup.kernels.text.normalization import CLASS_SHIFT, TWO_BITS, decode, fold_entry, known_run
from neardup.kernels.wide_characters import wide_masks
from neardup.kernels.xxh3 import xxh3_64, xxh3_64_of_9_to_16

u64 = np.uint64
ONE, ALL = u64(1), ~u64(0)
WORD, CJK = 1, 2
# Of a token of n bytes, which of its first and of its second eight bytes are its own.
KEEP_FIRST = np.array([(1 << 8 * min(n, 8)) - 1 for n in range(17)], np.uint64)
KEEP_LAST = np.array([(1 << 8 * max(n - 8, 0)) - 1 for n in range(17)], np.uint64)


def most_tokens(length: int) -> int:
    """The most tokens that `length` bytes can hold: one-letter words with something between, ideographs of three bytes."""
    return length // 2 + 1


def token_spare(length: int) -> int:
    """Places that `tokenize` needs in `spare` for `length` bytes."""
    return 3 * (most_tokens(length) + PLACES_BEHIND)


@kernel
def find_tokens(data, i, end, starts, ends, kinds, tables):
    """Where the tokens of `data[i:end]` are: token k is data[starts[k]:ends[k]]. Returns their number.

    kinds[k] is 0 where the first byte says the kind: WORD if it is ASCII, else CJK; it is WORD ^ CJK where that is wrong.
    """
    kinds[: (end - i) // 2 + 1] = np.uint8(0)
    s, e, inside = u64(0), u64(0), u64(0)  # an index that cannot be negative costs no check
    while i < end:
        word, other = word_masks(data, i)
        cjk, plain = u64(0), 64
        if other != 0:
            cjk, separators = wide_masks(data, i)
            plain = known_run(other, cjk | separators)
        plain = min(plain, end - i)
        if plain > 0:
            keep = ALL >> u64(64 - plain)
            word &= keep
            cjk &= keep
            before = word << ONE | inside
            begun, ended = word & ~before | cjk, before & ~word & keep | cjk << u64(3)
            s, e = put_positions(begun, i, starts, s), put_positions(ended, i, ends, e)
            inside = word >> u64(plain - 1) & ONE
            i += plain
            continue
        while True:
            code, length = decode(data, i)
            kind = np.int64(fold_entry(code, tables) >> CLASS_SHIFT & TWO_BITS)
            if kind == WORD:
                if inside == 0:
                    starts[s] = i
                    kinds[s] = np.uint8(WORD ^ CJK)
                    s += ONE
                    inside = ONE
            else:
                if inside != 0:
                    ends[e] = i
                    e += ONE
                    inside = u64(0)
                if kind == CJK:
                    starts[s] = i
                    ends[e] = i + length
                    s += ONE
                    e += ONE
            i += length
            if i >= end or data[i] < 0x80 or np.uint8(data[i] - np.uint8(0xE2)) <= 7:
                break
    if inside != 0:
        ends[e] = end
    return np.int64(s)


@kernel
def tokenize(data, i, end, spare, hashes, kinds, tables):
    """Hash the tokens of `data[i:end]`, with each one's kind (WORD or CJK), in order.

    A token's hash is XXH3-64 of its UTF-8 bytes, filled up with zero bytes to 16: no token holds a zero byte, so different
    tokens stay different, and one path for nearly all leaves no branch to be mispredicted.

    uint8[], int, int -> uint64[], uint8[]; both of at least `most_tokens(end - i)` places, and `spare`, int64[], of
    `token_spare(end - i)`. `data` must be normalized, valid UTF-8, with 66 spare bytes behind `end`. Returns the number of tokens.
    """
    places = (end - i) // 2 + 1 + PLACES_BEHIND
    starts, ends, longer = spare[:places], spare[places : 2 * places], spare[2 * places :]
    n = find_tokens(data, i, end, starts, ends, kinds, tables)
    m = u64(0)
    for k in range(n):
        start, length = starts[k], ends[k] - starts[k]
        first, last = load64(data, start), load64(data, start + 8)
        short = u64(min(length, 16))
        hashes[k] = xxh3_64_of_9_to_16(first & KEEP_FIRST[short], last & KEEP_LAST[short], u64(16))
        kinds[k] ^= np.uint8(WORD) + (np.uint8(first) >> np.uint8(7))
        longer[m] = k
        m += u64(length > 16)
    for j in range(np.int64(m)):
        k = u64(longer[j])
        hashes[k] = xxh3_64(data, starts[k], ends[k])
    return n
