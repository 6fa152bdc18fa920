"""COUNT: in how many documents each element occurs, in memory that does not grow with the corpus."""

from threading import Lock, get_ident

import numpy as np

from neardup.arrays import Array
from neardup.kernels.matching.element_counts import count_elements, scatter_regions

REGION_BITS = 5
"""Cells are counted in by so many (2^5) parts, each by one thread at a time."""
LEAST_BITS, MOST_BITS = 16, 36


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
        self._locks = [Lock() for _ in range(1 << REGION_BITS)]

    @staticmethod
    def bytes_for(elements: int, *, memory: int) -> int:
        """What the cells for so many elements take."""
        bits = min(max(elements, 2).bit_length() - 1, max(memory // 2, 2).bit_length() - 1, MOST_BITS)
        return 2 << max(bits, LEAST_BITS)

    def add(self, elements: Array) -> None:
        """Count `elements` (uint64[], distinct within each document); from any thread."""
        regions = len(self._locks)
        ends, sorted_elements = np.empty(regions + 1, np.int64), np.empty_like(elements)
        scatter_regions(elements, np.uint64(64 - REGION_BITS), ends, sorted_elements)
        begin = get_ident() % regions  # threads seldom meet
        for region in (*range(begin, regions), *range(begin)):
            first = int(ends[region - 1]) if region else 0
            with self._locks[region]:
                count_elements(sorted_elements, first, int(ends[region]), self.shift, self.cells)

    def of(self, elements: Array) -> Array:
        """uint16[n]: the counts of `elements` (uint64[n])."""
        counts: Array = self.cells[(elements >> self.shift).astype(np.int64)]
        return counts
