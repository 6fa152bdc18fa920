"""EVERY PAIR of documents with a key in common, for lists of pairs: no waves, as each pair that matches is listed.

Documents with equal elements are still compared once: their class has a leader, and `expansion.py` pairs its members. Large groups
are divided into tiles of two blocks of documents each, so that no task lists all pairs of a group.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines import classes
from neardup.engines.candidates.groups import group_starts, grouped, listed, pairs_in_groups
from neardup.engines.candidates.table import METHODS
from neardup.engines.packing import ints
from neardup.engines.schemas import BOOL, BYTES, INT, LEADERS, MARKED, PAIRS, POSTINGS, of_reference
from neardup.engines.sorted_columns import beginnings
from neardup.engines.stage import Found, Output, Stage
from neardup.engines.work import Work
from neardup.kernels.engines.groups import pairs_of_groups, pairs_of_leading

BLOCK = 2048
"""Documents of a block."""
_MEMBER = {"doc": INT, "rank": INT, "is_reference": BOOL, "print": BYTES, "is_long": BOOL, "is_empty": BOOL}
MEMBERS = Output(pa.schema({"leader": INT, **_MEMBER}), ("leader",))
"""All documents, by the leader of their class, which is one as well."""
TILES = Output(pa.schema([*POSTINGS.schema, pa.field("tile", INT), pa.field("side", INT)]), ("key", "tile"))


def classes_of(*, distinct: bool) -> Stage:
    """The stage that puts documents with equal elements in classes. `distinct`: of equal texts of one side, only the first."""
    return Stage("equal", partial(_classes, distinct), {"leaders": LEADERS, "marked": MARKED, "members": MEMBERS})


def _classes(distinct: bool, documents: pa.Table) -> Found:
    if not len(documents):
        return
    if distinct:
        rank, high, low = ints(documents, "rank", "digest_high", "digest_low")
        side = documents.column("is_reference").to_numpy()
        order = np.lexsort((rank, side, low, high))
        first = beginnings(high[order], low[order], side[order])
        documents = documents.take(pa.array(np.sort(order[first])))
    high, low, rank, doc = ints(documents, "class_high", "class_low", "rank", "doc")
    order = np.lexsort((rank, low, high))
    starts = beginnings(high[order], low[order])
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(starts) - 1
    leader = order[starts][number]
    is_ours = ~documents.column("is_reference").to_numpy()
    has_ours = np.bincount(number, is_ours) > 0
    for name, rows in classes.find(documents):
        if name == "leaders":  # here, copies of a text of the reference count as others
            places = pa.array(np.searchsorted(np.sort(doc), rows.column("doc").to_numpy()))
            of = pa.array(number[np.argsort(doc)]).take(places).to_numpy()
            rows = rows.set_column(rows.schema.get_field_index("has_others"), "has_others", pa.array(has_ours[of]))
        if name in ("leaders", "marked"):
            yield name, rows
    yield "members", pa.table([doc[leader], *(documents.column(name) for name in _MEMBER)], MEMBERS.schema)


def pairs_of_keys(work: Work, *, across: bool) -> Stage:
    """The stage that pairs documents of small groups, and divides large ones. `across`: pairs with a reference are wanted only."""
    return Stage("pairs", partial(_pairs, work, across), {"pairs": PAIRS, "tiles": TILES})


def _pairs(work: Work, across: bool, postings: pa.Table) -> Found:
    if not len(postings):
        return
    method = METHODS[work.options.method]
    if method.code is None:
        assert method.pairs is not None
        yield "pairs", _wanted(across, *method.pairs(work, postings))
        return
    left, right, large = pairs_in_groups(postings, method.code(work), float(work.options.min_similarity))
    yield "pairs", _wanted(across, left, right)
    for tile in _tiles(large):
        yield "tiles", tile


def _wanted(across: bool, left: Array, right: Array) -> pa.Table:
    """Pairs; without those of classes that have no document of the reference, which would lead them."""
    if across:
        some = of_reference(left) | of_reference(right)
        left, right = left[some], right[some]
    return pa.table([left, right], PAIRS.schema)


def _tiles(large: pa.Table) -> Iterator[pa.Table]:
    """The postings of large groups, each with each block of its group."""
    key, doc, size = ints(large, "key", "doc", "size")
    order = np.lexsort((doc, size, key))
    starts = group_starts(key[order])
    for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        blocks = [order[at : min(at + BLOCK, last)] for at in range(first, last, BLOCK)]
        for i, left in enumerate(blocks):
            for j, right in enumerate(blocks[i:], i):
                rows = left if i == j else np.concatenate([left, right])
                side = np.zeros(len(rows), np.int64)
                side[len(left) :] = 1
                tile = large.take(pa.array(rows)).append_column(
                    "tile", pa.array(np.full(len(rows), i * len(blocks) + j))
                )
                yield tile.append_column("side", pa.array(side)).select(TILES.schema.names)


def pairs_of_tiles(work: Work, *, across: bool) -> Stage:
    """The stage that pairs the documents of tiles."""
    return Stage("tiles", partial(_of_tiles, work, across), {"pairs": PAIRS})


def _of_tiles(work: Work, across: bool, tiles: pa.Table) -> Found:
    code = METHODS[work.options.method].code
    key, tile, side, size, doc = ints(tiles, "key", "tile", "side", "size", "doc")
    order = np.lexsort((doc, size, side, tile, key))
    starts = np.append(np.flatnonzero(beginnings(key[order], tile[order])), len(order))
    assert code is not None or not len(tiles)
    for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        assert code is not None
        some = order[first:last]
        rows, sides, least = grouped(tiles.take(pa.array(some))), side[some], float(work.options.min_similarity)
        if sides.any():
            found = listed(pairs_of_leading, code(work), least, rows, sides == 0, sides)
        else:
            found = listed(pairs_of_groups, code(work), least, rows)
        yield "pairs", _wanted(across, *found)
