"""GROUPS: documents that have a key in common, and the pairs of them that can be similar enough."""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import popcount
from neardup.kernels.matching.bitmaps import differing
from neardup.kernels.matching.similarities import BY_NORM, required_overlap, sizes_may_match

u64 = np.uint64
MIX = u64(0x9E3779B97F4A7C15)
ANY = -1
"""Instead of the code of a similarity: all documents with a key in common are pairs."""
REMEMBERED = 1 << 10
"""Pairs of sizes for which what they must have in common is remembered: it takes longer to compute than all else of a pair."""


class Kinds(NamedTuple):
    """What rows are, besides their keys: what tells of a pair that it cannot match.

    Attributes:
        groups: int64[rows]; of a pair they are equal.
        are_given: bool[rows], whether a document is of a reference, with no other text in its class; two such do not match.
        prints: uint64[rows, words], fingerprints; of no words if no distance decides.
        bitmaps: uint64[], see `neardup.kernels.matching.bitmaps`.
        starts: int64[rows + 1], where they begin.
    """

    groups: Array
    are_given: Array
    prints: Array
    bitmaps: Array
    starts: Array


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
def mark_shared(keys, cells, out):
    """Which keys may come several times: those that fall in the same cell as another one. A key that is alone rarely does.

    uint64[n], uint8[2**k], zero at first -> bool[n]. It takes two passes where sorting takes many.
    """
    shift = u64(64 - popcount(u64(len(cells) - 1)))
    for i in range(len(keys)):
        at = (keys[i] * MIX) >> shift
        if cells[at] < 2:
            cells[at] += np.uint8(1)
    for i in range(len(keys)):
        out[i] = cells[(keys[i] * MIX) >> shift] > 1


@kernel
def may_meet(code, threshold, rows, i, j):
    """Whether rows i and j, which is no smaller, can reach the threshold if what they have in common begins with this key.

    Rows of one document, two of whose keys are equal by chance, do not meet.

    The elements from there on must be enough (the positional filter of Xiao, Wang, Lin and Yu 2008, section 4).
    """
    if rows.docs[i] == rows.docs[j]:
        return False
    if code == ANY or code in BY_NORM:
        return True
    a, b = np.int64(rows.sizes[i]), np.int64(rows.sizes[j])
    rest = min(a - rows.positions[i], b - rows.positions[j])
    return rows.asks[i] and rest >= required_overlap(code, a, b, threshold)


@kernel
def pairs_of_groups(code, threshold, rows, most_each, is_large, place, left, right):
    """Pairs of documents of one group that can reach a similarity of `threshold`, if their first common key is that of the group.

    Args:
        code, threshold: see `neardup.kernels.matching.similarities`.
        rows: `GroupedKeys`.
        most_each: a group with more pairs than this for each of its documents is left. Some of its pairs may be found before.
        is_large: bool[groups], changed to whether a group was left; those that are large at first are left at once.
        place: int64[3], the group and the row in it to begin with, and pairs of the group so far; changed to where to go on.
        left, right: int64[m], filled. Rows with more than m pairs need more room: then nothing was done, and `place` is the same.

    Returns how many pairs there are.
    """
    count, room = 0, len(left)
    starts = rows.starts
    while place[0] < len(starts) - 1:
        begin, end = starts[place[0]], starts[place[0] + 1]
        lowest, of_group, before_group = begin, place[2], count
        if is_large[place[0]]:
            end = begin
        for j in range(max(begin + 1, place[1]), end):
            before = count
            while (
                code != ANY and lowest < j and not sizes_may_match(code, rows.sizes[lowest], rows.sizes[j], threshold)
            ):
                lowest += 1
            for i in range(lowest, j):
                if may_meet(code, threshold, rows, i, j):
                    if count == room:
                        place[1], place[2] = j, of_group
                        return before
                    left[count], right[count] = rows.docs[i], rows.docs[j]
                    count += 1
            of_group += count - before
            if of_group > most_each * (end - begin):
                is_large[place[0]] = True
                count = before_group
                break
        place[0] += 1
        place[1] = place[2] = 0
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


@kernel
def pairs_of_tiles(
    code, threshold, rows, leads, parts, sides, by_prefix, max_distance, kinds, remembered, place, left, right
):
    """Pairs that may match of rows that lead and later rows of the same tile, unless both are of one part.

    Args:
        code: of the similarity; `ANY` if distances decide alone.
        threshold, rows: see above, a tile for each group; no order of sizes is needed.
        leads, parts: see above.
        sides: int64[tiles, 2], the row at which those that lead end, and from which on rows are compared with them.
        by_prefix: whether keys are elements of prefixes: then what two have in common must begin with it.
        max_distance: of pairs, if `kinds` has fingerprints.
        kinds: `Kinds`.
        remembered: int64[REMEMBERED, 3], two sizes and what they must have in common; -1 at first.
        place: int64[2], the tile and the row in it to begin with; changed to where to go on.
        left, right: int64[m], filled.

    Returns how many pairs there are.
    """
    count, room = 0, len(left)
    starts, sizes, positions, asks = rows.starts, rows.sizes, rows.positions, rows.asks
    groups, are_given, prints, maps, bounds = kinds.groups, kinds.are_given, kinds.prints, kinds.bitmaps, kinds.starts
    words, by_size = prints.shape[1], code != ANY and code not in BY_NORM
    while place[0] < len(starts) - 1:
        end, last, first = starts[place[0] + 1], sides[place[0], 0], sides[place[0], 1]
        for i in range(max(starts[place[0]], place[1]), last):
            before = count
            if not leads[i]:
                continue
            a, a_begin, a_end = np.int64(sizes[i]), bounds[i], bounds[i + 1]
            for j in range(max(i + 1, first), end):
                distance = 0
                for word in range(words):
                    distance += np.int64(popcount(prints[i, word] ^ prints[j, word]))
                if (
                    distance > max_distance
                    or rows.docs[i] == rows.docs[j]
                    or groups[i] != groups[j]
                    or (parts[i] >= 0 and parts[i] == parts[j])
                    or (are_given[i] and are_given[j])
                ):
                    continue
                if by_size:
                    b = np.int64(sizes[j])
                    slot = (a ^ b << 3) & (REMEMBERED - 1)
                    if remembered[slot, 0] != a or remembered[slot, 1] != b:
                        remembered[slot, 0], remembered[slot, 1] = a, b
                        remembered[slot, 2] = required_overlap(code, a, b, threshold)
                    needed = remembered[slot, 2]
                    if by_prefix and (
                        not asks[i if a <= b else j]
                        or min(a - np.int64(positions[i]), b - np.int64(positions[j])) < needed
                    ):
                        continue
                    apart = 0
                    if a_end - a_begin == bounds[j + 1] - bounds[j]:
                        for word in range(a_end - a_begin):
                            apart += np.int64(popcount(maps[a_begin + word] ^ maps[bounds[j] + word]))
                    else:
                        apart = differing(maps, a_begin, a_end, bounds[j], bounds[j + 1])
                    if apart > a + b - 2 * needed:
                        continue
                if count == room:
                    place[1] = i
                    return before
                left[count], right[count] = rows.docs[i], rows.docs[j]
                count += 1
        place[0] += 1
        place[1] = 0
    return count
