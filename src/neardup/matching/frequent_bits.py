"""FREQUENT BITS: which sets of a dense corpus may be similar, by a bit for each frequent element. Nothing is listed but what meets.

A prefix join lists what shares a rare element and sorts, stores and verifies it. Where nearly all texts are nearly alike, these are
millions of pairs that do not match. Here each set is held against each other, which takes a nanosecond or two: see
`neardup.kernels.matching.frequent_bits`, which also proves the bound.
"""

from collections.abc import Iterator
from threading import local
from typing import Protocol

import numpy as np

from neardup.arrays import Array
from neardup.kernels.matching import frequent_bits as kernels
from neardup.kernels.matching.frequent_bits import TILE, BitSets, BitTable, MeetingMemory, Tiles
from neardup.kernels.matching.similarities import BY_NORM
from neardup.matching.prefix_join.counts import ElementCounts
from neardup.matching.similarities.table import Elements, maker_of
from neardup.recipe.similarity import Similarity
from neardup.recipe.tables.similarities import SimilarityName
from neardup.resources.resources import Resources
from neardup.resources.threads import check_needed, in_order

FREQUENT_SHARE = 100
"""An element is frequent that is in one set of so many."""
MAX_BITS = 1 << 14
"""Bits of a set; fewer, if those of all sets would take more than the share of arrays."""
SIZE_CLASSES = 256
MARKS_EACH, MAX_MARK_WORDS = 8, 8
"""Marks for each element without a bit, so that few share one; and the words that they take at most."""
CELLS_EACH = 8
"""Cells for each element where they are counted: one that shares its cell counts among the rest."""
ROWS_PER_PART = 1024
"""Sets whose elements a thread looks at, at a time."""
PROBES_PER_PART, PAIRS_PER_PART = 256, 1 << 16
"""Sets that a thread holds against the others at a time; pairs that it has room for."""


class Sets(Protocol):
    """Sets of elements by their rows, such as those of a store.

    Attributes:
        starts, ends: int64[rows]: a row has ends[row] - starts[row] elements.
    """

    @property
    def starts(self) -> Array: ...

    @property
    def ends(self) -> Array: ...

    def sets(self, rows: Array) -> Elements:
        """The elements of some rows (int64[n])."""


class FrequentBits:
    """The bits of n sets, and the needed overlaps of their sizes. `tiles` makes room for those that others are held against."""

    def __init__(self, sets: BitSets, needed: Array, resources: Resources) -> None:
        self._sets, self._needed, self._resources = sets, needed, resources

    def __len__(self) -> int:
        return len(self._sets.rests)

    @classmethod
    def of(
        cls,
        store: Sets,
        rows: Array,
        *,
        similarity: Similarity | SimilarityName,
        min_similarity: float,
        resources: Resources,
        max_bits: int = MAX_BITS,
    ) -> "FrequentBits":
        """The bits of sets that a store has, in the order of `rows` (int64[n])."""
        n, threads, scratch = len(rows), resources.thread_count, resources.scratch
        sizes = store.ends[rows] - store.starts[rows]
        parts = [slice(first, min(n, first + ROWS_PER_PART)) for first in range(0, n, ROWS_PER_PART)]
        counts = ElementCounts(CELLS_EACH * int(sizes.sum()), memory=resources.share("counts"))
        resources.use.record("counts", counts.cells.nbytes)
        for _ in in_order(lambda part: counts.add(store.sets(rows[part]).values), parts, threads):
            pass
        most = min(max_bits, max(64, 8 * resources.share("arrays") // (2 * max(1, n))))
        slots = 1 << (2 * most).bit_length()
        table = BitTable(np.zeros(slots, np.uint64), np.full(slots, kernels.NO_BIT, np.int32))
        for part in parts:
            values = store.sets(rows[part]).values
            kernels.number_frequent(values, counts.of(values), max(2, n // FREQUENT_SHARE), most, table)
        some = store.sets(rows[:: max(1, n // ROWS_PER_PART)][:ROWS_PER_PART])
        words = max(1, -(-int(np.count_nonzero(table.bits != kernels.NO_BIT)) // 64))
        marks = _words_of_marks(some, counts, table, words)
        sets = BitSets(
            scratch.zeros((n, words), np.uint64),
            scratch.zeros((n, marks), np.uint64),
            scratch.zeros(n, np.int32),
            scratch.zeros(n, np.int32),
            np.zeros(n, np.uint8),
        )
        unit, norms = float(np.median(some.weights)) if len(some.weights) else 1.0, np.zeros(n)

        def fill(part: slice) -> None:
            found = store.sets(rows[part])
            counted = counts.of(found.values)
            kernels.fill_bits(
                found.values, found.offsets, counted, table, sets.bits[part], sets.marks[part], sets.rests[part]
            )
            if len(found.weights):
                kernels.fill_extras(found.weights, found.offsets, counted, unit, sets.extras[part])
                norms[part] = np.sqrt(np.add.reduceat(np.append(found.weights**2, 0), found.offsets[:-1])) / unit

        for _ in in_order(fill, parts, threads):
            pass
        code = maker_of(similarity).code
        sets.classes[:], smallest = _classes(norms if code in BY_NORM else sizes)
        return cls(sets, _needed(code, float(min_similarity), smallest), resources)

    def tiles(self, room: int) -> "TiledSets":
        """No sets yet, and room for so many."""
        return TiledSets(self._sets, self._needed, room, self._resources)


class TiledSets:
    """Some of the sets, ascending, with which others are compared."""

    def __init__(self, sets: BitSets, needed: Array, room: int, resources: Resources) -> None:
        self._sets, self._needed, self._resources = sets, needed, resources
        tiles, words, zeros = -(-room // TILE), sets.bits.shape[1], resources.scratch.zeros
        self._tiles = Tiles(
            zeros((tiles, words, TILE), np.uint64),
            zeros((tiles, sets.marks.shape[1], TILE), np.uint64),
            zeros(tiles * TILE, np.int32),
            zeros(tiles * TILE, np.int32),
            zeros(tiles * TILE, np.uint8),
            zeros(tiles * TILE, np.int64),
        )
        self._count = 0
        self._memories = local()

    def __len__(self) -> int:
        return self._count

    @property
    def arrays(self) -> tuple[BitSets, Tiles, Array]:
        """All sets, those that were added, and what their classes need: what kernels take."""
        return self._sets, self._tiles, self._needed

    def add(self, places: Array) -> None:
        """Add sets (int64[m], ascending), all after those that there are."""
        kernels.fill_tiles(self._sets, places, self._count, self._tiles)
        self._count += len(places)

    def meetings(self, probes: Array, since: int = 0) -> list[Iterator[tuple[Array, Array]]]:
        """Pairs of a probe and an earlier set, added as number `since` or later, that may be similar enough, in parts of the work.

        probes: int64[m], sets. Yields left, right: int64[p], right < left; valid until the next.
        """
        cuts = range(0, len(probes), PROBES_PER_PART)
        until = self._count
        return [self._met(probes[first : first + PROBES_PER_PART], since, until) for first in cuts]

    def _met(self, probes: Array, since: int, until: int) -> Iterator[tuple[Array, Array]]:
        if not hasattr(self._memories, "own"):
            self._memories.own = MeetingMemory(
                np.empty(TILE, np.int32),
                np.empty(TILE, np.int32),
                np.empty(TILE, np.int32),
                np.empty(self._sets.bits.shape[1] + 1, np.int64),
                np.empty(PAIRS_PER_PART, np.int64),
                np.empty(PAIRS_PER_PART, np.int64),
                np.zeros(3, np.int64),
            )
        memory: MeetingMemory = self._memories.own
        probes = probes[np.argsort(self._sets.classes[probes], kind="stable")]
        memory.state[:] = 0
        is_done = False
        while not is_done:
            check_needed()
            memory.state[0] = 0
            is_done = kernels.meet(probes, self._sets, self._tiles, since, until, self._needed, memory)
            found = int(memory.state[0])
            yield memory.left[:found], memory.right[:found]


def _words_of_marks(some: Elements, counts: ElementCounts, table: BitTable, words: int) -> int:
    """How many words of marks sets like some have: enough that few of their elements share one."""
    n = len(some.offsets) - 1
    rests = np.zeros(n, np.int32)
    no_marks = np.zeros((n, 0), np.uint64)
    kernels.fill_bits(
        some.values, some.offsets, counts.of(some.values), table, np.zeros((n, words), np.uint64), no_marks, rests
    )
    return min(MAX_MARK_WORDS, -(-MARKS_EACH * int(rests.sum()) // (64 * max(1, n))))


def _classes(sizes: Array) -> tuple[Array, Array]:
    """The class of each size or norm, uint8[n], and the smallest of each class, [k]: each is one, if there are few."""
    smallest = np.unique(sizes)
    if len(smallest) > SIZE_CLASSES:
        smallest = np.unique(np.quantile(sizes, np.linspace(0, 1, SIZE_CLASSES), method="lower"))
    return (np.searchsorted(smallest, sizes, "right") - 1).astype(np.uint8), smallest


def _needed(code: int, threshold: float, smallest: Array) -> Array:
    """The fewest elements in common, with extras, of two sets of the classes i and j that reach a similarity: int32[k, k]."""
    if code in BY_NORM:
        products = np.floor(np.outer(smallest, smallest) * threshold * (1 - 1e-9))
        return np.clip(products, 1, kernels.MOST_EXTRA).astype(np.int32)
    needed = np.empty((len(smallest), len(smallest)), np.int32)
    kernels.fill_needed(code, threshold, smallest.astype(np.int64), needed)
    return needed
