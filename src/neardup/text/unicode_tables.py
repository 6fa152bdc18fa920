"""The character tables: the folding and the token class of each code point.

They were generated once from Unicode 14.0.0 by tools/make_unicode_tables.py, and are shipped so that fingerprints do not change
with the Python version. Characters that a later Unicode assigns are separators here, except in the planes reserved for ideographs.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from neardup.arrays import Array

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
def fold_tables() -> FoldTables:
    """The tables, loaded once."""
    return FoldTables(**{name: _file()[name] for name in FoldTables._fields})


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
