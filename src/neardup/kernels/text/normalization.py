"""NFKC case folding of UTF-8 text, character by character through tables, 64 bytes at a time where it is ASCII.

The mapping is toNFKC_Casefold (The Unicode Standard 14.0, section 3.13, R5), then each run of white space becomes one space
and none is left at the ends. The last step of R5, composing what follows one another (NFC), is left to the caller where it
would change anything: such documents are flagged.
"""

import numpy as np

from neardup.kernels.chosen_bytes import put_ascii, put_wide
from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import guessed, space_masks, trailing_zeros
from neardup.kernels.wide_characters import full_width_mask, wide_masks

u64 = np.uint64
ONE_BIT, ALL_BITS = u64(1), ~u64(0)
VALUE_MASK = np.uint32((1 << 21) - 1)
KIND_SHIFT, CLASS_SHIFT, MARK_SHIFT = np.uint32(21), np.uint32(23), np.uint32(25)
TWO_BITS = np.uint32(3)
ITSELF, ONE, SEVERAL, DELETED = range(4)
COMPOSES = 255
SPACE = 0x20
LONGEST_EXPANSION = 128  # bytes; U+FDFA, the longest, takes 33
SPARE = 64 + LONGEST_EXPANSION  # bytes that an output buffer needs beyond what is written


@kernel
def known_run(other, starts):
    """Of 64 bytes, how many precede the first character that is neither ASCII nor begins (and ends) at a bit of `starts`."""
    starts &= ALL_BITS >> u64(3)
    return np.int64(trailing_zeros(other & ~(starts | starts << u64(1) | starts << u64(2))))


@kernel
def likely_run(data, i):
    """How many of 64 bytes `known_run` gives if all characters are known: up to the last that begins in the last three bytes."""
    last, middle, first = data[i + 63] >= 0xC0, data[i + 62] >= 0xC0, data[i + 61] >= 0xC0
    return 64 - np.int64(last) - 2 * np.int64(middle) - 3 * np.int64(first)


@kernel
def end_of_run(i, plain, likely):
    """Where a run ends, `i + plain`. If it is as long as it was likely to be, nothing waits until that is known.

    `likely`: 0 if all is ASCII, where the length is known at once.
    """
    if plain == likely:
        return i + guessed(likely)
    return i + plain


@kernel
def decode(data, i):
    """The code point whose UTF-8 bytes start at `data[i]`, and their number. The text must be valid UTF-8."""
    first = np.int64(data[i])
    if first < 0x80:
        return first, 1
    if first < 0xE0:
        return (first & 0x1F) << 6 | np.int64(data[i + 1]) & 0x3F, 2
    if first < 0xF0:
        return (first & 0x0F) << 12 | (np.int64(data[i + 1]) & 0x3F) << 6 | np.int64(data[i + 2]) & 0x3F, 3
    return (
        (first & 0x07) << 18
        | (np.int64(data[i + 1]) & 0x3F) << 12
        | (np.int64(data[i + 2]) & 0x3F) << 6
        | np.int64(data[i + 3]) & 0x3F
    ), 4


@kernel
def encode(code, out, o):
    """Write `code` as UTF-8 at `out[o]`; returns the next free position."""
    if code < 0x80:
        out[o] = np.uint8(code)
        return o + 1
    if code < 0x800:
        out[o] = np.uint8(0xC0 | code >> 6)
        out[o + 1] = np.uint8(0x80 | code & 0x3F)
        return o + 2
    if code < 0x10000:
        out[o] = np.uint8(0xE0 | code >> 12)
        out[o + 1] = np.uint8(0x80 | code >> 6 & 0x3F)
        out[o + 2] = np.uint8(0x80 | code & 0x3F)
        return o + 3
    out[o] = np.uint8(0xF0 | code >> 18)
    out[o + 1] = np.uint8(0x80 | code >> 12 & 0x3F)
    out[o + 2] = np.uint8(0x80 | code >> 6 & 0x3F)
    out[o + 3] = np.uint8(0x80 | code & 0x3F)
    return o + 4


@kernel
def fold_entry(code, tables):
    return tables.fold_blocks[np.int64(tables.fold_index[code >> 7]) << 7 | code & 127]


@kernel
def mark_of(code, tables):
    """0, or the combining class of `code`, or COMPOSES."""
    if code < 0x300 or fold_entry(code, tables) >> MARK_SHIFT == 0:
        return 0
    return np.int64(tables.mark_blocks[np.int64(tables.mark_index[code >> 7]) << 7 | code & 127])


@kernel
def emit(code, out, o, start, mark, hard, tables):
    """Write one folded code point, unless it is a space after a space. Returns `o`, the last mark, and whether NFC is needed."""
    if code == SPACE:
        if o > start and out[o - 1] != SPACE:
            out[o] = np.uint8(SPACE)
            o += 1
        return o, 0, hard
    now = mark_of(code, tables)
    if now == COMPOSES or (now != 0 and now < mark):
        hard = True
    return encode(code, out, o), now, hard


@kernel
def fold_document(data, i, end, out, o, tables):
    """Fold `data[i:end]` to `out[o:]`. Returns the end of what was written (-1 if `out` is too small) and whether NFC is needed."""
    start, mark, hard = o, 0, False
    limit = len(out) - SPARE
    after_space = ONE_BIT  # at the start, too, white space is dropped
    while i < end:
        if o > limit:
            return -1, hard
        first = data[i]
        if i + 130 <= len(data) and (first < 0x80 or np.uint8(first - np.uint8(0xE2)) <= 13):
            other, space = space_masks(data, i)
            plain, likely, wide = 64, 0, u64(0)
            if other != 0:
                likely = likely_run(data, i)
                cjk, separators = wide_masks(data, i)
                wide = full_width_mask(data, i)
                plain = known_run(other, cjk | separators | wide)
            plain = min(plain, end - i)
            if plain > 0:
                drop = space & (space << ONE_BIT | after_space) | wide << u64(1) | wide << u64(2)
                kept = ~drop & (ALL_BITS >> u64(64 - plain))
                o = put_wide(data, i, kept, out, o) if wide != 0 else put_ascii(data, i, kept, out, o)
                after_space = space >> u64(plain - 1) & ONE_BIT
                i = end_of_run(i, plain, likely)
                mark = 0
                continue
        code, length = decode(data, i)
        entry = fold_entry(code, tables)
        kind = entry >> KIND_SHIFT & TWO_BITS
        if kind == ITSELF:
            o, mark, hard = emit(code, out, o, start, mark, hard, tables)
        elif kind == ONE:
            o, mark, hard = emit(np.int64(entry & VALUE_MASK), out, o, start, mark, hard, tables)
        elif kind == SEVERAL:
            which = np.int64(entry & VALUE_MASK)
            for j in range(tables.expansion_starts[which], tables.expansion_starts[which + 1]):
                o, mark, hard = emit(np.int64(tables.expansions[j]), out, o, start, mark, hard, tables)
        after_space = u64(o == start or out[o - 1] == SPACE)
        i += length
    if o > start and out[o - 1] == SPACE:
        o -= 1
    return o, hard


@kernel
def fold_documents(data, offsets, first, out, out_offsets, hard, tables):
    """Fold the documents `data[offsets[d]:offsets[d + 1]]` for d from `first` on, one after another, into `out`.

    uint8[], int64[n + 1], int -> uint8[], int64[n + 1], bool[n]. `data` must be valid UTF-8. `out_offsets[first]` says where
    to begin. Returns the number of documents done: fewer than n where `out` is too small for the next one.
    """
    for d in range(first, len(offsets) - 1):
        o, needed = fold_document(data, offsets[d], offsets[d + 1], out, out_offsets[d], tables)
        if o < 0:
            return d
        hard[d] = needed
        out_offsets[d + 1] = o
    return len(offsets) - 1


@kernel
def replace_characters(data, offsets, table, digit, dropped, out, out_offsets):
    """The documents without the characters for which `table` has `dropped`, and with a 0 for those for which it has `digit`.

    uint8[], int64[n + 1], uint8[0x110000] -> uint8[] of at least as many bytes, int64[n + 1]. The text must be valid UTF-8.
    """
    o = 0
    for d in range(len(offsets) - 1):
        out_offsets[d] = o
        i = offsets[d]
        while i < offsets[d + 1]:
            code, length = decode(data, i)
            what = table[code]
            if what != 0 and what == digit:
                out[o] = np.uint8(0x30)
                o += 1
            elif what == 0 or what != dropped:
                for j in range(length):
                    out[o + j] = data[i + j]
                o += length
            i += length
    out_offsets[len(offsets) - 1] = o
