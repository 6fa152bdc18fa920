"""Find every pair of rows within a Hamming distance by walking the block tables of a plan.

For each choice of the first blocks of a key, all rows are scattered into buckets that fit a cache. A kernel then splits each bucket
by the further blocks and compares the rows that stay together. A thread that is free takes the next buckets. Rows carry no
positions: each pair is reported once, as its two rows, and the caller looks up their positions.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations, pairwise
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.hamming.block_plan import (
    MULTIPLIERS,
    BlockPlan,
    bit_entropy,
    bucket_rows,
    cut_blocks,
    no_blocks,
    plan_join,
    scatter_bits,
    scatter_depth,
)
from neardup.kernels.hamming import buckets, comparisons, hamming
from neardup.resources.scratch import IN_MEMORY, Scratch

Sink = Callable[[Array], None]
"""Takes the pairs of rows that one task found, uint64[p, 2 * words]. Several threads call it."""

INITIAL_PAIRS = 1 << 14
"""Initial room for pairs in a task. A task that finds more runs again."""

ROWS_AT_ONCE = 1 << 12
"""Rows that are numbered, then scattered, in one step."""

MAX_DEPTH = 2
"""A bucket far larger than planned is joined by a plan of its own, down to this depth. Below it, all rows are compared."""


class TooManyPairs(Exception):  # noqa: N818 - caught and reworded by the caller
    """There are more pairs than allowed."""


class Limits(NamedTuple):
    """Limits on threads and pairs.

    Attributes:
        threads: the number of threads.
        most: the largest number of pairs allowed.
        room: the number of pairs that one thread may hold before it hands them on; a thread that finds more divides its task. The
            default is a thread's share of the pairs still allowed. The pairs of one row are always held together.
        scratch: where the rows in the order of a table are held.
    """

    threads: int
    most: int
    room: int | None = None
    scratch: Scratch = IN_MEMORY


def find_pairs(
    left: Array, right: Array, max_distance: int, take: Sink, limits: Limits, chosen: BlockPlan | None = None
) -> None:
    """Hand to `take` every pair of a row of `left` and a row of `right` within `max_distance`, exactly once.

    Args:
        left: uint64[n, words], C-contiguous and writable, rows unique.
        right: the same; if it is `left` itself, every two different rows make one pair.
        max_distance: Hamming distance, inclusive.
        take: called with arrays uint64[p, 2 * words], which are valid until it returns; in no order, from several threads.
        limits: threads, and how many pairs are allowed.
        chosen: the plan; by default, the cheapest.
        scratch: where the rows in the order of a table are held.

    Raises:
        TooManyPairs: there are more than the limits allow.
    """
    with ThreadPoolExecutor(limits.threads, "neardup") as pool:
        _Walk(pool, max_distance, limits, take).join(left, right, chosen)


@dataclass(frozen=True)
class _Scattered:
    """Rows in the order of the buckets of a table's prefix; one side for a join of a set with itself, else two."""

    table: comparisons.Table
    sides: list[Array]
    bounds: list[Array]
    limit: int

    @property
    def sizes(self) -> Array:
        """Rows of each bucket, int64[sides, buckets]."""
        return np.array([np.diff(starts) for starts in self.bounds])

    def scratch(self) -> comparisons.Scratch:
        """The working memory of one thread, for the largest bucket within the limit."""
        sizes = self.sizes
        rows = int(sizes[:, sizes.max(axis=0) <= self.limit].max(initial=0))
        levels = self.table.key_blocks - len(self.table.prefix)
        level_rows = [np.empty((levels, rows, self.sides[0].shape[1]), np.uint64) for _ in self.sides]
        level_ends = [np.empty((levels, 2 + (1 << max(1, rows.bit_length()))), np.int64) for _ in self.sides]
        return comparisons.Scratch(
            level_rows[0],
            level_rows[-1],
            level_ends[0],
            level_ends[-1],
            np.empty((8, 1 + self.table.key_blocks), np.int64),
            np.empty((2, rows + comparisons.PADDING), np.uint64),
            np.empty(rows, np.int32),
            np.empty((2, comparisons.NEAR_ROOM), np.int64),
        )


class _Walk:
    """One run: its threads, and the number of pairs found so far."""

    def __init__(self, pool: ThreadPoolExecutor, max_distance: int, limits: Limits, take: Sink) -> None:
        self.pool, self.max_distance, self.take = pool, max_distance, take
        self.threads, self.most, self.room, self.scratch = limits
        self.found, self.lock = 0, Lock()
        self.rooms: list[Array] = []

    def count_and_take(self, found: Array) -> None:
        with self.lock:
            self.found += len(found)
        if self.found > self.most:
            raise TooManyPairs
        self.take(found)

    def each(self, work: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> None:
        """Run `work` on every task. A thread that is free takes the next task."""

        def run(task: tuple[Any, ...]) -> None:
            with np.errstate(over="ignore"):  # kernels that run as plain Python overflow on purpose
                work(*task)

        if self.threads == 1:
            for task in tasks:
                run(task)
            return
        futures = [self.pool.submit(run, task) for task in tasks]
        try:
            for future in futures:
                future.result()
        finally:
            for future in futures:
                future.cancel()

    def search(
        self,
        find: Callable[..., int],
        tasks: Iterable[tuple[int, int]],
        words: int,
        sink: Sink,
        crowded_alone: Callable[[int], None] | None = None,
    ) -> None:
        """Call `find(first, last, found, most)` for every task (a range), and hand the pairs it finds to `sink`.

        A task may find one thread's share of the pairs still allowed. A task that finds more runs again alone. With `room`, a task
        that finds more than `room` is halved until its range has one element, which goes to `crowded_alone`, if given.
        """
        crowded: list[tuple[int, int]] = []

        def run(most: int, *task: int) -> bool:
            found = (
                self.rooms.pop() if self.rooms else self.scratch.held(np.empty((INITIAL_PAIRS, 2 * words), np.uint64))
            )
            count = find(*task, found, most)
            if len(found) < count <= most:
                found = self.scratch.held(np.empty((count + count // 4, 2 * words), np.uint64))
                find(*task, found, most)
            if 0 < count <= most:
                sink(found[:count])
            self.rooms.append(found)
            return count <= most

        def work(first: int, last: int) -> None:
            allowed = max(0, self.most - self.found) // self.threads
            if run(allowed if self.room is None else min(allowed, self.room), first, last):
                return
            if self.room is None or last - first == 1:
                crowded.append((first, last))
                return
            middle = (first + last) // 2
            work(first, middle)
            work(middle, last)

        self.each(work, tasks)
        for first, last in crowded:
            if self.room is not None and crowded_alone is not None:
                crowded_alone(first)
            elif not run(self.most, first, last):
                raise TooManyPairs

    def join(
        self, left: Array, right: Array, chosen: BlockPlan | None = None, sink: Sink | None = None, level: int = 0
    ) -> None:
        """Hand every pair of two sides to `sink`, by a plan made for them."""
        sink = sink or self.count_and_take
        same, words, rows = right is left, left.shape[1], max(len(left), len(right))
        if min(len(left), len(right)) == 0:
            return
        entropy = bit_entropy(left, right)
        total = float(entropy.sum())
        chosen = chosen or plan_join(
            len(left),
            64 * words,
            self.max_distance,
            other=None if same else len(right),
            threads=self.threads,
            entropy=total,
            parts=0 if level > MAX_DEPTH else None,
        )
        if chosen.parts == 0:
            self.compare_all(left, right, entropy, sink)
            return
        block_bits = total / chosen.blocks
        depth = scatter_depth(rows, words, chosen.key_blocks, block_bits)
        limit = max(2 * bucket_rows(words), int(4 * rows / 2 ** (depth * block_bits))) if depth else rows
        bits = scatter_bits(rows, words, depth, block_bits) if depth else 0
        sides = (left,) if same else (left, right)
        out = [self.scratch.zeros(side.shape, side.dtype) if depth else side for side in sides]
        for table in cut_blocks(chosen, entropy):
            first, budget = int(table.part_starts[table.part]), int(table.budgets[table.part])
            for prefix in combinations(range(first, first + budget + depth), depth):
                mask = np.bitwise_or.reduce(table.masks[list(prefix)], axis=0)
                bounds = [
                    self.scatter(side, mask, bits, rows) if depth else np.array([0, len(side)], np.int64)
                    for side, rows in zip(sides, out, strict=True)
                ]
                scattered = _Scattered(table._replace(prefix=np.array(prefix, np.int64)), out, bounds, limit)
                self.join_buckets(scattered, sink)
                self.join_large(scattered, sink, level)

    def compare_all(self, left: Array, right: Array, entropy: Array, sink: Sink) -> None:
        """Brute force: compare every row with every other."""
        table = no_blocks(left.shape[1], self.max_distance, entropy)
        columns = np.empty((2, len(right) + comparisons.PADDING), np.uint64)
        comparisons.fill_columns(right, 0, len(right), table.word, table.second, columns)
        step = max(64, -(-len(left) // (16 * self.threads)))

        def find(first: int, last: int, found: Array, most: int) -> int:
            near = np.empty((2, comparisons.NEAR_ROOM), np.int64)
            room = comparisons.Room(columns, 0, near, found, most)
            return int(hamming.join_rows(comparisons.Range(left, first, last), right, right is left, table, room))

        tasks = ((first, min(first + step, len(left))) for first in range(0, len(left), step))
        self.search(find, tasks, left.shape[1], sink)

    def scatter(self, rows: Array, mask: Array, bits: int, out: Array) -> Array:
        """Write `rows` to `out` in the order of the hash of their bits under `mask`. Returns where each bucket begins."""
        words = np.flatnonzero(mask)
        span = (int(words[0]), int(words[-1]) + 1) if len(words) else (0, 0)
        how = buckets.BlockHash(mask, *span, MULTIPLIERS, np.uint64(64 - bits))
        slices = max(1, min(2 * self.threads, len(rows) // ROWS_AT_ONCE))
        edges = [len(rows) * i // slices for i in range(slices + 1)]
        ranges = list(pairwise(edges))
        counts, numbers = np.zeros((slices, 1 << bits), np.int64), np.empty((slices, ROWS_AT_ONCE), np.int32)
        self.each(buckets.count_buckets, [(rows, *edge, how, numbers[i], counts[i]) for i, edge in enumerate(ranges)])
        starts = np.concatenate(([0], np.cumsum(counts.sum(axis=0))))
        at = starts[:-1] + np.cumsum(counts, axis=0) - counts
        self.each(buckets.scatter_rows, [(rows, *edge, how, numbers[i], at[i], out) for i, edge in enumerate(ranges)])
        return starts

    def join_buckets(self, scattered: _Scattered, sink: Sink) -> None:
        """Join the rows of each bucket that has at most `limit` rows."""
        sides, bounds = scattered.sides, scattered.bounds
        rows = bounds[0] if len(sides) == 1 else bounds[0] + bounds[1]
        parts = max(1, min(16 * self.threads, int(rows[-1]) >> 14))
        edges = np.unique(np.searchsorted(rows, np.linspace(0, rows[-1], parts + 1)))
        edges[0], edges[-1] = 0, len(rows) - 1
        spare: list[comparisons.Scratch] = []

        def find(first: int, last: int, found: Array, most: int) -> int:
            scratch = spare.pop() if spare else scattered.scratch()
            count: int = hamming.join_buckets(
                sides[0], bounds[0], sides[-1], bounds[-1], len(sides) == 1, first, last, scattered.table, scattered.limit,
                scratch, found, most,
            )  # fmt: skip
            spare.append(scratch)
            return count

        tasks = zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        self.search(
            find, tasks, sides[0].shape[1], sink, lambda bucket: self.join_bucket(scattered, bucket, sink, MAX_DEPTH)
        )

    def join_large(self, scattered: _Scattered, sink: Sink, level: int) -> None:
        """Join the rows of each larger bucket by a plan of its own."""
        sizes = scattered.sizes
        for bucket in np.flatnonzero((sizes.max(axis=0) > scattered.limit) & (sizes.min(axis=0) > 0)):
            self.join_bucket(scattered, int(bucket), sink, level)

    def join_bucket(self, scattered: _Scattered, bucket: int, sink: Sink, level: int) -> None:
        """Join the rows of one bucket by a plan of its own, and drop pairs that other buckets report."""
        table = scattered.table

        def keep_first(found: Array) -> None:
            left, right = (np.ascontiguousarray(half) for half in np.hsplit(found, 2))
            near, kept = np.tile(np.arange(len(found)), (2, 1)), np.empty_like(found)
            count = comparisons.report(
                left, right, near, len(found), comparisons.Bucket(table, table.prefix, len(table.prefix)), kept, 0
            )
            if count:
                sink(kept[:count])

        parts = [
            rows[starts[bucket] : starts[bucket + 1]]
            for rows, starts in zip(scattered.sides, scattered.bounds, strict=True)
        ]
        self.join(parts[0], parts[-1], sink=keep_first, level=level + 1)
