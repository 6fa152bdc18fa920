"""Does a store take the decisions of `deduplicate`, whatever the order, the batches and the threads? On the open sets.

    python benchmarks/store_orders.py [--quick] [--data FOLDER] [--output FILE]

Each set is taken as it is given, reversed, and in three orders by chance. A store gets the documents in batches of several sizes,
with one thread and with eight, and is closed and opened again when it has half of them. What it says of each document (new, or the
duplicate of which, with similarity, distance and whether the texts are equal) is compared with what
`deduplicate(documents, cluster="star", keep="first")` says of all of them in that order. Any difference is a defect.
"""

import itertools
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import measure
import neardup as nd
from corpora import OPEN_SETS, data_folder, missing, open_texts

WAYS = (
    ("exact", "jaccard"),
    ("exact", "containment"),
    ("exact", "edit"),
    ("exact", "cosine"),
    ("minhash", "jaccard"),
    ("simhash", "jaccard"),
)
MIN_SIMILARITY = 0.8
SHUFFLES = (1, 2, 3)
BATCHES = (1, 50, 700)
THREADS = (1, 8)
SLOW = ("edit", "cosine")
SLOW_BYTES = 8_000_000
"""Of these similarities, whose time grows with the square of long texts, the first documents of that many bytes are taken."""
QUICK_DOCUMENTS = 150
SHOWN = 5
"""Differences of a run that the result lists; all are counted."""

Decision = tuple[Any, ...]


def orders(count: int, quick: bool) -> Iterator[tuple[str, list[int]]]:
    """Permutations of the rows, by name."""
    rows = list(range(count))
    yield "as given", rows
    yield "reversed", rows[::-1]
    for seed in SHUFFLES[:1] if quick else SHUFFLES:
        yield f"shuffled, seed {seed}", random.Random(seed).sample(rows, count)


def of_batch(texts: Sequence[str], options: dict[str, Any], threads: int) -> dict[int, Decision]:
    """What `deduplicate` says of each row that it removes: survivor, similarity, distance, whether the texts are equal."""
    found = nd.deduplicate(texts, cluster="star", keep="first", threads=threads, **options)
    columns = ("survivor_row", "similarity", "distance", "exact")
    return {each["row"]: tuple(each[name] for name in columns) for each in found.duplicates.to_pylist()}


def of_store(texts: Sequence[str], options: dict[str, Any], threads: int, batch: int) -> dict[int, Decision]:
    """The same of a store, whose ids are the rows."""
    found: dict[int, Decision] = {}
    half = len(texts) // 2
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        for begin, end in ((0, half), (half, len(texts))):
            with nd.Store(path, durable="batch", threads=threads, **options) as store:
                for first in range(begin, end, batch):
                    rows = range(first, min(first + batch, end))
                    answers = store.check_and_add_many(rows, [texts[row] for row in rows])
                    for row, answer in zip(rows, answers, strict=True):
                        if not answer.is_new:
                            best = answer.matches[0]
                            found[row] = (best.id, best.similarity, best.distance, answer.exact)
    return found


def compared(texts: Sequence[str], method: str, similarity: str, quick: bool) -> dict[str, Any]:
    """One method and similarity on one set: how many decisions were compared, and which differ."""
    options = {"method": method, "similarity": similarity, "min_similarity": MIN_SIMILARITY}
    record: dict[str, Any] = {"documents": len(texts), "runs": 0, "decisions": 0, "duplicates": {}, "differences": 0}
    shown: list[Any] = []
    began = time.perf_counter()
    for name, rows in orders(len(texts), quick):
        ordered = [texts[row] for row in rows]
        for threads in THREADS:
            expected = of_batch(ordered, options, threads)
            record["duplicates"][name] = len(expected)
            for batch in BATCHES:
                found = of_store(ordered, options, threads, batch)
                differing = sorted(row for row in found.keys() | expected.keys() if found.get(row) != expected.get(row))
                record["runs"] += 1
                record["decisions"] += len(texts)
                record["differences"] += len(differing)
                shown += [
                    [name, threads, batch, rows[row], str(expected.get(row)), str(found.get(row))]
                    for row in differing[:SHOWN]
                ]
    if shown:
        record["shown"] = shown
    return record | {"seconds": measure.rounded(time.perf_counter() - began)}


def taken(texts: list[str], similarity: str, quick: bool) -> list[str]:
    """The documents of a set that are compared by a similarity."""
    if quick:
        return texts[:QUICK_DOCUMENTS]
    if similarity not in SLOW:
        return texts
    sizes = itertools.accumulate(len(text.encode()) for text in texts)
    return [text for text, size in zip(texts, sizes, strict=True) if size <= SLOW_BYTES]


def main() -> None:
    """Compare, print, write the results."""
    given = measure.arguments(__doc__ or "", "store_orders")
    data = data_folder(given.data)
    record: dict[str, Any] = {
        "environment": measure.environment(),
        "min_similarity": MIN_SIMILARITY,
        "batches": BATCHES,
        "threads": THREADS,
        "sets": {},
        "skipped": [reason for name in OPEN_SETS if (reason := missing(data, name))],
    }
    for name in OPEN_SETS:
        if data is None or missing(data, name) is not None:
            continue
        texts = open_texts(data, name)
        found: dict[str, Any] = {}
        for method, similarity in WAYS:
            some = taken(texts.array.to_pylist(), similarity, given.quick)
            one = found[f"{method} {similarity}"] = compared(some, method, similarity, given.quick)
            print(
                f"{name}, {method} {similarity}: {one['differences']} of {one['decisions']:,} decisions differ, "
                f"{one['documents']:,} of {len(texts):,} documents, {one['seconds']} s",
                flush=True,
            )
        record["sets"][name] = {"texts": texts.as_record(), "ways": found}
    for reason in record["skipped"]:
        print(f"skipped: {reason}")
    measure.write_json(given.output if record["sets"] else None, record)


if __name__ == "__main__":
    main()
