"""The order in which the C++ library's partial sort leaves equal values: that of cppjieba's keywords."""

from collections.abc import Sequence


def _sink(heap: list[int], size: int, hole: int, value: int, weights: Sequence[float]) -> None:
    """In a heap of `size`, move the hole down to the end, always to the lighter child, then let `value` rise from there."""
    top = hole
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


def partial_sort(weights: Sequence[float], most: int) -> list[int]:
    """The indices of the `most` weights that std::partial_sort of the GNU library sorts to the front, heaviest first, in its order.

    The algorithm keeps a heap of the first `most`, the lightest on top, and exchanges the top for any heavier weight. Then it takes
    the top away again and again. So the order of equal weights is decided, but follows no rule.

    >>> partial_sort([5, 5, 5, 7], 2), partial_sort([5, 5, 5], 3)
    ([3, 0], [0, 1, 2])
    """
    most = min(most, len(weights))
    heap = list(range(most))
    for parent in range((most - 2) // 2, -1, -1):
        _sink(heap, most, parent, heap[parent], weights)
    for i in range(most, len(weights)):
        if most and weights[i] > weights[heap[0]]:
            _sink(heap, most, 0, i, weights)
    for end in range(most - 1, 0, -1):
        value, heap[end] = heap[end], heap[0]
        _sink(heap, end, 0, value, weights)
    return heap
