"""HELD PAIRS: hold the documents of a tile against each other; what can match is compared at once, and only matches leave the task.

What two documents can have in common is bounded by bits of frequent elements (`matching/frequent_bits.py`), as in one process
(`survivors/dense.py`).
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.candidates.groups import group_starts
from neardup.engines.columns import ascending, beginnings, runs
from neardup.engines.job_options import Work
from neardup.engines.packing import ints
from neardup.engines.pairing.blocks import TILE_BITS
from neardup.engines.reading.documents import bitmaps
from neardup.engines.schemas import MATCHES, bitmaps_of, of_reference
from neardup.engines.stages import Found, Stage
from neardup.engines.verification.verify import proposed
from neardup.kernels.matching.bitmaps import may_share_enough
from neardup.kernels.matching.similarities import similarities_of
from neardup.matching.frequent_bits import MAX_BITS, FrequentBits
from neardup.matching.similarities.table import Elements
from neardup.matching.text_features import Texts, some_elements, texts_of_column
from neardup.resources.resources import Resources

MEMORY, BIT_BYTES = 1 << 30, 1 << 23
"""Bytes of which the counts of a tile's elements get their share; and those of the bits of its texts, so that none go to files."""


class _Sets(NamedTuple):
    """The elements of the texts of a tile."""

    elements: Elements

    @property
    def starts(self) -> Array:
        return self.elements.offsets[:-1]

    @property
    def ends(self) -> Array:
        return self.elements.offsets[1:]

    def sets(self, rows: Array) -> Elements:
        found = some_elements(self.elements, rows)
        found.values.flags.writeable = found.weights.flags.writeable = False
        return found


def hold(work: Work, *, across: bool = False) -> Stage:
    """The stage that finds the matches of documents that lead and later ones: of tiles. `across`: only those of a reference."""
    return Stage("dense tiles", partial(_hold, work, across), {"matches": MATCHES})


def _hold(work: Work, across: bool, rows: pa.Table) -> Found:
    if not len(rows):
        return
    key, tile, at = ints(rows, "key", "tile", "at")
    order = ascending(key, tile, at)
    rows, tiles = rows.take(order), runs(key[order], tile[order])
    for first, last in pairwise(group_starts(tiles).tolist()):
        yield from _of_tile(work, across, rows.slice(first, last - first))


def _of_tile(work: Work, across: bool, rows: pa.Table) -> Found:
    """The matches of one tile."""
    (tile, *_), at, doc, rank, part = ints(rows, "tile", "at", "doc", "rank", "part")
    is_given, leads = (rows.column(name).to_numpy() for name in ("is_given", "leads"))
    block = at // work.limits.elements_per_block
    leading = np.flatnonzero(leads & (block == tile >> TILE_BITS))
    probes = np.flatnonzero(block == tile & ((1 << TILE_BITS) - 1))
    if not len(leading) or not len(probes):
        return
    given = of_reference(doc)

    def are_needed(left: Array, right: Array) -> Array:
        needed: Array = ~(is_given[left] & is_given[right]) & ((part[left] != part[right]) | (part[left] < 0))
        return needed & (given[left] | given[right]) if across else needed

    texts = texts_of_column(rows.column("text").combine_chunks(), work.recipe, work.similarity, None)
    for q, p, similarity in _similar(work, texts, leading, probes, are_needed):
        is_proposed, distance = proposed(work, texts, p, q)
        p, q, similarity, distance = (each[is_proposed] for each in (p, q, similarity, distance))
        yield "matches", pa.table([doc[p], doc[q], rank[p], rank[q], similarity, distance], MATCHES.schema)


def _similar(
    work: Work, texts: Texts, leading: Array, probes: Array, are_needed: Callable[[Array, Array], Array]
) -> Iterator[tuple[Array, Array, Array]]:
    """Pairs of a probe and an earlier text that leads which are similar enough, and their similarities, many at a time."""
    least, stored = float(work.options.min_similarity), texts.compared.stored(work.similarity.code)
    bits = FrequentBits.of(
        _Sets(texts.joined),
        np.arange(len(texts)),
        similarity=work.options.compared_by,
        min_similarity=least,
        resources=Resources(threads=1, memory=MEMORY),
        max_bits=min(MAX_BITS, 8 * BIT_BYTES // len(texts)),
    )
    size, (words, starts) = np.diff(texts.joined.offsets), bitmaps_of(pa.table({"bitmap": bitmaps(work, texts.joined)}))
    tiles, found, count = bits.tiles(len(leading)), [], 0
    tiles.add(leading)
    for part in tiles.meetings(probes):
        for left, right in part:
            may_match = np.empty(len(left), np.bool_)
            may_share_enough(work.similarity.code, least, size, words, starts, (left, right), may_match)
            may_match &= are_needed(left, right)
            left, right = left[may_match], right[may_match]
            similarity = np.empty(len(left))
            similarities_of(stored, left, right, least, similarity)
            like = np.flatnonzero(similarity >= 0)
            found.append((left[like], right[like], similarity[like]))
            count += len(like)
            if count >= work.limits.pairs_per_chunk:
                yield _together(found)
                found, count = [], 0
    if count:
        yield _together(found)


def _together(parts: list[tuple[Array, Array, Array]]) -> tuple[Array, Array, Array]:
    left, right, similarity = (np.concatenate(column) for column in zip(*parts, strict=True))
    return left, right, similarity


def _each_once(matches: pa.Table) -> Found:
    """Matches, each pair once."""
    q, p = ints(matches, "q", "p")
    order = ascending(q, p)
    yield "matches", matches.take(order[beginnings(q[order], p[order])])


EACH_ONCE = Stage("distinct matches", _each_once, {"matches": MATCHES})
"""Of matches: documents of dense groups may have met in small groups as well."""
