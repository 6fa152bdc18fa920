"""Join fingerprints by block tables: split buckets by further blocks, and compare inside them.

Fingerprints are rows of a uint64[n, words] array, word 0 the most significant. A block is a run of bits, given as a mask
over the words. Tables are walked as a tree: tables whose keys begin with the same blocks share the work for these blocks,
and a bucket that has become small is compared at once, whatever blocks of its key are left. A bucket may hold several keys; what
is reported is decided by the bits of the two rows alone.

What is found goes to `found`, uint64[room, 2 * words], a left and a right row; the kernels return how many pairs there are, which
may be more than there was room for: the caller then calls again with more. Arrays are C-contiguous and writable.

Kernels here are few and large on purpose. An array is passed as nine numbers: a call for each candidate took longer than all else,
and whether it is inlined differed between code just compiled and code from the cache. Counts begin as np.int64(0), since Numba
would compile every callee twice, for the literal 0 as well.
"""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.hamming.buckets import BlockHash, split_rows
from neardup.kernels.hamming.comparisons import (
    LEAF_ROWS,
    RUN_ROWS,
    Bucket,
    Range,
    Room,
    compare,
    compare_columns,
    compare_run,
)

u64 = np.uint64


@kernel
def join_buckets(left, left_starts, right, right_starts, same, first, last, table, limit, scratch, found, most):
    """Report the pairs inside each of the buckets [first, last) of rows that were scattered by the prefix of a table.

    Args:
        left: uint64[n, words], rows in order of their buckets.
        left_starts: int64[buckets + 1], where each bucket begins.
        right: the other side; `left` again with `same`.
        right_starts: the same of the other side.
        same: join `left` with itself.
        first: the first bucket.
        last: the one behind the last.
        table: the blocks; its key has at least one more than its prefix.
        limit: buckets of more rows are left to the caller.
        scratch: for buckets up to `limit`.
        found: uint64[room, 2 * words].
        most: gives up past so many pairs.

    Returns:
        How many pairs there are.
    """
    scattered, count = len(table.prefix), np.int64(0)
    first_block, budget = table.part_starts[table.part], table.budgets[table.part]
    # Of the node at each level: its rows on both sides, the block it is split by, the next of its buckets, and how many it has.
    nodes = scratch.nodes
    low, high, start, stop, block, bucket, buckets, chosen = (
        nodes[0], nodes[1], nodes[2], nodes[3], nodes[4], nodes[5], nodes[6], nodes[7]
    )  # fmt: skip
    for d in range(scattered):
        chosen[d] = table.prefix[d]
    room = Room(scratch.columns, np.int64(0), scratch.near, found, most)
    for s in range(first, last):
        low[0], high[0] = left_starts[s], left_starts[s + 1]
        start[0], stop[0] = right_starts[s], right_starts[s + 1]
        size = (high[0] - low[0]) * (stop[0] - start[0])
        if size == 0 or (same and size == 1) or max(high[0] - low[0], stop[0] - start[0]) > limit:
            continue
        if size <= LEAF_ROWS * LEAF_ROWS:
            one, other = Range(left, low[0], high[0]), Range(right, start[0], stop[0])
            count = compare(one, other, same, Bucket(table, chosen, scattered), room, count)
            if count > most:
                return count
            continue
        block[0] = chosen[scattered - 1] if scattered else first_block - 1
        bucket[0] = buckets[0] = 0
        t = 0
        while t >= 0:
            depth = scattered + t
            if bucket[t] == buckets[t]:
                b = block[t] + 1
                if b - first_block > budget + depth:
                    t -= 1  # too few blocks are left from b on to complete a key
                    continue
                block[t] = chosen[depth] = b
                bits = 1
                while bits < table.widths[b] and (2 << bits) <= max(high[t] - low[t], stop[t] - start[t]):
                    bits += 1
                how = BlockHash(table.masks[b], table.spans[b, 0], table.spans[b, 1], table.multipliers, u64(64 - bits))
                here = left if t == 0 else scratch.left_rows[t - 1]
                split_rows(here, low[t], high[t], how, scratch.numbers, scratch.left_ends[t], scratch.left_rows[t])
                if not same:
                    here = right if t == 0 else scratch.right_rows[t - 1]
                    split_rows(
                        here, start[t], stop[t], how, scratch.numbers, scratch.right_ends[t], scratch.right_rows[t]
                    )
                bucket[t], buckets[t] = 0, 1 << bits
            expected = max(high[t] - low[t], stop[t] - start[t]) >> min(table.widths[block[t]] - 1, 20)
            final = depth + 1 == table.key_blocks
            widest = max(LEAF_ROWS, min(RUN_ROWS, 4 * expected)) if final else LEAF_ROWS
            rows, ends = scratch.left_rows[t], scratch.left_ends[t]
            other_rows, other_ends = (rows, ends) if same else (scratch.right_rows[t], scratch.right_ends[t])
            g = bucket[t]
            left_end, right_end = (ends[g - 1], other_ends[g - 1]) if g else (0, 0)
            descends = False
            while g < buckets[t] and not descends:
                run, reach, large = left_end, 0, False
                while g < buckets[t] and not large:
                    left_begin, right_begin, left_end, right_end = left_end, right_end, ends[g], other_ends[g]
                    g += 1
                    size = (left_end - left_begin) * (right_end - right_begin)
                    large = size > (widest * widest if same else 0)
                    if same and not large:
                        reach = max(reach, left_end - left_begin)
                if reach > 1:
                    run_end = left_begin if large else left_end
                    count = compare_run(Range(rows, run, run_end), reach, Bucket(table, chosen, depth + 1), room, count)
                descends = large and not final and size > LEAF_ROWS * LEAF_ROWS
                if large and not descends:
                    one = Range(rows, left_begin, left_end)
                    other = Range(other_rows, right_begin, right_end)
                    count = compare(one, other, same, Bucket(table, chosen, depth + 1), room, count)
                if count > most:
                    return count
            bucket[t] = g
            if descends:
                t += 1
                low[t], high[t], start[t], stop[t] = left_begin, left_end, right_begin, right_end
                block[t], bucket[t], buckets[t] = block[t - 1], 0, 0
    return count


@kernel
def join_rows(one, right, same, table, room):
    """Brute force: report the pairs of a range of rows with all rows of `right`, or with `same` the rows behind.

    `table` has one part of no blocks; `room.columns` has the words to look at of all of `right`. Returns how many pairs there are.
    """
    none, start = np.int64(0), one.first if same else np.int64(0)
    every = Range(right, start, np.int64(len(right)))
    return compare_columns(one, every, same, Bucket(table, table.prefix, none), room, none)
