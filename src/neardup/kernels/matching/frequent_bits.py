"""FREQUENT elements of sets have a bit of their own: what two sets have in common of them is a popcount, exactly.

Of the other elements, two sets have at most so many in common as the one has that has fewer of those that are in several sets. So

    |A ∩ B| <= popcount(bits(A) & bits(B)) + min(rest(A), rest(B))

where rest(A) counts the elements of A that have no bit and are not in A alone. These have a mark each, a bit by their hash, which
others may share. Marks that differ are of elements that one of the two lacks (as in bitmaps.py), so of the rest they have at most

    (rest(A) + rest(B) - popcount(marks(A) ^ marks(B))) / 2

in common, too. No pair that reaches a similarity has less than `required_overlap`. Texts of one template differ in elements that
few others have; so few pairs come through that do not match. Unlike a bitmap of all elements, the bound does not get weaker as
sets get larger.

For the cosine, elements have weights, x and y in units of any weight u. As xy <= 1 + (x² - 1) / 2 + (y² - 1) / 2, the product of
two vectors is at most |A ∩ B| + extra(A) + extra(B), where extra(A) is the sum of (x² - 1) / 2 over the elements of A that are
heavier than u and not in A alone. It must reach the threshold times both norms.
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import popcount
from neardup.kernels.matching.similarities import required_overlap

u64 = np.uint64
TILE, CHUNK = 512, 64
"""Sets of a tile, whose words lie together: a word of a set is compared with those of all of them. Pairs are sought in chunks."""
NO_BIT = -1
MIX = u64(0x9E3779B97F4A7C15)
MOST_EXTRA = 1 << 28
"""No pair is said to need more. Sums of two, and of elements in common, fit an int32."""


class BitTable(NamedTuple):
    """The frequent elements, in a hash table with open addressing.

    Attributes:
        keys, bits: uint64[2^k], int32[2^k]: the elements, and the bit of each; NO_BIT: the slot is empty. At least one slot is.
    """

    keys: Array
    bits: Array


class BitSets(NamedTuple):
    """What is known of n sets.

    Attributes:
        bits: uint64[n, words].
        marks: uint64[n, k], of the elements without a bit that are not of this set alone; k may be 0.
        rests: int32[n], how many these are.
        extras: int32[n], of weights, see above; 0 without.
        classes: uint8[n], the class of the set's size or norm: of two, the fewest elements in common that they need.
    """

    bits: Array
    marks: Array
    rests: Array
    extras: Array
    classes: Array


class Tiles(NamedTuple):
    """Some of these sets, in tiles of TILE.

    Attributes:
        words, marks: uint64[tiles, words, TILE], uint64[tiles, k, TILE].
        rests, extras, classes: int32[tiles * TILE], int32[tiles * TILE], uint8[tiles * TILE].
        places: int64[tiles * TILE], which sets they are.
    """

    words: Array
    marks: Array
    rests: Array
    extras: Array
    classes: Array
    places: Array


class MeetingMemory(NamedTuple):
    """Memory of one thread, and what it has found.

    Attributes:
        common, needs, differ: int32[TILE]; used: int64[words], the words of a set in which bits are set.
        left, right: int64[room], room for at least TILE pairs: the sets that meet.
        state: int64[3]: pairs found; where to go on, the tile and the probe.
    """

    common: Array
    needs: Array
    differ: Array
    used: Array
    left: Array
    right: Array
    state: Array


@kernel
def slot_of(element, table):
    """The slot of the element, or the empty one where it would be."""
    mask = u64(len(table.keys) - 1)
    slot = element & mask
    while table.bits[np.int64(slot)] != NO_BIT and table.keys[np.int64(slot)] != element:
        slot = (slot + u64(1)) & mask
    return np.int64(slot)


@kernel
def number_frequent(values, counts, least, most, table):
    """Give the next bit to each element of values (uint64[]) whose count (uint16[]) is at least `least`, until there are `most`.

    Elements of one template come together in the first set that has them; so a set has bits in few words. `table` has at least
    2 * most slots.
    """
    given = 0
    for bit in table.bits:
        given += bit != NO_BIT
    for i in range(len(values)):
        if given == most:
            return
        if counts[i] >= least:
            slot = slot_of(values[i], table)
            if table.bits[slot] == NO_BIT:
                table.keys[slot], table.bits[slot] = values[i], given
                given += 1


@kernel
def fill_bits(values, offsets, counts, table, bits, marks, rests):
    """The bits, marks and rests of sets values[offsets[i]:offsets[i + 1]] whose elements are in so many sets, or more.

    uint64[], int64[n + 1], uint16[] -> uint64[n, words] and uint64[n, k], which are zero at first, and int32[n].
    """
    all_marks = u64(64 * marks.shape[1])
    for i in range(len(rests)):
        rest = 0
        for j in range(offsets[i], offsets[i + 1]):
            bit = np.int64(table.bits[slot_of(values[j], table)])
            if bit != NO_BIT:
                bits[i, bit >> 6] |= u64(1) << u64(bit & 63)
            elif counts[j] > 1:
                rest += 1
                if all_marks > 0:
                    mark = ((values[j] * MIX) >> u64(32)) * all_marks >> u64(32)
                    marks[i, np.int64(mark >> u64(6))] |= u64(1) << (mark & u64(63))
        rests[i] = rest


@kernel
def fill_extras(weights, offsets, counts, unit, extras):
    """What weights add, in units, to the elements in common: float64[], int64[n + 1], uint16[] -> int32[n], rounded up."""
    for i in range(len(extras)):
        extra = 0.0
        for j in range(offsets[i], offsets[i + 1]):
            if counts[j] > 1 and weights[j] > unit:
                extra += ((weights[j] / unit) ** 2 - 1) / 2
        extras[i] = np.int32(min(np.ceil(extra * (1 + 1e-9)), MOST_EXTRA))


@kernel
def fill_needed(code, threshold, sizes, needed):
    """The fewest elements in common of two sets of the classes i and j that reach `threshold`; not for those BY_NORM.

    sizes: int64[classes], the smallest of each class, for which `required_overlap` is smallest; needed: int32[classes, classes].
    """
    for i in range(len(sizes)):
        for j in range(len(sizes)):
            needed[i, j] = max(1, required_overlap(code, sizes[i], sizes[j], threshold))


@kernel
def fill_tiles(sets, places, first, tiles):
    """Put the sets at `places` (int64[m]) into the tiles, from place `first` on."""
    for i in range(len(places)):
        p, to = places[i], first + i
        for w in range(sets.bits.shape[1]):
            tiles.words[to // TILE, w, to % TILE] = sets.bits[p, w]
        for w in range(sets.marks.shape[1]):
            tiles.marks[to // TILE, w, to % TILE] = sets.marks[p, w]
        tiles.rests[to], tiles.extras[to] = sets.rests[p], sets.extras[p]
        tiles.classes[to], tiles.places[to] = sets.classes[p], p


@kernel
def nearest_of(common, rest, rests, needs, begin):
    """By how many elements the nearest of CHUNK sets from `begin` on reaches what it needs, without marks; below 0 if none does."""
    best = np.int32(-1)
    for j in range(begin, begin + CHUNK):
        best = max(best, common[j] + min(rest, rests[j]) - needs[j])
    return best


@kernel
def compare_marks(p, tile, sets, tiles, begin, differ):
    """differ[j] (int32): how many marks of set p and of the j-th set of a tile differ, for CHUNK sets from `begin` on."""
    differ[begin : begin + CHUNK] = 0
    for w in range(sets.marks.shape[1]):
        mark, column = sets.marks[p, w], tiles.marks[tile, w]
        for j in range(begin, begin + CHUNK):
            differ[j] += np.int32(popcount(mark ^ column[j]))


@kernel
def meet(probes, sets, tiles, since, until, needed, memory):
    """Find the pairs of a probe and an earlier set in the tiles, from place `since` to `until` - 1, that may be similar enough.

    probes: int64[m], sets; it is quickest if those of a class come together. Goes on where memory.state says, tile by tile, and
    returns whether all is done; if not, there is no room for more pairs, which the caller takes. Left of a pair is the probe.
    """
    used, common, needs, differ, words = memory.used, memory.common, memory.needs, memory.differ, tiles.words
    found, tile, first = memory.state[0], max(memory.state[1], since // TILE), memory.state[2]
    while tile * TILE < until:
        begin, end = max(0, since - tile * TILE), min(TILE, until - tile * TILE)
        rests, classes, places = tiles.rests[tile * TILE :], tiles.classes[tile * TILE :], tiles.places[tile * TILE :]
        extras = tiles.extras[tile * TILE :]
        last_class = -1
        for i in range(first, len(probes)):
            if found + TILE > len(memory.left):
                memory.state[0], memory.state[1], memory.state[2] = found, tile, i
                return False
            p = probes[i]
            if places[begin] >= p:
                continue
            if sets.classes[p] != last_class:
                last_class = np.int64(sets.classes[p])
                for j in range(TILE):
                    needs[j] = needed[last_class, classes[j]]
            for j in range(TILE):
                common[j] = extras[j] + sets.extras[p]
            count = 0
            for w in range(sets.bits.shape[1]):
                used[count] = w
                count += sets.bits[p, w] != 0
            for at in range(count):
                w = used[at]
                word, column = sets.bits[p, w], words[tile, w]
                for j in range(TILE):
                    common[j] += np.int32(popcount(word & column[j]))
            rest = sets.rests[p]
            for chunk in range(0, TILE, CHUNK):
                if nearest_of(common, rest, rests, needs, chunk) >= 0:
                    compare_marks(p, tile, sets, tiles, chunk, differ)
                    for j in range(max(begin, chunk), min(end, chunk + CHUNK)):
                        most = common[j] + min(rest, rests[j], (rest + rests[j] - differ[j]) >> 1)
                        if most >= needs[j] and places[j] < p:
                            memory.left[found], memory.right[found] = p, places[j]
                            found += 1
        tile, first = tile + 1, 0
    memory.state[0], memory.state[1], memory.state[2] = found, 0, 0
    return True
