"""LIST PAIRS: from matches of classes to pairs of documents: each member of one with each of the other, and those of one class.

Of n documents of one class, there are n (n - 1) / 2 pairs: what is long by nature. No task holds all of them: products are made in
chunks, and those of large classes are divided into tiles of two blocks of documents, each a bucket's work.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.columns import ascending, beginnings
from neardup.engines.job_options import Limits, Work
from neardup.engines.packing import ints, rows_of_docs, with_columns
from neardup.engines.schemas import BOOL, BYTES, INT, LISTED_MEMBERS, MARKED, marked, prints_of
from neardup.engines.stages import Found, Output, Stage
from neardup.hamming.near import row_distances

ENDS = Output(pa.schema({"leader": INT}), ("leader",))
UNNAMED = Output(LISTED_MEMBERS.schema, ("doc",))
NAMED = Output(pa.schema([*LISTED_MEMBERS.schema, ("id", pa.large_string()), ("print", BYTES)]), ("leader",))
_END = {"doc": INT, "rank": INT, "is_reference": BOOL, "print": BYTES, "id": pa.large_string()}
HALVES = Output(pa.schema({"p": INT, **_END, "similarity": pa.float64()}), ("p",))
"""Documents of the second classes of matches, with the first classes."""
LEFT = Output(pa.schema({"leader": INT, "tile": INT, **_END}), ("leader", "tile"))
RIGHT = Output(pa.schema([*LEFT.schema, ("similarity", pa.float64()), ("is_own", BOOL)]), ("leader", "tile"))
LISTED = Output(
    pa.schema(
        {
            "left": INT,
            "right": INT,
            "left_id": pa.large_string(),
            "right_id": pa.large_string(),
            "distance": INT,
            "similarity": pa.float64(),
        }
    ),
    ("left",),
)
"""Pairs of documents."""


def _ends(matches: pa.Table) -> Found:
    """The classes of matches."""
    yield "ends", pa.table([np.unique(np.concatenate(ints(matches, "p", "q")))], ENDS.schema)


ENDS_OF_MATCHES = Stage("matching classes", _ends, {"ends": ENDS})


def _needed(members: pa.Table, ends: pa.Table) -> Found:
    """The documents of classes that match another, or have several."""
    leader = ints(members, "leader")[0]
    _, number, counts = np.unique(leader, return_inverse=True, return_counts=True)
    needed = (counts[number] > 1) | np.isin(leader, ends.column("leader").to_numpy())
    rows = members.filter(needed)
    yield "members", rows
    yield "named", marked(rows.column("doc").to_numpy())


NEEDED = Stage("documents of pairs", _needed, {"members": UNNAMED, "named": MARKED})
"""Of members of classes, and the classes of matches."""


def _name(members: pa.Table, labels: pa.Table) -> Found:
    named = rows_of_docs(labels, *ints(members, "doc"))
    yield "members", with_columns(members, id=named.column("id"), print=named.column("print"))


NAME = Stage("names", _name, {"members": NAMED})
"""Of members and labels."""


def halve(work: Work) -> Stage:
    """The stage that gives each match all documents of its second class: of matches, which come by it, and named members."""
    return Stage("second classes", partial(_halve, work.limits.pairs_per_piece), {"halves": HALVES})


def _halve(most: int, matches: pa.Table, members: pa.Table) -> Found:
    left, right = ints(matches, "q")[0], ints(members, "leader")[0]
    for match, member in _products(_joined(left, right), most):
        rows, of = members.take(member), matches.take(match)
        columns = [of.column("p"), *(rows.column(name) for name in _END), of.column("similarity")]
        yield "halves", pa.table(columns, HALVES.schema)


class _Products(NamedTuple):
    """Pairs of runs of rows, to be multiplied: int64[k] each, where they begin and how long they are."""

    left: Array
    left_count: Array
    right: Array
    right_count: Array


def _joined(left: Array, right: Array) -> _Products:
    """The rows of both with equal values; both ascend."""
    values, first, count = np.unique(left, return_index=True, return_counts=True)
    begin, end = np.searchsorted(right, values), np.searchsorted(right, values, "right")
    return _Products(first, count, begin, end - begin)


def _products(of: _Products, most: int) -> Iterator[tuple[Array, Array]]:
    """Rows of the left and of the right, int64[n] each, in chunks of so many: a large product is in several."""
    sizes = of.left_count * of.right_count
    ends = np.cumsum(sizes)
    for first in range(0, int(sizes.sum()), most):
        pair = np.arange(first, min(first + most, int(ends[-1])))
        group = np.searchsorted(ends, pair, "right")
        at = pair - (ends[group] - sizes[group])
        yield of.left[group] + at // of.right_count[group], of.right[group] + at % of.right_count[group]


def pairs(work: Work, *, across: bool) -> Stage:
    """The stage that pairs the documents of classes: of halves, and members with their names. `across`: only with a reference."""
    return Stage("documents", partial(_pairs, work, across), {"pairs": LISTED, "left": LEFT, "right": RIGHT})


def _pairs(work: Work, across: bool, halves: pa.Table, members: pa.Table) -> Found:
    leader, rank = ints(members, "leader", "rank")
    members = members.take(ascending(leader, rank))
    own = _joined(leader, leader)
    several = own.left_count > 1
    is_wordless = members.column("is_empty").to_numpy() & ~members.column("is_long").to_numpy()
    wordless = is_wordless[own.left]
    yield from _wordless(members, _some(own, several & wordless), across=across)
    is_long = members.column("is_long").to_numpy()
    known = np.where(is_long & work.by_distance, np.nan, 1.0)
    ours = with_columns(members, similarity=known, is_own=np.ones(len(members), np.bool_))
    yield from _multiplied(work.limits, members, ours, _some(own, several & ~wordless), across=across, first_tile=0)
    others = with_columns(halves, is_own=np.zeros(len(halves), np.bool_))
    joined = _joined(ints(halves, "p")[0], leader)
    turned = _Products(joined.right, joined.right_count, joined.left, joined.left_count)
    yield from _multiplied(work.limits, members, others, turned, across=across, first_tile=1 << 62)


def _some(of: _Products, wanted: Array) -> _Products:
    return _Products(*(each[wanted] for each in of))


def _multiplied(
    limits: Limits, left: pa.Table, right: pa.Table, of: _Products, *, across: bool, first_tile: int
) -> Found:
    """The pairs of small products, and the tiles of large ones."""
    block = limits.documents_per_side
    large = of.left_count * of.right_count > limits.pairs_per_piece
    for i, j in _products(_some(of, ~large), limits.pairs_per_piece):
        yield "pairs", _listed(left.take(i), right.take(j), across=across)
    for begin, count, other, other_count in zip(*(each.tolist() for each in _some(of, large)), strict=True):
        number = first_tile
        for at in range(0, count, block):
            for to in range(0, other_count, block):
                some = left.slice(begin + at, min(block, count - at))
                others = right.slice(other + to, min(block, other_count - to))
                if not first_tile and to < at:  # of one class: members are in order
                    continue
                leader = left.column("leader")[begin].as_py()
                yield "left", _tile(some, leader, number, LEFT)
                yield "right", _tile(others, leader, number, RIGHT)
                number += 1


def _tile(rows: pa.Table, leader: int, tile: int, output: Output) -> pa.Table:
    names = [name for name in output.schema.names if name not in ("leader", "tile")]
    keys = [np.full(len(rows), value) for value in (leader, tile)]
    return pa.table([*keys, *(rows.column(name) for name in names)], output.schema)


def _of_tiles(across: bool, left: pa.Table, right: pa.Table) -> Found:
    if not len(left):
        return
    keys = ints(left, "leader", "tile")
    starts = np.append(np.flatnonzero(beginnings(*keys)), len(left))
    others = np.append(np.flatnonzero(beginnings(*ints(right, "leader", "tile"))), len(right))
    for number in range(len(starts) - 1):
        some = left.slice(starts[number], starts[number + 1] - starts[number])
        other = right.slice(others[number], others[number + 1] - others[number])
        i, j = np.repeat(np.arange(len(some)), len(other)), np.tile(np.arange(len(other)), len(some))
        yield "pairs", _listed(some.take(i), other.take(j), across=across)


def pairs_of_tiles(*, across: bool) -> Stage:
    """The stage that pairs the documents of tiles: of their left and right sides."""
    return Stage("documents", partial(_of_tiles, across), {"pairs": LISTED})


def _listed(left: pa.Table, right: pa.Table, *, across: bool) -> pa.Table:
    """Pairs of rows, the earlier document on the left; across, the one that is no reference. Of one class, each comes once."""
    left_rank, right_rank = left.column("rank").to_numpy(), right.column("rank").to_numpy()
    is_left, is_right = left.column("is_reference").to_numpy(), right.column("is_reference").to_numpy()
    wanted = ~right.column("is_own").to_numpy() | (left_rank < right_rank)
    if across:
        wanted &= is_left != is_right
    kept = pa.array(np.flatnonzero(wanted))
    left, right = left.take(kept), right.take(kept)
    swaps = (is_left if across else left_rank > right_rank)[wanted]
    at = np.arange(len(left))
    ends = pa.concat_tables([left.select(["doc", "id", "print"]), right.select(["doc", "id", "print"])])
    first, second = ends.take(np.where(swaps, at + len(at), at)), ends.take(np.where(swaps, at, at + len(at)))
    apart = row_distances(prints_of(first), prints_of(second))
    columns = [first.column("doc"), second.column("doc"), first.column("id"), second.column("id"), apart]
    return pa.table([*columns, right.column("similarity")], LISTED.schema)


def _wordless(members: pa.Table, of: _Products, *, across: bool) -> Found:
    """Of equal texts without words, each with the first only; across, each with the first of the other side."""
    ones = with_columns(members, similarity=np.ones(len(members)), is_own=np.zeros(len(members), np.bool_))
    is_reference = members.column("is_reference").to_numpy()
    for first, count in zip(of.left.tolist(), of.left_count.tolist(), strict=True):
        rows = np.arange(first, first + count)
        left, right = np.full(count - 1, first), rows[1:]
        if across:
            ours, theirs = rows[~is_reference[rows]], rows[is_reference[rows]]
            if not len(ours) or not len(theirs):
                continue
            left = np.concatenate([np.full(len(theirs), ours[0]), ours[1:]])
            right = np.concatenate([theirs, np.full(len(ours) - 1, theirs[0])])
        yield "pairs", _listed(members.take(left), ones.take(right), across=across)
