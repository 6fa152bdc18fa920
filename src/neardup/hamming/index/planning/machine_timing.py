"""Measure the constants of the cost model on this machine."""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.hamming.index.keyed_tables import KeyPlan, build_tables
from neardup.hamming.index.methods.block_tables import block_keys
from neardup.hamming.index.methods.neighbors import neighbor_keys
from neardup.hamming.index.planning.machine import Machine
from neardup.hamming.unique import collapse
from neardup.kernels.hamming import index_scans

TIMED_QUERIES = 1 << 13
LOG_ROWS = (14, 17, 20, 22)
"""log2 of the numbers of rows to measure at: from inside a second-level cache to far outside any cache."""
SEED = 20070508


def measure_machine(sizes: tuple[int, ...] = LOG_ROWS) -> Machine:
    """Measure all constants on this machine with tables of uniform fingerprints, in about ten seconds. `sizes` start at 14."""
    random = np.random.default_rng(SEED)
    queries = random.integers(0, 2**64, (TIMED_QUERIES, 1), np.uint64)
    curves: dict[str, list[tuple[float, float]]] = {
        step: [] for step in Machine.__dataclass_fields__ if step != "source"
    }
    _measure(random.integers(0, 2**64, (64, 1), np.uint64), queries[:64], random, 0.0, {})  # compiles; not counted
    small = random.integers(0, 2**64, (1 << sizes[0], 1), np.uint64)
    row = _row_seconds(small, queries)
    curves["move"].append((sizes[0], _move_seconds(small)))
    curves["row"].append((sizes[0], row))
    for size in sizes:
        found: dict[str, tuple[float, float]] = {}
        _measure(random.integers(0, 2**64, (1 << size, 1), np.uint64), queries, random, row, found)
        for step, point in found.items():
            curves[step].append(point)
    return Machine("measured on this machine just now", **{step: tuple(points) for step, points in curves.items()})


def _move_seconds(values: Array) -> float:
    """Seconds per row for a further run of bits of a key: the difference between keys of adjacent bits and of every other bit."""
    spent = [
        _time(lambda key=key: build_tables(values, KeyPlan(64, (key,), (0,))))  # type: ignore[misc]
        for key in (tuple(range(12)), tuple(range(0, 24, 2)))
    ]
    return max(0.0, (spent[1] - spent[0]) / 11 / len(values))


def _row_seconds(values: Array, queries: Array) -> float:
    """Seconds that a row adds to a short bucket, from two tables in the cache, one of which has a key that is five bits shorter."""
    hits, spent, rows = np.empty((1 << 12, 3), np.int64), [], []
    for bits in (14, 9):
        tables, _ = build_tables(values, KeyPlan(64, (tuple(range(bits)),), (0,)))
        spent.append(time_queries(lambda part, tables=tables: tables.look_up(part, 0, len(part), 3, hits, 0), queries))  # type: ignore[misc]
        rows.append(len(values) / (1 << tables.bucket_bits))
    return max(0.0, (spent[1] - spent[0]) / (rows[1] - rows[0]))


def _measure(values: Array, queries: Array, random: Any, row: float, found: dict[str, tuple[float, float]]) -> None:
    n, size = len(values), math.log2(len(values))
    hits = np.empty((1 << 12, 3), np.int64)
    found["collapse"] = size, _time(lambda: collapse(values)) / n
    columns = np.ascontiguousarray(values.T)
    few = queries[:32]
    found["compare"] = size, _time(lambda: index_scans.scan(few, 0, len(few), columns, 3, hits, 0)) / n / len(few)
    # One table with keys so long that a bucket holds few rows measures a probe.
    wide = block_keys(64, 1, 2)
    tables, _ = build_tables(values, wide)
    buckets = 1 << tables.bucket_bits
    found["place"] = tables.bucket_bits, _time(lambda: build_tables(values, wide)) / n / 2
    alone = time_queries(lambda part: tables.look_up(part, 0, len(part), 1, hits, 0), queries) / 2
    found["probe"] = size + 1, max(0.1 * alone, alone - row * n / buckets)
    key = max(1, round(size) - 11)
    long, _ = build_tables(values, KeyPlan(64, (tuple(range(key)),), (0,)))
    spent = time_queries(lambda part: long.look_up(part, 0, len(part), 3, hits, 0), queries[:1024])
    found["stretch"] = size, max(found["compare"][1], (spent - found["probe"][1]) / (n / (1 << long.bucket_bits)))
    steps, _ = build_tables(values, neighbor_keys(64, 2))
    codes = 1 + 64 + 2016
    spent = time_queries(lambda part: steps.look_up(part, 0, len(part), 2, hits, 0), queries[:256]) / codes
    found["step"] = size, max(0.1 * spent, spent - row * n / (1 << steps.bucket_bits))
    part = values[: 1 << 18]
    lists = np.empty((64, -(-len(part) // 64)), np.uint64)
    sliced = np.ascontiguousarray(part.T)
    found["slice"] = size, _time(lambda: index_scans.slice_bits(sliced, lists)) / len(part) / 64
    planes, two = np.empty(16, np.uint64), queries[:2]
    added = _time(lambda: index_scans.add_lists(two, 0, 2, lists, len(part), 3, planes, hits, 0))
    found["add"] = size, added / 2 / lists.size
    _measure_orders(values, queries, random, found)


def _measure_orders(values: Array, queries: Array, random: Any, found: dict[str, tuple[float, float]]) -> None:
    n, size, beam = len(values), math.log2(len(values)), 16
    source = random.permutation(64).astype(np.int64)
    one = np.empty_like(values)

    def order() -> Array:
        index_scans.permute(values, source, one)
        placed: Array = np.lexsort(one.T[::-1])
        return placed

    found["order"] = size, _time(order, 1) / n
    placed = order()
    orders, positions = one[placed][None], placed.astype(np.uint32)[None]
    seen, hits = np.empty(2 * beam, np.int64), np.empty((1 << 12, 3), np.int64)

    def around(part: Array) -> None:
        permuted = np.empty((len(part), 1, 1), np.uint64)
        index_scans.permute(part, source, permuted[:, 0])
        index_scans.look_around(permuted, 0, orders, positions, beam, 3, seen, hits, 0)

    found["around"] = size, time_queries(around, queries)


def _time(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the shortest of some runs, so that other programs on the machine disturb as little as possible."""
    return min(run_once(work) for _ in range(repeats))


def run_once(work: Callable[[], object]) -> float:
    """Seconds that one call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def time_queries(look_up: Callable[[Array], object], queries: Array, parts: int = 4) -> float:
    """Seconds per query: the shortest of some parts. Each part is looked up once, so its buckets are not in the cache."""
    return min(run_once(lambda part=part: look_up(part)) / len(part) for part in np.array_split(queries, parts))  # type: ignore[misc]
