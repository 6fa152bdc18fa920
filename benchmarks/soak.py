"""Is memory flat? Five million short documents in 500 shards, sampled over time; and 10,000 shards with few files open.

The documents are random words, 14 to 23 of them; one in twenty is equal to an earlier one, one in ten differs in a word. The run on
a fifth of the shards stands beside: what grows with the documents is the difference.
"""

import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import measure

EQUAL, NEAR, REMEMBERED, WORDS = 0.05, 0.1, 20_000, 20_000
MEMORY = {"auto": "256M", "minhash": "512M"}
"""Bytes, by method; minhash must look at all documents at once."""
PERIOD_SECONDS, LISTED = 0.05, 60
"""Between two looks at a process; and how many of the looks are kept, evenly spaced, besides the peaks."""
OPEN_FILES = 64


def documents(count: int) -> Iterator[str]:
    """Lines of JSON; the first ones are the same, however many."""
    chance = random.Random(0)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randrange(3, 9))) for _ in range(WORDS)]
    earlier: list[str] = []
    for row in range(count):
        drawn = chance.random()
        if earlier and drawn < EQUAL + NEAR:
            text = chance.choice(earlier)
            if drawn < NEAR:
                mine = text.split()
                mine[chance.randrange(len(mine))] = chance.choice(words)
                text = " ".join(mine)
        else:
            text = " ".join(chance.choices(words, k=chance.randrange(14, 24)))
        if len(earlier) < REMEMBERED:
            earlier.append(text)
        else:
            earlier[chance.randrange(REMEMBERED)] = text
        yield json.dumps({"id": f"document-{row}", "text": text}) + "\n"


def write_shards(folder: Path, count: int, shards: int) -> int:
    """Returns the bytes written."""
    folder.mkdir()
    lines, size = documents(count), 0
    for shard in range(shards):
        here = range(count * shard // shards, count * (shard + 1) // shards)
        content = "".join(next(lines) for _ in here)
        size += len(content)
        (folder / f"{shard:05}.jsonl").write_text(content)
    return size


def sampled(command: list[str]) -> tuple[list[tuple[float, int, int]], float, dict[str, Any]]:
    """Run a command: seconds, anonymous and file-backed resident MB at many moments; seconds in all; and the JSON it prints."""
    began, looks = time.perf_counter(), []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            status = Path(f"/proc/{process.pid}/status").read_text()
            found = dict(re.findall(r"(RssAnon|RssFile):\s+(\d+)", status))
            if found:  # not while it starts or ends
                looks.append(
                    (time.perf_counter() - began, *(int(found[name]) >> 10 for name in ("RssAnon", "RssFile")))
                )
            time.sleep(PERIOD_SECONDS)
        seconds = time.perf_counter() - began
        output = process.stdout.read() if process.stdout else b""
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with {process.returncode}")
    return looks, seconds, json.loads(output)


def dedup(inputs: list[Path], output: Path, *flags: str) -> list[str]:
    """The command."""
    flags = ("--overwrite", "--quiet", "--json", *flags)
    return [sys.executable, "-m", "neardup", "dedup", *map(str, inputs), "-o", f"{output}/", *flags]


def record_of(
    count: int, shards: int, looks: list[tuple[float, int, int]], seconds: float, found: Any
) -> dict[str, Any]:
    """What is kept of a run."""
    step = max(1, len(looks) // LISTED)
    return {
        "documents": count,
        "shards": shards,
        "seconds": measure.rounded(seconds),
        "peak_anonymous_mb": max(anonymous for _, anonymous, _ in looks),
        "peak_file_backed_mb": max(mapped for _, _, mapped in looks),
        "peak_temporary_mb": found["peak_temporary_bytes"] >> 20,
        "duplicates": found["duplicates"],
        "exact_duplicates": found["exact_duplicates"],
        "stages": found["seconds"],
        "seconds_anonymous_file_backed_mb": [(measure.rounded(at), *sizes) for at, *sizes in looks[::step]],
    }


def main() -> None:
    """Run and write the results."""
    given = measure.arguments(__doc__ or "", "soak")
    count, shards, tiny = (50_000, 50, 500) if given.quick else (5_000_000, 500, 10_000)
    record: dict[str, Any] = {"environment": measure.environment(("msgspec",)), "memory": MEMORY}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        record["input_mb"] = write_shards(folder / "in", count, shards) >> 20
        paths = sorted((folder / "in").iterdir())
        sampled(dedup(paths[:1], folder / "out"))  # which compiles
        for part, method in ((5, "auto"), (1, "auto"), (5, "minhash"), (1, "minhash")):
            command = dedup(paths[: shards // part], folder / "out", "--memory", MEMORY[method], "--method", method)
            done = record_of(count // part, shards // part, *sampled(command))
            record[f"{count // part:,} documents, {method}"] = done
            print({key: value for key, value in done.items() if not key.startswith("seconds_")}, flush=True)
        write_shards(folder / "tiny", 5 * tiny, tiny)
        limited = ["sh", "-c", f'ulimit -n {OPEN_FILES}; exec "$@"', "sh", *dedup([folder / "tiny"], folder / "outs")]
        done = record_of(5 * tiny, tiny, *sampled(limited))
        done["written_shards"] = len(list((folder / "outs").glob("*.jsonl")))
        record[f"{tiny:,} shards, {OPEN_FILES} open files"] = done
        print({key: value for key, value in done.items() if not key.startswith("seconds_")}, flush=True)
    measure.write_json(given.output, record)


if __name__ == "__main__":
    main()
