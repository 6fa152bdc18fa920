"""A sample of documents, by what they contain: at random, but always the same whatever the threads or the order."""

from collections.abc import Sequence

import numpy as np

from neardup.matching.similarities.table import Elements


def sample_elements(elements: Elements, share: float) -> Elements:
    """The elements of about this `share` of the texts: of those whose elements' sum, which is evenly distributed, is small."""
    sizes = np.diff(elements.offsets)
    some = np.flatnonzero(sizes)
    sums = np.add.reduceat(elements.values, elements.offsets[some]) if len(some) else np.empty(0, np.uint64)
    chosen = np.zeros(len(sizes), np.bool_)
    chosen[some] = sums <= np.uint64(share * (2**64 - 2**11))
    inside = np.repeat(chosen, sizes)
    offsets = np.concatenate([[0], np.cumsum(sizes[chosen])])
    return Elements(
        elements.values[inside], elements.weights[inside] if len(elements.weights) else elements.weights, offsets
    )


def join_elements(parts: Sequence[Elements]) -> Elements:
    """The elements of consecutive texts as one; read-only, as they came."""
    values = np.concatenate([np.empty(0, np.uint64), *(part.values for part in parts)])
    weights = np.concatenate([np.empty(0), *(part.weights for part in parts)])
    lengths = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.offsets) for part in parts)])
    values.flags.writeable = weights.flags.writeable = False
    return Elements(values, weights, np.cumsum(lengths))
