"""Compare the rows of a bucket: column against column while the rows are many, one by one what is near.

See `neardup.kernels.hamming.hamming`, which walks the buckets.
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import popcount, trailing_zeros

u64 = np.uint64

LEAF_ROWS = 24
"""A bucket of so many rows is compared rather than split: about where the two cost the same."""

RUN_ROWS = 128
"""Buckets of up to so many rows may be compared in a run with their neighbors, if most of these are about as large."""

VECTOR_ROWS = 32
"""From so many rows on, a contiguous column of them is compared in vectors; for fewer a plain loop is faster."""

TILE_ROWS = 2048
"""Rows of a column compared in one go: 16 KiB, half of a small first-level cache."""

PADDING = 64 + RUN_ROWS
"""Columns are read in chunks of 64, so up to so far beyond their rows; what is there does not matter."""

NEAR_ROOM = TILE_ROWS + 64 * RUN_ROWS
"""Candidates that are gathered at most: what is looked at once there are more than TILE_ROWS, and a chunk of a run on top."""


class Table(NamedTuple):
    """What rows are grouped by, and what is a pair.

    Attributes:
        masks: uint64[blocks, words], the bits of each block.
        spans: int64[blocks, 2], first word of each block and the one behind its last.
        widths: int64[blocks], so many bits of the hash of each block are worth taking.
        multipliers: uint64[words], odd.
        part_starts: int64[parts + 1], first block of each part.
        budgets: int64[parts], the blocks of each part that may differ.
        part: the part that keys are taken from.
        prefix: int64[], the blocks of the key that rows are scattered by, ascending.
        key_blocks: blocks in a complete key.
        max_distance: uint64.
        word: the word whose distance is looked at first.
        second: another word that is then added to it, or -1.
    """

    masks: Array
    spans: Array
    widths: Array
    multipliers: Array
    part_starts: Array
    budgets: Array
    part: int
    prefix: Array
    key_blocks: int
    max_distance: np.uint64
    word: int
    second: int


class Scratch(NamedTuple):
    """Working memory for buckets of up to `rows` rows, of one thread.

    Attributes:
        left_rows: uint64[levels, rows, words], levels = blocks of a key behind the prefix.
        right_rows: the same for the other side; not used by a self-join.
        left_ends: int64[levels, more than twice rows].
        right_ends: the same for the other side; not used by a self-join.
        nodes: int64[8, 1 + key_blocks].
        columns: uint64[2, rows + PADDING].
        numbers: int32[rows].
        near: int64[2, NEAR_ROOM].
    """

    left_rows: Array
    right_rows: Array
    left_ends: Array
    right_ends: Array
    nodes: Array
    columns: Array
    numbers: Array
    near: Array


class Range(NamedTuple):
    """Some rows, one behind the other.

    Attributes:
        rows: uint64[n, words].
        first, last: the first of them, and the one behind the last.
    """

    rows: Array
    first: int
    last: int


class Bucket(NamedTuple):
    """What the rows of a bucket have in common.

    Attributes:
        table: the blocks, and the part.
        chosen: int64[>= depth], the blocks in which they agree.
        depth: how many these are.
    """

    table: Table
    chosen: Array
    depth: int


class Room(NamedTuple):
    """Where the comparisons of one thread write.

    Attributes:
        columns: uint64[2, rows + PADDING], the words to look at of the rows from `origin` on.
        origin: the row whose words come first in `columns`.
        near: int64[2, NEAR_ROOM], candidates; a call for each of them would cost more than the rest.
        found: uint64[room, 2 * words], pairs.
        most: comparisons give up past so many pairs.
    """

    columns: Array
    origin: int
    near: Array
    found: Array
    most: int


@kernel
def report(left, right, near, size, bucket, found, count):
    """Add to `found` what are pairs, and for this bucket to report, of `size` candidates; returns the new count.

    Of all the buckets that hold two rows one reports them: that of the first part with no more differing blocks than its
    budget, whose blocks `chosen[:depth]` are the first of that part that agree.

    Args:
        left: uint64[n, words].
        right: uint64[m, words].
        near: int64[2, >= size], rows of `left` and of `right`.
        size: how many candidates.
        bucket: what they have in common.
        found: uint64[room, 2 * words].
        count: pairs found so far.

    Returns:
        Pairs found by now; those beyond the room are counted only.
    """
    words, table, chosen, depth = left.shape[1], bucket.table, bucket.chosen, bucket.depth
    masks, spans, starts, budgets = table.masks, table.spans, table.part_starts, table.budgets
    begin, end = starts[table.part], starts[table.part + 1]
    key_end = chosen[depth - 1] + 1 if depth else begin
    for c in range(size):
        i, j, distance = near[0, c], near[1, c], u64(0)
        for w in range(words):
            distance += popcount(left[i, w] ^ right[j, w])
        if distance > table.max_distance:
            continue
        # Sums instead of branches: which blocks differ cannot be foreseen.
        differing = 0
        for d in range(depth):
            b, difference = chosen[d], u64(0)
            for w in range(spans[b, 0], spans[b, 1]):
                difference |= (left[i, w] ^ right[j, w]) & masks[b, w]
            differing += difference != u64(0)
        if differing:
            continue
        before = 0
        for b in range(begin, end):
            difference = u64(0)
            for w in range(spans[b, 0], spans[b, 1]):
                difference |= (left[i, w] ^ right[j, w]) & masks[b, w]
            differing += difference != u64(0)
            before += (difference != u64(0)) & (b < key_end)
        first = key_end - begin - before == depth and differing <= budgets[table.part]
        part = 0
        while first and part < table.part:
            differing = 0
            for b in range(starts[part], starts[part + 1]):
                difference = u64(0)
                for w in range(spans[b, 0], spans[b, 1]):
                    difference |= (left[i, w] ^ right[j, w]) & masks[b, w]
                differing += difference != u64(0)
            first = differing > budgets[part]
            part += 1
        if first:
            if count < len(found):
                for w in range(words):
                    found[count, w] = left[i, w]
                    found[count, words + w] = right[j, w]
            count += 1
    return count


@kernel
def fill_columns(rows, low, high, word, second, columns):
    """Copy the words to look at of rows [low, high) to `columns`."""
    for i in range(high - low):
        columns[0, i] = rows[low + i, word]
    if second >= 0:
        for i in range(high - low):
            columns[1, i] = rows[low + i, second]


@kernel
def compare_columns(one, other, same, bucket, room, count):
    """Report the pairs of the rows of `one` range and the rows of the `other`, whose words are in `room.columns`.

    With `same`, both are ranges of the same rows, and only rows behind each row are looked at.
    """
    left, right, columns, origin, near = one.rows, other.rows, room.columns, room.origin, room.near
    table, size = bucket.table, np.int64(0)
    word, second, limit = table.word, table.second, table.max_distance
    for tile in range(other.first, other.last, TILE_ROWS):
        end = min(tile + TILE_ROWS, other.last)
        for i in range(one.first, one.last):
            begin = max(tile, i + 1) if same else tile
            if begin >= end:
                continue
            # Sums over plain slices and unsigned numbers alone are what compilers turn into vectors.
            x, values, hits = left[i, word], columns[0, begin - origin : end - origin], u64(0)
            if second >= 0:
                y, others = left[i, second], columns[1, begin - origin : end - origin]
                for j in range(len(values)):
                    hits += u64(popcount(x ^ values[j]) + popcount(y ^ others[j]) <= limit)
            else:
                for j in range(len(values)):
                    hits += u64(popcount(x ^ values[j]) <= limit)
            if hits:
                for base in range(begin, end, 64):
                    chunk, mask = columns[0, base - origin : base - origin + 64], u64(0)
                    for j in range(64):
                        mask |= u64(popcount(x ^ chunk[j]) <= limit) << u64(j)
                    if end - base < 64:
                        mask &= (u64(1) << u64(end - base)) - u64(1)
                    while mask:
                        near[0, size], near[1, size] = i, base + np.int64(trailing_zeros(mask))
                        mask &= mask - u64(1)
                        size += 1
                if size > TILE_ROWS:
                    count = report(left, right, near, size, bucket, room.found, count)
                    size = np.int64(0)
                    if count > room.most:
                        return count
    if size:
        count = report(left, right, near, size, bucket, room.found, count)
    return count


@kernel
def compare(one, other, same, bucket, room, count):
    """Report pairs as `compare_columns` does; the columns are scratch."""
    left, right, near, table = one.rows, other.rows, room.near, bucket.table
    if other.last - other.first >= VECTOR_ROWS:
        fill_columns(right, other.first, other.last, table.word, table.second, room.columns)
        filled = Room(room.columns, other.first, near, room.found, room.most)
        return compare_columns(one, other, same, bucket, filled, count)
    size = np.int64(0)
    for i in range(one.first, one.last):
        x = left[i, table.word]
        for j in range(i + 1 if same else other.first, other.last):
            if popcount(x ^ right[j, table.word]) <= table.max_distance:
                near[0, size], near[1, size] = i, j
                size += 1
        if size > TILE_ROWS:
            count = report(left, right, near, size, bucket, room.found, count)
            size = np.int64(0)
    if size:
        count = report(left, right, near, size, bucket, room.found, count)
    return count


@kernel
def compare_run(run, reach, bucket, room, count):
    """Report the pairs of a range of rows: buckets of at most `reach` (up to RUN_ROWS) rows one behind the other.

    Row by row, the loop over what is left of a small bucket costs a wrong guess of the processor each time. So every row is
    compared with the one some steps on, be it in the same bucket or not: pairs across buckets have different keys and are not
    reported.
    """
    rows, low, high, columns, near, table = run.rows, run.first, run.last, room.columns, room.near, bucket.table
    fill_columns(rows, low, high, table.word, table.second, columns)
    limit, size = table.max_distance, np.int64(0)
    for tile in range(0, high - low, 64):
        here, others_here = columns[0, tile : tile + 64], columns[1, tile : tile + 64]
        for step in range(1, min(reach, high - low - tile)):
            there, mask = columns[0, tile + step : tile + step + 64], u64(0)
            if table.second >= 0:
                others_there = columns[1, tile + step : tile + step + 64]
                for j in range(64):
                    distance = popcount(here[j] ^ there[j]) + popcount(others_here[j] ^ others_there[j])
                    mask |= u64(distance <= limit) << u64(j)
            else:
                for j in range(64):
                    mask |= u64(popcount(here[j] ^ there[j]) <= limit) << u64(j)
            if high - low - step - tile < 64:
                mask &= (u64(1) << u64(high - low - step - tile)) - u64(1)
            while mask:
                i = low + tile + np.int64(trailing_zeros(mask))
                near[0, size], near[1, size] = i, i + step
                mask &= mask - u64(1)
                size += 1
        if size > TILE_ROWS:
            count = report(rows, rows, near, size, bucket, room.found, count)
            size = np.int64(0)
            if count > room.most:
                return count
    if size:
        count = report(rows, rows, near, size, bucket, room.found, count)
    return count


@kernel
def distances_between(left, left_rows, right, right_rows, first, last, out):
    """Write to out[i] (uint16) the distance of left[left_rows[i]] and right[right_rows[i]], for i from `first` to before `last`."""
    for i in range(first, last):
        distance = u64(0)
        for w in range(left.shape[1]):
            distance += popcount(left[left_rows[i], w] ^ right[right_rows[i], w])
        out[i] = distance


@kernel
def distances_to(query, rows, out):
    """Write to `out` (uint16) the distance of `query` (uint64[words]) to each of `rows`."""
    for i in range(len(out)):
        distance = u64(0)
        for w in range(rows.shape[1]):
            distance += popcount(query[w] ^ rows[i, w])
        out[i] = distance
