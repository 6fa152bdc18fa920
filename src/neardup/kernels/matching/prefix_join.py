"""Join prefixes: an inverted index in flat arrays, and each set's walk through the lists of its rarest elements.

Sets are known by rank: ascending by size where sizes must agree (Jaccard, weighted, edit) or do not matter (cosine), descending for
containment; each set looks only at lower ranks. A posting is an element of a set's prefix: its set's rank, and its position in
the order of all elements, those that no other set has counted in.
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.matching.bounds import CONTAINMENT, COSINE, least_common, sizes_may_match

FIRST = 1 << 31
"""Marks the first posting of a list; ranks are below it."""


class Index(NamedTuple):
    """Postings by rank, and what is indexed of them as lists; see `gather_postings` and `build_lists`.

    Attributes:
        rank_starts: int64[ranks + 1]; the postings of rank r are those from rank_starts[r] on, rarest first.
        positions, rests, slots: uint32[postings], float32[postings] or empty, int64[postings].
        list_ranks, list_positions, list_rests: uint32[postings], uint32[postings], float32[postings] or empty; with gaps.
    """

    rank_starts: Array
    positions: Array
    rests: Array
    slots: Array
    list_ranks: Array
    list_positions: Array
    list_rests: Array


@kernel
def count_postings(elements, starts, facts, order, low, high, counts):
    """counts[r] (int64): how many kept elements of set order[r] lie in [low, high]. Elements as in `gather_postings`."""
    for r in range(len(order)):
        d = order[r]
        found = 0
        for i in range(starts[d], starts[d] + facts[d, 0]):
            found += low <= elements[i] <= high
        counts[r] = found


@kernel
def gather_postings(elements, rests, starts, facts, order, low, high, rank_starts, keys, positions, rest_of, roles):
    """The kept elements in [low, high] of all sets, by rank, then position.

    Args:
        elements, starts: uint64[], int64[sets + 1]: set d keeps elements[starts[d]:starts[d + 1]], rarest first.
        facts: int32[sets, 4], see prefixes.py.
        order: int64[ranks], the sets by rank. `low`, `high`: uint64, both inclusive.
        rank_starts: int64[ranks + 1], where each rank's postings begin.
        rests: float32[], as long as `elements` for the cosine, else empty; `rest_of`: likewise, filled.
        keys, positions, roles: uint64[], uint32[], uint8[], filled; a role is 1 if probed with, 2 if indexed, or both.
    """
    for r in range(len(order)):
        d = order[r]
        to = rank_starts[r]
        for j in range(facts[d, 0]):
            element = elements[starts[d] + j]
            if low <= element <= high:
                keys[to] = element
                positions[to] = facts[d, 1] + j
                if len(rests) > 0:
                    rest_of[to] = rests[starts[d] + j]
                roles[to] = (j < facts[d, 2]) + 2 * (j < facts[d, 3])
                to += 1


@kernel
def build_lists(order, group_starts, rank_of, positions, rest_of, roles, list_ranks, list_positions, list_rests, slots):
    """Inverted lists of what is indexed, and each posting's place in them.

    Args:
        order, group_starts: int64[postings], int64[groups + 1], postings sorted by key, then rank.
        rank_of, positions, roles: uint32[postings], uint32[postings], uint8[postings].
        rest_of, list_rests: float32[postings], the second filled in part, for the cosine; else empty.
        list_ranks, list_positions: uint32[postings], filled in part; the first posting of each list is marked FIRST.
        slots: int64[postings], filled: where in the lists the next lower rank with this key stands; -1 if there is none, or if the
            posting is not probed with.

    Some groups alone may be given: their lists begin in the place of their first posting, so that others fill theirs meanwhile.
    """
    length = group_starts[0]
    for g in range(len(group_starts) - 1):
        begin, first = length, True
        single = group_starts[g + 1] - group_starts[g] == 1
        for j in range(group_starts[g], group_starts[g + 1]):
            posting = order[j]
            slots[posting] = length - 1 if roles[posting] & 1 and length > begin else -1
            if roles[posting] & 2 and not single:
                list_ranks[length] = rank_of[posting] | np.uint32(FIRST if first else 0)
                list_positions[length] = positions[posting]
                if len(rest_of) > 0:
                    list_rests[length] = rest_of[posting]
                length += 1
                first = False


@kernel
def probe(code, least, first, last, index, sizes, sides, seen, left, right, counts):
    """Candidates of the ranks from `first` on: pairs of ranks whose first common element leaves room for enough others.

    A pair is looked at where its two walks first meet: up to there nothing is common, so 1 + the shorter rest bounds what is
    (Xiao et al. 2008, section 3.2); for the cosine, the product of the rests' norms. Pairs at or above `least` are all found;
    each pair is found once.

    Args:
        code, least: the similarity and what it must reach.
        index: an `Index`.
        sizes: int64[ranks]. `sides`: uint8[ranks], 1, 2 or 3 for both; pairs within one side are left out; empty: none are.
        seen: int32[ranks], scratch, -1 at first; belongs to one thread.
        left, right: uint32[], filled with pairs, left the lower rank.
        counts: int64[3]: pairs written (set), postings visited and pairs looked at (added to).

    Returns `last`, or the rank at which there was no more room for pairs: go on from there.
    """
    room = len(left)
    written, visited, looked_at = 0, np.int64(0), np.int64(0)
    lowest = np.int64(0)  # sizes ascend: lower ranks are too small, for this one and for all that follow
    for r in range(first, last):
        begin, size = written, sizes[r]
        if code != CONTAINMENT and code != COSINE:
            while lowest < r and not sizes_may_match(code, sizes[lowest], size, least):
                lowest += 1
        for i in range(index.rank_starts[r], index.rank_starts[r + 1]):
            slot = index.slots[i]
            while slot >= 0:
                marked = index.list_ranks[slot]
                other = np.int64(marked & np.uint32(FIRST - 1))
                visited += 1
                if other < lowest:
                    break  # those further on are smaller still
                if seen[other] != r:
                    seen[other] = r
                    looked_at += 1
                    if code == COSINE:
                        enough = index.rests[i] * index.list_rests[slot] >= least
                    else:
                        rest = min(size - index.positions[i], sizes[other] - index.list_positions[slot])
                        enough = rest >= least_common(code, sizes[other], size, least)
                    if enough and (len(sides) == 0 or sides[other] | sides[r] == 3):
                        if written == room:
                            counts[0] = begin
                            counts[1] += visited
                            counts[2] += looked_at
                            seen[:] = -1
                            return r
                        left[written], right[written] = other, r
                        written += 1
                if marked >= np.uint32(FIRST):
                    break
                slot -= 1
    counts[0] = written
    counts[1] += visited
    counts[2] += looked_at
    return last
