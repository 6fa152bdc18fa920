"""Peak memory of `neardup dedup` on a million documents of 2 KB, as the operating system counts it. Target: under 1 GB.

By fingerprints, and by the exact join with `--memory 1G`, which is for finding candidates.

The documents are random mixtures of real lines (text files of the Python installation); every tenth is an edited copy of an
earlier one.
"""

import json
import random
import tempfile
from pathlib import Path
from typing import Any

import measure
from commands import run
from corpora import python_installation

BYTES_A_DOCUMENT = 2000
COPIED = 0.1
METHODS = (("simhash",), ("exact", "--memory", "1G"))


def write_corpus(path: Path, documents: int) -> int:
    """Returns the bytes of text."""
    pool = [
        line
        for text in python_installation(50_000_000).array.to_pylist()
        for line in text.splitlines()
        if len(line) > 30
    ]
    chance = random.Random(0)
    recent: list[list[str]] = []
    total = 0
    with path.open("w", encoding="utf-8") as lines:
        for row in range(documents):
            if recent and chance.random() < COPIED:
                mine = list(chance.choice(recent))
                mine[chance.randrange(len(mine))] = chance.choice(pool)
            else:
                mine, size = [], 0
                while size < BYTES_A_DOCUMENT:
                    mine.append(chance.choice(pool))
                    size += len(mine[-1]) + 1
                if len(recent) < 10_000:
                    recent.append(mine)
                else:
                    recent[chance.randrange(len(recent))] = mine
            text = "\n".join(mine)
            total += len(text.encode())
            lines.write(json.dumps({"id": f"document-{row}", "text": text}, ensure_ascii=False) + "\n")
    return total


def main() -> None:
    """Run and write the results."""
    given = measure.arguments(__doc__ or "", "memory")
    sizes = [20_000] if given.quick else [125_000, 1_000_000]
    record: dict[str, Any] = {"environment": measure.environment(("msgspec",))}
    for documents in sizes:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "corpus.jsonl"
            size = write_corpus(source, documents)
            for method, *flags in METHODS:
                output = Path(folder) / "out.jsonl"
                done = run(
                    "dedup", source, "-o", output, "--overwrite", "--quiet", "--json", "--method", method, *flags
                )
                found = json.loads(done.output)
                name = f"{documents:,} documents, {method}"
                record[name] = {
                    "text_mb": round(size / 1e6),
                    "peak_memory_mb": round(done.peak_memory_bytes / 1e6),
                    "seconds": measure.rounded(done.seconds),
                    "text_mb_per_second": measure.rounded(size / 1e6 / done.seconds),
                    "duplicates": found["duplicates"],
                    "candidates": found["candidates"],
                    "join": found["join"],
                    "stages": found["seconds"],
                }
                print(f"{name}: {json.dumps(record[name])}")
    measure.write_json(given.output, record)


if __name__ == "__main__":
    main()
