"""cppjieba's choice among equally heavy keywords: those that the C++ library's partial sort happens to leave in front."""

from typing import TYPE_CHECKING

import numpy as np

from neardup.arrays import Array

if TYPE_CHECKING:
    from neardup.fingerprints.feature_arrays import Features


def _sink(heap: list[int], hole: int, value: int, weights: list[int]) -> None:
    """Move the hole down to the end, always to the lighter child, then let `value` rise from there."""
    top, size = hole, len(heap)
    while 2 * hole + 2 < size:
        below = 2 * hole + 2
        if weights[heap[below]] > weights[heap[below - 1]]:
            below -= 1
        heap[hole] = heap[below]
        hole = below
    if 2 * hole + 2 == size:
        heap[hole] = heap[size - 1]
        hole = size - 1
    while hole > top and weights[heap[(hole - 1) // 2]] > weights[value]:
        heap[hole] = heap[(hole - 1) // 2]
        hole = (hole - 1) // 2
    heap[hole] = value


def partial_sort_keeps(weights: list[int], most: int) -> list[int]:
    """The indices of the `most` weights that std::partial_sort of the GNU library sorts to the front, heaviest first.

    The indices come in no order. The algorithm keeps a heap of the first `most`, the lightest on top, and exchanges the top
    for any heavier weight.

    >>> partial_sort_keeps([5, 5, 5, 7], 2)
    [0, 3]
    """
    most = min(most, len(weights))
    heap = list(range(most))
    for parent in range((most - 2) // 2, -1, -1):
        _sink(heap, parent, heap[parent], weights)
    for i in range(most, len(weights)):
        if most and weights[i] > weights[heap[0]]:
            _sink(heap, 0, i, weights)
    return sorted(heap)


def kept_by_cppjieba(features: "Features", weights: Array, most: int | Array) -> Array:
    """bool[f]: the `most` features of each text (int, or int64[n]) that cppjieba keeps; it ignores features of weight 0.

    It holds the words in the order of their bytes, and among equal weights keeps those that its partial sort leaves in front.
    """
    keep: Array = weights != 0
    data, places = features.names()
    for d, (first, last) in enumerate(zip(features.offsets[:-1].tolist(), features.offsets[1:].tolist(), strict=True)):
        size = most if isinstance(most, int) else int(most[d])
        known = first + np.flatnonzero(keep[first:last])
        if len(known) <= size:
            continue
        names = {int(i): data[places[i] : places[i + 1]].tobytes() for i in known}
        order = sorted(names, key=names.__getitem__)
        keep[first:last] = False
        keep[[order[i] for i in partial_sort_keeps(weights[order].tolist(), size)]] = True
    return keep
