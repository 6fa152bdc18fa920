"""SORTED columns: where their values begin, in which runs, each pair once, and where values are that are looked up."""

import numpy as np

from neardup.arrays import Array


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
    order = np.lexsort((right, left))
    left, right = left[order], right[order]
    new = beginnings(left, right)
    return left[new], right[new]


def looked_up(known: Array, asked: Array) -> tuple[Array, Array]:
    """bool[n], int64[n]: whether values are among those known, which ascend, and where; anywhere, if they are not."""
    if not len(known):
        return np.zeros(len(asked), np.bool_), np.zeros(len(asked), np.int64)
    at = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    return known[at] == asked, at
