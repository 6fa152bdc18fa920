"""The votes of texts in Chinese and Japanese, whose features are pairs of characters: counted by the characters, not by hashes.

The codes of two characters are a number of 30 bits. So a pair needs no hash before it is counted, and only one that votes needs a
hash afterwards. Were there two pairs with one hash, they would be counted apart, as the definition of features has it.
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.chosen_bytes import PLACES_BEHIND, put_chosen, put_positions
from neardup.kernels.compilation import kernel
from neardup.kernels.fingerprints.votes import TF, UNIFORM, unit_votes, whole_vectors
from neardup.kernels.intrinsics import equal_mask
from neardup.kernels.text.tokens import WORD
from neardup.kernels.xxh3 import xxh3_64_of_each_two, xxh3_64_of_two

u32, u64 = np.uint32, np.uint64
ONE = u64(1)
CODE_BITS, PAIR_BITS = 15, 30
PAIRS = u32((1 << PAIR_BITS) - 1)
SECOND = u32((1 << CODE_BITS) - 1)
SPREAD = u32(0x1E3779B1)
"""Pairs are multiplied by it modulo 2^30, so that no two become the same."""
MOST_TOKENS = 1 << 28
"""Of longer texts, places and counts would not fit 32 bits."""
TAKEN = u32(1 << 31)
"""The bit of a place that is taken."""
VOTES, IS_LEFT, IS_NONE = np.uint8(1), np.uint8(2), np.uint8(3)
BLOCK, AT_ONCE = 64, 16
"""So many pairs are looked at together, and so many of them moved at once."""


class PairMemory(NamedTuple):
    """Working memory to count the pairs of one text.

    Attributes:
        places, tags: uint32[], of each pair where it may be counted, and what lies there if it is. `count_in_places` replaces
            `places` by what lies there then.
        pairs: uint32[], the codes of each, in PAIR_BITS.
        marks: uint8[], VOTES, IS_LEFT or IS_NONE of each pair.
        votes: uint32[], the pairs that vote, in PAIR_BITS.
        left, none: int64[], where those begin that are left, and where windows begin that are no pairs.
        slots: uint32[], the table: in each place a tag and a count, or 0.
    """

    places: Array
    tags: Array
    pairs: Array
    marks: Array
    votes: Array
    left: Array
    none: Array
    slots: Array


def pair_memory(most: int) -> PairMemory:
    """For texts of at most so many tokens: some 60 bytes for each, of which pages are touched as far as a text needs them."""
    places, tags, pairs, votes = (np.empty(most + BLOCK, np.uint32) for _ in range(4))
    marks, slots = np.empty(most + BLOCK, np.uint8), np.empty((1 << 4) + 6 * most + 1, np.uint32)
    left, none = (np.empty(most + PLACES_BEHIND, np.int64) for _ in range(2))
    return PairMemory(places, tags, pairs, marks, votes, left, none, slots)


@kernel
def table_bits(n):
    """The table for n pairs has 2^b places, at most a third of them taken: b."""
    bits = u32(4)
    while (1 << bits) < 3 * n:
        bits += u32(1)
    return bits


@kernel
def is_vote(count, weights):
    """Whether a weight grows when the count reaches this value: see `neardup.kernels.fingerprints.votes.unit_votes`."""
    return (count & (count - u32(1)) == u32(0)) & (weights != UNIFORM) | (count == u32(1)) | (weights == TF)


@kernel
def place_pairs(codes, n, bits, memory):
    """The place of each pair of codes[i] and codes[i + 1] (uint16[n + 1]), the upper bits of the mixed pair, and its tag.

    The tag has the other bits, and is TAKEN; below it is the pair's count, which has a bit more than a place, so that it never
    overflows. Of what is no pair, as a code is 0, the place is the one behind the table, where another tag lies.
    """
    shift, count_bits = u32(PAIR_BITS) - bits, bits + u32(1)
    lower, nowhere = (u32(1) << shift) - u32(1), u32(1) << bits
    places, tags, pairs = memory.places, memory.tags, memory.pairs
    for i in range(n):
        first, second = u32(codes[i]), u32(codes[i + 1])
        pair = first << u32(CODE_BITS) | second
        mixed = u32(pair * SPREAD) & PAIRS
        none = (first == u32(0)) | (second == u32(0))
        pairs[i] = pair
        places[i] = nowhere if none else mixed >> shift
        tags[i] = TAKEN | (u32(0) if none else (mixed & lower) << count_bits)


@kernel
def is_other(slot, tag, count_end):
    """Whether a place has another pair than the tag's: they differ by the count if it has that pair, by TAKEN if it has none."""
    return u32(u32(slot ^ tag) - count_end) < u32(TAKEN - count_end)


@kernel
def count_in_places(n, count_end, memory):
    """Count each pair in its place, unless another pair lies there; `places` becomes what lies there then.

    Whether a pair is new cannot be predicted, so nothing here branches. All that can be done for many pairs at once is done before
    and after: this loop goes one by one, and is the longest of a fingerprint.
    """
    places, tags, slots = memory.places, memory.tags, memory.slots
    for i in range(n):
        place, tag = u64(places[i]), tags[i]
        slot = slots[place]
        counted = u32((slot | tag) + u32(1))
        slot = slot if is_other(slot, tag, count_end) else counted
        slots[place] = slot
        places[i] = slot


@kernel
def mark_pairs(n, weights, count_end, memory):
    """Mark the pairs that vote, those that are left as another one lay in their place, and what is no pair."""
    lying, tags, pairs, marks = memory.places, memory.tags, memory.pairs, memory.marks
    for i in range(n):
        other = is_other(lying[i], tags[i], count_end)
        votes = is_vote(lying[i] & u32(count_end - u32(1)), weights)
        none = (pairs[i] & SECOND == u32(0)) | (pairs[i] <= SECOND)
        marks[i] = IS_NONE if none else IS_LEFT if other else VOTES if votes else np.uint8(0)
    marks[n : n + BLOCK] = np.uint8(0)


@kernel
def first_votes(n, bits, weights, memory):
    """Count each pair in its place, unless another pair lies there; those others are left.

    Returns the numbers of votes, of those left, and of what is no pair.
    """
    count_end = u32(2) << bits
    memory.slots[: 1 << bits] = u32(0)
    # A tag that no pair has. With 30 bits there are no tags: no two pairs share a place, and `mark_pairs` looks for what is none.
    memory.slots[1 << bits] = TAKEN | count_end
    count_in_places(n, count_end, memory)
    mark_pairs(n, weights, count_end, memory)
    v, c, q = u64(0), u64(0), u64(0)
    for i in range(0, n, BLOCK):
        chosen = equal_mask(memory.marks, i, VOTES)
        for part in range(0, BLOCK, AT_ONCE):
            v = put_chosen(memory.pairs, i + part, chosen >> u64(part), memory.votes, v)
        c = put_positions(equal_mask(memory.marks, i, IS_LEFT), i, memory.left, c)
        none = equal_mask(memory.marks, i, IS_NONE)
        if none != 0:
            q = put_positions(none, i, memory.none, q)
    return np.int64(v), np.int64(c), np.int64(q)


@kernel
def more_votes(memory, c, weights, table, v):
    """Count the c pairs that are left, by open addressing; the votes go behind the first v. Returns the number of all votes.

    `table`: uint64[], scratch: a pair in the upper half, how often it came in the lower half.
    """
    bits = table_bits(c)
    table[: 1 << bits] = u64(0)
    mask, shift, low = u64((1 << bits) - 1), u64(u32(PAIR_BITS) - bits), u64(0xFFFFFFFF)
    at = u64(v)
    for i in range(c):
        pair = memory.pairs[u64(memory.left[i])]
        mixed = u64(u32(pair * SPREAD) & PAIRS)
        place = mixed >> shift
        slot = table[place]
        while slot != u64(0) and slot >> u64(32) != mixed:
            place = (place + ONE) & mask
            slot = table[place]
        count = (slot & low) + ONE
        table[place] = mixed << u64(32) | count
        memory.votes[at] = pair
        at += u64(is_vote(u32(count), weights))
    return np.int64(at)


@kernel
def features_of_named(places, q, n, tokens, out):
    """The features of the windows that begin at `places`, in order, and of the last of n tokens. Returns their number.

    A word is a feature by itself; a character that is a named token, or comes before one, is one together with the token after it.
    """
    codes, k = tokens.codes, u64(0)
    for i in range(q):
        place = u64(places[i])
        code, after = u64(codes[place]), u64(codes[place + ONE])
        named = tokens.named[k]
        first = tokens.of_codes[code] if code != 0 else named
        is_word = (code == 0) & (tokens.named_kinds[k] == WORD)
        k += u64(code == 0)
        named = tokens.named[k]  # or what is behind the last
        second = tokens.of_codes[after] if after != 0 else named
        pair = xxh3_64_of_two(first, second)
        out[i] = first if is_word else pair
    f = np.int64(q)
    last = u64(codes[n - 1])
    if n == 1 and last != 0:
        out[f] = tokens.of_codes[last]
        f += 1
    elif last == 0 and (n == 1 or tokens.named_kinds[k] == WORD):
        out[f] = tokens.named[k]
        f += 1
    return f


@kernel
def hash_pairs(pairs, n, of_codes, first, second, out):
    """The hashes of n pairs, uint32[] in PAIR_BITS, as `neardup.kernels.fingerprints.shingles.shingle` has them, uint64[].

    `first`, `second`: uint64[], scratch; all have VECTOR places more than n.
    """
    for i in range(n):
        pair = u64(pairs[i])
        first[i], second[i] = of_codes[pair >> u64(CODE_BITS)], of_codes[pair & u64(SECOND)]
    xxh3_64_of_each_two(first, second, whole_vectors(n), out)


@kernel
def votes_of_pairs(n, weights, memory):
    """The votes of n tokens, at most MOST_TOKENS, of which windows of 1 word and 2 characters are the features; not by SQRT.

    `memory`: `neardup.kernels.fingerprints.simhash.Scratch`; the votes are left in its `votes`. Returns their number.
    """
    tokens, pairs = memory.tokens, memory.pairs
    bits = table_bits(n)
    place_pairs(tokens.codes, n - 1, bits, pairs)
    v, c, q = first_votes(n - 1, bits, weights, pairs)
    v = more_votes(pairs, c, weights, memory.keys, v)
    hash_pairs(pairs.votes, v, tokens.of_codes, memory.features, memory.keys, memory.votes)
    f = features_of_named(pairs.none, q, n, tokens, memory.features)
    return v + unit_votes(memory.features, f, weights, memory.keys, memory.counts, memory.votes[v:])
