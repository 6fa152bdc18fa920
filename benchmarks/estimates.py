"""What `estimate_files` (`dedup --dry-run`, `plan`) expects of a run, beside what it takes: of 20 corpora of unlike shapes.

Time, memory and temporary files. Estimate and run are processes of their own, on the same file, one after the other, with
`--memory 1G`. An estimate within a factor of three is good; so is one of files below 16 MiB, of memory below 300 MiB and of time
below 2 s, whatever the factor: less matters to nobody. The program alone takes some 100 MiB.
"""

import gzip
import json
import random
import string
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from corpora import data_folder
from families import Shape, write_lines
from measure import arguments, environment, rounded, write_json

OPEN_SETS = ("zh_laws_national", "en_pep_revisions_even", "en_spdx_licenses", "en_cora", "ko_sts", "en_ocr_books")
LINES, QUICK_LINES = 40_000, 2_000
GOOD = 3.0
NEGLIGIBLE = {"seconds": 2.0, "memory_bytes": 300 << 20, "temporary_bytes": 16 << 20}
ESTIMATE = """
import dataclasses, json, sys, neardup
path, least, method = sys.argv[1:]
found = neardup.estimate_files(path, min_similarity=float(least), method=method, memory="1G")
print(json.dumps(dataclasses.asdict(found)))
"""
MADE: dict[str, tuple[Shape, float, str]] = {
    "unlike lines of 60 words": (Shape(60, templates=0), 0.8, "auto"),
    "unlike lines, exact": (Shape(60, templates=0), 0.8, "exact"),
    "unlike lines, minhash": (Shape(60, templates=0), 0.8, "minhash"),
    "unlike lines of 8 words": (Shape(8, templates=0), 0.8, "auto"),
    "unlike texts of 1,000 words": (Shape(1000, templates=0), 0.8, "auto"),
    "3 numbers inserted, 0.7": (Shape(57, inserted=3), 0.7, "exact"),
    "3 numbers inserted, 0.8": (Shape(57, inserted=3), 0.8, "minhash"),
    "3 numbers at fixed places, 0.7": (Shape(60, numbers=3), 0.7, "exact"),
    "3 words deleted": (Shape(64, deleted=3), 0.8, "exact"),
    "1,000 templates, 2 replaced": (Shape(60, templates=1000, replaced=2), 0.8, "auto"),
    "10 templates of 300 words": (Shape(300, templates=10, inserted=10), 0.8, "auto"),
    "Chinese, 3 of 100 replaced": (Shape(100, replaced=3, chinese=True), 0.7, "exact"),
    "unlike Chinese lines": (Shape(100, templates=0, chinese=True), 0.8, "auto"),
}


def copies(path: Path, count: int) -> None:
    """Four equal lines of each."""
    choose = random.Random(5)
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            seeded = random.Random(number // 4)
            words = ("".join(seeded.choices(string.ascii_lowercase, k=6)) for _ in range(40))
            file.write(json.dumps({"text": " ".join(words), "score": choose.random()}) + "\n")


def corpora(folder: Path, count: int, data: Path | None) -> Iterator[tuple[str, Path, float, str]]:
    """Each corpus, with its threshold and method."""
    path = folder / "lines.jsonl"
    for name, (shape, least, method) in MADE.items():
        write_lines(path, shape, count if shape.words < 500 else count // 8)
        yield name, path, least, method
    copies(path, count)
    yield "four equal lines of each", path, 0.8, "auto"
    for name in OPEN_SETS if data is not None else ():
        path.write_bytes(gzip.decompress((data / name / "docs.jsonl.gz").read_bytes()))
        yield name, path, 0.7, "auto"


def compared(path: Path, least: float, method: str, folder: Path) -> dict[str, dict[str, float]]:
    """Of each figure: what was expected, what was taken, and whether the two are near."""
    options = ["--memory", "1G", "--min-similarity", str(least), "--method", method]
    out = folder / "out.jsonl"
    planned = [sys.executable, "-c", ESTIMATE, str(path), str(least), method]
    plan = json.loads(subprocess.run(planned, capture_output=True, text=True, check=True).stdout)
    command = [sys.executable, "-m", "neardup", "dedup", str(path), "-o", str(out), "--overwrite", "--quiet", *options]
    subprocess.run(command, check=True)
    summary = json.loads((folder / "out.summary.json").read_text(encoding="utf-8"))
    figures = {
        "seconds": (plan["seconds"]["total"], summary["seconds"]["total"]),
        "memory_bytes": (plan["memory_bytes"], summary["peak_memory_bytes"]),
        "temporary_bytes": (plan["temporary_bytes"], summary["peak_temporary_bytes"]),
    }
    found: dict[str, dict[str, float]] = {}
    for name, (expected, taken) in figures.items():
        factor = max(expected, 1e-3) / max(taken, 1e-3)
        is_good = 1 / GOOD <= factor <= GOOD or max(expected, taken) < NEGLIGIBLE[name]
        found[name] = {"expected": rounded(expected), "taken": rounded(taken), "is_good": is_good}
    return found


def main() -> None:
    """Measure all, and write the results."""
    given = arguments(__doc__.splitlines()[0], "estimates")
    record: dict[str, object] = environment(())
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for corpus, path, least, method in corpora(
            folder, QUICK_LINES if given.quick else LINES, data_folder(given.data)
        ):
            row = {"corpus": corpus, "min_similarity": least, "method": method, "input_bytes": path.stat().st_size}
            rows.append(row | compared(path, least, method, folder))
            print(rows[-1], flush=True)
    record["runs"] = rows
    write_json(given.output, record)


if __name__ == "__main__":
    main()
