"""How fast every pair of fingerprints within a Hamming distance is found, and how well the planner foresees it.

    python benchmarks/hamming_join.py [--quick] [--output FILE]

The join is the whole of `neardup.join`: collapse, tables, look-up of positions, sorted rows with distances. Beside it runs a bare
experiment, if NEARDUP_JOIN_PROTOTYPE names its file: block tables that only count what they find, several times a pair, without
positions. Called with a number it joins so many random fingerprints at 64 bits and distance 3 on two threads, and says in its last
line for how many seconds. Target: ours takes at most 1.6 times as long.

Skewed fingerprints imitate real ones: bits of unequal shares, a quarter of all in clusters of near copies of heavy-tailed size,
and 100,000 equal ones; their pairs stay collapsed.
"""

import math
import multiprocessing
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from measure import Timing, arguments, environment, ratio, rounded, table, write_json
from neardup.hamming.block_plan import plan_join
from neardup.hamming.pairs import Pairs, collapse, join, join_unique

Array = np.ndarray[Any, np.dtype[Any]]

THREADS = 2
ROUNDS = 5
TARGET = 1.6
PLANNED = [
    *((64, distance, 1_000_000) for distance in (3, 6, 8, 10)),
    *((128, distance, 1_000_000) for distance in (3, 8, 16, 20, 24)),
    (64, 3, 16_000_000),
    (64, 6, 16_000_000),
    (128, 16, 4_000_000),
    (128, 16, 10_000_000),
]
FORESEEN = [(bits, distance, 100_000_000) for bits, distance in ((64, 3), (64, 6), (64, 8), (128, 8), (128, 16))]


def flip(rows: Array, flips: int, random: np.random.Generator) -> None:
    """Flip a random bit of each row, `flips` times."""
    for _ in range(flips):
        bits = random.integers(0, 64 * rows.shape[1], len(rows))
        rows[np.arange(len(rows)), bits // 64] ^= np.uint64(1) << (bits % 64).astype(np.uint64)


def uniform(n: int, words: int, max_distance: int) -> Array:
    """Random fingerprints, 1 % of them planted within the distance of another."""
    random = np.random.default_rng(0)
    rows = random.integers(0, 2**64, (n, words), dtype=np.uint64)
    copies = rows[random.integers(0, n, n // 100)]
    flip(copies, max_distance, random)
    rows[random.permutation(n)[: len(copies)]] = copies
    return rows


def skewed(n: int) -> Array:
    """Fingerprints of 64 bits as real ones are: see above."""
    random = np.random.default_rng(0)
    shares = random.beta(2, 2, 64)
    rows = np.zeros((n, 1), np.uint64)
    for bit, share in enumerate(shares):
        rows[:, 0] |= (random.random(n, np.float32) < share).astype(np.uint64) << np.uint64(bit)
    sizes = np.minimum(1 + random.zipf(2, n), 1000)
    sizes = sizes[np.cumsum(sizes) < n // 4]
    copies = rows[np.repeat(random.integers(0, n, len(sizes)), sizes)]
    flipped = random.integers(0, 9, len(copies))
    for flips in range(1, 9):
        some = copies[flipped >= flips]
        flip(some, 1, random)
        copies[flipped >= flips] = some
    rows[: len(copies)] = copies
    rows[-min(100_000, n // 20) :] = rows[n // 2]
    return rows[random.permutation(n)]


def prototype_seconds(path: str, n: int) -> float:
    """One run of the experiment, as it times itself."""
    folder = os.path.join(tempfile.gettempdir(), "neardup-prototype-cache")
    done = subprocess.run(
        [sys.executable, path, str(n)],
        env={**os.environ, "NUMBA_CACHE_DIR": folder},
        capture_output=True,
        text=True,
        check=True,
    )
    said = re.search(r"([\d.]+) s", done.stdout.strip().splitlines()[-1])
    if said is None:
        raise SystemExit(f"{path} does not say in its last line how long it took: {done.stdout!r}")
    return float(said.group(1))


def join_collapsed(rows: Array, max_distance: int) -> Pairs:
    """What the de-duplication flow does: pairs of distinct fingerprints, and the groups of equal ones."""
    return join_unique(collapse(rows, threads=THREADS), max_distance=max_distance, threads=THREADS)


def timed(work: Callable[[], Pairs]) -> tuple[float, float, Pairs]:
    """Seconds, processor seconds a thread, and the result.

    Where others use the machine too, the second says more: what the seconds would be if each thread had a processor to itself and
    its even share of the work.
    """
    began, used = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - began, (time.process_time() - used) / THREADS, result


def side_by_side(n: int, rounds: int) -> tuple[dict[str, Any], list[str]]:
    """The join of uniform and of skewed fingerprints, 64 bits and distance 3, in turns with the experiment."""
    even, uneven = uniform(n, 1, 3), skewed(n)
    prototype = os.environ.get("NEARDUP_JOIN_PROTOTYPE")
    skipped = [] if prototype else ["the experiment: NEARDUP_JOIN_PROTOTYPE does not name its file"]
    seconds: dict[str, list[float]] = {"uniform": [], "skewed": [], "prototype": []}
    processor: dict[str, list[float]] = {"uniform": [], "skewed": []}
    found = {}
    for number in range(rounds + 1):
        for name in processor:
            wall, used, found[name] = timed(
                lambda name=name: (
                    join(even, max_distance=3, threads=THREADS) if name == "uniform" else join_collapsed(uneven, 3)
                )
            )
            if number:  # the first round compiles and touches memory
                seconds[name].append(wall)
                processor[name].append(used)
        theirs = prototype_seconds(prototype, n) if prototype and number else math.nan
        if number:
            seconds["prototype"].append(theirs)
    timings = {name: Timing(tuple(times)) for name, times in seconds.items()}
    result: dict[str, Any] = {"fingerprints": n, "threads": THREADS}
    for name, used_by_round in processor.items():
        result[name] = {
            "pairs": len(found[name]),
            **timings[name].as_record(n, "fingerprints_per_second"),
            "processor_seconds_a_thread": rounded(statistics.median(used_by_round), 3),
        }
    if prototype:
        theirs_timing = timings["prototype"]
        result["prototype"] = theirs_timing.as_record(n, "fingerprints_per_second")
        # The experiment knows uniform fingerprints only.
        for name in processor:
            result[name]["times_as_long_as_prototype"] = rounded(1 / ratio(timings[name], n, theirs_timing, n), 3)
        result["target_times_as_long"] = TARGET
    return result, skipped


def _peak_bytes() -> int:
    """The most memory that this process has had resident. Linux counts a parent's as well in what getrusage says."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _peaks(n: int, stage: str) -> tuple[int, int]:
    """Peak memory before and after one stage, in a process of its own."""
    join(uniform(50_000, 1, 3), max_distance=3, threads=THREADS)
    rows = np.random.default_rng(0).integers(0, 2**64, (n, 1), dtype=np.uint64)
    before = _peak_bytes()
    if stage == "collapse":
        collapse(rows, threads=THREADS)
    elif stage == "collapse, join_distinct":
        join_collapsed(rows, 3)
    else:
        join(rows, max_distance=3, threads=THREADS)
    return before, _peak_bytes()


def memory(n: int) -> dict[str, float]:
    """Bytes a fingerprint that each stage adds to the 8 of the fingerprint itself, at its height."""
    found = {}
    for stage in ("collapse", "collapse, join_distinct", "join"):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            before, after = pool.apply(_peaks, (n, stage))
        found[stage] = rounded((after - before) / n, 3)
    return found


def foreseen(cases: list[tuple[int, int, int]], *, run: bool) -> list[dict[str, Any]]:
    """What the planner chooses and expects for uniform fingerprints, and what it takes."""
    rows = []
    for bits, distance, n in cases:
        chosen = plan_join(n, bits, distance, threads=THREADS)
        row: dict[str, Any] = {
            "bits": bits,
            "max_distance": distance,
            "fingerprints": n,
            "parts": chosen.parts,
            "blocks": chosen.blocks,
            "key_blocks": chosen.key_blocks,
            "tables": chosen.tables,
            "key_bits": rounded(chosen.key_bits),
            "comparisons": rounded(chosen.comparisons),
            "expected_seconds": rounded(chosen.seconds, 3),
        }
        if run:
            unique = collapse(uniform(n, bits // 64, distance), threads=THREADS)
            seconds, used, pairs = timed(lambda: join_unique(unique, max_distance=distance, threads=THREADS))  # noqa: B023
            row["processor_seconds_a_thread"] = rounded(used, 3)
            row |= {"seconds": rounded(seconds, 3), "pairs": len(pairs)}
        rows.append(row)
    return rows


def main() -> None:
    """Measure, print the tables, write the results."""
    given = arguments(__doc__.splitlines()[0], "hamming_join")
    n, rounds = (1_000_000, 2) if given.quick else (16_000_000, ROUNDS)
    result, skipped = side_by_side(n, rounds)
    planned = foreseen([case for case in PLANNED if not given.quick or case[2] <= 1_000_000], run=True)
    record = {
        "environment": environment(),
        "side_by_side": result,
        "added_bytes_per_fingerprint": {} if given.quick else memory(n),
        "planned": planned,
        "foreseen": foreseen(FORESEEN, run=False),
        "skipped": skipped,
    }
    rows = []
    for name in ("uniform", "skewed", "prototype"):
        if name in result:
            one = result[name]
            rows.append(
                [
                    name,
                    f"{one['seconds']:.3g}",
                    f"{one.get('processor_seconds_a_thread', '')}",
                    f"{one.get('pairs', 0):,}" if name != "prototype" else "",
                    f"{one.get('times_as_long_as_prototype', '')}",
                ]
            )
    print(f"{n:,} fingerprints of 64 bits within distance 3, {THREADS} threads\n")
    print(table(["", "seconds", "processor s a thread", "pairs", "times the prototype (uniform)"], rows), end="\n\n")
    added = ", ".join(f"{stage} {size:g}" for stage, size in record["added_bytes_per_fingerprint"].items())
    print(f"bytes added a fingerprint, at the height: {added or 'not measured'}\n")
    head = [
        "bits",
        "distance",
        "fingerprints",
        "parts",
        "blocks",
        "key",
        "tables",
        "expected s",
        "s",
        "processor s a thread",
    ]
    names = (
        "bits",
        "max_distance",
        "fingerprints",
        "parts",
        "blocks",
        "key_blocks",
        "tables",
        "expected_seconds",
        "seconds",
        "processor_seconds_a_thread",
    )
    print(
        table(
            head,
            [
                [f"{row.get(name, ''):,}" if row.get(name, "") != "" else "" for name in names]
                for row in [*planned, *record["foreseen"]]
            ],
        )
    )
    for reason in skipped:
        print(f"skipped: {reason}")
    write_json(given.output, record)


if __name__ == "__main__":
    main()
