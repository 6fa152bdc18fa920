"""Sample documents by their content: at random, but the same for any number of threads and any order."""

from collections.abc import Sequence

import numpy as np

from neardup.arrays import Array
from neardup.matching.similarities.table import Elements
from neardup.resources.held_spool import taken

MIX = np.uint64(0x9E3779B97F4A7C15)
"""Mixes minima: minima of evenly distributed numbers are not evenly distributed, but their product with MIX modulo 2^64 is."""


def chosen_texts(elements: Elements, share: float) -> Array:
    """bool[n]: about this `share` of the texts that have elements, chosen by the smallest element of each.

    Each text is chosen with the same probability, however long. Two texts of Jaccard similarity J have the same smallest element
    with probability J, and are then chosen together. So nearly this share of the similar pairs remains, not its square.
    """
    sizes = np.diff(elements.offsets)
    chosen = np.zeros(len(sizes), np.bool_)
    some = sizes > 0
    chosen[some] = is_chosen(elements.values[elements.offsets[:-1][some]], share)  # elements ascend
    return chosen


def is_chosen(least: Array, share: float) -> Array:
    """bool[n]: about this `share` of texts, by their smallest elements (uint64[n])."""
    chosen: Array = least * MIX <= np.uint64(share * (2**64 - 2**11))
    return chosen


def sample_elements(elements: Elements, share: float) -> Elements:
    """Return the elements of the texts in `chosen_texts`."""
    chosen = chosen_texts(elements, share)
    starts, ends = elements.offsets[:-1][chosen], elements.offsets[1:][chosen]
    values, weights = taken(elements.values, starts, ends), elements.weights
    weights = taken(weights, starts, ends) if len(weights) else weights.copy()
    values.flags.writeable = weights.flags.writeable = False
    return Elements(values, weights, np.concatenate([np.zeros(1, np.int64), np.cumsum(ends - starts)]))


def join_elements(parts: Sequence[Elements]) -> Elements:
    """Join the elements of consecutive texts; read-only, like the parts."""
    values = np.concatenate([np.empty(0, np.uint64), *(part.values for part in parts)])
    weights = np.concatenate([np.empty(0), *(part.weights for part in parts)])
    lengths = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.offsets) for part in parts)])
    values.flags.writeable = weights.flags.writeable = False
    return Elements(values, weights, np.cumsum(lengths))
