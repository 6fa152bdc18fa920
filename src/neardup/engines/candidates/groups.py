"""GROUPS of documents with a key in common, and their pairs. Large groups wait, so that families of texts cost little."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines import sorted_columns
from neardup.engines.packing import ints
from neardup.engines.schemas import POSTINGS
from neardup.kernels.engines.groups import GroupedKeys, pairs_of_groups

MOST = 128
"""Documents of a group whose pairs are listed at once; those of larger groups come in waves."""
KEY = np.uint64((1 << 48) - 1)
"""The bits of keys that travel. Keys that are equal by chance propose some pairs more, of 4e11 keys 1 in 700."""
ROOM = 1 << 16
"""Pairs for which there is room at first."""
Pairs = tuple[Array, Array]


class Found(NamedTuple):
    """What a bucket has.

    Attributes:
        left, right: int64[p], the pairs, the smaller document first, each once.
        large: the postings of large groups.
    """

    left: Array
    right: Array
    large: pa.Table


def pairs_in_groups(postings: pa.Table, code: int, threshold: float) -> Found:
    """The pairs of documents that can match, by the key that they have in common."""
    key, doc, size = ints(postings, "key", "doc", "size")
    order = np.lexsort((doc, size, key))
    starts = group_starts(key[order])
    is_small = np.diff(starts) <= MOST
    small = np.repeat(is_small, np.diff(starts))
    rows = grouped(postings.take(pa.array(order[small])))
    left, right = listed(pairs_of_groups, code, threshold, rows)
    return Found(left, right, postings.take(pa.array(order[~small])))


def group_starts(key: Array) -> Array:
    """int64[groups + 1]: where the groups of equal keys (int64[n], ascending) begin."""
    if not len(key):
        return np.zeros(1, np.int64)
    return np.concatenate([[0], np.flatnonzero(np.diff(key)) + 1, [len(key)]]).astype(np.int64)


def grouped(postings: pa.Table, starts: Array | None = None) -> GroupedKeys:
    """Postings whose keys ascend, as kernels read them; or other groups of rows that begin so (int64[groups + 1])."""
    key, doc, position, size = map(np.ascontiguousarray, ints(postings, "key", "doc", "position", "size"))
    starts = group_starts(key) if starts is None else starts
    return GroupedKeys(starts, doc, position, size, postings.column("asks").to_numpy())


def listed(kernel: object, code: int, threshold: float, rows: GroupedKeys, *more: Array) -> Pairs:
    """The pairs that a kernel finds, the smaller document first, each once."""
    parts: list[Pairs] = []
    for found in chunks(kernel, code, threshold, rows, *more):
        parts.append(found)
        if len(parts) > 64:
            parts = [distinct(parts)]
    return distinct(parts)


def chunks(kernel: object, code: object, threshold: float, rows: GroupedKeys, *more: object) -> Iterator[Pairs]:
    """The pairs that a kernel finds, some at a time."""
    place, room = np.zeros(2, np.int64), ROOM
    while place[0] < len(rows.starts) - 1:
        left, right, before = np.empty(room, np.int64), np.empty(room, np.int64), place.copy()
        count = kernel(code, threshold, rows, *more, place, left, right)  # type: ignore[operator]
        if count:
            yield left[:count].copy(), right[:count].copy()
        room *= 1 if (place != before).any() else 2


def distinct(parts: list[Pairs]) -> Pairs:
    """All pairs, the smaller document first, each once."""
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    left, right = (np.concatenate(side) for side in zip(*parts, strict=True))
    return sorted_columns.distinct(np.minimum(left, right), np.maximum(left, right))


def postings_table(key: Array, doc: Array, position: Array, size: Array, asks: Array) -> pa.Table:
    """Rows of POSTINGS."""
    columns = [(key & KEY).view(np.int64), doc, position.astype(np.int32), size.astype(np.int32), asks]
    return pa.table(columns, POSTINGS.schema)
