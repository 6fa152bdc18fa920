"""Pairs of sets by all that their prefixes have in common, not by the first common element alone.

A pair that was proposed shares an element of its prefixes. The more of the prefixes is not common, the less can be common to the
whole sets: after each common element, those up to it and the shorter rest bound it (the accumulation of PPJoin: Xiao et al. 2008,
section 3.2); and all that the two prefixes share, and what lies beyond the one that ends first. Texts that share a sentence or two
are proposed by its rarest elements, and seldom come through here.
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import popcount
from neardup.kernels.matching.prefix_join import KeptElements
from neardup.kernels.matching.similarities import required_overlap

u64 = np.uint64


SKETCH_WORDS, SIZE, KEPT = 6, 6, 7
"""A sketch is uint64[8], a cache line: a bit for each element kept, by its hash; the set's size; how many elements are kept, and in
the upper half how many of the set come after them."""
WIDTH = 8


class RankedPrefixes(NamedTuple):
    """The prefixes of sets by rank.

    Attributes:
        kept: of all sets; order: int64[ranks], which of these each rank has.
        sizes: int64[ranks], of the whole sets. sketches: uint64[ranks, WIDTH], of the prefixes.
    """

    kept: KeptElements
    order: Array
    sizes: Array
    sketches: Array


class CommonMemory(NamedTuple):
    """One thread's table of the elements of one prefix.

    Attributes:
        keys, places, marks: uint64, int32 and int64[2^k], at least twice as long as the longest prefix; marks are 0 at first.
        serial: int64[1], the largest mark.
    """

    keys: Array
    places: Array
    marks: Array
    serial: Array


@kernel
def sketch_bit(element):
    """Which of the bits of a sketch stands for the element."""
    return ((element & u64(0xFFFFFFFF)) * u64(64 * SKETCH_WORDS)) >> u64(32)


@kernel
def sketch_prefixes(ranked):
    """Fill the sketches, zeros at first, of `RankedPrefixes`; see `drop_far`."""
    kept, sketches = ranked.kept, ranked.sketches
    for r in range(len(ranked.order)):
        d = ranked.order[r]
        n = np.int64(kept.facts[d, 0])
        for j in range(n):
            bit = sketch_bit(kept.elements[kept.starts[d] + j])
            sketches[r, np.int64(bit >> u64(6))] |= u64(1) << (bit & u64(63))
        sketches[r, SIZE] = u64(ranked.sizes[r])
        sketches[r, KEPT] = u64(n) | (u64(ranked.sizes[r] - kept.facts[d, 1] - n) << u64(32))


@kernel
def may_be_near(code, threshold, a, b):
    """Whether sets of these sketches may reach `threshold`: a bit that one has alone is of an element that is not common."""
    missing_a, missing_b = u64(0), u64(0)
    for w in range(SKETCH_WORDS):
        missing_a += popcount(a[w] & ~b[w])
        missing_b += popcount(b[w] & ~a[w])
    kept_a, kept_b = a[KEPT] & u64(0xFFFFFFFF), b[KEPT] & u64(0xFFFFFFFF)
    common = np.int64(min(kept_a - missing_a, kept_b - missing_b))
    beyond = np.int64(max(a[KEPT] >> u64(32), b[KEPT] >> u64(32)))
    return common + beyond >= required_overlap(code, np.int64(a[SIZE]), np.int64(b[SIZE]), threshold)


@kernel
def drop_far(code, threshold, ranked, left, right, n, memory):
    """Move those of `n` pairs that may still be similar enough to the front; returns how many. Not for those BY_NORM.

    Every pair at or above `threshold` stays. Whether another does depends on the two sets alone.

    code: one of similarities.py's; `RankedPrefixes`; left, right: uint32[], ranks, pairs of one `right` together; `CommonMemory`.
    """
    kept, order, sizes, sketches = ranked.kept, ranked.order, ranked.sizes, ranked.sketches
    elements, starts, facts = kept.elements, kept.starts, kept.facts
    keys, places, marks, serial = memory.keys, memory.places, memory.marks, memory.serial
    mask = np.uint64(len(keys) - 1)
    written, last, size, d = 0, np.int64(-1), np.int64(0), np.int64(0)
    for p in range(n):
        r, other = np.int64(right[p]), np.int64(left[p])
        if not may_be_near(code, threshold, sketches[other], sketches[r]):
            continue
        if r != last:
            last, size = r, sizes[r]
            serial[0] += 1
            d = order[r]
            for j in range(facts[d, 0]):
                element = elements[starts[d] + j]
                slot = np.int64(element & mask)
                while marks[slot] == serial[0]:
                    slot = (slot + 1) & np.int64(mask)
                keys[slot], places[slot], marks[slot] = element, facts[d, 1] + j, serial[0]
        o, other_size = order[other], sizes[other]
        needed = required_overlap(code, other_size, size, threshold)
        common, enough, after_left, after_right = 0, True, other_size, size
        for j in range(facts[o, 0]):
            element = elements[starts[o] + j]
            slot = np.int64(element & mask)
            while marks[slot] == serial[0] and keys[slot] != element:
                slot = (slot + 1) & np.int64(mask)
            if marks[slot] == serial[0]:
                common += 1
                after_left, after_right = other_size - facts[o, 1] - j - 1, size - places[slot] - 1
                if common + min(after_left, after_right) < needed:
                    enough = False
                    break
        # What is common and was not counted comes after the prefix that ends first: one of the two.
        beyond_left, beyond_right = other_size - facts[o, 1] - facts[o, 0], size - facts[d, 1] - facts[d, 0]
        beyond = max(min(beyond_left, after_right), min(beyond_right, after_left))
        if enough and common + beyond >= needed:
            left[written], right[written] = left[p], right[p]
            written += 1
    return written
