"""SORTED columns: in which order they ascend, where their values begin, in which runs, and where values are that are looked up."""

from collections.abc import Sequence
from functools import reduce

import numpy as np

from neardup.arrays import Array
from neardup.engines.schemas import ROW_BITS
from neardup.kernels.engines.sorting import DIGIT, sort_words

WORD_BITS = 64


def ascending(*columns: Array) -> Array:
    """int64[n]: the order in which rows ascend by columns of integers, the first one first; equal rows stay as they are.

    Columns are put together, the last ones first, into words that have room for the number of a row, and these are sorted.
    """
    n = len(columns[0])
    found: Array | None = None
    waiting: list[tuple[Array, int]] = []
    bits, room = 0, WORD_BITS - max(n - 1, 0).bit_length()
    for column, width in map(_narrow, reversed(columns)) if n else ():
        if waiting and bits + width > room:
            found, waiting, bits = _sorted(waiting, bits, found), [], 0
        waiting.append((column, bits))
        bits += width
    return _sorted(waiting, bits, found) if n else np.empty(0, np.int64)


def _narrow(column: Array) -> tuple[Array, int]:
    """uint64[n] that ascend as a column does, from 0 on, and how many bits they have."""
    found, bits = _from_least(column.astype(np.int64))
    if bits > ROW_BITS:  # documents, or keys
        parts, rows = column >> ROW_BITS, column & ((1 << ROW_BITS) - 1)
        rows -= rows.min()
        parts, most = parts - parts.min(), int(rows.max()) + 1
        if int(parts.max()) < (1 << (WORD_BITS - 1)) // most:
            return _from_least(parts * most + rows)
    return found, bits


def _from_least(column: Array) -> tuple[Array, int]:
    found = (column - column.min()).view(np.uint64)
    return found, int(found.max()).bit_length()


def _sorted(columns: Sequence[tuple[Array, int]], bits: int, before: Array | None) -> Array:
    """int64[n]: the order of rows by columns of one word, each from a bit on; equal ones stay in the order before."""
    words = reduce(np.bitwise_or, (column << np.uint64(first) for column, first in columns))
    found = _order(words if before is None else words[before], bits)
    return found if before is None else before[found]


def _order(words: Array, bits: int) -> Array:
    """int64[n]: the order in which words of so many bits ascend; equal ones stay as they are."""
    places = (len(words) - 1).bit_length()
    if bits + places > WORD_BITS:
        return np.argsort(words, kind="stable")
    words = words << np.uint64(places) | np.arange(len(words), dtype=np.uint64)
    spare = np.empty_like(words)
    is_moved = sort_words(words, places, places + bits, spare, np.empty(1 << DIGIT, np.int64))
    found: Array = ((spare if is_moved else words) & np.uint64((1 << places) - 1)).view(np.int64)
    return found


def beginnings(*columns: Array) -> Array:
    """bool[n]: where a row differs from the one before, in any column."""
    found = np.ones(len(columns[0]), np.bool_)
    if len(found):
        found[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return found


def runs(*columns: Array) -> Array:
    """int64[n]: the numbers of the runs of equal rows, from 0 on."""
    return np.cumsum(beginnings(*columns)) - 1


def heavier(keys: Array, weights: Array, *, most: int) -> tuple[Array, Array]:
    """The keys (int64[n], in any order, ascending here) whose weights together are more than so much; and these (int64)."""
    known, of = np.unique(keys, return_inverse=True)
    weight = np.bincount(of, weights, len(known)).astype(np.int64)
    is_heavier = weight > most
    return known[is_heavier], weight[is_heavier]


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
