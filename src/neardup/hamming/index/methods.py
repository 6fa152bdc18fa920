"""The methods of Hamming search in one table: what each builds of unique fingerprints, and how it looks them up.

All are used alike: `look_up` gives for queries what lies within a distance, as rows (query, position, distance), positions being
those that the method's `build` gave to the fingerprints.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from neardup.arrays import Array
from neardup.errors import DataError, OptionError
from neardup.hamming.index.costs import PLANS
from neardup.hamming.index.planner import OPTIONS_OF
from neardup.hamming.index.tables import MOST_TABLES, build_tables, tables_of
from neardup.kernels.hamming import index_scans as kernels


class Searcher(Protocol):
    """Unique fingerprints, in whatever order and form a method keeps them."""

    def look_up(self, queries: Array, first: int, last: int, max_distance: int, hits: Array, count: int) -> int:
        """Write (query, position, distance) of what queries [first, last) find to `hits`, from `count` on; returns the new count.

        Those beyond the room of `hits` (int64[room, 3]) are counted only.
        """
        ...

    def values(self) -> Array:
        """The fingerprints, by position: uint64[n, words]."""
        ...

    def arrays(self) -> dict[str, Array]:
        """All that it holds, by name."""
        ...


@dataclass(frozen=True)
class Scan:
    """All of them, column by column: uint64[words, n]."""

    columns: Array

    def look_up(self, queries: Array, first: int, last: int, max_distance: int, hits: Array, count: int) -> int:
        """See `Searcher`."""
        found: int = kernels.scan(queries, first, last, self.columns, max_distance, hits, count)
        return found

    def values(self) -> Array:
        """See `Searcher`."""
        return np.ascontiguousarray(self.columns.T)

    def arrays(self) -> dict[str, Array]:
        """See `Searcher`."""
        return {"columns": self.columns}


@dataclass(frozen=True)
class BitLists:
    """For each bit the rows that have it, as bitmaps: uint64[bits, ceil(rows / 64)]."""

    lists: Array
    rows: int

    def look_up(self, queries: Array, first: int, last: int, max_distance: int, hits: Array, count: int) -> int:
        """See `Searcher`."""
        planes = np.empty(16, np.uint64)
        found: int = kernels.add_lists(queries, first, last, self.lists, self.rows, max_distance, planes, hits, count)
        return found

    def values(self) -> Array:
        """See `Searcher`."""
        bits = np.unpackbits(self.lists.view(np.uint8), axis=1, count=self.rows, bitorder="little")
        found: Array = np.ascontiguousarray(np.packbits(bits.T, axis=1)).view(">u8").astype(np.uint64)
        return found

    def arrays(self) -> dict[str, Array]:
        """See `Searcher`."""
        return {"lists": self.lists}


@dataclass(frozen=True)
class SortedBeam:
    """Sorted under several permutations of the bits; a query is compared with what lies around its place in each order."""

    orders: Array
    positions: Array
    sources: Array
    beam: int

    def look_up(self, queries: Array, first: int, last: int, max_distance: int, hits: Array, count: int) -> int:
        """See `Searcher`."""
        asked = queries[first:last]
        permuted = np.empty((len(asked), len(self.sources), queries.shape[1]), np.uint64)
        one = np.empty_like(asked)
        for o, sources in enumerate(self.sources):
            kernels.permute(asked, sources, one)
            permuted[:, o] = one
        beam = min(self.beam, self.orders.shape[1])
        seen = np.empty(2 * beam * len(self.sources), np.int64)
        found: int = kernels.look_around(
            permuted, first, self.orders, self.positions, beam, max_distance, seen, hits, count
        )
        return found

    def values(self) -> Array:
        """See `Searcher`."""
        back: Array = np.empty_like(self.orders[0])
        out: Array = np.empty_like(self.orders[0])
        kernels.permute(self.orders[0], np.argsort(self.sources[0]), back)
        out[self.positions[0]] = back
        return out

    def arrays(self) -> dict[str, Array]:
        """See `Searcher`."""
        return {"orders": self.orders, "positions": self.positions, "sources": self.sources}


Built = tuple[Searcher, Array]
"""And the order that it gave to the fingerprints: uint32[n]."""


def _in_place(values: Array) -> Array:
    return np.arange(len(values), dtype=np.uint32)


def _scan(values: Array, _distance: int, _options: Mapping[str, int]) -> Built:
    return Scan(np.ascontiguousarray(values.T)), _in_place(values)


def _bit_lists(values: Array, _distance: int, _options: Mapping[str, int]) -> Built:
    lists = np.empty((64 * values.shape[1], -(-len(values) // 64)), np.uint64)
    kernels.slice_bits(np.ascontiguousarray(values.T), lists)
    return BitLists(lists, len(values)), _in_place(values)


def _sorted_beam(values: Array, _distance: int, options: Mapping[str, int]) -> Built:
    n, words = values.shape
    if options["permutations"] > MOST_TABLES:
        raise OptionError(
            f"permutations={options['permutations']}: give up to {MOST_TABLES}; each order holds all fingerprints."
        )
    choose = np.random.default_rng(options["seed"])
    sources = np.array([choose.permutation(64 * words) for _ in range(options["permutations"])], np.int64)
    orders = np.empty((len(sources), n, words), np.uint64)
    positions = np.empty((len(sources), n), np.uint32)
    one = np.empty_like(values)
    for o, source in enumerate(sources):
        kernels.permute(values, source, one)
        positions[o] = np.lexsort(one.T[::-1])
        orders[o] = one[positions[o]]
    return SortedBeam(orders, positions, sources, options["beam"]), _in_place(values)


def _restore_beam(
    arrays: Mapping[str, Array], bits: int, _distance: int, options: Mapping[str, int], _rows: int
) -> Searcher:
    if not (np.sort(arrays["sources"], axis=1) == np.arange(bits)).all():
        raise DataError("its permutations are none")
    return SortedBeam(**arrays, beam=options["beam"])


def _of_tables(name: str, purpose: str, *, is_exact: bool = True) -> "Method":
    plan = PLANS[name]

    def build(values: Array, distance: int, options: Mapping[str, int]) -> Built:
        return build_tables(values, plan(64 * values.shape[1], distance, options))

    def restore(arrays: Mapping[str, Array], bits: int, distance: int, options: Mapping[str, int], _: int) -> Searcher:
        return tables_of(plan(bits, distance, options), **arrays)

    return Method(purpose, build, restore, OPTIONS_OF.get(name, ()), is_exact)


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes:
        purpose: what it is, and what for.
        build: from unique fingerprints uint64[n, words], the distance and the options, what is looked up.
        options: their names; `neardup.hamming.index.planner` chooses what they are if they are not given.
        is_exact: it finds all that there is.
        restore: from a searcher's arrays, the bits, the distance, the options and the number of fingerprints, the searcher again.
    """

    purpose: str
    build: Callable[[Array, int, Mapping[str, int]], Built]
    restore: Callable[[Mapping[str, Array], int, int, Mapping[str, int], int], Searcher]
    options: tuple[str, ...] = ()
    is_exact: bool = True


METHODS: dict[str, Method] = {
    "scan": Method(
        "compares with every fingerprint, at the speed of the memory", _scan, lambda arrays, *_: Scan(**arrays)
    ),
    "block-tables": _of_tables(
        "block-tables", "tables whose keys are any blocks - k of the blocks: for small distances"
    ),
    "multi-index": _of_tables("multi-index", "a table a block, probed within a radius: for distances from 6 to 16"),
    "bit-lists": Method(
        "for each bit the list of those that have it, added up: to be understood, not to be fast",
        _bit_lists,
        lambda arrays, _bits, _distance, _options, rows: BitLists(arrays["lists"], rows),
    ),
    "neighbours": _of_tables(
        "neighbours", "one table, in which every code within the distance is looked up: for distances to 3"
    ),
    "prefix-tables": _of_tables(
        "prefix-tables",
        "tables under random permutations of the bits, whose keys are the first ones: probable",
        is_exact=False,
    ),
    "sorted-beam": Method(
        "sorted under random permutations of the bits; compares with what lies nearby in each order: probable",
        _sorted_beam,
        _restore_beam,
        OPTIONS_OF["sorted-beam"],
        is_exact=False,
    ),
}
"""By name."""
