"""PREFIXES of texts that arrive in any order of size, under an order of all elements that was learned from some texts.

A prefix serves partners of every size (Chaudhuri, Ganti and Kaushik 2006). Elements that were frequent in a sample come last.
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.fingerprints.shingles import heap_sort
from neardup.kernels.matching.bounds import cosine_prefix
from neardup.kernels.matching.similarities import BY_NORM, prefix_length
from neardup.kernels.store.postings import MIX

u64 = np.uint64
MOST_COUNTED = (1 << 24) - 1


class Order(NamedTuple):
    """How often elements occurred in a sample: an open hash table. Elements that it lacks occurred once, or never.

    Attributes:
        elements: uint64[2**k], each at its place or after it.
        counts: uint32[2**k], 0 where no element is.
        shift: 64 - k.
    """

    elements: Array
    counts: Array
    shift: int


class Ordered(NamedTuple):
    """Working memory for one text of n elements.

    Attributes:
        places: int64[n], of its elements in the order.
        weights: float64[n], of these.
        later: uint64[n].
    """

    places: Array
    weights: Array
    later: Array


@kernel
def slot_of(element, order):
    """Where an element is in an order, or where it would be."""
    at = np.int64((element * MIX) >> u64(order.shift))
    while order.counts[at] != 0 and order.elements[at] != element:
        at = (at + 1) & (len(order.counts) - 1)
    return at


@kernel
def fill_order(elements, counts, order):
    """Put elements (uint64[m], distinct) and their counts (uint32[m], above 0) into an order with more room than that."""
    for i in range(len(elements)):
        at = slot_of(elements[i], order)
        order.elements[at], order.counts[at] = elements[i], np.uint32(min(np.int64(counts[i]), MOST_COUNTED))


@kernel
def ordered_places(values, begin, end, order, needed, ordered):
    """The places of the first `needed` of the elements values[begin:end], which ascend, by their counts and then by themselves."""
    first, later = 0, 0
    for i in range(begin, end):
        count = order.counts[slot_of(values[i], order)]
        if count == 0:
            ordered.places[first] = i
            first += 1
            if first == needed:
                return
        else:
            ordered.later[later] = u64(count) << u64(40) | u64(i - begin)
            later += 1
    heap_sort(ordered.later[:later])
    for i in range(min(later, needed - first)):
        ordered.places[first + i] = begin + np.int64(ordered.later[i] & u64((1 << 40) - 1))


@kernel
def length_of(weights, begin, end, code, threshold, order, values, ordered):
    """How long a text's prefix is; for those BY_NORM, its elements are put in order to know."""
    n = end - begin
    if code not in BY_NORM or n == 0:
        return prefix_length(code, n, threshold)
    ordered_places(values, begin, end, order, n, ordered)
    for i in range(n):
        ordered.weights[i] = weights[ordered.places[i]]
    return cosine_prefix(ordered.weights, 0, n, threshold)


@kernel
def keys_of_texts(values, weights, offsets, wanted, order, code, threshold, whole, ordered, out):
    """The keys of texts: of each one that is wanted, its prefix, or all its elements if `whole`, in order.

    Args:
        values, weights, offsets: the elements of n texts, ascending in each: uint64[], float64[] (empty without), int64[n + 1].
        wanted: bool[n].
        order, code, threshold: see `Order`, and `neardup.kernels.matching.similarities`.
        ordered: working memory for the longest text.
        out: `Keys` with room for len(values); texts are places from 0. Returns how many keys there are.
    """
    k = 0
    for text in range(len(offsets) - 1):
        begin, end = offsets[text], offsets[text + 1]
        if not wanted[text] or begin == end:
            continue
        n = end - begin
        length = n if whole else length_of(weights, begin, end, code, threshold, order, values, ordered)
        if length == 0:
            continue
        ordered_places(values, begin, end, order, length, ordered)
        for i in range(length):
            out.keys[k], out.texts[k] = values[ordered.places[i]], text
            out.positions[k], out.sizes[k] = np.uint32(i), np.uint32(n)
            k += 1
    return k
