"""Pairs of sets by all that their prefixes have in common, not by the first common element alone.

A pair that was proposed shares an element of its prefixes. The more of the prefixes is not common, the less can be common to the
whole sets: after each common element, those up to it and the shorter rest bound it (the accumulation of PPJoin: Xiao et al. 2008,
section 3.2); and all that the two prefixes share, and what lies beyond the one that ends first. Texts that share a sentence or two
are proposed by its rarest elements, and seldom come through here.
"""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.matching.bounds import least_common


@kernel
def drop_far(code, least, elements, starts, facts, order, sizes, left, right, n, keys, places, marks, serial):
    """Move those of `n` pairs that may still be similar enough to the front; returns how many. Not for the cosine.

    Every pair at or above `least` stays. Whether another does depends on the two sets alone.

    Args:
        code, least: the similarity and what it must reach.
        elements, starts, facts: the prefixes, see `neardup.matching.prefix_join.prefixes.Prefixes`.
        order: int64[ranks], the sets by rank; sizes: int64[ranks].
        left, right: uint32[], ranks; pairs of one `right` stand together.
        keys, places, marks: uint64, int32 and int64[2^k], scratch of one thread, at least twice as long as the longest prefix;
            marks are 0 at first. serial: int64[1], the largest mark.
    """
    mask = np.uint64(len(keys) - 1)
    written, last, size, d = 0, np.int64(-1), np.int64(0), np.int64(0)
    for p in range(n):
        r, other = np.int64(right[p]), np.int64(left[p])
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
        needed = least_common(code, other_size, size, least)
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
