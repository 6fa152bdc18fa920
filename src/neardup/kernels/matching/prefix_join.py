"""Join prefixes: an inverted index in flat arrays, and each set's walk through the lists of its rarest elements.

Sets are known by rank: ascending by size where sizes must agree (Jaccard, weighted, edit) or do not matter (cosine), descending for
containment; each set looks only at lower ranks. A posting is an element of a set's prefix: its set's rank, and its position in
the order of all elements, those that no other set has counted in.
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.matching.similarities import BY_NORM, required_overlap, sizes_may_match

FIRST = 1 << 31
"""Marks the first posting of a list; ranks are below it."""


class KeptElements(NamedTuple):
    """The prefixes of sets.

    Attributes:
        elements, starts: uint64[], int64[sets + 1]: set d keeps elements[starts[d]:starts[d + 1]], rarest first.
        rests: float32[], as long as `elements` for the cosine, else empty.
        facts: int32[sets, 4], see prefixes.py.
    """

    elements: Array
    rests: Array
    starts: Array
    facts: Array


class Postings(NamedTuple):
    """Postings by rank, then position.

    Attributes:
        positions, rests: uint32[postings], float32[postings] for the cosine, else empty.
        rank_of: uint32[postings].
        roles: uint8[postings], 1 if probed with, 2 if indexed, or both.
    """

    positions: Array
    rests: Array
    rank_of: Array
    roles: Array


class Lists(NamedTuple):
    """Inverted lists of what is indexed, with gaps between them.

    Attributes:
        ranks, positions: uint32[postings] each; the first posting of each list is marked FIRST in `ranks`.
        rests: float32[postings] for the cosine, else empty.
        slots: int64[postings]: of each posting by rank, where in the lists the next lower rank with its key stands; -1 if there is
            none, or if the posting is not probed with.
    """

    ranks: Array
    positions: Array
    rests: Array
    slots: Array


class Index(NamedTuple):
    """Ranked sets, their postings, and what is indexed of these.

    Attributes:
        sizes: int64[ranks]. sides: uint8[ranks], 1, 2 or 3 for both; pairs within one side are left out; empty: none are.
        rank_starts: int64[ranks + 1]; the postings of rank r are those from rank_starts[r] on, rarest first.
        positions, rests: of the postings.
    """

    sizes: Array
    sides: Array
    rank_starts: Array
    positions: Array
    rests: Array
    lists: Lists


class ProbeMemory(NamedTuple):
    """One thread's.

    Attributes:
        seen: int32[ranks], -1 at first.
        left, right: uint32[], filled with pairs, left the lower rank.
        counts: int64[3]: pairs written (set), postings visited and pairs looked at (added to).
    """

    seen: Array
    left: Array
    right: Array
    counts: Array


@kernel
def count_postings(kept, order, low, high, counts):
    """counts[r] (int64): how many kept elements of set order[r] (int64) lie in [low, high] (uint64)."""
    for r in range(len(order)):
        d = order[r]
        count = 0
        for i in range(kept.starts[d], kept.starts[d] + kept.facts[d, 0]):
            count += low <= kept.elements[i] <= high
        counts[r] = count


@kernel
def gather_postings(kept, order, low, high, rank_starts, keys, postings):
    """The kept elements in [low, high] of all sets, by rank, then position.

    Args:
        kept: `KeptElements`.
        order: int64[ranks], the sets by rank. `low`, `high`: uint64, both inclusive.
        rank_starts: int64[ranks + 1], where each rank's postings begin.
        keys, postings: uint64[], `Postings`, filled, but for the ranks.
    """
    for r in range(len(order)):
        d = order[r]
        to = rank_starts[r]
        for j in range(kept.facts[d, 0]):
            element = kept.elements[kept.starts[d] + j]
            if low <= element <= high:
                keys[to] = element
                postings.positions[to] = kept.facts[d, 1] + j
                if len(kept.rests) > 0:
                    postings.rests[to] = kept.rests[kept.starts[d] + j]
                postings.roles[to] = (j < kept.facts[d, 2]) + 2 * (j < kept.facts[d, 3])
                to += 1


@kernel
def build_lists(order, group_starts, postings, lists):
    """Inverted lists of what is indexed, and each posting's place in them.

    Args:
        order, group_starts: int64[postings], int64[groups + 1], postings sorted by key, then rank.
        postings, lists: `Postings`; `Lists`, filled.

    Some groups alone may be given: their lists begin in the place of their first posting, so that others fill theirs meanwhile.
    """
    length = group_starts[0]
    for g in range(len(group_starts) - 1):
        begin, first = length, True
        single = group_starts[g + 1] - group_starts[g] == 1
        for j in range(group_starts[g], group_starts[g + 1]):
            posting = order[j]
            lists.slots[posting] = length - 1 if postings.roles[posting] & 1 and length > begin else -1
            if postings.roles[posting] & 2 and not single:
                lists.ranks[length] = postings.rank_of[posting] | np.uint32(FIRST if first else 0)
                lists.positions[length] = postings.positions[posting]
                if len(postings.rests) > 0:
                    lists.rests[length] = postings.rests[posting]
                length += 1
                first = False


@kernel
def probe(code, threshold, first, last, index, memory):
    """Candidates of the ranks from `first` on: pairs of ranks whose first common element leaves room for enough others.

    A pair is looked at where its two walks first meet: up to there nothing is common, so 1 + the shorter rest bounds what is
    (Xiao et al. 2008, section 3.2); for the cosine, the product of the rests' norms. Pairs at or above `threshold` are all found;
    each pair is found once.

    code: one of similarities.py's; `Index`; `ProbeMemory`, filled. Returns `last`, or the rank at which there was no more room for
    pairs: go on from there.
    """
    sizes, sides, lists, seen = index.sizes, index.sides, index.lists, memory.seen
    room, written, by_norm = len(memory.left), 0, code in BY_NORM
    visited, looked_at = np.int64(0), np.int64(0)
    lowest = np.int64(
        0
    )  # where sizes must agree they ascend: lower ranks are too small, for this one and for all that follow
    for r in range(first, last):
        begin, size = written, sizes[r]
        while lowest < r and not sizes_may_match(code, sizes[lowest], size, threshold):
            lowest += 1
        for i in range(index.rank_starts[r], index.rank_starts[r + 1]):
            slot = lists.slots[i]
            while slot >= 0:
                marked = lists.ranks[slot]
                other = np.int64(marked & np.uint32(FIRST - 1))
                visited += 1
                if other < lowest:
                    break  # those further on are smaller still
                if seen[other] != r:
                    seen[other] = r
                    looked_at += 1
                    if by_norm:
                        enough = index.rests[i] * lists.rests[slot] >= threshold
                    else:
                        rest = min(size - index.positions[i], sizes[other] - lists.positions[slot])
                        enough = rest >= required_overlap(code, sizes[other], size, threshold)
                    if enough and (len(sides) == 0 or sides[other] | sides[r] == 3):
                        if written == room:
                            memory.counts[0] = begin
                            memory.counts[1] += visited
                            memory.counts[2] += looked_at
                            seen[:] = -1
                            return r
                        memory.left[written], memory.right[written] = other, r
                        written += 1
                if marked >= np.uint32(FIRST):
                    break
                slot -= 1
    memory.counts[0] = written
    memory.counts[1] += visited
    memory.counts[2] += looked_at
    return last
