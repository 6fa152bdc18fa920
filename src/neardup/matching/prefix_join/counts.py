"""COUNT: in how many documents each element occurs, in memory that does not grow with the corpus."""

from collections.abc import Iterator
from threading import Lock, get_ident
from typing import Protocol

import numpy as np

from neardup.arrays import Array
from neardup.kernels.matching.element_counts import count_elements, count_known, keep_marked, scatter_regions

REGION_BITS = 5
"""Cells are counted in by so many (2^5) parts, each by one thread at a time."""
LEAST_BITS, MOST_BITS = 16, 36
MARK_BITS = 5
"""Of other elements no more than one in so many (2^5) has the mark of a known one."""


class Cells(Protocol):
    """What prefixes are made by: the count of an element is `cells[element >> shift]`."""

    @property
    def cells(self) -> Array: ...

    @property
    def shift(self) -> np.uint64: ...


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
    def cells_for(elements: int) -> int:
        """How many cells there are for so many elements where the memory does not matter."""
        return ElementCounts.bytes_for(elements, memory=1 << 62) // 2

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
        ordered = np.sort(elements)  # a fifth of the time of np.unique
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
        """Count `elements` (uint64[], distinct within each document); from any thread."""
        kept = np.empty_like(elements)
        kept = kept[: keep_marked(elements, self._marked_by, self._marks, kept)]
        for in_order, first, last in self._regions.divided(kept):
            count_known(in_order, first, last, self._shift, self._guide, self.known, self.counts)
