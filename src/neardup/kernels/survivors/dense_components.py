"""Connected components where nearly all texts are nearly alike: each document is held against all earlier ones until connected.

A pair whose documents are connected already is not compared (frequent_bits.py tells which may match). Of the matches that connect
two components, the one with the first of the earlier documents is found, on one thread: each comparison depends on those before.
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import popcount
from neardup.kernels.matching.frequent_bits import CHUNK, TILE, compare_marks, nearest_of
from neardup.kernels.matching.similarities import similarity_of
from neardup.kernels.survivors.clusters import connect, root

u64 = np.uint64


class Apart(NamedTuple):
    """Which pairs are not needed: int64[n], uint8[n], or empty.

    Attributes:
        groups: only pairs of one group are.
        sides: 1, 2, or 3 for both; only pairs across the two sides are.
    """

    groups: Array
    sides: Array


class LinkMemory(NamedTuple):
    """Working memory, and where to go on.

    Attributes:
        common, needs, differ: int32[TILE].
        state: int64[5]: the document, the tile and the place in it; components among the documents so far; the earlier document of
            the match that was found.
    """

    common: Array
    needs: Array
    differ: Array
    state: Array


@kernel
def is_needed(p, q, apart):
    """Whether the pair is of one group, and across the sides."""
    if len(apart.groups) and apart.groups[p] != apart.groups[q]:
        return False
    return len(apart.sides) == 0 or (apart.sides[p] | apart.sides[q]) == 3


@kernel
def hold(p, tile, sets, tiles, needed, memory):
    """What document p has in common with the sets of a tile, by their bits and weights, and what each needs."""
    extras = tiles.extras[tile * TILE :]
    for j in range(TILE):
        memory.common[j] = extras[j] + sets.extras[p]
    for w in range(sets.bits.shape[1]):
        word, column = sets.bits[p, w], tiles.words[tile, w]
        if word != 0:
            for j in range(TILE):
                memory.common[j] += np.int32(popcount(word & column[j]))
    of, classes = needed[sets.classes[p]], tiles.classes[tile * TILE :]
    for j in range(TILE):
        memory.needs[j] = of[classes[j]]


@kernel
def next_in_tile(p, tile, sets, tiles, texts, threshold, apart, parents, memory):
    """The first document in the tile, from the place in `memory.state`, that matches p and is not connected with it; -1: none."""
    rest, rests, start = sets.rests[p], tiles.rests[tile * TILE :], memory.state[2]
    for chunk in range(start // CHUNK * CHUNK, TILE, CHUNK):
        if nearest_of(memory.common, rest, rests, memory.needs, chunk) < 0:
            continue
        compare_marks(p, tile, sets, tiles, chunk, memory.differ)
        for j in range(max(start, chunk), chunk + CHUNK):
            q = tile * TILE + j
            if q >= p:
                return np.int64(-1)
            most = memory.common[j] + min(rest, rests[j], (rest + rests[j] - memory.differ[j]) >> 1)
            if most < memory.needs[j] or not is_needed(p, q, apart):
                continue
            if root(parents, p) != root(parents, q) and similarity_of(texts, p, q, threshold) >= 0:
                memory.state[2] = j + 1
                return q
    return np.int64(-1)


@kernel
def link(last, sets, tiles, needed, texts, threshold, apart, forest, memory):
    """Find the next match that connects two components; memory.state has its documents. False: there is none before `last`.

    The tiles have all documents, each at its own place. The caller connects the two, or leaves them apart if the match does not
    count.
    """
    state = memory.state
    while state[0] < last:
        p = state[0]
        while state[1] * TILE < p and state[3] > 1:
            hold(p, state[1], sets, tiles, needed, memory)
            q = next_in_tile(p, state[1], sets, tiles, texts, threshold, apart, forest.parents, memory)
            if q >= 0:
                state[4] = q
                return True
            state[1], state[2] = state[1] + 1, 0
        state[0], state[1], state[2], state[3] = p + 1, 0, 0, state[3] + 1
    return False


@kernel
def link_all(last, sets, tiles, needed, texts, threshold, apart, forest, memory):
    """Connect all documents before `last` whose matches count."""
    while link(last, sets, tiles, needed, texts, threshold, apart, forest, memory):
        join_found(forest, memory)


@kernel
def join_found(forest, memory):
    """Connect the documents of the match that `link` found."""
    p, q = memory.state[0], memory.state[4]
    connect(forest, p, q, (root(forest.parents, p), root(forest.parents, q)), 1.0)
    memory.state[3] -= 1
