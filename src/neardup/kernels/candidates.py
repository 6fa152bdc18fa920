"""Pairs of classes as one integer each, left << 32 | right with left < right; and as lists of who is near whom."""

import numpy as np

from neardup.kernels.compilation import kernel

u64 = np.uint64
LOW = u64(0xFFFFFFFF)


@kernel
def pack_pairs(names, left, right, out):
    """out[i] (uint64): the pair of names[left[i]] and names[right[i]] (int64[]; uint32[n] or int64[n]), the smaller one left."""
    for i in range(len(out)):
        a, b = u64(names[left[i]]), u64(names[right[i]])
        out[i] = min(a, b) << u64(32) | max(a, b)


@kernel
def drop_repeats(packed):
    """Move the different ones of ascending pairs to the front; returns their number."""
    kept = 0
    for i in range(len(packed)):
        if i == 0 or packed[i] != packed[kept - 1]:
            packed[kept] = packed[i]
            kept += 1
    return kept


@kernel
def link_classes(packed, starts, near):
    """Lists of both ends of ascending, different pairs: near[starts[u]:starts[u + 1]] are those in a pair with u, ascending.

    uint64[p] -> int64[classes + 1], uint32[2 p]. Pairs come by their left end, so what is below u is appended first.
    """
    starts[:] = 0
    for pair in packed:
        starts[(pair >> u64(32)) + u64(1)] += 1
        starts[(pair & LOW) + u64(1)] += 1
    for u in range(1, len(starts)):
        starts[u] += starts[u - 1]
    for pair in packed:
        left, right = pair >> u64(32), pair & LOW
        near[starts[left]] = right
        starts[left] += 1
        near[starts[right]] = left
        starts[right] += 1
    for u in range(len(starts) - 1, 0, -1):
        starts[u] = starts[u - 1]
    starts[0] = 0
