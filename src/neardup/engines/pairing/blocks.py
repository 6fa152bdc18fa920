"""BLOCKS: the pairs of large groups, divided among tasks.

A group, in order of preference, is cut into blocks, and each two blocks of it, and each with itself, meet in a tile: all
G (G + 1) / 2 if all documents lead. What is known without texts comes with documents: their sizes, bitmaps and fingerprints.
So a tile lists only pairs that can match, and never more than two blocks have.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.candidates.groups import chunks, group_starts, grouped, paired
from neardup.engines.candidates.table import METHODS
from neardup.engines.columns import ascending, runs
from neardup.engines.job_options import Work
from neardup.engines.packing import ints, rows_of_docs
from neardup.engines.schemas import PAIRS, PLACED, TILES, bitmaps_of, prints_of
from neardup.engines.stages import Found, Stage
from neardup.kernels.engines.groups import ANY, REMEMBERED, Kinds, pairs_of_tiles

TILE_BITS = 31
"""Of the number of a tile, for its second block."""


def placed(block: int, waiting: pa.Table, at: Array, size: Array, last_leading: Array, leads: Array) -> pa.Table:
    """Rows of large groups (PLACED) with their places in them, in blocks of so many places.

    at, size, last_leading: int64[n], of each row, or its group: its place, how many places, that of the last that leads.
    """
    columns = {name: waiting.column(name) for name in waiting.schema.names}
    columns |= {
        "at": at,
        "blocks": -(-size // block),
        "leading": last_leading // block,
        "leads": leads,
    }
    return pa.table([columns[name] for name in PLACED.schema.names], PLACED.schema)


def attach(work: Work) -> Stage:
    """The stage that sends rows of large groups to their tiles, with what is known of documents: of rows, and leaders."""
    return Stage("blocks", partial(_attach, work), {"tiles": TILES})


def _attach(work: Work, rows: pa.Table, leaders: pa.Table) -> Found:
    one = np.ones(len(rows), np.int64)
    for row, tile in tiles_of(rows, work.limits.documents_per_block, one, work.limits.rows_of_tiles):
        known = rows_of_docs(leaders, rows.column("doc").to_numpy()[row])
        taken = rows.take(row)
        columns = {name: taken.column(name) for name in taken.schema.names}
        columns |= {name: known.column(name) for name in ("group", "print", "bitmap")}
        columns |= {"tile": tile, "size": known.column("size").cast(pa.int32()), "is_given": are_given(known)}
        if work.max_distance is None:
            columns["print"] = pa.array([b""] * len(row), pa.large_binary())
        yield "tiles", pa.table([columns[name] for name in TILES.schema.names], TILES.schema)


def are_given(known: pa.Table) -> Array:
    """bool[n]: whether documents are of a reference, with no other text in their class; two such do not match."""
    found: Array = known.column("is_reference").to_numpy() & ~known.column("has_others").to_numpy()
    return found


def tiles_of(rows: pa.Table, block: int, weight: Array, most: int) -> Iterator[tuple[Array, Array]]:
    """Rows of PLACED (int64[m], places in them) with the tiles where they come (int64[m]), some at a time.

    block: places of a block; weight: int64[n], of a row, of which at most `most` is given at a time, besides one row.
    """
    at, blocks, leading = ints(rows, "at", "blocks", "leading")
    leads, of = rows.column("leads").to_numpy(), at // block
    before = np.minimum(of, leading) + 1  # tiles where the row is compared with those that lead before it
    counts = before + leads * (blocks - 1 - of)
    for some in _some(counts * weight, most):
        row = np.repeat(some, counts[some])
        nth = np.arange(len(row)) - np.repeat(np.cumsum(counts[some]) - counts[some], counts[some])
        comes_later = nth < before[row]
        first = np.where(comes_later, nth, of[row])
        second = np.where(comes_later, of[row], of[row] + 1 + nth - before[row])
        yield row, (first << TILE_BITS) + second


def _some(counts: Array, rows: int) -> Iterator[Array]:
    """int64[m]: rows, so many at a time that they count about `rows` together."""
    number = np.cumsum(counts) // rows
    yield from (np.split(np.arange(len(counts)), np.flatnonzero(np.diff(number)) + 1) if len(counts) else ())


def stage(work: Work) -> Stage:
    """The stage that lists the pairs of tiles that can match."""
    return Stage("tiles", partial(_tiles, work), {"pairs": PAIRS})


def _tiles(work: Work, rows: pa.Table) -> Found:
    if not len(rows):
        return
    key, tile, at = ints(rows, "key", "tile", "at")
    order = ascending(key, tile, at)
    rows, key, tile, at = rows.take(order), key[order], tile[order], at[order]
    number = runs(key, tile)
    starts = group_starts(number)
    first, second = tile >> TILE_BITS, tile & ((1 << TILE_BITS) - 1)
    between = starts[:-1] + np.add.reduceat(at // work.limits.documents_per_block == first, starts[:-1], dtype=np.int64)
    is_own = (first == second)[starts[:-1]]  # a block with itself
    sides = np.stack([between, np.where(is_own, starts[:-1], between)], axis=1)
    bitmaps, where = bitmaps_of(rows)
    given, prints = rows.column("is_given").to_numpy(), prints_of(rows)
    kinds = Kinds(ints(rows, "group")[0], given, prints, bitmaps, where)
    code, remembered = ANY if work.by_distance else work.similarity.code, np.full((REMEMBERED, 3), -1)
    by_prefix, most = METHODS[work.options.method].code(work) != ANY, work.max_distance or 0
    more = (rows.column("leads").to_numpy(), *ints(rows, "part"), sides, by_prefix, most, kinds, remembered)
    least = float(work.options.min_similarity)
    for left, right in chunks(pairs_of_tiles, code, least, grouped(rows, starts), *more):
        yield "pairs", paired(np.minimum(left, right), np.maximum(left, right))
