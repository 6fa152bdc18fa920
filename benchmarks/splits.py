"""`neardup split` and `neardup leaks` beside `neardup dedup --method exact`: what they cost on the same files.

Each contender is a process of its own, from files to files, in turns: seconds of its processors and of the clock, the most bytes of
its temporary files, and its peak memory. Documents are random words; of some, near copies follow.
"""

import json
import random
import statistics
import string
import sys
import tempfile
from pathlib import Path
from typing import Any

from families import measured
from measure import arguments, environment, rounded, write_json

DOCUMENTS, QUICK_DOCUMENTS, ROUNDS = 200_000, 5_000, 3
WORDS, COPIES = 120, 0.3


def write_corpus(path: Path, documents: int) -> None:
    """Documents of 120 words, of which about a third are an earlier one with a word changed."""
    choose = random.Random(11)
    vocabulary = ["".join(choose.choices(string.ascii_lowercase, k=choose.randint(2, 9))) for _ in range(50_000)]
    kept: list[list[str]] = []
    with path.open("w", encoding="utf-8") as file:
        for number in range(documents):
            if kept and choose.random() < COPIES:
                words = list(choose.choice(kept))
                words[choose.randrange(WORDS)] = f"new{number}"
            else:
                words = choose.choices(vocabulary, k=WORDS)
                if len(kept) < 20_000:
                    kept.append(words)
            file.write(json.dumps({"id": number, "text": " ".join(words), "label": number % 7}) + "\n")


def contenders(lines: Path, folder: Path) -> dict[str, list[str]]:
    """The commands; a tenth of the documents are the test set of the search for leaks."""
    program = [sys.executable, "-m", "neardup"]
    common = ["--overwrite", "--quiet", "--memory", "2G"]
    shares = ["--shares", "train=0.8,val=0.1,test=0.1", "-o", str(folder / "sides")]
    test, train = str(folder / "test.jsonl"), str(folder / "train.jsonl")
    return {
        "neardup dedup --method exact": [
            *program, "dedup", str(lines), "-o", str(folder / "out.jsonl"), "--method", "exact", "--cluster", "components", *common,
        ],
        "neardup split": [*program, "split", str(lines), *shares, *common],
        "neardup split --stratify": [*program, "split", str(lines), *shares, "--stratify", "label", *common],
        "neardup leaks": [*program, "leaks", train, "--against", test, "-o", str(folder / "leaks.jsonl"), *common],
    }  # fmt: skip


def main() -> None:
    """Measure all, and write the results."""
    given = arguments(__doc__.splitlines()[0], "splits")
    record: dict[str, Any] = environment() | {"rows": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = folder / "lines.jsonl"
        documents = QUICK_DOCUMENTS if given.quick else DOCUMENTS
        write_corpus(lines, documents)
        every = lines.read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / "test.jsonl").write_text("".join(every[::10]), encoding="utf-8")
        (folder / "train.jsonl").write_text("".join(line for i, line in enumerate(every) if i % 10), encoding="utf-8")
        found: dict[str, list[dict[str, Any]]] = {}
        for _ in range(1 if given.quick else ROUNDS):
            for each, command in contenders(lines, folder).items():
                run = measured(command, folder)
                if run["outcome"] != "done":
                    raise SystemExit(f"{each}: {run['outcome']}")
                found.setdefault(each, []).append(run)
        for each, runs in found.items():
            middle = {
                key: rounded(statistics.median(run[key] for run in runs))
                for key in ("seconds", "processor_seconds", "temporary_bytes", "resident_bytes")
            }
            row = {"contender": each, "documents": documents, "input_bytes": lines.stat().st_size}
            record["rows"].append(row | middle)
            print(record["rows"][-1], flush=True)
    write_json(given.output, record)


if __name__ == "__main__":
    main()
