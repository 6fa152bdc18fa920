"""COUNT: in how many documents each element occurs, in memory that does not grow with the corpus."""

from collections.abc import Iterator
from threading import Lock, get_ident
from typing import Protocol

import numpy as np

from neardup.arrays import Array
from neardup.kernels.matching.element_counts import count_elements, count_known, keep_marked, scatter_regions

REGION_BITS = 5
"""Cells are divided into 2^5 regions, each counted in by one thread at a time."""
LEAST_BITS, MOST_BITS = 16, 36
MARK_BITS = 5
"""At most one unknown element in 2^5 shares a mark with a known one."""


class Cells(Protocol):
    """The counts that prefixes are made by: that of an element is `cells[element >> shift]`."""

    @property
    def cells(self) -> Array: ...

    @property
    def shift(self) -> np.uint64: ...


class _Regions:
    """Regions of elements by their upper bits, each with a lock; only the thread that holds it counts there."""

    def __init__(self) -> None:
        self._locks = [Lock() for _ in range(1 << REGION_BITS)]

    def divided(self, elements: Array) -> Iterator[tuple[Array, int, int]]:
        """Sort `elements` (uint64[]) by region, and yield them with the begin and end of each region while it is locked."""
        regions = len(self._locks)
        ends, in_order = np.empty(regions + 1, np.int64), np.empty_like(elements)
        scatter_regions(elements, np.uint64(64 - REGION_BITS), ends, in_order)
        begin = get_ident() % regions  # so threads seldom meet
        for region in (*range(begin, regions), *range(begin)):
            with self._locks[region]:
                yield in_order, int(ends[region - 1]) if region else 0, int(ends[region])


class ElementCounts:
    """Counts of elements by cell: at least the number of documents that have the element, up to 65,535.

    Two elements that share a cell look more frequent than they are, which costs postings but loses no pair. Counts are sums, so
    threads and the order of documents do not change them.

    Attributes:
        cells: uint16[2^bits].
        shift: the cell of an element is `element >> shift`.
    """

    def __init__(self, elements: int, *, memory: int) -> None:
        """Make between half as many cells as `elements` and as many, in at most `memory` bytes."""
        cells = self.bytes_for(elements, memory=memory) // 2
        bits = cells.bit_length() - 1
        self.cells: Array = np.zeros(cells, np.uint16)
        self.shift = np.uint64(64 - bits)
        self._regions = _Regions()

    @staticmethod
    def cells_for(elements: int) -> int:
        """Number of cells for this many elements if memory is no limit."""
        return ElementCounts.bytes_for(elements, memory=1 << 62) // 2

    @staticmethod
    def bytes_for(elements: int, *, memory: int) -> int:
        """Bytes of the cells for this many elements."""
        bits = min(max(elements, 2).bit_length() - 1, max(memory // 2, 2).bit_length() - 1, MOST_BITS)
        return 2 << max(bits, LEAST_BITS)

    def add(self, elements: Array) -> None:
        """Count `elements` (uint64[], distinct within each document); safe from any thread."""
        for in_order, first, last in self._regions.divided(elements):
            count_elements(in_order, first, last, self.shift, self.cells)

    def of(self, elements: Array) -> Array:
        """uint16[n]: the counts of `elements` (uint64[n])."""
        found: Array = self.cells[(elements >> self.shift).astype(np.int64)]
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
        for in_order, first, last in self._regions.divided(kept):
            count_known(in_order, first, last, self._shift, self._guide, self.known, self.counts)
