"""Where characters of a text come to lie in its folded form, one after another, as `neardup.kernels.text.normalization` folds
it.
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import load64
from neardup.kernels.text.normalization import (
    DELETED,
    ITSELF,
    KIND_SHIFT,
    SEVERAL,
    SPACE,
    TWO_BITS,
    VALUE_MASK,
    decode,
    fold_entry,
)

DROPPED, SPACES, PLAIN = range(3)
"""What becomes of an ASCII character: nothing, a space, or one byte."""
NEVER = 1 << 62
EIGHT, DELETE = 8, 0x7F
u64 = np.uint64
ONES, TOPS = u64(0x0101010101010101), u64(0x8080808080808080)


class Clusters(NamedTuple):
    """Stretches of a text whose folded form is composed further, so that it is known for each as a whole.

    Attributes:
        starts, ends: int64[n + 1], in bytes, ascending; the last ones lie behind the text.
        characters: int64[n + 1], how many each has.
        sizes: int64[n + 1], how many bytes each becomes.
        spaces: int64[n + 1], how many of these are a space at its beginning, which is dropped behind another.
    """

    starts: Array
    ends: Array
    characters: Array
    sizes: Array
    spaces: Array


@kernel
def bytes_of(code):
    """How many bytes of UTF-8 a code point has."""
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4


@kernel
def size_of(code, space, tables):
    """How many bytes a character becomes, if a space is last (or it is the first) or not; and whether (1 or 0) one is last then."""
    entry = fold_entry(code, tables)
    kind = entry >> KIND_SHIFT & TWO_BITS
    if kind == DELETED:
        return 0, space
    if kind != SEVERAL:
        folded = code if kind == ITSELF else np.int64(entry & VALUE_MASK)
        return (1 - space, 1) if folded == SPACE else (bytes_of(folded), 0)
    which, size = np.int64(entry & VALUE_MASK), 0
    for j in range(tables.expansion_starts[which], tables.expansion_starts[which + 1]):
        folded = np.int64(tables.expansions[j])
        if folded == SPACE:
            size += 1 - space
            space = 1
        else:
            size += bytes_of(folded)
            space = 0
    return size, space


@kernel
def is_copied(eight, space):
    """Whether eight bytes become themselves: ASCII without control characters and without two spaces together. `space`: whether
    (1 or 0) one precedes them.
    """
    spaces = eight ^ ONES * u64(SPACE)
    spaces = ~((spaces & ~TOPS) + ~TOPS | spaces) & TOPS  # the top bit of each byte that is one
    deleted = eight ^ ONES * u64(DELETE)
    others = eight | (eight - ONES * u64(SPACE)) & ~eight | (deleted - ONES) & ~deleted
    return others & TOPS == 0 and spaces & (spaces << u64(8) | u64(space) << u64(7)) == 0


@kernel
def find_characters(data, i, end, o, starts, ends, clusters, ascii_kinds, tables):
    """The first and the last character of the text `data[i:end]` (valid UTF-8) that make each of the tokens of its folded form,
    which begins at place o.

    `Clusters`, which hold all characters with marks; ascii_kinds: uint8[128], DROPPED, SPACES or PLAIN. starts, ends: int64[n],
    where the tokens are in the folded form, one after another -> the first and the last character of each, in the same memory,
    for a large text has many tokens.
    """
    character, b, e, c, space = 0, 0, 0, 0, 1
    cluster = clusters.starts[0]
    start, stop = (starts[0], ends[0]) if len(starts) > 0 else (NEVER, NEVER)
    while i < end:
        if i + EIGHT <= end and (cluster < i or i + EIGHT <= cluster) and is_copied(load64(data, i), space):
            while start < o + EIGHT:
                starts[b] = character + start - o
                b += 1
                start = starts[b] if b < len(starts) else NEVER
            while stop <= o + EIGHT:
                ends[e] = character + stop - o - 1
                e += 1
                stop = ends[e] if e < len(ends) else NEVER
            space = np.int64(data[i + EIGHT - 1] == SPACE)
            o, i, character = o + EIGHT, i + EIGHT, character + EIGHT
            continue
        count, byte = 1, data[i]
        if i == cluster:
            o += clusters.sizes[c] - clusters.spaces[c] * space
            i, count, space = clusters.ends[c], clusters.characters[c], 0
            c += 1
            cluster = clusters.starts[c]
        elif byte < 0x80:
            kind = ascii_kinds[byte]
            is_space = np.int64(kind == SPACES)
            o += np.int64(kind == PLAIN) | is_space & (1 - space)
            space = is_space | space & np.int64(kind == DROPPED)
            i += 1
        else:
            code, length = decode(data, i)
            size, space = size_of(code, space, tables)
            o += size
            i += length
        while o > start:
            starts[b] = character
            b += 1
            start = starts[b] if b < len(starts) else NEVER
        while o >= stop:
            ends[e] = character + count - 1
            e += 1
            stop = ends[e] if e < len(ends) else NEVER
        character += count


@kernel
def has_marks(data, i, end, makes_marks):
    """Whether a text has a character that makes marks; bool[0x110000]."""
    while i < end:
        if i + EIGHT <= end and load64(data, i) & TOPS == 0:
            i += EIGHT
            continue
        code, length = decode(data, i)
        if makes_marks[code]:
            return True
        i += length
    return False


@kernel
def find_all_characters(
    data, offsets, begins, starts, ends, tokens, no_clusters, ascii_kinds, makes_marks, waiting, tables
):
    """`find_characters` of the texts data[offsets[d]:offsets[d + 1]], whose folded forms begin at begins[d], and which have the
    tokens from tokens[d] to tokens[d + 1]. Where a text has marks, nothing is done but to set waiting[d], bool[n].
    """
    for d in range(len(offsets) - 1):
        first, last = tokens[d], tokens[d + 1]
        waiting[d] = has_marks(data, offsets[d], offsets[d + 1], makes_marks)
        if not waiting[d]:
            find_characters(
                data, offsets[d], offsets[d + 1], begins[d], starts[first:last], ends[first:last], no_clusters, ascii_kinds, tables
            )  # fmt: skip


@kernel
def find_bytes(data, characters, out):
    """Where some characters of UTF-8 begin: characters: int64[n], ascending, counted from 0 -> out: int64[n]. The character behind
    the last one begins at the end.
    """
    k, c, n = 0, 0, len(characters)
    for i in range(len(data)):
        if k == n:
            return
        if data[i] & 0xC0 != 0x80:
            if characters[k] == c:
                out[k] = i
                k += 1
            c += 1
    for j in range(k, n):
        out[j] = len(data)
