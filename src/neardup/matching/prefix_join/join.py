"""JOIN: find pairs of sets whose prefixes meet and whose remaining elements leave room for enough in common."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock, local

import numpy as np

from neardup.arrays import Array
from neardup.errors import OptionError
from neardup.hamming.unique import Unique, collapse
from neardup.kernels.hamming.candidates import pack_pairs
from neardup.kernels.matching import prefix_join as kernels
from neardup.kernels.matching.common_prefixes import WIDTH, CommonMemory, RankedPrefixes, drop_far, sketch_prefixes
from neardup.kernels.matching.similarities import BY_NORM, CODES
from neardup.matching.prefix_join.prefixes import Prefixes
from neardup.recipe.tables.similarities import SIMILARITIES
from neardup.resources.pair_spool import PairSpool, check_few
from neardup.resources.resources import DEFAULTS, Resources
from neardup.resources.scratch import Scratch, parts_of
from neardup.resources.threads import check_needed, in_order

POSTING_BYTES = 64
"""Peak bytes per posting in a join: four times its key, while keys are sorted, its place in the lists and back."""
PAIRS_AT_ONCE = 1 << 18
EXPECTED_FROM_SETS, WALKED_SHARE, ENOUGH_PAIRS = 1 << 12, 64, 1 << 20
"""A join of at least so many sets first walks one set in WALKED_SHARE, to estimate the number of pairs; fewer of them once
ENOUGH_PAIRS were looked at."""
MAX_SETS = kernels.FIRST - 1
PROBED, INDEXED = 1, 2
"""The roles of a posting, see `neardup.kernels.matching.prefix_join.Postings`."""
LARGER_FIRST = frozenset(CODES[name] for name, row in SIMILARITIES.items() if row.larger_first)
"""Codes of the similarities whose sets are joined largest first."""


@dataclass(frozen=True, slots=True)
class JoinCost:
    """Counts of a join's work.

    Attributes:
        postings: elements kept of all prefixes.
        passes: ranges of elements joined one after another to fit the memory.
        visits: postings visited in the lists.
        looked_at: pairs that met; each is counted once per pass.
        pairs: pairs that may be similar enough, judged by what their prefixes have in common.
    """

    postings: int
    passes: int
    visits: int
    looked_at: int
    pairs: int


def _ranges(postings: int, memory: int) -> Iterator[tuple[np.uint64, np.uint64]]:
    """Split the elements into ranges, both ends inclusive, with about as many postings each, because hashes are even."""
    passes = max(1, math.ceil(postings * POSTING_BYTES / max(memory, 1)))
    edges = [(i << 64) // passes for i in range(passes + 1)]
    for low, above in pairwise(edges):
        yield np.uint64(low), np.uint64(above - 1)


def _parts(n: int, threads: int) -> list[slice]:
    """Split 0 … n - 1 into ranges, several for each thread."""
    edges = [n * i // (8 * threads) for i in range(8 * threads + 1)]
    return [slice(first, last) for first, last in pairwise(edges) if first < last]


def _each(work: Callable[[slice], None], parts: list[slice], threads: int) -> None:
    for _ in in_order(work, parts, threads):
        pass


@dataclass(frozen=True, slots=True)
class _RankedSets:
    """Sets in the order of their ranks.

    Attributes:
        kept: prefixes of the sets; order: int64[ranks], which prefix each rank has.
        sizes, sides: int64[ranks], uint8[ranks] or empty; see `neardup.kernels.matching.prefix_join.Index`.
    """

    kept: kernels.KeptElements
    order: Array
    sizes: Array
    sides: Array
    threads: int
    scratch: Scratch

    @property
    def postings(self) -> int:
        """Number of elements kept of all sets."""
        return sum(int(self.kept.facts[self.order[part], 0].sum(dtype=np.int64)) for part in parts_of(len(self.order)))

    @property
    def longest(self) -> int:
        """Number of elements in the longest prefix."""
        facts = self.kept.facts
        return max((int(facts[self.order[part], 0].max()) for part in parts_of(len(self.order))), default=0)

    def indexes(self, low: np.uint64, high: np.uint64, *, apart: bool) -> Iterator[kernels.Index]:
        """Build the index of a range of elements; of sides that are `apart`, two: each indexes one, and probes with the other."""
        rank_starts, postings, groups = self._postings(low, high)
        if not apart:
            yield self._index(rank_starts, postings, groups)
            return
        side, roles = self.sides[postings.rank_of], postings.roles
        for indexed in (1, 2):
            allowed = np.where(side == indexed, np.uint8(INDEXED), np.uint8(PROBED))
            yield self._index(rank_starts, postings._replace(roles=roles & allowed), groups)

    def _index(self, rank_starts: Array, postings: kernels.Postings, groups: Unique) -> kernels.Index:
        total = len(postings.positions)
        ranks, positions, slots = np.empty(total, np.uint32), np.empty(total, np.uint32), np.empty(total, np.int64)
        lists = kernels.Lists(ranks, positions, np.empty(len(postings.rests), np.float32), slots)

        def build(part: slice) -> None:
            kernels.build_lists(groups.order, groups.starts[part.start : part.stop + 1], postings, lists)

        _each(build, _parts(len(groups), self.threads), self.threads)
        return kernels.Index(self.sizes, self.sides, rank_starts, postings.positions, postings.rests, lists)

    def _postings(self, low: np.uint64, high: np.uint64) -> tuple[Array, kernels.Postings, Unique]:
        """Return where each rank's postings begin, int64[ranks + 1]; all postings; and the groups that share an element."""
        parts = _parts(len(self.order), self.threads)
        rank_starts = self.scratch.zeros(len(self.order) + 1, np.int64)

        def count(part: slice) -> None:
            kernels.count_postings(self.kept, self.order[part], low, high, rank_starts[1:][part])

        _each(count, parts, self.threads)
        np.cumsum(rank_starts, out=rank_starts)
        total = int(rank_starts[-1])
        keys, positions, rank_of = np.empty(total, np.uint64), np.empty(total, np.uint32), np.empty(total, np.uint32)
        rests = np.empty(total if len(self.kept.rests) else 0, np.float32)
        postings = kernels.Postings(positions, rests, rank_of, np.empty(total, np.uint8))

        def gather(part: slice) -> None:
            begins = rank_starts[part.start : part.stop + 1]
            kernels.gather_postings(self.kept, self.order[part], low, high, begins, keys, postings)
            ranks = np.arange(part.start, part.stop, dtype=np.uint32)
            rank_of[begins[0] : begins[-1]] = np.repeat(ranks, np.diff(begins))

        _each(gather, parts, self.threads)
        return rank_starts, postings, collapse(keys, threads=self.threads)


class _Memory:
    """Working memory of one thread."""

    def __init__(self, ranks: int, longest: int, pairs: int) -> None:
        """Room for `ranks` sets, with at most `longest` elements in a prefix, and for `pairs` at first."""
        slots = 1 << (2 * longest).bit_length()
        self.probe = _probe_memory(np.full(ranks, -1, np.int32), pairs)
        self.common = CommonMemory(
            np.empty(slots, np.uint64), np.empty(slots, np.int32), np.zeros(slots, np.int64), np.zeros(1, np.int64)
        )

    def grow(self) -> None:
        """Double the room for pairs."""
        self.probe = _probe_memory(self.probe.seen, 2 * len(self.probe.left))


def _probe_memory(seen: Array, room: int) -> kernels.ProbeMemory:
    return kernels.ProbeMemory(seen, np.empty(room, np.uint32), np.empty(room, np.uint32), np.zeros(3, np.int64))


class _Walk:
    """Walks all ranks through the lists, for one range of elements after another.

    Attributes:
        counts: int64[2], postings visited and pairs looked at.
    """

    def __init__(
        self, code: int, threshold: float, ranked: _RankedSets, names: Array, pairs: PairSpool, pairs_at_once: int
    ) -> None:
        """`pairs` takes the pairs that may be similar enough, under the names (int64[ranks]) of their ranks."""
        self._code, self._threshold, self._names, self._pairs = code, threshold, names, pairs
        self._pairs_at_once = pairs_at_once
        self._lock, self.counts = Lock(), np.zeros(2, np.int64)
        self._ranks, self._longest = len(ranked.order), ranked.longest
        shape = (self._ranks, WIDTH)
        sketches = np.empty(shape, np.uint64) if code in BY_NORM else ranked.scratch.zeros(shape, np.uint64)
        self._prefixes = RankedPrefixes(ranked.kept, ranked.order, ranked.sizes, sketches)
        if code not in BY_NORM:
            for part in parts_of(self._ranks):
                here = (ranked.order[part], ranked.sizes[part], sketches[part])
                sketch_prefixes(RankedPrefixes(ranked.kept, *here))

    def _memory(self) -> _Memory:
        return _Memory(self._ranks, self._longest, self._pairs_at_once)

    def through(self, index: kernels.Index, threads: int) -> None:
        """Walk all ranks through the lists, on several threads."""
        memories = local()

        def walk(edge: tuple[int, int]) -> None:
            if not hasattr(memories, "own"):
                memories.own = self._memory()
            for packed, counts in self._found(*edge, index, memories.own):
                self._pairs.add(packed)
                with self._lock:
                    self.counts += counts

        for _ in in_order(walk, _edges(index.rank_starts, threads), threads):
            pass

    def expected_pairs(self, index: kernels.Index) -> int:
        """Estimate the number of pairs from evenly spread ranks."""
        memory, found, looked_at = self._memory(), 0, 0
        step = self._ranks // EXPECTED_FROM_SETS
        firsts = range(0, self._ranks, WALKED_SHARE * step)
        for done, number in enumerate(np.random.default_rng(0).permutation(len(firsts)).tolist(), 1):
            first = firsts[number]
            for packed, counts in self._found(first, min(first + step, self._ranks), index, memory):
                found += len(packed)
                looked_at += int(counts[1])
            if looked_at > ENOUGH_PAIRS:
                return WALKED_SHARE * found * len(firsts) // done
        return WALKED_SHARE * found

    def _found(self, first: int, last: int, index: kernels.Index, memory: _Memory) -> Iterator[tuple[Array, Array]]:
        """Yield the pairs of ranks first … last - 1, left << 32 | right (uint64[p]), and their part of `counts`."""
        while first < last:
            check_needed()
            probe = memory.probe
            probe.counts[:] = 0
            after = kernels.probe(self._code, self._threshold, first, last, index, probe)
            n = int(probe.counts[0])
            if self._code not in BY_NORM:
                n = drop_far(self._code, self._threshold, self._prefixes, probe.left, probe.right, n, memory.common)
            packed = np.empty(n, np.uint64)
            pack_pairs(self._names, probe.left[:n], probe.right[:n], packed)
            yield packed, probe.counts[1:]
            if after == first:  # one set has more pairs than fit
                memory.grow()
            first = after


def _edges(rank_starts: Array, threads: int) -> list[tuple[int, int]]:
    """Split the ranks into ranges with about as many postings each."""
    shares = np.linspace(0, rank_starts[-1], 16 * threads + 1)
    cuts = np.unique(np.searchsorted(rank_starts, shares))
    cuts[-1] = len(rank_starts) - 1
    cuts[0] = 0
    return [(int(a), int(b)) for a, b in pairwise(cuts)]


def join_prefixes(
    prefixes: Prefixes,
    sets: Array,
    *,
    code: int,
    min_similarity: float,
    sides: Array | None = None,
    across: int = 0,
    names: Array | None = None,
    most: int | None = None,
    resources: Resources = DEFAULTS,
    posting_memory: int | None = None,
    pairs_at_once: int = PAIRS_AT_ONCE,
) -> tuple[Array, JoinCost]:
    """Find pairs of sets that may be similar: every similar pair, and few others.

    Args:
        prefixes: made with the same `code` and `min_similarity`, and counts that cover at least all `sets`.
        sets: int64[m], indexes of sets; give equal sets only once.
        code, min_similarity: the similarity and its threshold.
        sides: uint8[m], 1, 2, or 3 for both; only pairs across the two sides are needed.
        across: if above 0, only pairs of one of the first so many sets and one of the others are needed, and nothing else is looked
            at; equal sets may be given on either side. Instead of `sides`.
        names: int64[m], what the pairs are of, if not indexes into `sets`; pairs of one name are dropped.
        most: raise ManyPairs if, by a sample, there are more pairs than this.
        resources: if pairs exceed their share of the memory, they go to a temporary file.
        posting_memory: bytes of postings at a time, by default their share of the memory; if there are more, the join takes several
            passes.
        pairs_at_once: pairs for which a thread has room at first; more of one set need more.

    Returns:
        uint64[p], left << 32 | right, indexes into `sets`, left < right, ascending, each pair once; and the cost.

    Raises:
        OptionError: there are more sets than a join can take, or, by a sample, more pairs than fit the memory and the disk.
    """
    if len(sets) > MAX_SETS:
        raise OptionError(f"{len(sets):,} different documents; an exact join takes {MAX_SETS:,}. Split the corpus.")
    threads, scratch = resources.thread_count, resources.scratch
    if across:
        sides = np.where(np.arange(len(sets)) < across, np.uint8(1), np.uint8(2))
    sizes = scratch.take(prefixes.sizes, sets)
    by_size = scratch.keep(np.argsort(-sizes if code in LARGER_FIRST else sizes, kind="stable"))
    ranked = _RankedSets(
        kernels.KeptElements(prefixes.elements, prefixes.rests, prefixes.starts, prefixes.facts),
        scratch.take(sets, by_size),
        scratch.take(sizes, by_size),
        np.empty(0, np.uint8) if sides is None else np.ascontiguousarray(sides[by_size], np.uint8),
        threads,
        scratch,
    )
    postings, pairs = ranked.postings, resources.pair_spool(names)
    walk = _Walk(code, float(min_similarity), ranked, by_size, pairs, pairs_at_once)
    passes = list(_ranges(postings, resources.share("postings") if posting_memory is None else posting_memory))
    resources.use.record("postings", postings * POSTING_BYTES // len(passes))
    for number, (low, high) in enumerate(passes, 1):
        for index in ranked.indexes(low, high, apart=across > 0):
            expected = walk.expected_pairs(index) if len(sets) >= EXPECTED_FROM_SETS else 0
            check_few(expected, most)
            work = f"`method='exact'` would propose about {expected:,} pairs, which"
            resources.check_pairs(expected, work=work, instead="a higher `min_similarity`")
            walk.through(index, threads)
        if number < len(passes):  # after the last pass `all` drops them
            pairs.drop_repeats()
    packed = pairs.all()
    visits, looked_at = walk.counts.tolist()
    return packed, JoinCost(postings, len(passes), visits, looked_at, len(packed))
