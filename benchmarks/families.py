"""What corpora cost whose texts are nearly alike: lines of templates with some words of their own, by shape, method and threshold.

Every run is a command of its own with `--memory 1G`: wall and processor seconds, the most resident memory and the most bytes of
temporary files (deleted ones too, as `/proc` shows them), and how many survive. A run has three minutes. Beside them unlike lines
of the same length; and datasketch and rensa, which insert what has no match among what they have inserted, by estimated similarity.
"""

import itertools
import json
import os
import random
import string
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from measure import arguments, environment, rounded, write_json

QUICK_LINES = 6_000
METHODS = ("auto", "exact", "minhash", "simhash")
LIMIT_SECONDS = 180
PEERS = {
    "datasketch": """
import json, sys, datasketch
least = float(sys.argv[2])
index, kept = datasketch.MinHashLSH(threshold=least, num_perm=128), 0
for number, line in enumerate(open(sys.argv[1])):
    words = json.loads(line)["text"].split()
    sketch = datasketch.MinHash(num_perm=128)
    sketch.update_batch([" ".join(words[i:i + 3]).encode() for i in range(len(words) - 2)])
    if not index.query(sketch):
        index.insert(number, sketch); kept += 1
print(kept)
""",
    "rensa": """
import json, sys, rensa
least = float(sys.argv[2])
index, kept = rensa.RMinHashLSH(threshold=least, num_perm=128, num_bands=32 if least < 0.75 else 16), 0
for number, line in enumerate(open(sys.argv[1])):
    words = json.loads(line)["text"].split()
    sketch = rensa.RMinHash(num_perm=128, seed=42)
    sketch.update([" ".join(words[i:i + 3]) for i in range(len(words) - 2)])
    if not index.query(sketch):
        index.insert(number, sketch); kept += 1
print(kept)
""",
}


class Shape(NamedTuple):
    """How the lines of a corpus are made.

    Attributes:
        words: of a template; `templates`: how many there are; 0: every line is of words by chance.
        numbers: replaced at fixed places; inserted, replaced, deleted, moved: so many words at places by chance.
        chinese: words are Han characters, without spaces.
        lines, thresholds, similarities: what is measured; `beside`: with the other tools.
    """

    words: int
    templates: int = 1
    numbers: int = 0
    inserted: int = 0
    replaced: int = 0
    deleted: int = 0
    moved: int = 0
    chinese: bool = False
    lines: tuple[int, ...] = (30_000,)
    thresholds: tuple[float, ...] = (0.7,)
    similarities: tuple[str, ...] = ("jaccard",)
    beside: bool = False


SHAPES = {
    "unlike, 60 words": Shape(60, templates=0),
    "3 numbers at fixed places of 60": Shape(
        60, numbers=3, lines=(30_000, 200_000), thresholds=(0.7, 0.8), beside=True
    ),
    "3 numbers inserted in 57": Shape(57, inserted=3, lines=(30_000, 40_000), thresholds=(0.7, 0.8), beside=True),
    "3 words of 60 replaced": Shape(60, replaced=3),
    "3 words of 64 deleted": Shape(64, deleted=3, thresholds=(0.8,)),
    "3 words of 60 moved": Shape(60, moved=3),
    "10 templates, 3 inserted": Shape(57, templates=10, inserted=3),
    "3 of 100 Chinese characters replaced": Shape(100, replaced=3, chinese=True),
    "unlike, 60 words, other similarities": Shape(60, templates=0, thresholds=(0.8,), similarities=("cosine", "edit")),
    "10 words of 60 replaced": Shape(60, replaced=10, thresholds=(0.8,), similarities=("cosine", "edit")),
    "3 inserted in 57, other similarities": Shape(57, inserted=3, similarities=("weighted", "containment")),
    "unlike, 310 words": Shape(310, templates=0),
    "15 numbers inserted in 300": Shape(300, inserted=15),
    "10 numbers inserted in 300": Shape(300, inserted=10, thresholds=(0.8,)),
}


def write_lines(path: Path, shape: Shape, count: int) -> None:
    """A corpus of that shape."""
    choose = random.Random(3)
    vocabulary = ["".join(choose.choices(string.ascii_lowercase, k=choose.randint(3, 9))) for _ in range(20_000)]
    if shape.chinese:
        vocabulary = [chr(0x4E00 + number) for number in range(3_000)]
    templates = [choose.sample(vocabulary, shape.words) for _ in range(shape.templates)]
    with path.open("w", encoding="utf-8") as file:
        for _ in range(count):
            words = list(choose.choice(templates)) if templates else choose.choices(vocabulary, k=shape.words)
            for number in range(shape.numbers):
                words[(2 * number + 1) * shape.words // (2 * shape.numbers)] = str(choose.randrange(10**6))
            for place in choose.sample(range(shape.words), shape.replaced):
                words[place] = choose.choice(vocabulary)
            for _ in range(shape.deleted):
                del words[choose.randrange(len(words))]
            for _ in range(shape.moved):
                words.insert(choose.randrange(len(words)), words.pop(choose.randrange(len(words))))
            for _ in range(shape.inserted):
                words.insert(choose.randrange(len(words)), str(choose.randrange(10**6)))
            file.write(json.dumps({"text": ("" if shape.chinese else " ").join(words)}) + "\n")


def _open_bytes(pid: int) -> int:
    """Bytes on disk of the regular files that a process has open and that have no name any more; a mapped file is open twice."""
    sizes: dict[tuple[int, int], int] = {}
    try:
        for entry in os.scandir(f"/proc/{pid}/fd"):
            found = os.stat(entry.path)
            if found.st_nlink == 0:
                sizes[found.st_dev, found.st_ino] = 512 * found.st_blocks
    except OSError:  # the process or the file has ended meanwhile
        pass
    return sum(sizes.values())


def measured(command: list[str], folder: Path) -> dict[str, object]:
    """Run a command to its end, or to the limit: its seconds, also of processors, its memory, and its temporary files."""
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    began, most = time.perf_counter(), 0
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    ended, status, used = 0, 0, None
    while not ended and time.perf_counter() - began < LIMIT_SECONDS:
        named = sum(512 * found.stat().st_blocks for found in temporary.rglob("*") if found.is_file())
        most = max(most, named + _open_bytes(process.pid))
        time.sleep(0.05)
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
    if used is None or not ended:
        process.kill()
        process.wait()
        return {"outcome": f"not done after {LIMIT_SECONDS} s", "temporary_bytes": most}
    seconds, said = time.perf_counter() - began, process.stdout.read() if process.stdout else ""
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        return {"outcome": said.strip().splitlines()[-1], "seconds": rounded(seconds, 3)}
    return {
        "outcome": "done",
        "seconds": rounded(seconds, 3),
        "processor_seconds": rounded(used.ru_utime + used.ru_stime, 3),
        "temporary_bytes": most,
        "resident_bytes": used.ru_maxrss << 10,
        "said": said,
    }


def of_neardup(lines: Path, method: str, similarity: str, least: float, folder: Path) -> dict[str, object]:
    """One run of the command, with what its summary says."""
    out = folder / "out.jsonl"
    command = [sys.executable, "-m", "neardup", "dedup", str(lines), "-o", str(out), "--overwrite", "--quiet"]
    command += ["--memory", "1G", "--method", method, "--similarity", similarity, "--min-similarity", str(least)]
    found = measured(command, folder)
    found.pop("said", None)
    if found["outcome"] == "done":
        summary = json.loads((folder / "out.summary.json").read_text(encoding="utf-8"))
        found |= {
            "method": summary["method"],
            "survivors": summary["survivors"],
            "peak_memory_bytes": summary["peak_memory_bytes"],
        }
    return found


def of_peer(program: str, lines: Path, least: float, folder: Path) -> dict[str, object]:
    """One run of another tool."""
    found = measured([sys.executable, "-c", program, str(lines), str(least)], folder)
    if found["outcome"] == "done":
        found["survivors"] = int(str(found.pop("said")))
    return found


def main() -> None:
    """Measure all, and write the results."""
    given = arguments(__doc__.splitlines()[0], "families")
    record: dict[str, object] = environment(("datasketch", "rensa"))
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for name_of, shape in SHAPES.items():
            for count in (QUICK_LINES,) if given.quick else shape.lines:
                lines = folder / "lines.jsonl"
                write_lines(lines, shape, count)
                for similarity, least in itertools.product(shape.similarities, shape.thresholds):
                    row = {"shape": name_of, "documents": count, "input_bytes": lines.stat().st_size}
                    row |= {"similarity": similarity, "min_similarity": least}
                    for method in METHODS if similarity == "jaccard" else ("exact", "simhash"):
                        tool = {"tool": f"neardup --method {method}"}
                        rows.append(row | tool | of_neardup(lines, method, similarity, least, folder))
                        print(rows[-1], flush=True)
                    for peer, program in PEERS.items() if shape.beside and count == shape.lines[0] else ():
                        rows.append(row | {"tool": peer} | of_peer(program, lines, least, folder))
                        print(rows[-1], flush=True)
    record["runs"] = rows
    write_json(given.output, record)


if __name__ == "__main__":
    main()
