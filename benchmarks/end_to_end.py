"""What a person waits for: `--help`, the first run, a small file, a large one; from cold processes to files on the disk.

Targets: help under 0.3 s; the first run compiles for at most 25 s; 1,000 short documents under 2.5 s; JSON lines in and out on two
processors, with verification, at least 40 MB of text a second.
"""

import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

import measure
from commands import Run, run
from corpora import OPEN_SETS, data_folder, missing, python_installation


def write_corpus(path: Path, size: int) -> tuple[int, int]:
    """Texts of the Python installation as JSON lines. Returns documents and bytes of text."""
    texts = python_installation(size)
    with path.open("w", encoding="utf-8") as lines:
        for row, text in enumerate(texts.array.to_pylist()):
            lines.write(json.dumps({"id": f"t{row}", "text": text}, ensure_ascii=False) + "\n")
    return len(texts), texts.bytes


def summary_of(done: Run) -> dict[str, Any]:
    """What matters of the summary that the process printed."""
    found = json.loads(done.output)
    wanted = ("documents", "duplicates", "exact_duplicates", "candidates", "matches", "seconds")
    return {name: found[name] for name in wanted}


def median(runs: list[Run]) -> dict[str, float]:
    """Median, least and greatest seconds; the greatest memory."""
    seconds = [done.seconds for done in runs]
    return {
        "seconds": measure.rounded(statistics.median(seconds)),
        "min": measure.rounded(min(seconds)),
        "max": measure.rounded(max(seconds)),
        "processor_seconds": measure.rounded(statistics.median(done.processor_seconds for done in runs)),
        "peak_memory_mb": round(max(done.peak_memory_bytes for done in runs) / 1e6),
    }


def main() -> None:
    """Run all and write the results."""
    given = measure.arguments(__doc__ or "", "end_to_end")
    rounds = 3 if given.quick else 5
    record: dict[str, Any] = {"environment": measure.environment(("msgspec", "zstandard"))}
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        small, large = here / "small.jsonl", here / "large.jsonl"
        small.write_text(
            "".join(
                json.dumps({"id": i, "text": f"short document {i} of a thousand, with a few words"}) + "\n"
                for i in range(1000)
            )
        )
        record["help"] = median([run("--help") for _ in range(rounds + 2)])
        first = run("dedup", small, "-o", here / "a.jsonl", "--quiet", NEARDUP_CACHE_DIR=here / "cache")
        record["small file, 1,000 documents"] = median(
            [run("dedup", small, "-o", here / "b.jsonl", "--overwrite", "--quiet") for _ in range(rounds)]
        )
        record["first run"] = {"seconds": measure.rounded(first.seconds)}
        documents, size = write_corpus(large, 20_000_000 if given.quick else 400_000_000)
        output = here / "large.out.jsonl"
        runs = [run("dedup", large, "-o", output, "--overwrite", "--quiet", "--json") for _ in range(rounds)]
        record["large file"] = {
            "documents": documents,
            "text_mb": round(size / 1e6, 1),
            "file_mb": round(large.stat().st_size / 1e6, 1),
            **median(runs),
            "text_mb_per_second": measure.rounded(size / 1e6 / statistics.median(done.seconds for done in runs)),
            "summary": summary_of(runs[-1]),
        }
        data = data_folder(given.data)
        for name in OPEN_SETS:
            reason = missing(data, name)
            if reason or data is None:
                record[name] = {"skipped": reason}
                continue
            source = data / name / "docs.jsonl.gz"
            runs = [run("dedup", source, "-o", output, "--overwrite", "--quiet", "--json") for _ in range(rounds)]
            record[name] = {**median(runs), "summary": summary_of(runs[-1])}
    for name, figures in record.items():
        if name != "environment":
            print(f"{name}: {json.dumps(figures)}")
    measure.write_json(given.output, record)


if __name__ == "__main__":
    main()
