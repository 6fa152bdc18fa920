"""SIMHASH on an engine: every pair of fingerprints within the distance.

Documents are divided into groups by a hash, and each two groups meet in one bucket, where the join of one machine finds the pairs:
G (G + 1) / 2 buckets, to each of which a fingerprint is sent G times (Vernica, Carey and Li 2010 divide pairs so).
"""

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.candidates.groups import Pairs
from neardup.engines.candidates.method import Method
from neardup.engines.packing import ints
from neardup.engines.schemas import as_prints, prints_of
from neardup.engines.stage import Output
from neardup.engines.work import Work
from neardup.hamming.near import near_pairs
from neardup.hamming.unique import collapse
from neardup.kernels.store.postings import MIX
from neardup.kernels.store.prefixes import Order
from neardup.store.texts import Texts

CELLS = Output(
    pa.schema(
        {"cell": pa.int64(), "doc": pa.int64(), "group": pa.int64(), "side": pa.int8(), "print": pa.large_binary()}
    ),
    ("cell",),
)
GROUPS = 4
"""Groups into which documents are divided."""


def keys(work: Work, texts: Texts, docs: Array, groups: Array, order: Order) -> pa.Table:  # noqa: ARG001
    """The fingerprints of texts, for all cells in which they meet others."""
    own = ((docs.view(np.uint64) * MIX) >> np.uint64(40)).astype(np.int64) % GROUPS
    rows, other = np.repeat(np.arange(len(docs)), GROUPS), np.tile(np.arange(GROUPS), len(docs))
    mine = own[rows]
    cell = np.minimum(mine, other) * GROUPS + np.maximum(mine, other)
    side = (mine > other).astype(np.int8)
    return pa.table([cell, docs[rows], groups[rows], side, as_prints(texts.prints.values[rows])], CELLS.schema)


def pairs(work: Work, postings: pa.Table) -> Pairs:
    """The pairs of the cells of a bucket within the distance."""
    assert work.max_distance is not None
    cell, doc, group = ints(postings, "cell", "doc", "group")
    side = postings.column("side").to_numpy()
    prints = prints_of(postings)
    lefts, rights = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for each in np.unique(cell).tolist():
        rows = np.flatnonzero(cell == each)
        across = each // GROUPS != each % GROUPS
        for left, right in _within(prints, rows, side, work.max_distance, across=across):
            lefts.append(doc[left])
            rights.append(doc[right])
            same = group[left] == group[right]
            lefts[-1], rights[-1] = lefts[-1][same], rights[-1][same]
    left, right = np.concatenate(lefts), np.concatenate(rights)
    return np.minimum(left, right), np.maximum(left, right)


def _within(prints: Array, rows: Array, side: Array, max_distance: int, *, across: bool) -> list[Pairs]:
    """Pairs of rows within the distance, of two sides or of all."""
    sides = [rows[side[rows] == 0], rows[side[rows] == 1]] if across else [rows]
    if not all(map(len, sides)):
        return []
    equal = [collapse(prints[some]) for some in sides]
    values = np.concatenate([each.values for each in equal])
    packed = near_pairs(np.ascontiguousarray(values), len(equal[0]) if across else 0, max_distance=max_distance)
    members = [np.split(some[each.order], each.starts[1:-1]) for some, each in zip(sides, equal, strict=True)]
    of = [group for each in members for group in each]
    found = [_product(of[int(pair) >> 32], of[int(pair) & 0xFFFFFFFF]) for pair in packed.tolist()]
    if not across:
        found += [_within_equal(group) for group in of if len(group) > 1]
    return found


def _within_equal(rows: Array) -> Pairs:
    left, right = np.triu_indices(len(rows), 1)
    return rows[left], rows[right]


def _product(left: Array, right: Array) -> Pairs:
    return np.repeat(left, len(right)), np.tile(right, len(left))


SIMHASH = Method(keys, postings=CELLS, pairs=pairs)
