"""GROUPS: documents that have a key in common, and the pairs of them that can be similar enough."""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.matching.similarities import BY_NORM, required_overlap, sizes_may_match


class GroupedKeys(NamedTuple):
    """Rows of documents with a key in common, group after group, in each by size.

    Attributes:
        starts: int64[groups + 1].
        docs: int64[rows].
        positions: int32[rows], how many elements of the document come before the key.
        sizes: int32[rows], how many it has.
        asks: bool[rows], whether the key is of the document's prefix; of the smaller of two, it must be.
    """

    starts: Array
    docs: Array
    positions: Array
    sizes: Array
    asks: Array


@kernel
def may_meet(code, threshold, rows, i, j):
    """Whether rows i and j, which is no smaller, can reach the threshold if what they have in common begins with this key.

    The elements from there on must be enough (the positional filter of Xiao, Wang, Lin and Yu 2008, section 4).
    """
    if code in BY_NORM:
        return True
    a, b = np.int64(rows.sizes[i]), np.int64(rows.sizes[j])
    rest = min(a - rows.positions[i], b - rows.positions[j])
    return rows.asks[i] and rest >= required_overlap(code, a, b, threshold)


@kernel
def pairs_of_groups(code, threshold, rows, place, left, right):
    """Pairs of documents of one group that can reach a similarity of `threshold`, if their first common key is that of the group.

    Args:
        code, threshold: see `neardup.kernels.matching.similarities`.
        rows: `GroupedKeys`.
        place: int64[2], the group and the row in it to begin with; changed to where to go on.
        left, right: int64[m], filled. Rows with more than m pairs need more room: then nothing was done, and `place` is the same.

    Returns how many pairs there are.
    """
    count, room = 0, len(left)
    starts = rows.starts
    while place[0] < len(starts) - 1:
        begin, end = starts[place[0]], starts[place[0] + 1]
        lowest = begin
        for j in range(max(begin + 1, place[1]), end):
            before = count
            while lowest < j and not sizes_may_match(code, rows.sizes[lowest], rows.sizes[j], threshold):
                lowest += 1
            for i in range(lowest, j):
                if may_meet(code, threshold, rows, i, j):
                    if count == room:
                        place[1] = j
                        return before
                    left[count], right[count] = rows.docs[i], rows.docs[j]
                    count += 1
        place[0] += 1
        place[1] = 0
    return count
