"""The votes of texts in Chinese and Japanese, whose features are pairs of characters: counted by the characters, not by hashes.

The codes of two characters are a number of 30 bits. So a pair needs no hash before it is counted, and only one that votes needs a
hash afterwards. Were there two pairs with one hash, they would be counted apart, as the definition of features has it.
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.fingerprints.votes import TF, UNIFORM, unit_votes, whole_vectors
from neardup.kernels.text.tokens import WORD
from neardup.kernels.xxh3 import xxh3_64_of_each_two, xxh3_64_of_two

u32, u64 = np.uint32, np.uint64
ONE = u64(1)
CODE_BITS, PAIR_BITS = 15, 30
PAIRS = u32((1 << PAIR_BITS) - 1)
SPREAD = u32(0x1E3779B1)
"""Pairs are multiplied by it modulo 2^30, so that no two become the same."""
MOST_TOKENS = 1 << 28
"""Of longer texts, places and counts would not fit 32 bits."""
TAKEN = u32(1 << 31)
"""The bit of a place that is taken."""


class PairMemory(NamedTuple):
    """Working memory to count the pairs of one text.

    Attributes:
        places, tags: uint32[], of each pair where it may be counted, and what lies there if it is.
        votes, left: uint32[], where pairs begin that vote, and those that are left.
        slots: uint32[], the places.
    """

    places: Array
    tags: Array
    votes: Array
    left: Array
    slots: Array


def pair_memory(most: int) -> PairMemory:
    """For texts of at most so many tokens."""
    places, tags, votes, left = (np.empty(most, np.uint32) for _ in range(4))
    return PairMemory(places, tags, votes, left, slots=np.empty((1 << 4) + 8 * most + 1, np.uint32))


@kernel
def table_bits(n):
    """The table for n pairs has 2^b places, at most a quarter of them taken: b."""
    bits = u32(4)
    while (1 << bits) < 4 * n:
        bits += u32(1)
    return bits


@kernel
def is_vote(count, weights):
    """1 if a weight grows when the count reaches this value, else 0: see `neardup.kernels.fingerprints.votes.unit_votes`."""
    return u64(count & (count - u32(1)) == u32(0)) & u64(weights != UNIFORM) | u64(count == u32(1)) | u64(weights == TF)


@kernel
def place_pairs(codes, n, bits, memory):
    """The place of each pair of codes[i] and codes[i + 1] (uint16[n + 1]), the upper bits of the mixed pair, and its tag.

    The tag has the other bits, and is TAKEN; below it is the pair's count, which has a bit more than a place, so that it never
    overflows. Of what is no pair, as a code is 0, the place is the one behind the table, where another tag lies.
    """
    shift, count_bits = u32(PAIR_BITS) - bits, bits + u32(1)
    lower, nowhere = (u32(1) << shift) - u32(1), u32(1) << bits
    places, tags = memory.places, memory.tags
    for i in range(n):
        first, second = u32(codes[i]), u32(codes[i + 1])
        mixed = u32((first << u32(CODE_BITS) | second) * SPREAD) & PAIRS
        none = (first == u32(0)) | (second == u32(0))
        places[i] = nowhere if none else mixed >> shift
        tags[i] = TAKEN | (u32(0) if none else (mixed & lower) << count_bits)


@kernel
def first_votes(n, bits, weights, memory):
    """Count each pair in its place, unless another pair lies there; those others are left.

    Nothing here branches: whether a pair is new is a coin's toss. Returns the numbers of votes and of those left.
    """
    places, tags, votes, left, slots = memory.places, memory.tags, memory.votes, memory.left, memory.slots
    slots[: 1 << bits] = u32(0)
    count_end = u32(2) << bits
    slots[1 << bits] = TAKEN | count_end  # another tag than 0
    v, c = u64(0), u64(0)
    for i in range(n):
        place, tag = u64(places[i]), tags[i]
        slot = slots[place]
        apart = u32(slot ^ tag)  # the count if the pair lies here, more if another one does; TAKEN if none does
        other = u64(u32(apart - count_end) < u32(TAKEN - count_end))
        counted = u32((slot | tag) + u32(1))
        slots[place] = slot if other != u64(0) else counted
        votes[v], left[c] = u32(i), u32(i)
        v += is_vote(counted & u32(count_end - u32(1)), weights) & (other ^ ONE)
        c += other
    return np.int64(v), np.int64(c)


@kernel
def more_votes(codes, left, c, weights, slots, votes, v):
    """Count the pairs that are left, by open addressing; the votes go to votes[v:]. Moves what is no pair to the front of `left`.

    `slots`: uint64[], scratch: a pair in the upper half, how often it came in the lower half. Returns the number of votes, and of
    what is no pair.
    """
    bits = table_bits(c)
    slots[: 1 << bits] = u64(0)
    mask, shift, low = u64((1 << bits) - 1), u64(u32(PAIR_BITS) - bits), u64(0xFFFFFFFF)
    q, at = u64(0), u64(v)
    for i in range(c):
        t = u64(left[i])
        first, second = u32(codes[t]), u32(codes[t + ONE])
        if (first == u32(0)) | (second == u32(0)):
            left[q] = u32(t)
            q += ONE
            continue
        pair = u64(u32((first << u32(CODE_BITS) | second) * SPREAD) & PAIRS)
        place = pair >> shift
        slot = slots[place]
        while slot != u64(0) and slot >> u64(32) != pair:
            place = (place + ONE) & mask
            slot = slots[place]
        count = (slot & low) + ONE
        slots[place] = pair << u64(32) | count
        votes[at] = u32(t)
        at += is_vote(u32(count), weights)
    return np.int64(at), np.int64(q)


@kernel
def features_of_named(places, q, n, tokens, out):
    """The features of the windows that begin at `places`, in order, and of the last of n tokens. Returns their number.

    A word is a feature by itself; a character that is a named token, or comes before one, is one together with the token after it.
    """
    codes, k, f = tokens.codes, u64(0), u64(0)
    for i in range(q):
        place = u64(places[i])
        code, after = u64(codes[place]), u64(codes[place + ONE])
        if code != 0:
            out[f] = xxh3_64_of_two(tokens.of_codes[code], tokens.named[k])
        else:
            next_one = tokens.of_codes[after] if after != 0 else tokens.named[k + ONE]
            pair = xxh3_64_of_two(tokens.named[k], next_one)
            out[f] = tokens.named[k] if tokens.named_kinds[k] == WORD else pair
            k += ONE
        f += ONE
    last = u64(codes[n - 1])
    if n == 1 and last != 0:
        out[f] = tokens.of_codes[last]
        f += ONE
    elif last == 0 and (n == 1 or tokens.named_kinds[k] == WORD):
        out[f] = tokens.named[k]
        f += ONE
    return np.int64(f)


@kernel
def hash_pairs(codes, places, n, of_codes, first, second, out):
    """The hashes of the pairs that begin at n places, as `neardup.kernels.fingerprints.shingles.shingle` has them, uint64[].

    `first`, `second`: uint64[], scratch; all have VECTOR places more than n.
    """
    for i in range(n):
        t = u64(places[i])
        first[i], second[i] = of_codes[u64(codes[t])], of_codes[u64(codes[t + ONE])]
    xxh3_64_of_each_two(first, second, whole_vectors(n), out)


@kernel
def votes_of_pairs(n, weights, memory):
    """The votes of n tokens, at most MOST_TOKENS, of which windows of 1 word and 2 characters are the features; not by SQRT.

    `memory`: `neardup.kernels.fingerprints.simhash.Scratch`; the votes are left in its `votes`. Returns their number.
    """
    tokens, pairs = memory.tokens, memory.pairs
    bits = table_bits(n)
    place_pairs(tokens.codes, n - 1, bits, pairs)
    v, c = first_votes(n - 1, bits, weights, pairs)
    v, q = more_votes(tokens.codes, pairs.left, c, weights, memory.keys, pairs.votes, v)
    hash_pairs(tokens.codes, pairs.votes, v, tokens.of_codes, memory.features, memory.keys, memory.votes)
    f = features_of_named(pairs.left, q, n, tokens, memory.features)
    return v + unit_votes(memory.features, f, weights, memory.keys, memory.counts, memory.votes[v:])
