"""`neardup passages` beside `neardup dedup --method exact` and a suffix array: of corpora of which a share is repeated.

Each contender is a process of its own, from files to files, in turns: seconds of its processors and of the clock, the most bytes
of its temporary files, and its peak memory. The suffix array is that of divsufsort (pydivsufsort), with Kasai's array of common
prefixes and the longest earlier match of each suffix, read off by the same rule: it tells which tokens lie in a window of 50 that
stood earlier. It reads the same JSON lines, holds all in memory, and writes nothing.
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

MEGABYTES, QUICK_MEGABYTES, ROUNDS = 40, 2, 3
SHARES = (0.0, 0.2, 0.5)
PASSAGE, DOCUMENT, SIZE = 100, 400, 50
SUFFIXES = """
import json, re, sys, numpy as np, resource
from numba import njit
from pydivsufsort import divsufsort, kasai

@njit
def earlier(order, common):
    n = len(order)
    found, stack, heights = np.zeros(n, np.int64), np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    for direction in range(2):
        top, height = 0, 0
        for i in range(n):
            at = i if direction == 0 else n - 1 - i
            low = 0 if i == 0 else common[at - 1] if direction == 0 else common[at]
            while top and stack[top - 1] > order[at]:
                top -= 1
                low = min(low, heights[top])
            if top:
                found[order[at]] = max(found[order[at]], low)
            stack[top], heights[top] = order[at], low
            top += 1
    return found

size, texts = int(sys.argv[2]), []
for line in open(sys.argv[1]):
    texts.append(" " + " ".join(re.findall(r"\\w+", json.loads(line)["text"].lower())) + " ")
data = np.frombuffer("\\0".join(texts).encode() + b"\\0", np.uint8).copy()
order = divsufsort(data)
common = kasai(data, order)
longest = earlier(order.astype(np.int64), common.astype(np.int64))
spaces, cut, tokens, base = np.flatnonzero(data == 32), 0, 0, 0
covered = np.zeros(len(spaces) + 1, np.int64)
of = np.searchsorted(np.flatnonzero(data == 0), spaces)
k = np.arange(len(spaces) - size)
inside = of[k] == of[k + size]
repeated = k[inside & (longest[spaces[k]] >= spaces[k + size] - spaces[k] + 1)]
np.add.at(covered, repeated, 1)
np.add.at(covered, repeated + size, -1)
print(int((np.cumsum(covered) > 0).sum()))
"""


def write_corpus(path: Path, megabytes: int, share: float) -> None:
    """Documents of about 400 words, of which about a `share` stood earlier, in passages of 100."""
    choose = random.Random(7)
    vocabulary = ["".join(choose.choices(string.ascii_lowercase, k=choose.randint(2, 9))) for _ in range(50_000)]
    kept: list[list[str]] = []
    written, limit = 0, megabytes * 10**6
    with path.open("w", encoding="utf-8") as file:
        while written < limit:
            words: list[str] = []
            for _ in range(DOCUMENT // PASSAGE):
                if kept and choose.random() < share:
                    words += choose.choice(kept)
                    continue
                words += choose.choices(vocabulary, k=PASSAGE)
                if len(kept) < 20_000:
                    kept.append(words[-PASSAGE:])
            line = json.dumps({"text": " ".join(words)}) + "\n"
            written += len(line)
            file.write(line)


def contenders(lines: Path, folder: Path) -> dict[str, list[str]]:
    """The commands."""
    common = [str(lines), "-o", str(folder / "out.jsonl"), "--overwrite", "--quiet", "--memory", "2G"]
    return {
        "neardup passages": [sys.executable, "-m", "neardup", "passages", *common],
        "neardup dedup --method exact": [sys.executable, "-m", "neardup", "dedup", *common, "--method", "exact"],
        "suffix array (pydivsufsort)": [sys.executable, "-c", SUFFIXES, str(lines), str(SIZE)],
    }


def main() -> None:
    """Measure all, and write the results."""
    given = arguments(__doc__.splitlines()[0], "repeated_passages")
    record: dict[str, Any] = environment(("pydivsufsort",)) | {"rows": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = folder / "lines.jsonl"
        for share in SHARES:
            write_corpus(lines, QUICK_MEGABYTES if given.quick else MEGABYTES, share)
            size = lines.stat().st_size
            found: dict[str, list[dict[str, Any]]] = {}
            for _ in range(1 if given.quick else ROUNDS):
                for each, command in contenders(lines, folder).items():
                    run = measured(command, folder)
                    if run["outcome"] != "done":
                        raise SystemExit(f"{each}: {run['outcome']}")
                    found.setdefault(each, []).append(run)
                    if each == "neardup passages":
                        summary = json.loads((folder / "out.summary.json").read_text(encoding="utf-8"))
                        found[each][-1]["said"] = str(summary["cut_tokens"])
            for each, runs in found.items():
                middle = {
                    key: rounded(statistics.median(run[key] for run in runs))
                    for key in ("seconds", "processor_seconds", "temporary_bytes", "resident_bytes")
                }
                said = runs[0]["said"].strip()
                record["rows"].append(
                    {"share": share, "contender": each, "input_bytes": size, "cut_tokens": said, **middle}
                )
                print(record["rows"][-1], flush=True)
    write_json(given.output, record)


if __name__ == "__main__":
    main()
