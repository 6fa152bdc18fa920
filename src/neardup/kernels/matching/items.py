"""Which items of a benchmark a document may hold: counts of an item's shingles in a stretch of the document, and rows of them."""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.fingerprints.shingles import shingle
from neardup.kernels.text.tokens import tokenize

DOCUMENT, BLOCK, NOW, BEFORE, LAST, STREAK, SUSPECT = range(7)
"""What the state of an item holds: the document it is about; the current block of that document, how many of the item's shingles
are in it and in the block before; the last shingle that is the item's, and how many in a row were; whether it is a suspect."""
STATE = 8
"""Columns of the state: one cache line."""


class ItemIndex(NamedTuple):
    """The shingles of all items.

    Attributes:
        hashes: uint64[shingles], ascending and distinct.
        directory: int64[2**bits + 1]: the hashes whose highest bits are b are `hashes[directory[b]:directory[b + 1]]`.
        shift: 64 - bits.
        starts: int64[shingles + 1]: the items with shingle s are `items[starts[s]:starts[s + 1]]`.
        items: int64[].
        least: int64[items], so many shingles of an item make it a suspect, if they lie in two blocks that follow each other.
        block_shifts: int64[items]: a block of an item is 2**shift shingles of the document.
        least_streak: so many shingles of an item in a row make it a suspect, too.
        word_size, cjk_size: tokens of a shingle that starts at a word, at a Han or Kana character.
    """

    hashes: Array
    directory: Array
    shift: int
    starts: Array
    items: Array
    least: Array
    block_shifts: Array
    least_streak: int
    word_size: int
    cjk_size: int


@kernel
def entry_of(value, index):
    """The number of a hash in the index, or -1."""
    bucket = np.int64(value >> np.uint64(index.shift))
    for i in range(index.directory[bucket], index.directory[bucket + 1]):
        if index.hashes[i] >= value:
            return i if index.hashes[i] == value else -1
    return -1


@kernel
def is_new_suspect(state, document, place, least, block_shift, least_streak):
    """Count a shingle of the document at `place` for one item, whose state this is; whether this makes it a suspect."""
    block = place >> block_shift
    if state[DOCUMENT] != document:
        state[DOCUMENT], state[BLOCK], state[NOW], state[BEFORE] = document, block, 0, 0
        state[LAST], state[STREAK], state[SUSPECT] = place - 2, 0, 0
    if block != state[BLOCK]:
        state[BEFORE] = state[NOW] if block == state[BLOCK] + 1 else 0
        state[BLOCK], state[NOW] = block, 0
    state[NOW] += 1
    state[STREAK] = state[STREAK] + 1 if state[LAST] == place - 1 else 1
    state[LAST] = place
    if state[SUSPECT] != 0 or (state[NOW] + state[BEFORE] < least and state[STREAK] < least_streak):
        return False
    state[SUSPECT] = 1
    return True


@kernel
def find_suspects(data, offsets, first, index, memory, shingles, state, tables, items, ends):
    """The items that the normalized documents `data[offsets[d]:offsets[d + 1]]` may hold; all that they do hold are among them.

    uint8[], int64[n + 1], int, `ItemIndex`, `TokenMemory` and uint64[] for the longest document -> int64[places], int64[n]:
    document d has `items[ends[d - 1]:ends[d]]`, from 0 for the first. Begins with document `first`, and ends before a document
    for whose suspects there may be no room: returns the number of that document, or n. `state`: int64[items + 1, STATE], zeros
    at first; the last row counts documents. There must be room for all items.
    """
    found, most = 0, len(index.least)
    for d in range(first, len(offsets) - 1):
        if len(items) - found < most:
            return d
        state[most, DOCUMENT] += 1
        document = state[most, DOCUMENT]
        n = tokenize(data, offsets[d], offsets[d + 1], memory.tokens, tables)
        m = shingle(memory.tokens, n, index.word_size, index.cjk_size, shingles)
        for place in range(m):
            entry = entry_of(shingles[place], index)
            if entry < 0:
                continue
            for i in range(index.starts[entry], index.starts[entry + 1]):
                item = index.items[i]
                if is_new_suspect(
                    state[item], document, place, index.least[item], index.block_shifts[item], index.least_streak
                ):
                    items[found] = item
                    found += 1
        ends[d] = found
    return len(offsets) - 1


@kernel
def best_passage(places, numbers, reach, counts):
    """Where the stretch of less than `reach` begins that holds most distinct shingles of an item; the first of several.

    int64[n], ascending: where the shingles are; int64[n]: which they are; int; int64[shingles of the item], zeros -> the number of
    the first shingle in the stretch.
    """
    best, most, distinct, added = 0, 0, 0, 0
    for first in range(len(places)):
        while added < len(places) and places[added] < places[first] + reach:
            distinct += counts[numbers[added]] == 0
            counts[numbers[added]] += 1
            added += 1
        if distinct > most:
            best, most = first, distinct
        counts[numbers[first]] -= 1
        distinct -= counts[numbers[first]] == 0
    return best
