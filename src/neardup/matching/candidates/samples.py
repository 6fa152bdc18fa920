"""A sample of documents, by what they contain: at random, but always the same whatever the threads or the order."""

from collections.abc import Sequence

import numpy as np

from neardup.arrays import Array
from neardup.matching.similarities.table import Elements

MIX = np.uint64(0x9E3779B97F4A7C15)
"""The least of many evenly distributed numbers is not evenly distributed; its product with this, modulo 2^64, is."""


def chosen_texts(elements: Elements, share: float) -> Array:
    """bool[n]: about this `share` of the texts that have elements, by the least element of each.

    Each text is chosen with the same probability, however long; and two of Jaccard similarity J have the same least element with
    probability J, and are then chosen together: so of similar pairs nearly this share is there, and not its square.
    """
    sizes = np.diff(elements.offsets)
    chosen = np.zeros(len(sizes), np.bool_)
    some = sizes > 0
    least = elements.values[elements.offsets[:-1][some]]  # they ascend
    chosen[some] = least * MIX <= np.uint64(share * (2**64 - 2**11))
    return chosen


def sample_elements(elements: Elements, share: float) -> Elements:
    """The elements of the texts of `chosen_texts`."""
    sizes, chosen = np.diff(elements.offsets), chosen_texts(elements, share)
    inside = np.repeat(chosen, sizes)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[chosen])])
    values, weights = elements.values[inside], elements.weights
    weights = weights[inside] if len(weights) else weights.copy()
    values.flags.writeable = weights.flags.writeable = False
    return Elements(values, weights, offsets)


def join_elements(parts: Sequence[Elements]) -> Elements:
    """The elements of consecutive texts as one; read-only, as they came."""
    values = np.concatenate([np.empty(0, np.uint64), *(part.values for part in parts)])
    weights = np.concatenate([np.empty(0), *(part.weights for part in parts)])
    lengths = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.offsets) for part in parts)])
    values.flags.writeable = weights.flags.writeable = False
    return Elements(values, weights, np.cumsum(lengths))
