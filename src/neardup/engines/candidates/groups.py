"""GROUPS of documents with a key in common, and their pairs. Large groups wait, so that families of texts cost little."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines import columns as sorted_columns
from neardup.engines.job_options import Work
from neardup.engines.packing import ints
from neardup.engines.schemas import PAIRS, POSTINGS
from neardup.kernels.engines.groups import GroupedKeys, mark_shared, pairs_of_groups
from neardup.matching.candidates.costs import HELD_EACH, all_pairs

CELLS_PER_KEY = 4
"""Cells for each key, at least, in which it is looked for others: at most 22 % of lone keys are taken for others."""
MIN_KEY_BITS, MORE_KEY_BITS, MAX_KEY_BITS = 24, 14, 60
"""Of a key that travels: so many more than tell documents apart. As documents have some 50 keys, 1 of 300 is that of others by
chance, and proposes a pair that few sizes allow; each bit takes 6 bytes a document.
"""
SAMPLED_OF_GROUP = 64
"""Documents of a large group whose pairs tell how many all have."""
COMPARED_EACH = 4
"""What is known of two documents of a large group is compared in the time that this many pairs of texts take to be held."""
FIRST_ROOM_PAIRS = 1 << 16
"""Pairs for which there is room at first."""
Pairs = tuple[Array, Array]


class Found(NamedTuple):
    """What a bucket has.

    Attributes:
        left, right: int64[p], the pairs, the smaller document first, each once.
        large: the postings of large groups, with the pairs that are expected (LARGE_POSTINGS).
    """

    left: Array
    right: Array
    large: pa.Table


def pairs_in_groups(postings: pa.Table, code: int, threshold: float, each: int, most: int) -> Found:
    """The pairs of documents that can match, by the key that they have in common. Postings come in any order.

    Groups are large that have more than `most` documents, or more pairs than `each` for each of them.
    """
    kept = np.flatnonzero(may_be_shared(ints(postings, "key")[0]))
    key, doc, size = (column[kept] for column in ints(postings, "key", "doc", "size"))
    order = sorted_columns.ascending(key, size, doc)
    sorted_postings = postings.take(kept[order])
    rows = grouped(sorted_postings)
    counts = np.diff(rows.starts)
    is_large = counts > most
    left, right = listed(pairs_of_groups, code, threshold, rows, each, is_large)
    expected = np.repeat(expected_pairs(code, threshold, rows, is_large), counts[is_large])
    large = sorted_postings.filter(np.repeat(is_large, counts)).append_column("expected", pa.array(expected))
    return Found(left, right, large)


def expected_pairs(code: int, threshold: float, rows: GroupedKeys, is_large: Array) -> Array:
    """float64[large groups]: how many pairs a group has for each of its documents, about, by a few of them.

    All pairs of a group are compared before those that meet are listed: that counts as listing some more.
    """
    found = []
    for begin, end in zip(rows.starts[:-1][is_large], rows.starts[1:][is_large], strict=True):
        some = np.unique(np.linspace(begin, end - 1, SAMPLED_OF_GROUP).astype(np.int64))
        group = GroupedKeys(np.array([0, len(some)]), *(column[some] for column in rows[1:]))
        pairs, never = all_pairs(len(some)), np.zeros(1, np.bool_)
        parts = chunks(pairs_of_groups, code, threshold, group, len(some), never)
        met = sum(len(left) for left, _ in parts) / max(1.0, pairs) + COMPARED_EACH / HELD_EACH
        found.append(met * all_pairs(int(end - begin)) / int(end - begin))
    return np.array(found, np.float64)


def may_be_shared(key: Array) -> Array:
    """bool[n]: which keys (int64[n]) may come several times."""
    cells = np.zeros(max(2, 1 << (CELLS_PER_KEY * len(key) - 1).bit_length()), np.uint8)
    found = np.empty(len(key), np.bool_)
    mark_shared(np.ascontiguousarray(key).view(np.uint64), cells, found)
    return found


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


def listed(kernel: object, code: int, threshold: float, rows: GroupedKeys, *more: object) -> Pairs:
    """The pairs that a kernel finds, the smaller document first, each once."""
    parts: list[Pairs] = []
    for found in chunks(kernel, code, threshold, rows, *more):
        parts.append(found)
        if len(parts) > 64:
            parts = [distinct(parts)]
    return distinct(parts)


def chunks(kernel: object, code: object, threshold: float, rows: GroupedKeys, *more: object) -> Iterator[Pairs]:
    """The pairs that a kernel finds, some at a time."""
    place, room = np.zeros(3, np.int64), FIRST_ROOM_PAIRS
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


def paired(left: Array, right: Array) -> pa.Table:
    """Pairs (int64[p] each, the smaller document first) as rows of PAIRS, in an order in which they take few bytes."""
    order = sorted_columns.ascending(right)
    return pa.table([right[order], left[order]], PAIRS.schema)


def bits_of_keys(documents: int) -> int:
    """How many bits of keys travel."""
    return min(max(MIN_KEY_BITS, documents.bit_length() + MORE_KEY_BITS), MAX_KEY_BITS)


def postings_table(work: Work, key: Array, doc: Array, position: Array, size: Array, asks: Array) -> pa.Table:
    """Rows of POSTINGS."""
    kept = key & np.uint64((1 << bits_of_keys(work.documents)) - 1)
    columns = [kept.view(np.int64), doc, position.astype(np.int32), size.astype(np.int32), asks]
    return pa.table(columns, POSTINGS.schema)
