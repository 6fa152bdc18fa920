"""FREQUENT elements of many sets, counted in bounded memory: only what was seen some times gets a count of its own.

A sieve of small counters, one for all elements with the same hash, keeps the many rare elements out (Estan and Varghese 2003,
section 3.3, with one stage). Elements that meet others there get in too early; their counts then are too high by a little.
"""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.store.prefixes import slot_of

u64 = np.uint64
MIX = u64(0xD6E8FEB86659FD93)


@kernel
def count_frequent(values, offsets, least, sieve, order, place):
    """Count the elements of sets until there is no room for another one.

    Args:
        values, offsets: uint64[], int64[n + 1]; the elements of a set are distinct.
        least: how often an element must have been seen before it is counted by itself.
        sieve: uint8[2**k], of elements that are not, by their hashes.
        order: `Order`, for those that are.
        place: int64[2]: the next value of `values`, and how many elements are counted; both go on.

    Returns:
        Whether all values are done. If not, the order is half full.
    """
    mask = u64(len(sieve) - 1)
    for i in range(place[0], offsets[-1]):
        value = values[i]
        at = slot_of(value, order)
        if order.counts[at] != 0:
            order.counts[at] += np.uint32(1)
            continue
        cell = np.int64((value * MIX >> u64(32)) & mask)
        if sieve[cell] < least:
            sieve[cell] += np.uint8(1)
            continue
        if 2 * place[1] >= len(order.counts):
            place[0] = i
            return False
        order.elements[at], order.counts[at] = value, np.uint32(least + 1)
        place[1] += 1
    place[0] = offsets[-1]
    return True
