"""GROUPS: documents that have a key in common, and the pairs of them that can be similar enough."""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.matching.similarities import BY_NORM, required_overlap, sizes_may_match

ANY = -1
"""Instead of the code of a similarity: all documents with a key in common are pairs."""


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
    if code == ANY or code in BY_NORM:
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
            while (
                code != ANY and lowest < j and not sizes_may_match(code, rows.sizes[lowest], rows.sizes[j], threshold)
            ):
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


@kernel
def pairs_of_leading(code, threshold, rows, leads, parts, place, left, right):
    """The same of documents that lead and any later ones of their groups, whose rows are in any order, unless both are of one part.

    Args:
        code, threshold, rows: see above; no order of sizes is needed.
        leads: bool[rows].
        parts: int64[rows], below 0 for none.
        place: int64[2], the group and the row in it to begin with; changed to where to go on.
        left, right: int64[m], filled.

    Returns how many pairs there are.
    """
    count, room = 0, len(left)
    starts = rows.starts
    while place[0] < len(starts) - 1:
        end = starts[place[0] + 1]
        for i in range(max(starts[place[0]], place[1]), end):
            before = count
            if not leads[i]:
                continue
            for j in range(i + 1, end):
                if parts[i] >= 0 and parts[i] == parts[j]:
                    continue
                smaller, larger = (i, j) if rows.sizes[i] <= rows.sizes[j] else (j, i)
                if may_meet(code, threshold, rows, smaller, larger):
                    if count == room:
                        place[1] = i
                        return before
                    left[count], right[count] = rows.docs[i], rows.docs[j]
                    count += 1
        place[0] += 1
        place[1] = 0
    return count
