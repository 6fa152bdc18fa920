"""Levenshtein distance of sequences of tokens, given up as soon as it is known to be too large.

Bit-parallel (Myers 1999, with carries between blocks as in section 4; Hyyrö 2003), 64 rows of the matrix at a time, within the band
of Ukkonen 1985, which is doubled until it holds the answer.
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.matching.bounds import required_part

u64 = np.uint64
ONE, ALL = u64(1), ~u64(0)
PLACES = 256
"""Of the table of a strip's tokens: at most a quarter full."""
FIRST_BAND = 32
PLUS = ONE
"""In `steps`: the value grows by one from a column to the next; 2: it shrinks by one; 0: it stays."""


class StripMemory(NamedTuple):
    """The table of a strip's tokens, uint64[PLACES] twice, and how the row above changes at each column, uint64[columns]."""

    keys: Array
    masks: Array
    steps: Array


def edit_memory(longest: int) -> Array:
    """Working memory for one pair at a time of sequences of at most `longest` tokens: uint64[], keys, masks, steps."""
    return np.empty(2 * PLACES + longest, np.uint64)


@kernel
def place_of(token, keys, masks):
    """Where the token is in the table, or would be: a place with mask 0 is free."""
    place = token & u64(PLACES - 1)
    while masks[place] != u64(0) and keys[place] != token:
        place = (place + ONE) & u64(PLACES - 1)
    return place


@kernel
def advance_strip(values, b, columns, rows, value, ahead, memory):
    """64 rows or fewer of the matrix, from the first of `columns` to the last, column j being of the token values[b + j].

    The strip's tokens are in the table of `memory` (bit i of a mask is row i). steps[j] is how the row above changes at column j,
    and becomes how the last row of the strip does. Down from the corner before the first column, each row adds one. `value` is the
    last row's there, `ahead` how many more columns than rows are left there.

    Returns the last row's value at the last column, and the least that any way through that row can cost.
    """
    plus, minus = ALL, u64(0)  # how the value changes from a row to the next
    shift = u64(rows - 1)
    lowest = value + abs(ahead)
    keys, masks, steps = memory.keys, memory.masks, memory.steps
    for j in range(columns[0], columns[1]):
        equal = masks[place_of(values[b + j], keys, masks)]
        down, up = steps[j] & PLUS, steps[j] >> ONE
        vertical = equal | minus
        equal |= up
        across = (((equal & plus) + plus) ^ plus) | equal
        grows = minus | ~(across | plus)
        shrinks = plus & across
        grew, shrank = grows >> shift & ONE, shrinks >> shift & ONE
        steps[j] = grew | shrank << ONE
        grows = grows << ONE | down
        shrinks = shrinks << ONE | up
        plus = shrinks | ~(vertical | grows)
        minus = grows & vertical
        value += np.int64(grew) - np.int64(shrank)
        ahead -= 1
        lowest = min(lowest, value + abs(ahead))
    return value, lowest


@kernel
def banded_distance(values, a, n, b, m, most, memory):
    """The distance of values[a:a + n] and values[b:b + m], 0 < n <= m, if at most `most` >= m - n; else something above it.

    What is above `most` and at most n + m is not below the distance.
    """
    strip = StripMemory(memory[:PLACES], memory[PLACES : 2 * PLACES], memory[2 * PLACES :])
    keys, masks, steps = strip.keys, strip.masks, strip.steps
    side = (most - (m - n)) // 2  # alignments of `most` edits leave the band on neither side
    value, first, last = 0, 0, 0
    for top in range(0, n, 64):
        rows = min(64, n - top)
        before, first = first, max(0, top - side)
        for j in range(before, first):
            value += np.int64(steps[j] & PLUS) - np.int64(steps[j] >> ONE)
        above, last = last, min(m, top + rows + m - n + side)
        steps[above:last] = PLUS
        masks[:] = u64(0)
        for i in range(rows):
            token = values[a + top + i]
            place = place_of(token, keys, masks)
            keys[place] = token
            masks[place] |= ONE << u64(i)
        corner = value + rows
        ahead = (m - first) - (n - top - rows)
        at_last, lowest = advance_strip(values, b, (first, last), rows, corner, ahead, strip)
        if lowest > most:
            return n + m + 1
        value = at_last if top + rows == n else corner
    return value


@kernel
def edit_distance(values, a, a_end, b, b_end, most, memory):
    """The fewest tokens to insert, delete or replace that make values[b:b_end] of values[a:a_end]; -1 if more than `most`.

    uint64[] -> int. Time: about d n / 32 steps for d edits of n tokens, after what both begin and end with.
    """
    if a_end - a > b_end - b:
        a, a_end, b, b_end = b, b_end, a, a_end
    if (b_end - b) - (a_end - a) > most:
        return -1
    while a < a_end and values[a] == values[b]:
        a += 1
        b += 1
    while a < a_end and values[a_end - 1] == values[b_end - 1]:
        a_end -= 1
        b_end -= 1
    n, m = a_end - a, b_end - b
    if n == 0:
        return m
    most = min(most, m)
    band = min(most, m - n + FIRST_BAND)
    while True:
        distance = banded_distance(values, a, n, b, m, band, memory)
        if distance <= band:
            return distance
        if band == most:
            return -1
        band = min(most, 2 * band, distance)


@kernel
def edit_similarity(values, a, a_end, b, b_end, threshold, memory):
    """1 - distance / the longer's length, or -1 where that is below `threshold`. Two empty sequences have 0."""
    longest = max(a_end - a, b_end - b)
    if longest == 0:
        return 0.0 if threshold <= 0 else -1.0
    most = longest - required_part(longest, threshold) if threshold > 0 else longest
    distance = edit_distance(values, a, a_end, b, b_end, most, memory)
    return (longest - distance) / longest if distance >= 0 else -1.0
