"""Hashes of windows with their places, packed into partitions, and the earliest place of each hash.

A partition has the hashes of the same upper bits. A packed word has the next 48 bits of the hash and, in its lower 16, how far the
place is from that of the word before; a word with the distance FAR goes on without a hash.
"""

import numpy as np

from neardup.kernels.compilation import kernel

u64 = np.uint64
FAR = 0xFFFF
NEAR_BITS = u64(16)
NO_KEY = u64(0xFFFFFFFFFFFFFFFF)
"""No packed hash: it has more bits."""


@kernel
def count_words(values, places, n, first, bits, last, counts):
    """How many words each partition gets for n windows: counts (int64[2^bits]). Moves `last` as `pack` does."""
    counts[:] = 0
    for i in range(n):
        j = np.int64(values[i] >> u64(64 - bits)) if bits > 0 else 0
        counts[j] += 1 + (first + places[i] - last[j]) // FAR
        last[j] = first + places[i]


@kernel
def pack(values, places, n, first, bits, last, ends, out):
    """Write n windows into their partitions.

    values: uint64[n]; places: int64[n], ascending, counted from `first`; bits: of the number of partitions; last: int64[2^bits],
    the last place of each partition, which is moved on. ends: int64[2^bits], where the words of each partition begin in `out`
    (uint64[]), with room for all; moved to where they end.
    """
    for i in range(n):
        j = np.int64(values[i] >> u64(64 - bits)) if bits > 0 else 0
        distance = first + places[i] - last[j]
        while distance >= FAR:
            out[ends[j]] = u64(FAR)
            ends[j] += 1
            distance -= FAR
        out[ends[j]] = values[i] << u64(bits) & ~u64(0xFFFF) | u64(distance)
        ends[j] += 1
        last[j] = first + places[i]


@kernel
def unpack(words, place, keys, places):
    """The hashes (uint64[], of 48 bits) and places (int64[]) of packed words, from the `place` before them.

    Returns how many there are, and the last place.
    """
    n = 0
    for i in range(len(words)):
        distance = np.int64(words[i] & u64(FAR))
        place += distance
        if distance != FAR:
            keys[n], places[n] = words[i] >> NEAR_BITS, place
            n += 1
    return n, place


@kernel
def slot_of(key, keys):
    """The slot of a key in a table of 2^k slots: its own, or the free one where it belongs."""
    mask = len(keys) - 1
    slot = np.int64(key >> u64(8)) & mask
    while keys[slot] != NO_KEY and keys[slot] != key:
        slot = slot + 1 & mask
    return slot


@kernel
def note_earliest(found, orders, n, part, parts, keys, earliest, count, most):
    """Note for n hashes (uint64[]) the least of their `orders` (int64[]) in the table `keys` (uint64[2^k]), `earliest`
    (int64[2^k]).

    Only those of one `part` of `parts` (a power of two) are looked at. Returns how many keys there are, of which there were
    `count`; -1 if there would be more than `most`.
    """
    for i in range(n):
        key = found[i]
        if np.int64(key) & parts - 1 != part:
            continue
        slot = slot_of(key, keys)
        if keys[slot] == NO_KEY:
            if count == most:
                return -1
            keys[slot], earliest[slot] = key, orders[i]
            count += 1
        elif orders[i] < earliest[slot]:
            earliest[slot] = orders[i]
    return count


@kernel
def find_earliest(found, n, part, parts, keys, earliest, out):
    """out[i] (int64[n]): the earliest of hash i, or -1 if it is of another part."""
    for i in range(n):
        if np.int64(found[i]) & parts - 1 == part:
            out[i] = earliest[slot_of(found[i], keys)]
        else:
            out[i] = -1
