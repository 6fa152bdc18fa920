"""Tokens of normalized text, as hashes: maximal runs of letters, marks and numbers; each Han or Kana character by itself.

Most texts in Chinese and Japanese are of characters of U+3001 to U+9FFF, whose tokens are known by *code*: the code point less
FIRST_CODE. Their hashes are looked up. Every other token is *named*: its hash is computed from its bytes.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.chosen_bytes import CODES_BEHIND, PLACES_BEHIND, put_codes, put_positions
from neardup.kernels.compilation import kernel
from neardup.kernels.constants import FIRST_CODE
from neardup.kernels.intrinsics import load64, popcount, word_masks
from neardup.kernels.text.normalization import (
    CLASS_SHIFT,
    TWO_BITS,
    decode,
    end_of_run,
    fold_entry,
    known_run,
    likely_run,
)
from neardup.kernels.wide_characters import wide_masks
from neardup.kernels.xxh3 import xxh3_64, xxh3_64_of_9_to_16

u64 = np.uint64
ONE, ALL = u64(1), ~u64(0)
WORD, CJK = 1, 2
CODES = 0xA000 - FIRST_CODE
"""Codes are below this one; 0 is that of a named token."""
# Of a token of n bytes, which of its first and of its second eight bytes are its own.
KEEP_FIRST = np.array([(1 << 8 * min(n, 8)) - 1 for n in range(17)], np.uint64)
KEEP_LAST = np.array([(1 << 8 * max(n - 8, 0)) - 1 for n in range(17)], np.uint64)


class TokenArrays(NamedTuple):
    """The tokens of one text, and working memory to find them.

    Attributes:
        codes: uint16[], of each token; 0 if it is named.
        named, named_kinds: uint64[], the hashes of the named tokens, and uint8[], their kinds, WORD or CJK.
        hashes, hash_bytes: uint64[], the hashes of all tokens, and the same memory as uint8[].
        kinds: uint8[], of all tokens, WORD or CJK.
        spare: int64[], four parts as long as each other.
        of_codes: uint64[CODES], the hash of each code.
    """

    codes: Array
    named: Array
    named_kinds: Array
    hashes: Array
    hash_bytes: Array
    kinds: Array
    spare: Array
    of_codes: Array


def most_tokens(length: int) -> int:
    """The most tokens that `length` bytes can hold: one-letter words with something between, ideographs of three bytes."""
    return length // 2 + 1


def token_arrays(longest: int) -> TokenArrays:
    """Room for the tokens of a text of at most `longest` bytes."""
    n = most_tokens(longest)
    hashes = np.empty(n, np.uint64)
    return TokenArrays(
        codes=np.empty(n + CODES_BEHIND, np.uint16),
        named=np.empty(n + 1, np.uint64),
        named_kinds=np.empty(n + 1, np.uint8),
        hashes=hashes,
        hash_bytes=hashes.view(np.uint8),
        kinds=np.empty(n, np.uint8),
        spare=np.empty(4 * (n + PLACES_BEHIND), np.int64),
        of_codes=hashes_of_codes(),
    )


@cache
def hashes_of_codes() -> Array:
    """uint64[CODES]: the hash of the token that is the character of each code; 0 for code 0."""
    found = np.zeros(CODES, np.uint64)
    hash_codes(found)
    found.flags.writeable = False
    return found


@kernel
def hash_codes(out):
    """out[c] (uint64): the hash of the character of code c, but for code 0."""
    for c in range(1, len(out)):
        code = u64(c + FIRST_CODE)
        first = code >> u64(12) | (code >> u64(6) & u64(0x3F)) << u64(8) | (code & u64(0x3F)) << u64(16)
        out[c] = xxh3_64_of_9_to_16(first | u64(0x8080E0), u64(0), u64(16))


@kernel
def hash_of_span(data, start, end):
    """XXH3-64 of a token's UTF-8 bytes, filled up with zero bytes to 16. There are 16 spare bytes behind `end`.

    No token holds a zero byte, so different tokens stay different, and one path for nearly all leaves no branch to be mispredicted.
    """
    length = end - start
    if length > 16:
        return xxh3_64(data, start, end)
    first, last = load64(data, start), load64(data, start + 8)
    return xxh3_64_of_9_to_16(first & KEEP_FIRST[length], last & KEEP_LAST[length], u64(16))


@kernel
def find_tokens(data, i, end, starts, ends, kinds, tables):
    """Where the tokens of `data[i:end]` are: token k is data[starts[k]:ends[k]]. Returns their number.

    kinds[k] is 0 where the first byte says the kind: WORD if it is ASCII, else CJK; it is WORD ^ CJK where that is wrong.
    """
    kinds[: (end - i) // 2 + 1] = np.uint8(0)
    s, e, inside = u64(0), u64(0), u64(0)  # an index that cannot be negative costs no check
    while i < end:
        word, other = word_masks(data, i)
        cjk, plain, likely = u64(0), 64, 0
        if other != 0:
            likely = likely_run(data, i)
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
            i = end_of_run(i, plain, likely)
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
def put_no_codes(codes, t, begun):
    """Write code 0 for each bit of `begun`, of which no two are neighbors, from place `t` on; returns the next place."""
    for k in range(32):
        codes[t + u64(k)] = np.uint16(0)
    return t + popcount(begun)


@kernel
def find_codes(data, i, end, codes, starts, ends, rare, tables):
    """The codes of the tokens of `data[i:end]`, in order; and where the named ones are: number k is data[starts[k]:ends[k]].

    codes: uint16[]; starts, ends: int64[]. `rare`: int64[], the numbers of the named ones that are Han or Kana characters; all
    others are words. Returns how many tokens there are, how many are named, and how many are rare.
    """
    t, s, e, r, inside = u64(0), u64(0), u64(0), u64(0), u64(0)  # an index that cannot be negative costs no check
    while i < end:
        word, other = word_masks(data, i)
        cjk, plain, likely = u64(0), 64, 0
        if other != 0:
            likely = likely_run(data, i)
            cjk, separators = wide_masks(data, i)
            plain = known_run(other, cjk | separators)
        plain = min(plain, end - i)
        if plain > 0:
            keep = ALL >> u64(64 - plain)
            word &= keep
            cjk &= keep
            before = word << ONE | inside
            begun = word & ~before
            if word | inside != 0:
                s, e = put_positions(begun, i, starts, s), put_positions(before & ~word & keep, i, ends, e)
            t = put_codes(data, i, begun | cjk, cjk, codes, t) if cjk != 0 else put_no_codes(codes, t, begun)
            inside = word >> u64(plain - 1) & ONE
            i = end_of_run(i, plain, likely)
            continue
        while True:
            code, length = decode(data, i)
            kind = np.int64(fold_entry(code, tables) >> CLASS_SHIFT & TWO_BITS)
            if kind == WORD:
                if inside == 0:
                    starts[s], codes[t] = i, 0
                    s += ONE
                    t += ONE
                    inside = ONE
            else:
                if inside != 0:
                    ends[e] = i
                    e += ONE
                    inside = u64(0)
                if kind == CJK:
                    known = FIRST_CODE < code < FIRST_CODE + CODES
                    codes[t] = np.uint16(code - FIRST_CODE if known else 0)
                    t += ONE
                    if not known:
                        starts[s], ends[e], rare[r] = i, i + length, s
                        s += ONE
                        e += ONE
                        r += ONE
            i += length
            if i >= end or data[i] < 0x80 or np.uint8(data[i] - np.uint8(0xE2)) <= 7:
                break
    if inside != 0:
        ends[e] = end
    return np.int64(t), np.int64(s), np.int64(r)


@kernel
def hash_named(data, n, starts, ends, hashes, longer):
    """The hashes of n spans of `data`, uint64[n], as `hash_of_span` has them. `longer`: int64[], scratch."""
    m = u64(0)
    for k in range(n):
        start, length = starts[k], ends[k] - starts[k]
        first, last = load64(data, start), load64(data, start + 8)
        short = u64(min(length, 16))
        hashes[k] = xxh3_64_of_9_to_16(first & KEEP_FIRST[short], last & KEEP_LAST[short], u64(16))
        longer[m] = k
        m += u64(length > 16)
    for j in range(np.int64(m)):
        k = u64(longer[j])
        hashes[k] = xxh3_64(data, starts[k], ends[k])


@kernel
def code_tokens(data, i, end, tokens, tables):
    """Find the tokens of `data[i:end]`: the codes of all, the hashes and kinds of the named ones, in order.

    uint8[], int, int -> `TokenArrays`. `data` must be normalized, valid UTF-8, with 66 spare bytes behind `end`. Returns the
    number of tokens, and how many are named.
    """
    places = len(tokens.spare) // 4
    starts, ends = tokens.spare[:places], tokens.spare[places : 2 * places]
    longer, rare = tokens.spare[2 * places : 3 * places], tokens.spare[3 * places :]
    n, m, r = find_codes(data, i, end, tokens.codes, starts, ends, rare, tables)
    hash_named(data, m, starts, ends, tokens.named, longer)
    tokens.named_kinds[:m] = np.uint8(WORD)
    for k in range(r):
        tokens.named_kinds[rare[k]] = np.uint8(CJK)
    return n, m


@kernel
def spread_tokens(n, m, tokens):
    """The hashes and kinds of all n tokens, in order, from what `code_tokens` found, m of them named."""
    codes, hashes, kinds, k = tokens.codes, tokens.hashes, tokens.kinds, u64(0)
    if m == n:
        for t in range(n):
            hashes[t], kinds[t] = tokens.named[t], tokens.named_kinds[t]
        return
    for t in range(n):
        code = u64(codes[t])
        named, kind = tokens.named[k], tokens.named_kinds[k]  # of the next one, or behind the last
        hashes[t] = tokens.of_codes[code] if code != 0 else named
        kinds[t] = np.uint8(CJK) if code != 0 else kind
        k += u64(code == 0)


@kernel
def tokenize(data, i, end, tokens, tables):
    """Hash the tokens of `data[i:end]`, with each one's kind (WORD or CJK), in order; see `code_tokens`. Returns their number."""
    n, m = code_tokens(data, i, end, tokens, tables)
    spread_tokens(n, m, tokens)
    return n
