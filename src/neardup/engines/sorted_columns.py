"""SORTED columns: in which order they ascend, where their values begin, in which runs, and where values are that are looked up."""

import numpy as np

from neardup.arrays import Array
from neardup.engines.schemas import ROW_BITS

WORD_BITS = 64


def ascending(*columns: Array) -> Array:
    """int64[n]: the order in which rows ascend by columns of integers, the first one first; equal rows stay as they are.

    Columns whose ranges allow it are put into one word a row, which takes a third of the time.
    """
    words = _words(*columns)
    if words is None:
        words = _words(*map(_dense, columns))
    found: Array = np.lexsort(columns[::-1]) if words is None else np.argsort(words, kind="stable")
    return found


def _words(*columns: Array) -> Array | None:
    """uint64[n], which ascend as the rows do; None if the columns have too many bits."""
    found = np.zeros(len(columns[0]), np.uint64)
    if not len(found):
        return found
    least = [int(column.min()) for column in columns]
    bits = [(int(column.max()) - low).bit_length() for column, low in zip(columns, least, strict=True)]
    if sum(bits) > WORD_BITS:
        return None
    for column, low, width in zip(columns, least, bits, strict=True):
        found <<= np.uint64(width % WORD_BITS)  # a column of 64 bits is the only one with any
        found |= (column.astype(np.int64) - low).view(np.uint64)
    return found


def _dense(column: Array) -> Array:
    """int64[n] that ascend as documents do, by their parts and rows, without the numbers that no row of a part has."""
    column = column.astype(np.int64)
    parts, rows = column >> ROW_BITS, column & ((1 << ROW_BITS) - 1)
    parts, most = parts - parts.min(), int(rows.max()) + 1
    return column if (int(parts.max()) + 1) * most >= 1 << (WORD_BITS - 1) else parts * most + rows


def beginnings(*columns: Array) -> Array:
    """bool[n]: where a row differs from the one before, in any column."""
    found = np.ones(len(columns[0]), np.bool_)
    if len(found):
        found[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return found


def runs(*columns: Array) -> Array:
    """int64[n]: the numbers of the runs of equal rows, from 0 on."""
    return np.cumsum(beginnings(*columns)) - 1


def heavier(keys: Array, weights: Array, *, most: int) -> Array:
    """The keys (int64[n], in any order, ascending here) whose weights together are more than so much."""
    known, of = np.unique(keys, return_inverse=True)
    found: Array = known[np.bincount(of, weights, len(known)) > most]
    return found


def distinct(left: Array, right: Array) -> tuple[Array, Array]:
    """Pairs, ascending, each once."""
    order = ascending(left, right)
    left, right = left[order], right[order]
    new = beginnings(left, right)
    return left[new], right[new]


def looked_up(known: Array, asked: Array) -> tuple[Array, Array]:
    """bool[n], int64[n]: whether values are among those known, which ascend, and where; anywhere, if they are not."""
    if not len(known):
        return np.zeros(len(asked), np.bool_), np.zeros(len(asked), np.int64)
    at = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    return known[at] == asked, at
