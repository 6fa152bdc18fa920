"""Look fingerprints up in tables: rows grouped by the bits of a key; a query is compared with those that share its key, or nearly.

A key is made of runs of bits, given as moves: of a fingerprint's word, so many bits from a shift on, to a place in the key. Rows
are columns, uint64[words, n] a table, in the order of their buckets. What is found goes to `hits`, int64[room, 3]: query, position,
distance; the kernels return how many there are, which may be more than there was room for: the caller then calls again with more.
"""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import popcount, trailing_zeros

u64 = np.uint64
ONE = u64(1)
WORD, SHIFT, WIDTH, PLACE = range(4)
"""Of a move."""
HASH = u64(0x9E3779B97F4A7C15)
"""Odd, with irregular bits: 2^64 by the golden ratio."""
GROUP = 32
"""Queries whose buckets are found together, so that one's memory is waited for while the next is asked for."""
SCANNED = 48
"""From so many rows on, a bucket is first counted in vectors."""


@kernel
def key_of(row, moves, first, last):
    """The key of a fingerprint (uint64[words]) by the moves [first, last)."""
    key = u64(0)
    for i in range(first, last):
        mask = ~u64(0) >> u64(64 - moves[i, WIDTH])
        key |= (row[moves[i, WORD]] >> u64(moves[i, SHIFT]) & mask) << u64(moves[i, PLACE])
    return key


@kernel
def bucket_of(key, key_bits, bucket_bits):
    """A key's bucket: itself where it has no more bits than buckets, else by its hash."""
    if key_bits <= bucket_bits:
        return np.int64(key)
    return np.int64(key * HASH >> u64(64 - bucket_bits))


@kernel
def buckets_of(columns, moves, first, last, key_bits, bucket_bits, row, out):
    """The bucket of each of the rows `columns`, uint64[words, n]: uint32[n]. `row`: scratch, uint64[words]."""
    for i in range(columns.shape[1]):
        for w in range(columns.shape[0]):
            row[w] = columns[w, i]
        out[i] = bucket_of(key_of(row, moves, first, last), key_bits, bucket_bits)


@kernel
def group_rows(columns, buckets, starts, out, positions):
    """Order rows by bucket, stably.

    uint64[words, n], uint32[n] -> starts int64[buckets + 1], out uint64[words, n], and where each row was, positions uint32[n].
    """
    starts[:] = 0
    n = len(buckets)
    for i in range(n):
        starts[buckets[i] + 1] += 1
    for b in range(len(starts) - 1):
        starts[b + 1] += starts[b]
    for i in range(n):
        place = starts[buckets[i]]
        starts[buckets[i]] += 1
        positions[place] = i
        for w in range(columns.shape[0]):
            out[w, place] = columns[w, i]
    for b in range(len(starts) - 1, 0, -1):
        starts[b] = starts[b - 1]
    starts[0] = 0


@kernel
def next_combination(bits):
    """The next larger number with as many ones; of 0, and of the last one of 64 bits, 0 (Gosper's hack)."""
    if bits == 0:
        return bits
    low = bits & (u64(0) - bits)
    carried = bits + low
    if carried == 0:
        return u64(0)
    return carried | ((bits ^ carried) >> u64(2)) >> trailing_zeros(low)


@kernel
def is_first(row, query, masks, radii, table):
    """Whether no table before `table` has these two near enough in its key."""
    for t in range(table):
        apart = u64(0)
        for w in range(len(row)):
            apart += popcount((row[w] ^ query[w]) & masks[t, w])
        if apart <= u64(radii[t]):
            return False
    return True


@kernel
def look_up(
    queries, first_query, last_query, tables, starts, positions, moves, move_starts, key_bits, bucket_bits, masks, radii,
    max_distance, spans, row, hits, count,
):  # fmt: skip
    """Every row of the tables within `max_distance` of each query that shares a key with it, or is within a table's radius of it.

    Args:
        queries: uint64[q, words].
        tables: uint64[T, words, n], the rows by the buckets of each table.
        starts: int64[T, 2^bucket_bits + 1].
        positions: uint32[T - 1, n]: which row of the first table each row of the others is.
        moves, move_starts: int64[m, 4], int64[T + 1], how each table makes its key; `key_bits`: int64[T].
        masks: uint64[T, words], the same bits in the fingerprint.
        radii: int64[T], how many bits of the key may differ.
        spans: scratch, int64[GROUP + 1, T, 2].
        row: scratch, uint64[words].
        hits, count: where to, and how many there are already.

    Returns how many there are then; -1 if a bucket is no place in the tables, which is damage.
    """
    words, limit = tables.shape[1], u64(max_distance)
    touched = u64(0)
    for group in range(first_query, last_query, GROUP):
        end_of_group = min(group + GROUP, last_query)
        # The buckets of all queries of a group are found, and touched, before any is read: so their memory is waited for at once.
        for q in range(group, end_of_group):
            for t in range(tables.shape[0]):
                key = key_of(queries[q], moves, move_starts[t], move_starts[t + 1])
                bucket = bucket_of(key, key_bits[t], bucket_bits)
                begin, end = starts[t, bucket], starts[t, bucket + 1]
                if begin < 0 or end > tables.shape[2]:
                    return -1
                spans[q - group, t, 0], spans[q - group, t, 1] = begin, end
        for q in range(group, end_of_group):
            for t in range(tables.shape[0]):
                if spans[q - group, t, 0] < spans[q - group, t, 1]:
                    touched ^= tables[t, 0, u64(spans[q - group, t, 0])]
        for q in range(group, end_of_group):
            x = queries[q, 0]
            for t in range(tables.shape[0]):
                key, width, flip, weight = u64(0), key_bits[t], u64(0), 0
                begin, end = spans[q - group, t, 0], spans[q - group, t, 1]
                while True:
                    column, wanted = tables[t, 0, begin:end], True
                    if end - begin >= SCANNED:
                        near = u64(0)
                        if words == 1:
                            for j in range(len(column)):
                                near += u64(popcount(x ^ column[j]) <= limit)
                        else:
                            second, y = tables[t, 1, begin:end], queries[q, 1]
                            for j in range(len(column)):
                                near += u64(popcount(x ^ column[j]) + popcount(y ^ second[j]) <= limit)
                        wanted = near != 0
                    if wanted:
                        for j in range(len(column)):
                            if popcount(x ^ column[j]) > limit:
                                continue
                            distance = u64(0)
                            for w in range(words):
                                row[w] = tables[t, w, begin + j]
                                distance += popcount(queries[q, w] ^ row[w])
                            if distance > limit:
                                continue
                            key = key_of(queries[q], moves, move_starts[t], move_starts[t + 1]) ^ flip
                            # With a hashed key, a bucket may be that of several flips: only the right one counts.
                            if key_of(row, moves, move_starts[t], move_starts[t + 1]) == key and is_first(
                                row, queries[q], masks, radii, t
                            ):
                                if count < len(hits):
                                    place = begin + j
                                    hits[count, 0], hits[count, 2] = q, np.int64(distance)
                                    hits[count, 1] = place if t == 0 else np.int64(positions[t - 1, place])
                                count += 1
                    if radii[t] == 0:
                        break
                    flip = next_combination(flip)
                    if flip == 0 or (width < 64 and flip >> u64(width) != 0):
                        weight += 1
                        if weight > radii[t]:
                            break
                        flip = ~u64(0) >> u64(64 - weight)
                    key = key_of(queries[q], moves, move_starts[t], move_starts[t + 1]) ^ flip
                    bucket = bucket_of(key, width, bucket_bits)
                    begin, end = starts[t, bucket], starts[t, bucket + 1]
                    if begin < 0 or end > tables.shape[2]:
                        return -1
    row[0] = touched
    return count
