"""Tables that group fingerprints by some of their bits, the key. Each method has its own plan of keys."""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from neardup.arrays import Array
from neardup.kernels.hamming import index_tables as kernels

ROWS_PER_BUCKET = 4
"""Approximate number of rows per bucket, in a table whose keys have more bits than its buckets."""
MAX_BUCKET_BITS = 26
MAX_TABLES = 1_000
"""Maximum number of tables in an index; each holds all fingerprints."""
MAX_CHOSEN_TABLES = 64
"""Maximum number of tables that the planner chooses; you can ask for more."""


@dataclass(frozen=True)
class KeyPlan:
    """The bits by which tables group rows.

    Attributes:
        bits: bits of a fingerprint.
        chosen: for each table, the bits of its key, counted from the most significant one.
        radii: for each table, how many bits of the key may differ from the query's.
    """

    bits: int
    chosen: tuple[tuple[int, ...], ...]
    radii: tuple[int, ...]


def blocks_of(bits: int, blocks: int) -> list[tuple[int, ...]]:
    """The bits cut into `blocks` blocks of about equal size."""
    edges = [bits * i // blocks for i in range(blocks + 1)]
    return [tuple(range(first, last)) for first, last in pairwise(edges)]


@lru_cache(1 << 12)  # plans are weighed whenever an index grows
def moves_of(key: tuple[int, ...], bits: int) -> tuple[tuple[int, int, int, int], ...]:
    """How a kernel gathers the bits of a key, at most 64: runs of adjacent bits in a word, from the least significant bit up."""
    moves: list[tuple[int, int, int, int]] = []
    words = (bits + 63) // 64
    for place, bit in enumerate(sorted(key[:64], reverse=True)):
        position = bits - 1 - bit  # from the least significant bit of the last word
        word, shift = words - 1 - position // 64, position % 64
        if moves and moves[-1][0] == word and moves[-1][1] + moves[-1][2] == shift:
            word, first, width, at = moves[-1]
            moves[-1] = (word, first, width + 1, at)
        else:
            moves.append((word, shift, 1, place))
    return tuple(moves)


@dataclass(frozen=True)
class Tables:
    """Rows grouped by each key of a plan.

    Attributes:
        plan: the bits of the keys.
        columns: uint64[T, words, n], the rows in the order of each table's buckets.
        starts: int64[T, buckets + 1].
        positions: uint32[T - 1, n], for each row of the other tables its row in the first table. A position is a row of the
            first table.
        moves, move_starts, key_bits, masks, radii, bucket_bits: as `neardup.kernels.hamming.index_tables.look_up` takes them.
    """

    plan: KeyPlan
    columns: Array
    starts: Array
    positions: Array
    moves: Array
    move_starts: Array
    key_bits: Array
    masks: Array
    radii: Array
    bucket_bits: int

    def look_up(self, queries: Array, first: int, last: int, max_distance: int, hits: Array, count: int) -> int:
        found: int = kernels.look_up(
            queries,
            first,
            last,
            self.columns,
            self.starts,
            self.positions,
            self.moves,
            self.move_starts,
            self.key_bits,
            self.bucket_bits,
            self.masks,
            self.radii,
            max_distance,
            np.empty((kernels.GROUP, len(self.radii), 2), np.int64),
            np.empty(queries.shape[1], np.uint64),
            hits,
            count,
        )
        return found

    def values(self) -> Array:
        return np.ascontiguousarray(self.columns[0].T)

    def arrays(self) -> dict[str, Array]:
        """The arrays to save, by name. The others follow from the plan."""
        return {"columns": self.columns, "starts": self.starts, "positions": self.positions}


def tables_of(plan: KeyPlan, columns: Array, starts: Array, positions: Array) -> Tables:
    """Create the tables of a plan from their arrays."""
    tables, words = len(plan.chosen), columns.shape[1]
    moves = [moves_of(key, plan.bits) for key in plan.chosen]
    flat = np.array([move for found in moves for move in found], np.int64).reshape(-1, 4)
    masks = np.zeros((tables, words), np.uint64)
    for t, found in enumerate(moves):
        for word, shift, width, _ in found:
            masks[t, word] |= np.uint64(((1 << width) - 1) << shift)
    return Tables(
        plan,
        columns,
        starts,
        positions,
        flat,
        np.cumsum([0, *map(len, moves)]),
        np.array([min(64, len(key)) for key in plan.chosen], np.int64),
        masks,
        np.array(plan.radii, np.int64),
        (starts.shape[1] - 1).bit_length() - 1,
    )


def bucket_bits_for(plan: KeyPlan, rows: int) -> int:
    """The log2 of the number of buckets in tables of `rows` rows."""
    longest = max(min(64, len(key)) for key in plan.chosen)
    wide = math.ceil(math.log2(max(2, rows) / ROWS_PER_BUCKET))
    return min(MAX_BUCKET_BITS, longest, max(wide, 1))


def table_bytes(plan: KeyPlan, rows: int) -> int:
    """Bytes of tables of `rows` rows: columns, starts and positions."""
    tables, words = len(plan.chosen), plan.bits // 64
    return 8 * tables * (words * rows + (1 << bucket_bits_for(plan, rows)) + 1) + 4 * (tables - 1) * rows


def build_tables(values: Array, plan: KeyPlan) -> tuple[Tables, Array]:
    """Group `values`, uint64[n, words], by the keys of a plan. Returns the tables, and the order of the first: uint32[n]."""
    n, words = values.shape
    tables, bucket_bits = len(plan.chosen), bucket_bits_for(plan, n)
    columns, positions = np.empty((tables, words, n), np.uint64), np.empty((tables - 1, n), np.uint32)
    found = tables_of(plan, columns, np.empty((tables, (1 << bucket_bits) + 1), np.int64), positions)
    buckets, row, given = np.empty(n, np.uint32), np.empty(words, np.uint64), np.ascontiguousarray(values.T)
    order = np.empty(n, np.uint32)
    for t in range(tables):
        how = (found.moves, found.move_starts[t], found.move_starts[t + 1], found.key_bits[t], bucket_bits)
        kernels.buckets_of(given, *how, row, buckets)
        kernels.group_rows(given, buckets, found.starts[t], columns[t], positions[t - 1] if t else order)
        given = columns[0]
    return found, order
