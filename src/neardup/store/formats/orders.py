"""ORDERS of elements: those that were frequent in a sample come last, by how often they occurred."""

from pathlib import Path
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.errors import DataError
from neardup.hamming.index.files.segment_file import SegmentFile, write_segment_file
from neardup.kernels.store import prefixes as kernels
from neardup.kernels.store.prefixes import Order
from neardup.store.formats.segments import REPAIR

MOST_LEARNED = 1 << 20
"""Elements whose counts an order knows, the most frequent."""


def order_of(elements: Array, counts: Array) -> Order:
    """The order that knows the counts (uint32[m], above 0) of some distinct elements (uint64[m])."""
    bits = max((2 * len(elements)).bit_length(), 3)
    order = Order(np.zeros(1 << bits, np.uint64), np.zeros(1 << bits, np.uint32), 64 - bits)
    kernels.fill_order(elements, counts, order)
    return order


BY_HASH = order_of(np.empty(0, np.uint64), np.empty(0, np.uint32))
"""The order before anything was learned."""


def learned(values: Array) -> Order:
    """The order by a sample: the elements of its texts (uint64[], distinct in each text), those that several have."""
    elements, counts = np.unique(values, return_counts=True)
    several = np.flatnonzero(counts > 1)
    several = several[np.sort(most_frequent(elements[several], counts[several], MOST_LEARNED))]
    return order_of(elements[several], counts[several].astype(np.uint32))


def most_frequent(elements: Array, counts: Array, most: int) -> Array:
    """int64[m]: where the most frequent of some distinct elements are, so many at most, in no order. Of equal counts, the least
    elements: the first ones by their slots would fill the beginning of a table more each time.
    """
    if len(elements) <= most:
        return np.arange(len(elements))
    least = np.sort(counts)[-most]  # many are equal, which makes a partition slow
    above, equal = np.flatnonzero(counts > least), np.flatnonzero(counts == least)
    needed = most - len(above)
    return np.concatenate([above, equal[np.argpartition(elements[equal], needed - 1)[:needed]]])


def write_order(path: Path, order: Order) -> dict[str, Any]:
    """Write an order to a new file. Returns what the record says of it."""
    known = np.flatnonzero(order.counts)
    arrays = {"elements": order.elements[known], "counts": order.counts[known]}
    return {"file": path.name, "seal": f"{write_segment_file(path, arrays, {}):016x}"}


def read_order(file: SegmentFile) -> Order:
    """Read what `write_order` has written.

    Raises:
        DataError: the file is damaged.
    """
    if file.damaged_pages():
        raise DataError(f"{file.path} is damaged. {REPAIR}")
    arrays = file.arrays
    return order_of(arrays["elements"], arrays["counts"])
