"""JOIN: pairs of sets whose prefixes meet, with room for enough in common after that."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock, local
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.errors import OptionError
from neardup.hamming.distinct import Distinct, collapse
from neardup.kernels.hamming.candidates import pack_pairs
from neardup.kernels.matching import prefix_join as kernels
from neardup.kernels.matching.bounds import CONTAINMENT, COSINE
from neardup.kernels.matching.common_prefixes import WIDTH, drop_far, sketch_prefixes
from neardup.matching.prefix_join.prefixes import Prefixes
from neardup.resources.pair_spool import PAIR_BYTES
from neardup.resources.resources import DEFAULTS, Resources
from neardup.resources.scratch import Scratch, parts_of
from neardup.resources.threads import in_order

POSTING_BYTES = 64
"""What a posting takes at the height of a join: its key four times, while keys are sorted, its place in the lists and back."""
CHUNK_PAIRS = 1 << 18
EXPECTED_FROM, EXPECTED_EACH = 1 << 12, 64
"""A join of so many sets first walks one in so many of them, to say how many pairs there will be."""
MAX_SETS = kernels.FIRST - 1


@dataclass(frozen=True, slots=True)
class JoinCost:
    """What a join did.

    Attributes:
        postings: elements that were kept of all prefixes.
        passes: how many ranges of elements were joined one after another, so that memory sufficed.
        visits: postings looked at in the lists.
        looked_at: pairs that met; each is counted once a pass.
        pairs: those among them that may be similar enough, by all that their prefixes have in common.
    """

    postings: int
    passes: int
    visits: int
    looked_at: int
    pairs: int


def _ranges(postings: int, memory: int) -> Iterator[tuple[np.uint64, np.uint64]]:
    """Ranges of elements, both ends inclusive; hashes are evenly distributed, so each range has about as many postings."""
    passes = max(1, math.ceil(postings * POSTING_BYTES / max(memory, 1)))
    edges = [(i << 64) // passes for i in range(passes + 1)]
    for low, above in pairwise(edges):
        yield np.uint64(low), np.uint64(above - 1)


@dataclass(frozen=True, slots=True)
class _Postings:
    """The postings of a range of elements by rank; `groups` has their keys. See
    `neardup.kernels.matching.prefix_join.gather_postings`.
    """

    rank_starts: Array
    rank_of: Array
    positions: Array
    rests: Array
    roles: Array
    groups: Distinct


def _postings(
    prefixes: Prefixes, order: Array, low: np.uint64, high: np.uint64, threads: int, scratch: Scratch
) -> _Postings:
    parts = _parts(len(order), threads)
    rank_starts = scratch.zeros(len(order) + 1, np.int64)
    kept = (prefixes.starts, prefixes.facts)

    def count(part: slice) -> None:
        kernels.count_postings(prefixes.elements, *kept, order[part], low, high, rank_starts[1:][part])

    _each(count, parts, threads)
    np.cumsum(rank_starts, out=rank_starts)
    total = int(rank_starts[-1])
    keys, rank_of, positions = np.empty(total, np.uint64), np.empty(total, np.uint32), np.empty(total, np.uint32)
    rests, roles = np.empty(total if len(prefixes.rests) else 0, np.float32), np.empty(total, np.uint8)

    def gather(part: slice) -> None:
        begins = rank_starts[part.start : part.stop + 1]
        kernels.gather_postings(
            prefixes.elements, prefixes.rests, *kept, order[part], low, high, begins, keys, positions, rests, roles
        )
        rank_of[begins[0] : begins[-1]] = np.repeat(np.arange(part.start, part.stop, dtype=np.uint32), np.diff(begins))

    _each(gather, parts, threads)
    return _Postings(rank_starts, rank_of, positions, rests, roles, collapse(keys, threads=threads))


def _index(
    prefixes: Prefixes, order: Array, low: np.uint64, high: np.uint64, threads: int, scratch: Scratch
) -> kernels.Index:
    found = _postings(prefixes, order, low, high, threads, scratch)
    total = len(found.positions)
    lists = np.empty(total, np.uint32), np.empty(total, np.uint32), np.empty(len(found.rests), np.float32)
    slots, groups = np.empty(total, np.int64), found.groups

    def build(part: slice) -> None:
        begins = groups.starts[part.start : part.stop + 1]
        kernels.build_lists(
            groups.order, begins, found.rank_of, found.positions, found.rests, found.roles, *lists, slots
        )

    _each(build, _parts(len(groups), threads), threads)
    return kernels.Index(found.rank_starts, found.positions, found.rests, slots, *lists)


def _parts(n: int, threads: int) -> list[slice]:
    """0 … n - 1 in ranges, several for each thread."""
    edges = [n * i // (8 * threads) for i in range(8 * threads + 1)]
    return [slice(first, last) for first, last in pairwise(edges) if first < last]


def _each(work: Callable[[slice], None], parts: list[slice], threads: int) -> None:
    for _ in in_order(work, parts, threads):
        pass


class _Room:
    """Working memory of one thread."""

    def __init__(self, ranks: int, longest: int) -> None:
        """For so many sets, of which the longest prefix has so many elements."""
        slots = 1 << (2 * longest).bit_length()
        self.seen = np.full(ranks, -1, np.int32)
        self.pairs = np.empty((2, CHUNK_PAIRS), np.uint32)
        self.table = np.empty(slots, np.uint64), np.empty(slots, np.int32), np.zeros(slots, np.int64)
        self.serial = np.zeros(1, np.int64)


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Sets by rank, and how to find the pairs of some of them."""

    prefixes: Prefixes
    by_size: Array
    order: Array
    sizes: Array
    sketches: Array
    sides: Array
    code: int
    least: float
    longest: int

    @property
    def ranks(self) -> tuple[Array, Array, Array]:
        """What is known by rank."""
        return self.order, self.sizes, self.sketches

    def room(self) -> _Room:
        return _Room(len(self.order), self.longest)

    def pairs(self, first: int, last: int, index: kernels.Index, room: _Room) -> Iterator[tuple[Array, Array]]:
        """Pairs of sets, left << 32 | right (uint64[p]), of the ranks first … last - 1; and visits and pairs looked at."""
        how = self.code, float(self.least)
        kept = self.prefixes.elements, self.prefixes.starts, self.prefixes.facts
        while first < last:
            tallies = np.zeros(3, np.int64)
            left, right = room.pairs
            after = kernels.probe(*how, first, last, index, self.sizes, self.sides, room.seen, left, right, tallies)
            if after == first:  # one set has more pairs than there is room for
                room.pairs = np.empty((2, 2 * len(left)), np.uint32)
            written = int(tallies[0])
            if self.code != COSINE:
                written = drop_far(*how, *kept, *self.ranks, left, right, written, *room.table, room.serial)
            packed = np.empty(written, np.uint64)
            pack_pairs(self.by_size, left[:written], right[:written], packed)
            yield packed, tallies[1:]
            first = after

    def expected(self, index: kernels.Index) -> int:
        """How many pairs there are, from a part of the ranks, evenly spread."""
        ranks, room, found = len(self.order), self.room(), 0
        step = ranks // EXPECTED_FROM
        for first in range(0, ranks, EXPECTED_EACH * step):
            found += sum(len(packed) for packed, _ in self.pairs(first, min(first + step, ranks), index, room))
        return EXPECTED_EACH * found


def _ranked(prefixes: Prefixes, sets: Array, code: int, least: float, sides: Array | None, scratch: Scratch) -> _Ranked:
    sizes = scratch.take(prefixes.sizes, sets)
    by_size = scratch.keep(np.argsort(-sizes if code == CONTAINMENT else sizes, kind="stable"))
    order, ranked_sizes = scratch.take(sets, by_size), scratch.take(sizes, by_size)
    ranked_sides = np.empty(0, np.uint8) if sides is None else np.ascontiguousarray(sides[by_size], np.uint8)
    longest = max((int(prefixes.facts[order[part], 0].max()) for part in parts_of(len(order))), default=0)
    sketches = scratch.zeros((len(order), WIDTH), np.uint64)
    if code != COSINE:
        for part in parts_of(len(order)):
            kept = prefixes.elements, prefixes.starts, prefixes.facts
            sketch_prefixes(*kept, order[part], ranked_sizes[part], sketches[part])
    return _Ranked(prefixes, by_size, order, ranked_sizes, sketches, ranked_sides, code, least, longest)


def join_prefixes(
    prefixes: Prefixes,
    sets: Array,
    *,
    code: int,
    least: float,
    sides: Array | None = None,
    resources: Resources = DEFAULTS,
) -> tuple[Array, JoinCost]:
    """Pairs among some sets that may be similar: every pair that is, and few others; the same in any memory, on any threads.

    Args:
        prefixes: made with the same `code` and `least`, and counts of at least all `sets`.
        sets: int64[m], indexes of different sets; equal ones are better given once.
        code, least: the similarity and what it must reach.
        sides: uint8[m], 1, 2 or 3 for both; only pairs across the two sides are looked for.
        resources: where postings take more than their share of the memory, there are several passes; where pairs do, they go to a
            temporary file.

    Returns:
        uint64[p], left << 32 | right, indexes into `sets`, left < right, ascending, each pair once; and what it took.

    Raises:
        OptionError: more sets than are possible, or more pairs than fit the memory and the disk.
    """
    if len(sets) > MAX_SETS:
        raise OptionError(f"{len(sets):,} different documents; an exact join takes {MAX_SETS:,}. Split the corpus.")
    threads, scratch = resources.thread_count, resources.scratch
    ranked = _ranked(prefixes, sets, code, least, sides, scratch)
    postings = sum(int(prefixes.facts[ranked.order[part], 0].sum(dtype=np.int64)) for part in parts_of(len(sets)))
    pairs, lock = resources.pair_spool(), Lock()
    counts = np.zeros(2, np.int64)
    passes = list(_ranges(postings, resources.share("postings")))
    resources.use.record("postings", postings * POSTING_BYTES // len(passes))
    for low, high in passes:
        index = _index(prefixes, ranked.order, low, high, threads, scratch)
        if len(sets) >= EXPECTED_FROM:
            _check_room(ranked.expected(index), resources)
        rooms = local()

        def walk(edge: tuple[int, int], index: kernels.Index = index, rooms: Any = rooms) -> None:
            if not hasattr(rooms, "own"):
                rooms.own = ranked.room()
            for packed, tallies in ranked.pairs(*edge, index, rooms.own):
                pairs.add(packed)
                with lock:
                    counts[:] += tallies

        for _ in in_order(walk, _edges(index.rank_starts, threads), threads):
            pass
        if high != passes[-1][1]:  # at the end `all` drops them
            pairs.drop_repeats()
    packed = pairs.all()
    return packed, JoinCost(postings, len(passes), int(counts[0]), int(counts[1]), len(packed))


def _check_room(pairs: int, resources: Resources) -> None:
    """Refuse to look for so many pairs where their files would not fit."""
    if pairs * PAIR_BYTES > resources.share("pairs"):
        resources.check_room(
            pairs * PAIR_BYTES,
            work=f"method='exact' would propose about {pairs:,} pairs, which",
            instead="a higher min_similarity",
        )


def _edges(rank_starts: Array, threads: int) -> list[tuple[int, int]]:
    """Ranges of ranks with about as many postings each."""
    wanted = np.linspace(0, rank_starts[-1], 16 * threads + 1)
    cuts = np.unique(np.searchsorted(rank_starts, wanted))
    cuts[-1] = len(rank_starts) - 1
    cuts[0] = 0
    return [(int(a), int(b)) for a, b in pairwise(cuts)]
