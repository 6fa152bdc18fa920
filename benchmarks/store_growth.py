"""How does `nd.Store` grow? A million short documents, four, ten and sixteen, in durable batches of 1,024.

The documents are about 200 bytes of random words, some of them near copies and copies (`store_texts.py`). Along the way: documents
a second, the slowest batch, and memory. At each of these numbers, once the documents are there: single questions about new texts,
near copies and copies; a clean close; the opening, and the first answer after it; the questions again; and bytes on disk by kind of
file. Files are in the system's page cache as far as they fit. Each method is a process of its own; one that is out of time is
looked at where it is.

Targets: at a million documents, `check` takes a median below 150 microseconds, and a p99 below 1 ms, for each kind of question; ten
million documents are opened in less than 2 s after a clean close.
"""

import argparse
import json
import multiprocessing
import os
import random
import re
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Literal

import measure
import store_growth_chart
from store_contenders import BATCH, latency
from store_texts import AT_ONCE, questions, short_documents

STOPS = (1_000_000, 4_000_000, 10_000_000, 16_000_000)
RUNS: dict[str, tuple[str, Literal["each", "batch"], tuple[int, ...]]] = {
    "exact": ("exact", "each", STOPS),
    "minhash": ("minhash", "each", STOPS),
    "exact, durable later": ("exact", "batch", STOPS[2:3]),
}
"""By name: the method, when batches are durable, and where to look. The last one is the quickest way to ten million."""
PART, QUESTIONS = 1 << 18, 2_000
"""Documents between two looks; questions of each kind."""
SECONDS = 900.0
"""Of each method, at most: it stops at the last number that it has reached."""
WARM_TEXTS = ["The night ferry to the islands leaves at ten past nine from the old customs pier."] * 2


def memory_mb(process: int | str = "self") -> dict[str, int]:
    """Of a process, this one by default, resident, now: what no file backs, and what a file backs."""
    found = dict(re.findall(r"(RssAnon|RssFile):\s+(\d+)", Path(f"/proc/{process}/status").read_text()))
    return {"anonymous_mb": int(found["RssAnon"]) >> 10, "file_backed_mb": int(found["RssFile"]) >> 10}


def asked(store: Any, kept: list[str]) -> dict[str, dict[str, float]]:
    """Microseconds of single questions, by kind."""
    unseen = next(short_documents(QUESTIONS, seed=99))
    kinds = questions(kept, unseen).by_kind()
    return {kind: latency(lambda text: store.check(text).is_new, texts) for kind, texts in kinds.items()}


def stop_at(store: Any, path: Path, kept: list[str]) -> tuple[Any, dict[str, Any]]:
    """All that is looked at when a number is reached; and the store, open again."""
    import neardup

    record: dict[str, Any] = {"kept": len(store), **memory_mb(), "check": asked(store, kept)}
    began = time.perf_counter()
    store.close()
    record["close_seconds"] = measure.rounded(time.perf_counter() - began)
    began = time.perf_counter()
    store = neardup.Store(path)
    record["open_seconds"] = measure.rounded(time.perf_counter() - began)
    began = time.perf_counter()
    found = not store.check(kept[0]).is_new
    record["first_check_seconds"] = measure.rounded(time.perf_counter() - began)
    record["opened_finds_copies"] = found
    record["check_after_opening"] = asked(store, kept)
    record["bytes"] = store.info().bytes
    record["segments"] = sum(1 for each in path.iterdir() if each.name.startswith("segment-"))
    return store, record


def batches_of(count: int) -> Iterator[list[str]]:
    """So many short documents, or a few more, in batches."""
    for some in short_documents(-(-count // AT_ONCE) * AT_ONCE):
        for first in range(0, len(some), BATCH):
            yield some[first : first + BATCH]


def grow(
    method: str, durable: Literal["each", "batch"], stops: tuple[int, ...], seconds: float, part_size: int
) -> dict[str, Any]:
    """Give a store documents until the last number is reached, or the time is over: then that is looked at."""
    import neardup

    parts: list[dict[str, Any]] = []
    reached: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        with neardup.Store(Path(name) / "warm", method=method) as warm:  # which compiles
            warm.check_and_add_many([0, 1], WARM_TEXTS)
        path, began = Path(name) / "store", time.perf_counter()
        store = neardup.Store(path, method=method, durable=durable)
        chance, kept, left = random.Random(2), list[str](), list(stops)
        given, looked, batches, processor = 0, 0, list[float](), 0.0
        for texts in batches_of(stops[-1]):
            at, spent = time.perf_counter(), time.process_time()
            answers = store.check_and_add_many(range(given, given + len(texts)), texts)
            batches.append(time.perf_counter() - at)
            processor += time.process_time() - spent
            given += len(texts)
            row = chance.randrange(len(texts))
            kept += [texts[row]] if answers[row].is_new else []
            late = time.perf_counter() - began > seconds
            if given - looked >= part_size or given >= left[0] or late:
                speed = (given - looked) / sum(batches)
                took = {"a_second": measure.rounded(speed), "slowest_batch_seconds": measure.rounded(max(batches))}
                # Unlike the speed, this hardly depends on what else the machine does.
                took["processor_microseconds"] = measure.rounded(1e6 * processor / (given - looked))
                parts.append({"documents": given, **took, **memory_mb(), "load": os.getloadavg()[0]})
                print(method, json.dumps(parts[-1]), flush=True)
                batches, looked, processor = [], given, 0.0
            if given >= left[0] or late:
                number = left.pop(0) if given >= left[0] else given
                store, reached[str(number)] = stop_at(store, path, kept)
                print(method, number, json.dumps(reached[str(number)]), flush=True)
            if not left or late:
                break
        store.close()
    record: dict[str, Any] = {"stops": reached, "parts": parts}
    if left:
        record["stopped"] = f"at {given:,} of {stops[-1]:,} documents, after {seconds:g} s"
    return record


def main() -> None:
    """Measure, write the results, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="30,000 documents; writes no results")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each method, at most (default: %(default)g)")
    parser.add_argument("--only", nargs="+", choices=RUNS, help="run these, and keep the results of the others")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="default: benchmarks/results/store_growth.json, .svg"
    )
    given = parser.parse_args()
    if given.output is None and not given.quick:
        given.output = measure.RESULTS / "store_growth.json"
    record: dict[str, Any] = {"methods": {}}
    if given.only and given.output is not None and given.output.is_file():
        record = json.loads(given.output.read_text(encoding="utf-8"))
    record |= {"environment": measure.environment(), "load_before": os.getloadavg()}
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as processes:
        for name in given.only or RUNS:
            method, durable, stops = RUNS[name]
            stops, part = ((10_000, 30_000), 1 << 13) if given.quick else (stops, PART)
            record["methods"][name] = processes.submit(grow, method, durable, stops, given.seconds, part).result()
    measure.write_json(given.output, record)
    if given.output is not None:
        store_growth_chart.draw(record, given.output.with_suffix(".svg"))


if __name__ == "__main__":
    main()
