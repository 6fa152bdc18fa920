"""The character tables: the folding and the token class of each code point.

They were generated once from Unicode 14.0.0 by tools/make_unicode_tables.py, and are shipped so that fingerprints do not change
with the Python version. Characters that a later Unicode assigns are separators here, except in the planes reserved for ideographs.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.text.normalization import CLASS_SHIFT, TWO_BITS
from neardup.kernels.text.tokens import CJK
from neardup.recipe.tables.parts import VERSION

UNICODE_VERSION = "14.0.0"


class FoldTables(NamedTuple):
    """The tables of the normalizing and tokenizing kernels; the entry of c is `fold_blocks[fold_index[c >> 7] << 7 | c & 127]`.

    A fold entry holds a value (bits 0 to 20), its kind (21, 22: itself, one code point, several, deleted), the token class
    (23, 24: separator, word, Han or Kana) and whether the code point has a mark entry other than 0 (25). A mark entry is the
    canonical combining class, or 255 where the code point may merge with the one before it.
    """

    fold_index: Array
    fold_blocks: Array
    mark_index: Array
    mark_blocks: Array
    expansion_starts: Array
    expansions: Array


@cache
def _file() -> dict[str, Array]:
    with np.load(Path(__file__).with_name(f"unicode-{UNICODE_VERSION}.npz")) as arrays:
        return dict(arrays)


@cache
def fold_tables(version: int = VERSION) -> FoldTables:
    """The tables by a version of a recipe, loaded once. They differ in the classes of characters alone: texts are folded alike."""
    tables = FoldTables(**{name: _file()[name] for name in FoldTables._fields})
    return tables if version == VERSION else _with_singles(tables, _codes("spaceless"), _codes("emoji"))


def entries_of(index: Array, blocks: Array, codes: Array) -> Array:
    """The entries of code points (int64[n]) in a table of `FoldTables`, which is given as its index and its blocks."""
    found: Array = blocks[index[codes >> 7].astype(np.int64) << 7 | codes & 127]
    return found


def _codes(name: str) -> Array:
    """The code points of ranges in the file."""
    return np.concatenate([np.arange(first, end) for first, end in _file()[name].reshape(-1, 2)])


def _with_singles(tables: FoldTables, *codes: Array) -> FoldTables:
    """The same tables, in which these code points are tokens by themselves, as Han and Kana are."""
    singles = np.concatenate(codes)
    changed, blocks = np.unique(singles >> 7, return_inverse=True)
    known = tables.fold_blocks.reshape(-1, 128)
    entries = known[tables.fold_index[changed]]
    found = entries[blocks, singles & 127] & ~(TWO_BITS << CLASS_SHIFT) | np.uint32(CJK) << CLASS_SHIFT
    entries[blocks, singles & 127] = found
    index = tables.fold_index.copy()
    index[changed] = len(known) + np.arange(len(changed))
    return tables._replace(fold_index=index, fold_blocks=np.concatenate([known, entries]).ravel())


LETTER, SPACELESS, POINT, EMOJI = 1, 2, 3, 4
_POINTED = range(0x590, 0x900)
"""Hebrew, Arabic and Syriac, in which vowel signs may be left out; those of other scripts belong to the spelling."""


@cache
def character_kinds() -> Array:
    """uint8[0x110000]: LETTER for letters, marks and numbers, and instead of it SPACELESS for those of scripts that write no spaces
    between words, without Han and Kana, and POINT for vowel signs that may be left out; EMOJI; otherwise 0.
    """
    tables = fold_tables()
    blocks = (tables.fold_blocks >> CLASS_SHIFT & TWO_BITS != 0).astype(np.uint8) * np.uint8(LETTER)
    found: Array = blocks.reshape(-1, 128)[tables.fold_index].ravel()
    found[_codes("spaceless")], found[_codes("emoji")] = SPACELESS, EMOJI
    found[[code for code, new in changed_characters("marks").items() if new == REMOVED and code in _POINTED]] = POINT
    found.flags.writeable = False
    return found


REMOVED = 0x110000


def changed_characters(name: str) -> dict[int, int]:
    """What the characters become that the normalizer `marks` or `letters` changes, by their code points; REMOVED if nothing."""
    found: dict[int, int] = dict(_file()[name].tolist())
    return found


DIGIT, PUNCTUATION = 1, 2


@cache
def removal_table() -> Array:
    """uint8[0x110000]: DIGIT for decimal digits (Nd), PUNCTUATION for punctuation (P) and ASCII symbols, otherwise 0."""
    table = np.zeros(0x110000, np.uint8)
    for name, value in (("decimal_digits", DIGIT), ("punctuation", PUNCTUATION)):
        for first, last in _file()[name].reshape(-1, 2):
            table[first:last] = value
    table.flags.writeable = False
    return table


def assigned_ranges() -> list[tuple[int, int]]:
    """The code points that Unicode 14.0.0 assigns, as half-open ranges."""
    edges = _file()["assigned"].tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))
