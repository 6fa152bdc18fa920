"""COUNT: in how many documents each element occurs, in memory that does not grow with the corpus."""

from collections.abc import Iterator
from threading import Lock, get_ident

import numpy as np

from neardup.arrays import Array
from neardup.kernels.matching.element_counts import count_elements, count_known, scatter_regions

REGION_BITS = 5
"""Cells are counted in by so many (2^5) parts, each by one thread at a time."""
LEAST_BITS, MOST_BITS = 16, 36


class _Regions:
    """Elements by their upper bits, and for each region of them a lock: whoever holds it counts there."""

    def __init__(self) -> None:
        self._locks = [Lock() for _ in range(1 << REGION_BITS)]

    def divided(self, elements: Array) -> Iterator[tuple[Array, int, int]]:
        """The `elements` (uint64[]) in order of regions, and where those of the region that is locked meanwhile begin and end."""
        regions = len(self._locks)
        ends, in_order = np.empty(regions + 1, np.int64), np.empty_like(elements)
        scatter_regions(elements, np.uint64(64 - REGION_BITS), ends, in_order)
        begin = get_ident() % regions  # threads seldom meet
        for region in (*range(begin, regions), *range(begin)):
            with self._locks[region]:
                yield in_order, int(ends[region - 1]) if region else 0, int(ends[region])


class ElementCounts:
    """Counts of elements by cell: at least the number of documents that have the element, up to 65,535.

    Two elements that share a cell look more frequent than they are, which costs postings and loses no pair. Counts are sums, so
    threads and the order of documents change nothing.

    Attributes:
        cells: uint16[2^bits].
        shift: the cell of an element is `element >> shift`.
    """

    def __init__(self, elements: int, *, memory: int) -> None:
        """Half to as many cells as there are `elements`, in at most `memory` bytes."""
        cells = self.bytes_for(elements, memory=memory) // 2
        bits = cells.bit_length() - 1
        self.cells: Array = np.zeros(cells, np.uint16)
        self.shift = np.uint64(64 - bits)
        self._regions = _Regions()

    @staticmethod
    def bytes_for(elements: int, *, memory: int) -> int:
        """What the cells for so many elements take."""
        bits = min(max(elements, 2).bit_length() - 1, max(memory // 2, 2).bit_length() - 1, MOST_BITS)
        return 2 << max(bits, LEAST_BITS)

    def add(self, elements: Array) -> None:
        """Count `elements` (uint64[], distinct within each document); from any thread."""
        for in_order, first, last in self._regions.divided(elements):
            count_elements(in_order, first, last, self.shift, self.cells)

    def of(self, elements: Array) -> Array:
        """uint16[n]: the counts of `elements` (uint64[n])."""
        found: Array = self.cells[(elements >> self.shift).astype(np.int64)]
        return found


class KnownCounts:
    """In how many documents each of some elements occurs, exactly; in memory of those alone.

    Attributes:
        known: uint64[m], the elements, ascending and distinct.
        counts: int64[m].
    """

    def __init__(self, elements: Array) -> None:
        """Of these `elements` (uint64[]), some of which may be equal."""
        self.known: Array = np.unique(elements)
        self.counts: Array = np.zeros(len(self.known), np.int64)
        bits = max(REGION_BITS, len(self.known).bit_length())
        self._shift, self._regions = np.uint64(64 - bits), _Regions()
        upper = (self.known >> self._shift).astype(np.int64)
        self._guide = np.searchsorted(upper, np.arange((1 << bits) + 1))

    def add(self, elements: Array) -> None:
        """Count `elements` (uint64[], distinct within each document); from any thread."""
        for in_order, first, last in self._regions.divided(elements):
            count_known(in_order, first, last, self._shift, self._guide, self.known, self.counts)
