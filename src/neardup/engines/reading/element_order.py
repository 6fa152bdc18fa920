"""ELEMENT ORDER: the frequent elements of a part of the input; those that many documents have come last."""

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.schemas import COUNTED, SAMPLE, SAMPLE_DIVISIONS
from neardup.engines.stages import Found, Stage
from neardup.kernels.engines.frequent import count_frequent
from neardup.kernels.store.prefixes import Order, fill_order
from neardup.matching.element_order import MAX_LEARNED_ELEMENTS, most_frequent, order_of

TABLE_SLOTS, SIEVE_CELLS = 1 << 20, 1 << 22
"""Of the table of elements that are counted, which may be half full, and of the sieve before it: 17 MB for a part."""
MIN_SEEN = 2
"""How often an element is seen in a part before it is counted."""
ELEMENTS_PER_DOCUMENT = 4
"""Elements that a part tells for each of its documents. With 16, there were 5 % fewer comparisons, for four times the bytes."""
ELEMENTS_PER_BUCKET = 1 << 16
"""Elements whose counts a bucket tells; with all divisions, four times what is learned."""


class Counting:
    """Counts the elements of documents, and gives the frequent ones."""

    def __init__(self, *, slots: int = TABLE_SLOTS, cells: int = SIEVE_CELLS) -> None:
        self._slots, self._sieve = slots, np.zeros(cells, np.uint8)
        self._order = _table(slots, np.empty(0, np.uint64), np.empty(0, np.uint32))
        self._counted, self._documents = 0, 0

    def add(self, values: Array, offsets: Array) -> None:
        """Count the elements of n documents: uint64[], distinct in each; int64[n + 1]."""
        self._documents += len(offsets) - 1
        place = np.array([offsets[0], self._counted])
        while not count_frequent(values, offsets, MIN_SEEN, self._sieve, self._order, place):
            elements, counts = self._known()
            kept = most_frequent(elements, counts, self._slots // 4)
            self._order, place[1] = _table(self._slots, elements[kept], counts[kept]), len(kept)
        self._counted = int(place[1])

    def rows(self) -> pa.Table:
        """The most frequent elements as rows of SAMPLE, few for each document, so that they take few bytes."""
        elements, counts = self._known()
        kept = np.argsort(-counts.astype(np.int64), kind="stable")[: ELEMENTS_PER_DOCUMENT * self._documents]
        frequent = elements[kept].view(np.int64)
        return pa.table([frequent % SAMPLE_DIVISIONS, frequent, counts[kept].astype(np.int64)], SAMPLE.schema)

    def _known(self) -> tuple[Array, Array]:
        known = np.flatnonzero(self._order.counts)
        return self._order.elements[known], self._order.counts[known]


def _table(slots: int, elements: Array, counts: Array) -> Order:
    order = Order(np.zeros(slots, np.uint64), np.zeros(slots, np.uint32), 64 - (slots - 1).bit_length())
    fill_order(elements, counts, order)
    return order


def _count(sample: pa.Table) -> Found:
    """Elements with their counts in all parts, the most frequent of a bucket."""
    elements, at = np.unique(sample.column("element").to_numpy(), return_inverse=True)
    counts = np.bincount(at, sample.column("documents").to_numpy(), len(elements)).astype(np.int64)
    kept = np.argsort(-counts, kind="stable")[:ELEMENTS_PER_BUCKET]
    yield "counted", pa.table([elements[kept], counts[kept]], COUNTED.schema)


COUNT = Stage("order of elements", _count, {"counted": COUNTED})
"""Of the frequent elements of parts."""


def order_of_counted(counted: pa.Table, *, most: int = MAX_LEARNED_ELEMENTS) -> Order:
    """The order by which frequent elements come last: at most so many are known, by default some 24 MB."""
    elements, counts = counted.column("element").to_numpy(), counted.column("documents").to_numpy()
    kept = np.sort(most_frequent(elements, counts, most))
    return order_of(np.ascontiguousarray(elements[kept]).view(np.uint64), counts[kept].astype(np.uint32))
