"""What does `auto` take, and is it right? Processor seconds and pairs found of exact, minhash and auto, on corpora of many kinds.

Seconds are those that the processors worked (user and system), all threads together, from texts in memory to decisions; the median
of the rounds, after a run that loads the kernels. Each run is a process of its own. A fifth of the documents of the made corpora
are planted near-copies. A run that takes more than LIMIT seconds is stopped, and that is said.

Target: `auto` takes at most twice as long as the faster of the two, and finds every pair, or all but one in a thousand.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import measure
import short_and_chinese as made
from corpora import OPEN_SETS, Texts, data_folder, missing, open_texts, python_installation

METHODS = ("exact", "minhash", "auto")
LIMIT = 400
"""Seconds by the clock."""

RUN = """
import json, sys, time
import pyarrow.parquet as pq
import neardup as nd
path, method, least = sys.argv[1], sys.argv[2], float(sys.argv[3])
texts = pq.read_table(path)["text"]
from neardup.matching.candidates import auto
patience, auto.PATIENCE_SECONDS = auto.PATIENCE_SECONDS, 0.0
for each in ("exact", "minhash", "auto"):
    nd.deduplicate(texts.slice(0, 200), method=each)
auto.PATIENCE_SECONDS = patience
began = time.process_time()
found = nd.deduplicate(texts, method=method, min_similarity=least).summary
print(json.dumps({
    "seconds": time.process_time() - began, "method": found.method, "reason": found.reason, "duplicates": found.duplicates,
    "matches": found.matches, "candidates": found.candidates, "join": found.join,
}))
"""


def one(path: Path, method: str, least: float) -> dict[str, Any]:
    """One run, in a process of its own."""
    given = [sys.executable, "-c", RUN, str(path), method, str(least)]
    try:
        done = subprocess.run(given, capture_output=True, text=True, check=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return {"stopped after": LIMIT}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measured(texts: Texts, least: float, rounds: int, folder: Path) -> dict[str, Any]:
    """All methods on one corpus, in turns."""
    path = folder / "texts.parquet"
    pq.write_table(pa.table({"text": texts.array}), path)
    runs: dict[str, list[dict[str, Any]]] = {method: [] for method in METHODS}
    for _ in range(rounds):
        for method, found in runs.items():
            if not any("stopped after" in run for run in found):
                found.append(one(path, method, least))
    record: dict[str, Any] = {"texts": texts.as_record(), "min_similarity": least}
    for method, found in runs.items():
        last = found[-1]
        if "stopped after" not in last:
            last = last | {"seconds": measure.rounded(statistics.median(run["seconds"] for run in found))}
        record[method] = last
    times = [record[method]["seconds"] for method in ("exact", "minhash") if "seconds" in record[method]]
    if "seconds" in record["auto"] and times:
        record["auto / the faster"] = measure.rounded(record["auto"]["seconds"] / min(times))
    return record


def corpora_of(folder: Path | None, quick: bool) -> list[tuple[Callable[[], Texts], float]]:
    """How each is made, and the similarity that is asked for."""
    many = 5_000 if quick else 200_000
    found: list[tuple[Callable[[], Texts], float]] = [
        (lambda: made.titles(many), 0.8),
        (lambda: made.templated(2_000 if quick else 5_000), 0.8),
        (lambda: made.templated(2_000 if quick else 5_000), 0.7),
        (lambda: python_installation(10_000_000 if quick else 100_000_000), 0.8),
    ]
    if folder is not None and all(missing(folder, name) is None for name in OPEN_SETS):
        found += [(lambda name=name: open_texts(folder, name), 0.8) for name in OPEN_SETS]  # type: ignore[misc]
        found += [
            (lambda: made.short(folder, many), 0.8),
            (lambda: made.chinese(folder, many), 0.8),
            (lambda: made.chinese(folder, many, share=0.1), 0.8),
        ]
    return found


def main() -> None:
    """Measure, print, write the results."""
    given = measure.arguments(str(__doc__).splitlines()[0], "auto_choice")
    data = data_folder(given.data)
    record: dict[str, Any] = {"environment": measure.environment(), "corpora": []}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for make, least in corpora_of(data, given.quick):
            texts = make()
            found = measured(texts, least, 1 if given.quick else 3, Path(folder))
            record["corpora"].append(found)
            cells = [str(found[method].get("seconds", f"> {LIMIT}")) for method in METHODS]
            pairs = [f"{found[method].get('matches', 0):,}" for method in ("exact", "minhash")]
            rows.append([texts.name, str(least), *cells, *pairs, found["auto"].get("method", "")])
            print(json.dumps(found, ensure_ascii=False), flush=True)
            measure.write_json(given.output, record)
    print(measure.table(["corpus", "at", *METHODS, "pairs, exact", "minhash", "auto took"], rows))


if __name__ == "__main__":
    main()
