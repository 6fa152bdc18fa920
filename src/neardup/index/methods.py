"""The methods of Hamming search in one table: what each builds of distinct fingerprints, and how it looks them up.

All are used alike: `look_up` gives for queries what lies within a distance, as rows (query, position, distance), positions being
those that the method's `build` gave to the fingerprints.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from neardup.index.tables import (
    KeyPlan,
    block_keys,
    build_tables,
    multi_index_keys,
    neighbour_keys,
    prefix_keys,
    tables_of,
)
from neardup.kernels import index_scans as kernels

Array = np.ndarray[Any, np.dtype[Any]]


class Searcher(Protocol):
    """Distinct fingerprints, in whatever order and form a method keeps them."""

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
        permuted = np.empty((len(queries), len(self.sources), queries.shape[1]), np.uint64)
        one = np.empty_like(queries)
        for o, sources in enumerate(self.sources):
            kernels.permute(queries, sources, one)
            permuted[:, o] = one
        seen = np.empty(2 * self.beam * len(self.sources), np.int64)
        found: int = kernels.look_around(
            permuted, first, last, self.orders, self.positions, self.beam, max_distance, seen, hits, count
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


Plan = Callable[[int, int, Mapping[str, int]], KeyPlan]
"""From the bits, the distance and the options."""


def _of_tables(purpose: str, plan: Plan, **others: Any) -> "Method":
    def build(values: Array, distance: int, options: Mapping[str, int]) -> Built:
        return build_tables(values, plan(64 * values.shape[1], distance, options))

    def restore(arrays: Mapping[str, Array], bits: int, distance: int, options: Mapping[str, int], _: int) -> Searcher:
        return tables_of(plan(bits, distance, options), **arrays)

    return Method(purpose, build, restore, **others)


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes:
        purpose: what it is, and what for.
        build: from distinct fingerprints uint64[n, words], the distance and the options, what is looked up.
        options: its options with what they are by default for a number of bits, a distance and a number of fingerprints.
        is_exact: it finds all that there is.
        restore: from a searcher's arrays, the bits, the distance, the options and the number of fingerprints, the searcher again.
    """

    purpose: str
    build: Callable[[Array, int, Mapping[str, int]], Built]
    restore: Callable[[Mapping[str, Array], int, int, Mapping[str, int], int], Searcher]
    options: Mapping[str, Callable[[int, int, int], int]] = field(default_factory=dict)
    is_exact: bool = True


def _blocks_for_keys(bits: int, distance: int, rows: int) -> int:
    """The fewest blocks whose keys are long enough that a bucket holds few rows, or else the fewest there are."""
    wanted = max(1.0, math.log2(max(2, rows)) - 4)
    best = distance + 1
    for blocks in range(distance + 1, distance + 4):
        if blocks <= bits and math.comb(blocks, distance) <= 24:
            best = blocks
            if bits * (blocks - distance) / blocks >= wanted:
                break
    return min(best, bits)


def _blocks_for_probes(bits: int, _distance: int, rows: int) -> int:
    """As many as give each block about log2 n bits (Norouzi et al. 2012, section 4)."""
    return max(1, min(bits, round(bits / max(8.0, math.log2(max(2, rows))))))


def _prefix(bits: int, _distance: int, rows: int) -> int:
    return min(bits, max(8, math.ceil(math.log2(max(2, rows)))))


METHODS: dict[str, Method] = {
    "scan": Method(
        "compares with every fingerprint, at the speed of the memory", _scan, lambda arrays, *_: Scan(**arrays)
    ),
    "block-tables": _of_tables(
        "tables whose keys are any blocks - k of the blocks: for small distances",
        lambda bits, distance, options: block_keys(bits, distance, options["blocks"]),
        options={"blocks": _blocks_for_keys},
    ),
    "multi-index": _of_tables(
        "a table a block, probed within a radius: for distances from 6 to 16",
        lambda bits, distance, options: multi_index_keys(bits, distance, options["blocks"]),
        options={"blocks": _blocks_for_probes},
    ),
    "bit-lists": Method(
        "for each bit the list of those that have it, added up: to be understood, not to be fast",
        _bit_lists,
        lambda arrays, _bits, _distance, _options, rows: BitLists(arrays["lists"], rows),
    ),
    "neighbours": _of_tables(
        "one table, in which every code within the distance is looked up: for distances to 3",
        lambda bits, distance, _: neighbour_keys(bits, distance),
    ),
    "prefix-tables": _of_tables(
        "tables under random permutations of the bits, whose keys are the first ones: probable",
        lambda bits, _, options: prefix_keys(bits, options["prefix"], options["tables"], options["seed"]),
        options={"prefix": _prefix, "tables": lambda *_: 8, "seed": lambda *_: 0},
        is_exact=False,
    ),
    "sorted-beam": Method(
        "sorted under random permutations of the bits; compares with what lies nearby in each order: probable",
        _sorted_beam,
        lambda arrays, _bits, _distance, options, _rows: SortedBeam(**arrays, beam=options["beam"]),
        {"permutations": lambda *_: 16, "beam": lambda *_: 16, "seed": lambda *_: 0},
        is_exact=False,
    ),
}
"""By name."""


MOST_FOR_BLOCKS = 5
"""Distances above are served better by probing within a radius."""


def usual_method(max_distance: int) -> str:
    """The method to use for a distance if none is named; exact."""
    return "block-tables" if max_distance <= MOST_FOR_BLOCKS else "multi-index"
