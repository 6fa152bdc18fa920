"""ORDERS of elements: those that were frequent in a sample come last, by how often they occurred."""

import numpy as np

from neardup.arrays import Array
from neardup.kernels.store import prefixes as kernels
from neardup.kernels.store.prefixes import Order

MAX_LEARNED_ELEMENTS = 1 << 20
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
    several = several[np.sort(most_frequent(elements[several], counts[several], MAX_LEARNED_ELEMENTS))]
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
