"""COUNT: in how many documents each element occurs, in memory that does not grow with the corpus."""

from collections.abc import Callable, Iterator
from threading import Lock, get_ident
from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.matching.element_counts import (
    count_elements,
    count_known,
    count_runs,
    find_counts,
    keep_marked,
    scatter_regions,
    seek,
)
from neardup.resources.threads import in_order

REGION_BITS = 5
REGIONS = 1 << REGION_BITS
"""Cells are divided into so many regions, each counted in by one thread at a time."""
MIN_ELEMENTS_PER_REGION, MIN_ELEMENTS = 24, 1 << 21
"""Documents with so many elements in each region, so many in all, are looked at region by region."""
MIN_CELL_BITS, MAX_CELL_BITS = 16, 36
MARK_BITS = 5
"""At most one unknown element in 2^5 shares a mark with a known one."""


def _edge(region: int) -> np.uint64:
    """The last element before a region."""
    return np.uint64((region << (64 - REGION_BITS)) - 1)


class Runs(NamedTuple):
    """The elements of long documents, which are looked at region by region, so that the cells of a region stay in a cache.

    A processor then waits half as long for memory: measured with documents of 4,000 elements. With 500, it makes no difference.

    Attributes:
        values: uint64[]; starts, ends: int64[n]; those of document d, values[starts[d]:ends[d]], ascend.
    """

    values: Array
    starts: Array
    ends: Array

    @property
    def is_worthwhile(self) -> bool:
        """Whether there are enough elements, and enough of each document in a region."""
        return int((self.ends - self.starts).sum()) >= max(
            MIN_ELEMENTS, MIN_ELEMENTS_PER_REGION * REGIONS * len(self.starts)
        )

    def by_region(self, work: Callable[[Array, np.uint64], None], threads: int) -> Iterator[int]:
        """Call work(places, last) for each region: for each document's elements from its place on, up to the last of the region.

        It moves the places behind these. Yields numbers of documents whose sum grows to all, as regions are done.
        """
        step = max(1, REGIONS // (4 * threads))

        def through(first: int) -> int:
            regions = range(first, min(first + step, REGIONS))
            places = self.starts.copy()
            if first:
                seek(self.values, self.starts, self.ends, _edge(first), places)
            for region in regions:
                work(places, _edge(region + 1))
            return len(places) * regions.stop // REGIONS - len(places) * first // REGIONS

        return in_order(through, range(0, REGIONS, step), threads)


class _Regions:
    """Regions of elements by their upper bits, each with a lock; only the thread that holds it counts there."""

    def __init__(self) -> None:
        self._locks = [Lock() for _ in range(REGIONS)]

    def divided(self, elements: Array) -> Iterator[tuple[Array, int, int]]:
        """Sort `elements` (uint64[]) by region, and yield them with the begin and end of each region while it is locked."""
        regions = len(self._locks)
        ends, ordered = np.empty(regions + 1, np.int64), np.empty_like(elements)
        scatter_regions(elements, np.uint64(64 - REGION_BITS), ends, ordered)
        begin = get_ident() % regions  # so threads seldom meet
        for region in (*range(begin, regions), *range(begin)):
            with self._locks[region]:
                yield ordered, int(ends[region - 1]) if region else 0, int(ends[region])


class ElementCounts:
    """Counts of elements by cell: at least the number of documents that have the element, up to 65,535.

    Two elements that share a cell look more frequent than they are, which costs postings but loses no pair. Counts are sums, so
    threads and the order of documents do not change them.

    Attributes:
        cells: uint16[2^bits].
        shift: the cell of an element is `element >> shift`.
    """

    def __init__(self, elements: int, *, memory: int, clear: bool = True) -> None:
        """Make between half as many cells as `elements` and as many, in at most `memory` bytes.

        Without `clear`, they are not set to 0, which `count_all` does.
        """
        cells = self.bytes_for(elements, memory=memory) // 2
        bits = cells.bit_length() - 1
        self.cells: Array = (np.zeros if clear else np.empty)(
            cells, np.uint16
        )  # zeros come with the pages, as threads use them
        self.shift = np.uint64(64 - bits)
        self._regions = _Regions()

    @staticmethod
    def cells_for(elements: int) -> int:
        """Number of cells for this many elements if memory is no limit."""
        return ElementCounts.bytes_for(elements, memory=1 << 62) // 2

    @staticmethod
    def bytes_for(elements: int, *, memory: int) -> int:
        """Bytes of the cells for this many elements."""
        bits = min(max(elements, 2).bit_length() - 1, max(memory // 2, 2).bit_length() - 1, MAX_CELL_BITS)
        return 2 << max(bits, MIN_CELL_BITS)

    def add(self, elements: Array) -> None:
        """Count `elements` (uint64[], distinct within each document); safe from any thread."""
        for ordered, first, last in self._regions.divided(elements):
            count_elements(ordered, first, last, self.shift, self.cells)

    def of(self, elements: Array) -> Array:
        """uint16[n]: the counts of `elements` (uint64[n])."""
        found = np.empty(len(elements), np.uint16)
        find_counts(
            elements, np.array([len(elements)]), np.zeros(1, np.int64), _edge(REGIONS), self.shift, self.cells, found
        )
        return found

    def count_all(self, runs: Runs, *, threads: int) -> Iterator[int]:
        """Count the elements of all documents, from 0 on; yields numbers of documents whose sum grows to all."""
        each = len(self.cells) // REGIONS

        def count(places: Array, last: np.uint64) -> None:
            after = int(last >> self.shift) + 1
            self.cells[after - each : after] = 0
            count_runs(runs.values, runs.ends, places, last, self.shift, self.cells)

        return runs.by_region(count, threads)

    def of_runs(self, runs: Runs, *, threads: int) -> Array:
        """uint16[], as long as all values: the counts of the elements of all documents, at their places."""
        found = np.empty(len(runs.values), np.uint16)

        def find(places: Array, last: np.uint64) -> None:
            find_counts(runs.values, runs.ends, places, last, self.shift, self.cells, found)

        for _ in runs.by_region(find, threads):
            pass
        return found


class KnownCounts:
    """Exact document counts for a set of known elements, in memory that depends on these alone.

    Attributes:
        known: uint64[m], the elements, ascending and distinct.
        counts: int64[m].
    """

    def __init__(self, elements: Array) -> None:
        """Count these `elements` (uint64[]); they may repeat."""
        ordered = np.sort(elements)  # takes a fifth of the time of np.unique
        self.known: Array = ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered
        self.counts: Array = np.zeros(len(self.known), np.int64)
        bits = max(REGION_BITS, len(self.known).bit_length())
        self._shift, self._regions = np.uint64(64 - bits), _Regions()
        marked_bits = bits + MARK_BITS
        self._marked_by = np.uint64(64 - marked_bits)
        places = self.known >> self._marked_by
        self._marks = np.zeros(1 << (marked_bits - 6), np.uint64)
        np.bitwise_or.at(
            self._marks, (places >> np.uint64(6)).astype(np.int64), np.uint64(1) << (places & np.uint64(63))
        )
        upper = (self.known >> self._shift).astype(np.int64)
        self._guide = np.zeros((1 << bits) + 1, np.int32)
        np.cumsum(np.bincount(upper, minlength=1 << bits), out=self._guide[1:])

    def add(self, elements: Array) -> None:
        """Count `elements` (uint64[], distinct within each document); safe from any thread."""
        kept = np.empty_like(elements)
        kept = kept[: keep_marked(elements, self._marked_by, self._marks, kept)]
        for ordered, first, last in self._regions.divided(kept):
            count_known(ordered, first, last, self._shift, self._guide, self.known, self.counts)
