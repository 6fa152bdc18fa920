"""How long does de-duplicating Chinese texts take, from file to file, beside what a segmenter alone takes to cut them into words?

    python benchmarks/chinese_corpus.py [--quick] [--data FOLDER] [--output FILE]

Three corpora: the national laws of the open set as they are; each of them with nine planted copies, of which half a percent to five
percent of the characters are edited; and 200,000 documents of a kilobyte that `short_and_chinese.py` makes of their sentences. In
turns, round by round:

- `neardup dedup FILE -o FILE --json`: a process, all by default, on all processors;
- rjieba alone: one thread in this process makes lists of words of the same texts, and drops them.

The ratio of their processor seconds says more than the seconds, which are those of one machine on one day.
"""

import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import rjieba

import measure
import short_and_chinese as made
from commands import Run, run
from corpora import Texts, data_folder, missing, open_texts
from east_asian import LAWS, laws_with_copies

ROUNDS = 5
DOCUMENTS = 200_000


def write_corpus(path: Path, texts: Texts) -> None:
    """The texts as JSON lines, with their rows as ids."""
    with path.open("w", encoding="utf-8") as lines:
        for row, text in enumerate(texts.array.to_pylist()):
            lines.write(json.dumps({"id": row, "text": text}, ensure_ascii=False) + "\n")


def segmented(rows: list[str]) -> tuple[float, float]:
    """Seconds, and processor seconds, in which rjieba makes lists of words of all texts."""
    began, processor = time.perf_counter(), time.thread_time()
    for text in rows:
        rjieba.cut(text)
    return time.perf_counter() - began, time.thread_time() - processor


def spread(seconds: list[float]) -> dict[str, float]:
    """Median, least and greatest."""
    found = {"seconds": statistics.median(seconds), "min": min(seconds), "max": max(seconds)}
    return {name: measure.rounded(value) for name, value in found.items()}


def measured(texts: Texts, rounds: int, folder: Path) -> dict[str, Any]:
    """The figures of one corpus."""
    source, output = folder / "in.jsonl", folder / "out.jsonl"
    write_corpus(source, texts)
    rows = texts.array.to_pylist()
    runs: list[Run] = []
    cuts: list[tuple[float, float]] = []
    for number in range(rounds + 1):
        done = run("dedup", source, "-o", output, "--overwrite", "--quiet", "--json")
        cut = segmented(rows)
        if number:  # the first round warms up
            runs.append(done)
            cuts.append(cut)
    seconds = [done.seconds for done in runs]
    summary = json.loads(runs[-1].output)
    return {
        **texts.as_record(),
        "rounds": rounds,
        "dedup": spread(seconds)
        | {
            "processor_seconds": measure.rounded(statistics.median(done.processor_seconds for done in runs)),
            "peak_memory_mb": round(max(done.peak_memory_bytes for done in runs) / 1e6),
            "megabytes_a_second": measure.rounded(texts.bytes / 1e6 / statistics.median(seconds)),
        },
        "rjieba alone": spread([wall for wall, _ in cuts])
        | {"processor_seconds": measure.rounded(statistics.median(spent for _, spent in cuts))},
        "processor_seconds_of_rjieba": measure.rounded(
            statistics.median(done.processor_seconds / spent for done, (_, spent) in zip(runs, cuts, strict=True))
        ),
        "summary": {name: summary[name] for name in ("documents", "survivors", "duplicates", "method")},
    }


def main() -> None:
    """Measure all corpora and write the results."""
    given = measure.arguments(__doc__.splitlines()[0], "chinese_corpus")
    folder = data_folder(given.data)
    problem = missing(folder, LAWS)
    if problem or folder is None:
        print(f"skipped: {problem}")
        return
    rounds, documents = (1, 10_000) if given.quick else (ROUNDS, DOCUMENTS)
    record: dict[str, Any] = {"environment": measure.environment(("rjieba",))}
    corpora = [("laws", open_texts(folder, LAWS)), ("made", made.chinese(folder, documents))]
    if not given.quick:
        corpora.insert(1, ("laws with copies", laws_with_copies(folder)))
    for name, texts in corpora:
        with tempfile.TemporaryDirectory() as temporary:
            record[name] = measured(texts, rounds, Path(temporary))
        print(f"{texts.name}: {json.dumps(record[name], ensure_ascii=False)}")
    measure.write_json(given.output, record)


if __name__ == "__main__":
    main()
