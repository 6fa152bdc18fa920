"""Search without tables: compare with every fingerprint; add up bitmaps of bits; look around a query's place in sorted orders.

What is found goes to `hits`, int64[room, 3], as in `neardup.kernels.hamming.index_tables`.
"""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import popcount, trailing_zeros

u64 = np.uint64
ONE, ALL = u64(1), ~u64(0)
TILE = 2048
"""Rows that several queries are compared with while they lie in the cache."""


@kernel
def scan(queries, first_query, last_query, columns, max_distance, hits, count):
    """Every row within `max_distance` of each query: uint64[q, words], uint64[words, n]."""
    words, limit = columns.shape[0], u64(max_distance)
    for begin in range(0, columns.shape[1], TILE):
        end = min(begin + TILE, columns.shape[1])
        for q in range(first_query, last_query):
            x, column, near = queries[q, 0], columns[0, begin:end], u64(0)
            if words == 1:
                for j in range(len(column)):
                    near += u64(popcount(x ^ column[j]) <= limit)
            else:
                y, second = queries[q, 1], columns[1, begin:end]
                for j in range(len(column)):
                    near += u64(popcount(x ^ column[j]) + popcount(y ^ second[j]) <= limit)
            if near == 0:
                continue
            for j in range(begin, end):
                distance = u64(0)
                for w in range(words):
                    distance += popcount(queries[q, w] ^ columns[w, j])
                if distance <= limit:
                    if count < len(hits):
                        hits[count, 0], hits[count, 1], hits[count, 2] = q, j, np.int64(distance)
                    count += 1
    return count


@kernel
def slice_bits(columns, lists):
    """The bitmaps of uint64[words, n]: bit j % 64 of lists[b, j // 64] is bit b of row j, b counted from the most significant."""
    for block in range(lists.shape[1]):
        end = min(64 * block + 64, columns.shape[1])
        for w in range(columns.shape[0]):
            for b in range(64):
                shift, found = u64(63 - b), u64(0)
                for j in range(64 * block, end):
                    found |= (columns[w, j] >> shift & ONE) << u64(j & 63)
                lists[64 * w + b, block] = found


@kernel
def add_lists(queries, first_query, last_query, lists, rows, max_distance, planes, hits, count):
    """Every row within `max_distance` of each query, by its lists: of each bit, the rows that have it.

    For 64 rows at a time the lists of the bits in which they differ from the query are added up in counters of bits,
    `planes` (uint64[], enough of them for all the bits), by ripple carry; the sums are then compared with the distance.

    lists: uint64[bits, ceil(rows / 64)].
    """
    bits, limit = lists.shape[0], u64(max_distance)
    for q in range(first_query, last_query):
        for block in range(lists.shape[1]):
            used = 0
            for b in range(bits):
                wanted = u64(0) - (
                    queries[q, b >> 6] >> u64(63 - (b & 63)) & ONE
                )  # all ones where the query has the bit
                carry, plane = lists[b, block] ^ wanted, 0
                while carry != 0:
                    if plane == used:
                        planes[used] = u64(0)
                        used += 1
                    carry, planes[plane] = carry & planes[plane], carry ^ planes[plane]
                    plane += 1
            more, equal = u64(0), ALL
            for plane in range(max(used, 64 - np.int64(popcount(_below(limit)))) - 1, -1, -1):
                counter = planes[plane] if plane < used else u64(0)
                if limit >> u64(plane) & ONE:
                    equal &= counter
                else:
                    more |= equal & counter
                    equal &= ~counter
            near = ~more
            if rows - 64 * block < 64:
                near &= (ONE << u64(rows - 64 * block)) - ONE
            while near != 0:
                j = np.int64(trailing_zeros(near))
                near &= near - ONE
                distance = 0
                for plane in range(used):
                    distance |= np.int64(planes[plane] >> u64(j) & ONE) << plane
                if count < len(hits):
                    hits[count, 0], hits[count, 1], hits[count, 2] = q, 64 * block + j, distance
                count += 1
    return count


@kernel
def _below(value):
    """A number whose zeros, counted from the top, are the bits that `value` does not need."""
    value |= value >> u64(1)
    value |= value >> u64(2)
    value |= value >> u64(4)
    value |= value >> u64(8)
    value |= value >> u64(16)
    value |= value >> u64(32)
    return ~value


@kernel
def permute(rows, sources, out):
    """Bits in another order: bit b of out[i] is bit sources[b] of rows[i], from the most significant. uint64[n, words]."""
    for i in range(len(rows)):
        for w in range(rows.shape[1]):
            word = u64(0)
            for b in range(64):
                source = sources[64 * w + b]
                word = word << ONE | rows[i, source >> 6] >> u64(63 - (source & 63)) & ONE
            out[i, w] = word


@kernel
def look_around(permuted, first_query, orders, positions, beam, max_distance, seen, hits, count):
    """The rows within `max_distance` among the `beam` before and the `beam` after each query's place in each order.

    permuted: uint64[q, orders, words], the queries under each order's permutation of the bits; the first is called `first_query`.
    orders: uint64[orders, n, words], the permuted rows, ascending; positions: uint32[orders, n], which row each is.
    seen: scratch, int64[2 * beam * orders], rows that were reported for the query.
    """
    words, n, limit = orders.shape[2], orders.shape[1], u64(max_distance)
    for q in range(len(permuted)):
        known = 0
        for o in range(orders.shape[0]):
            low, high = 0, n
            while low < high:
                middle = (low + high) >> 1
                less = False
                for w in range(words):
                    if orders[o, middle, w] != permuted[q, o, w]:
                        less = orders[o, middle, w] < permuted[q, o, w]
                        break
                if less:
                    low = middle + 1
                else:
                    high = middle
            for j in range(max(0, low - beam), min(n, low + beam)):
                distance = u64(0)
                for w in range(words):
                    distance += popcount(orders[o, j, w] ^ permuted[q, o, w])
                if distance > limit:
                    continue
                position, new = np.int64(positions[o, j]), True
                for s in range(known):
                    if seen[s] == position:
                        new = False
                if new:
                    seen[known] = position
                    known += 1
                    if count < len(hits):
                        hits[count, 0], hits[count, 1], hits[count, 2] = first_query + q, position, np.int64(distance)
                    count += 1
    return count


@kernel
def count_members(hits, member_starts, members, removed, out):
    """How many documents each hit stands for: of those with the fingerprint at hits[i, 1], all that were not removed. int64[h].

    member_starts: uint32[d + 1], or of no length if every fingerprint is one document's; members: uint32[n], documents by
    fingerprint; removed: uint8[n] by document, or of no length.

    Returns whether all numbers are places in these arrays, as they are but for damage.
    """
    positions = len(member_starts) - 1 if len(member_starts) else len(members)
    for i in range(len(hits)):
        if not 0 <= hits[i, 1] < positions:
            return False
        begin, end, found = hits[i, 1], hits[i, 1] + 1, 0
        if len(member_starts):
            begin, end = np.int64(member_starts[begin]), np.int64(member_starts[end])
            if end > len(members):
                return False
        for m in range(begin, end):
            if members[m] >= len(members):
                return False
            found += len(removed) == 0 or removed[members[m]] == 0
        out[i] = found
    return True


@kernel
def list_members(hits, member_starts, members, removed, base, queries, rows, distances):
    """What `count_members` counts: the query, the document + `base`, and the distance. int64[total] each."""
    at = 0
    for i in range(len(hits)):
        begin, end = hits[i, 1], hits[i, 1] + 1
        if len(member_starts):
            begin, end = np.int64(member_starts[begin]), np.int64(member_starts[end])
        for m in range(begin, end):
            if len(removed) == 0 or removed[members[m]] == 0:
                queries[at], rows[at], distances[at] = hits[i, 0], base + np.int64(members[m]), hits[i, 2]
                at += 1
