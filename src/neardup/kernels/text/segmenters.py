"""The spans of tokens that need no dictionary: characters, and what stands between white space; and which tokens are listed."""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.text.normalization import (
    CLASS_SHIFT,
    KIND_SHIFT,
    ONE,
    SPACE,
    TWO_BITS,
    VALUE_MASK,
    decode,
    fold_entry,
)
from neardup.kernels.text.tokens import WORD

u64 = np.uint64


@kernel
def find_words_plainly(data, offsets, starts, ends, kinds, documents, tables):
    """As `neardup.kernels.fingerprints.features.find_words`, for any valid UTF-8: that one knows only what NFKC case folding
    leaves.

    starts, ends: int64[], kinds: uint8[], with a place for every second byte and one more a document.
    """
    t = 0
    documents[0] = 0
    for d in range(len(offsets) - 1):
        i = offsets[d]
        inside = False
        while i < offsets[d + 1]:
            code, length = decode(data, i)
            kind = fold_entry(code, tables) >> CLASS_SHIFT & TWO_BITS
            if kind == WORD and inside:
                ends[t - 1] = i + length
            elif kind != 0:
                starts[t], ends[t], kinds[t] = i, i + length, kind
                t += 1
            inside = kind == WORD
            i += length
        documents[d + 1] = t


@kernel
def find_characters(data, offsets, starts, ends, documents, tables):
    """The spans of the letters, marks and numbers of the documents `data[offsets[d]:offsets[d + 1]]`, valid UTF-8.

    starts, ends: int64[], with a place for each byte. documents: int64[n + 1], where the tokens of each document begin.
    """
    t = 0
    documents[0] = 0
    for d in range(len(offsets) - 1):
        i = offsets[d]
        while i < offsets[d + 1]:
            code, length = decode(data, i)
            if fold_entry(code, tables) >> CLASS_SHIFT & TWO_BITS != 0:
                starts[t], ends[t] = i, i + length
                t += 1
            i += length
        documents[d + 1] = t


@kernel
def is_space(code, tables):
    """Whether a code point is white space: the tables fold that, and nothing else, to a space."""
    entry = fold_entry(code, tables)
    return code == SPACE or (entry >> KIND_SHIFT & TWO_BITS == ONE and entry & VALUE_MASK == SPACE)


@kernel
def find_between_spaces(data, offsets, starts, ends, documents, tables):
    """The spans of what stands between white space and holds a letter, mark or number.

    Documents as for `find_characters`; starts, ends: int64[], with a place for every second byte and one more a document.
    """
    t = 0
    documents[0] = 0
    for d in range(len(offsets) - 1):
        i = begin = offsets[d]
        keep = False
        while i < offsets[d + 1]:
            code, length = decode(data, i)
            if is_space(code, tables):
                if keep:
                    starts[t], ends[t] = begin, i
                    t += 1
                begin, keep = i + length, False
            elif not keep:
                keep = fold_entry(code, tables) >> CLASS_SHIFT & TWO_BITS != 0
            i += length
        if keep:
            starts[t], ends[t] = begin, i
            t += 1
        documents[d + 1] = t


@kernel
def list_hashes(hashes, table):
    """Put hashes into `table`, uint64[], zero throughout, a power of two that is more than there are hashes."""
    mask = u64(len(table) - 1)
    for value in hashes:
        place = value & mask
        while table[np.int64(place)] != 0 and table[np.int64(place)] != value:
            place = (place + u64(1)) & mask
        table[np.int64(place)] = value


@kernel
def not_listed(hashes, table, keep):
    """Which hashes are not in a table by `list_hashes`: bool[t]."""
    mask = u64(len(table) - 1)
    for t in range(len(hashes)):
        place = hashes[t] & mask
        while table[np.int64(place)] != 0 and table[np.int64(place)] != hashes[t]:
            place = (place + u64(1)) & mask
        keep[t] = table[np.int64(place)] == 0
