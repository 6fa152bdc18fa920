"""The largest joins and indexes: how time and memory grow from a million fingerprints to 2^28, and how near the processor's limit.

    python benchmarks/hamming_scale.py [--quick] [--output FILE]

Uniform fingerprints of 64 bits, 1 % of them planted within the distance of another, on two threads.

- Growth, k=3: seconds of the self-join, seconds to build an index and microseconds a query in batches, at 1, 4, 16 and 64 million,
  and the exponent of a line through their logarithms; drawn as `results/hamming_scale.svg`.
- 2^26, k=3, in turns with the bare experiment that NEARDUP_JOIN_PROTOTYPE names (see `hamming_join.py`). Target: at most 1.6 times.
- Ten million, k=6. Target: at most 12 seconds.
- 2^28, k=3, in a process of its own, once: seconds and memory at the peak; needs 18 GB.
- Comparisons a second and thread of the join by brute force, beside the popcount limit: the same words from the first-level cache,
  compared with one fingerprint and counted, with no hit to look after.
"""

import math
import multiprocessing
import os
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

import measure
from chart_style import AMBER, BLUE, TEAL, new_figure, save
from hamming_join import THREADS, prototype_seconds, timed, uniform
from neardup.hamming.block_plan import plan_join
from neardup.hamming.index.index import Index
from neardup.hamming.pairs import collapse, join, join_unique
from neardup.kernels.compilation import kernel
from neardup.kernels.hamming.comparisons import TILE_ROWS
from neardup.kernels.intrinsics import popcount
from neardup.resources.memory_use import peak_memory_bytes

Array = np.ndarray[Any, np.dtype[Any]]

ROUNDS = 3
QUERIES = 200_000
BRUTE_ROWS = 200_000


@kernel
def count_near(value, column, limit, times):
    """How many of a column (uint64[n]) are within `limit` of `value`, so many times over: load, xor, popcount, compare."""
    hits = np.uint64(0)
    for _ in range(times):
        for j in range(len(column)):
            hits += np.uint64(popcount(value ^ column[j]) <= limit)
        value ^= hits
    return hits


def popcount_limit(rounds: int) -> dict[str, Any]:
    """Comparisons a second and thread: bare, and of the whole brute-force join."""
    column = np.random.default_rng(5).integers(0, 2**64, TILE_ROWS, np.uint64)
    rows = uniform(BRUTE_ROWS, 1, 3)
    unique = collapse(rows, threads=1)
    brute = plan_join(len(unique), 64, 3, threads=1, parts=0)
    times = 500_000

    bare, ours = [], []
    for number in range(rounds + 1):
        began = time.perf_counter()
        count_near(np.uint64(1), column, np.uint64(3), times)
        middle = time.perf_counter()
        join_unique(unique, max_distance=3, threads=1, plan=brute)
        end = time.perf_counter()
        if number:
            bare.append(times * len(column) / (middle - began))
            ours.append(len(unique) * (len(unique) - 1) / 2 / (end - middle))
    return {
        "popcount_limit_per_second": measure.rounded(statistics.median(bare)),
        "brute_force_per_second": measure.rounded(statistics.median(ours)),
        "share_of_the_limit": measure.rounded(
            statistics.median(mine / limit for mine, limit in zip(ours, bare, strict=True)), 3
        ),
    }


def join_seconds(n: int, max_distance: int, rounds: int) -> dict[str, Any]:
    """The join of so many, several times."""
    rows = uniform(n, 1, max_distance)
    runs = [timed(lambda: join(rows, max_distance=max_distance, threads=THREADS)) for _ in range(rounds)]
    return {
        "fingerprints": n,
        "max_distance": max_distance,
        "pairs": len(runs[0][2]),
        "seconds": measure.rounded(statistics.median(run[0] for run in runs)),
        "range": [measure.rounded(pick(run[0] for run in runs)) for pick in (min, max)],
        "processor_seconds_a_thread": measure.rounded(statistics.median(run[1] for run in runs)),
    }


def beside_the_experiment(n: int, rounds: int) -> dict[str, Any]:
    """The join at 2^26, in turns with the experiment."""
    path = os.environ.get("NEARDUP_JOIN_PROTOTYPE")
    if path is None:
        return {"skipped": "NEARDUP_JOIN_PROTOTYPE does not name the experiment's file"}
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(join_seconds(n, 3, 1)["seconds"])
        theirs.append(prototype_seconds(path, n))
    return {
        "fingerprints": n,
        "seconds": statistics.median(ours),
        "experiment_seconds": statistics.median(theirs),
        "times_as_long": measure.rounded(statistics.median(a / b for a, b in zip(ours, theirs, strict=True)), 3),
        "target": 1.6,
    }


def index_growth(n: int, rounds: int) -> dict[str, Any]:
    """Building an index of so many, and queries in batches."""
    rows = np.ascontiguousarray(uniform(n, 1, 3)[:, 0])
    queries = rows[np.random.default_rng(1).integers(0, n, QUERIES)]
    index = Index(max_distance=3, method="block-tables", blocks=4)
    began = time.perf_counter()
    index.add(None, rows)
    built, each = time.perf_counter() - began, []
    for _ in range(rounds):
        began = time.perf_counter()
        index.query_many(queries)
        each.append((time.perf_counter() - began) / QUERIES)
    return {
        "build_seconds": measure.rounded(built),
        "query_microseconds": measure.rounded(1e6 * statistics.median(each)),
    }


def exponent(rows: list[dict[str, Any]], name: str) -> float:
    """Of the power of n that fits best."""
    logarithms = [[math.log(row[each]) for row in rows] for each in ("fingerprints", name)]
    return measure.rounded(float(np.polyfit(*logarithms, 1)[0]), 3)


def growth(sizes: list[int], rounds: int) -> dict[str, Any]:
    """The join and the index by size."""
    rows = [join_seconds(n, 3, rounds) | index_growth(n, rounds) for n in sizes]
    names = ("seconds", "build_seconds", "query_microseconds")
    return {"sizes": rows, "exponents": {name: exponent(rows, name) for name in names}}


def _whole(n: int) -> dict[str, Any]:
    join(uniform(50_000, 1, 3), max_distance=3, threads=THREADS)
    found = join_seconds(n, 3, 1)
    return found | {"peak_gigabytes": measure.rounded(peak_memory_bytes() / 1e9)}


def alone(n: int) -> dict[str, Any]:
    """One join in a process of its own, with the memory that it takes; the fingerprints themselves are in it."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_whole, (n,))


def draw(record: dict[str, Any], path: Path) -> None:
    """Seconds of the join, of building an index, and microseconds a query, on logarithmic axes."""
    figure = new_figure("hamming_scale", 9, 3.6)
    left, right = figure.subplots(1, 2)
    rows, exponents = record["growth"]["sizes"], record["growth"]["exponents"]
    sizes = [row["fingerprints"] for row in rows]
    for name, label, color in (("seconds", "self-join", TEAL), ("build_seconds", "index built", AMBER)):
        left.loglog(sizes, [row[name] for row in rows], "o-", color=color, label=f"{label}: n^{exponents[name]:.2f}")
    if "largest" in record:
        left.plot(record["largest"]["fingerprints"], record["largest"]["seconds"], "*", color=TEAL, markersize=10)
    left.set(xlabel="fingerprints", ylabel="seconds")
    left.set_title("64 bits, distance 3, two threads")
    left.legend()
    name = "query_microseconds"
    right.loglog(sizes, [row[name] for row in rows], "o-", color=BLUE, label=f"in batches: n^{exponents[name]:.2f}")
    right.set(xlabel="fingerprints in the index", ylabel="microseconds a query")
    right.legend()
    save(figure, path)


def main() -> None:
    """Measure, print, write the results."""
    given = measure.arguments(__doc__.splitlines()[0], "hamming_scale")
    rounds = 1 if given.quick else ROUNDS
    join_seconds(100_000, 3, 1), join_seconds(100_000, 6, 1)  # compiles
    sizes = [1 << 16, 1 << 18, 1 << 20] if given.quick else [1 << 20, 1 << 22, 1 << 24, 1 << 26]
    record: dict[str, Any] = {
        "environment": measure.environment(),
        "threads": THREADS,
        "comparisons": popcount_limit(rounds),
        "k=6": join_seconds(1_000_000 if given.quick else 10_000_000, 6, rounds),
        "beside_the_experiment": beside_the_experiment(sizes[-1], rounds),
        "growth": growth(sizes, rounds),
    }
    if not given.quick:
        record["largest"] = alone(1 << 28)
    print({name: value for name, value in record.items() if name != "environment"})
    measure.write_json(given.output, record)
    if given.output is not None:
        draw(record, given.output.with_suffix(".svg"))


if __name__ == "__main__":
    main()
