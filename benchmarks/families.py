"""What families of near-equal texts cost: templated lines of 60 words of which three are numbers, by method and threshold.

Every run is a command of its own with `--memory 1G`: wall and processor seconds, the most resident memory and the most bytes of
temporary files (deleted ones too, as `/proc` shows them), and how many survive. A run has three minutes. Beside it datasketch
and rensa, which insert what has no match among what they have inserted: the same families, by estimated similarity.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import arguments, environment, rounded, write_json

WORDS = [f"word{i}" for i in range(60)]
PLACES = (10, 30, 50)
SIZES, QUICK_SIZES = (30_000, 200_000), (6_000,)
METHODS = ("auto", "exact", "minhash", "simhash")
THRESHOLDS = (0.7, 0.8)
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


def write_lines(path: Path, count: int) -> None:
    """The family: all lines alike, but for three numbers below a million."""
    choose = random.Random(3)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(count):
            words = list(WORDS)
            for place in PLACES:
                words[place] = str(choose.randrange(10**6))
            file.write(json.dumps({"text": " ".join(words)}) + "\n")


def _open_bytes(pid: int) -> int:
    """Bytes on disk of the regular files that a process has open and that have no name any more."""
    total = 0
    try:
        for entry in os.scandir(f"/proc/{pid}/fd"):
            found = os.stat(entry.path)
            if found.st_nlink == 0:
                total += 512 * found.st_blocks
    except OSError:  # the process or the file has ended meanwhile
        pass
    return total


def measured(command: list[str], folder: Path) -> dict[str, object]:
    """Run a command to its end, or to the limit."""
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
    while process.poll() is None and time.perf_counter() - began < LIMIT_SECONDS:
        named = sum(512 * found.stat().st_blocks for found in temporary.rglob("*") if found.is_file())
        most = max(most, named + _open_bytes(process.pid))
        time.sleep(0.05)
    if process.poll() is None:
        process.kill()
        process.wait()
        return {"outcome": f"not done after {LIMIT_SECONDS} s", "temporary_bytes": most}
    seconds, said = time.perf_counter() - began, process.stdout.read() if process.stdout else ""
    if process.returncode:
        return {"outcome": said.strip().splitlines()[-1], "seconds": rounded(seconds, 3)}
    return {"outcome": "done", "seconds": rounded(seconds, 3), "temporary_bytes": most, "said": said}


def of_neardup(lines: Path, method: str, least: float, folder: Path) -> dict[str, object]:
    """One run of the command, with what its summary says."""
    out = folder / "out.jsonl"
    command = [sys.executable, "-m", "neardup", "dedup", str(lines), "-o", str(out), "--overwrite", "--quiet"]
    found = measured([*command, "--memory", "1G", "--method", method, "--min-similarity", str(least)], folder)
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
        for count in QUICK_SIZES if given.quick else SIZES:
            lines = folder / "lines.jsonl"
            write_lines(lines, count)
            for least in THRESHOLDS:
                for method in METHODS:
                    row = {"documents": count, "min_similarity": least, "tool": f"neardup --method {method}"}
                    rows.append(row | of_neardup(lines, method, least, folder))
                    print(rows[-1], flush=True)
                for peer, program in PEERS.items() if count < 100_000 else ():
                    row = {"documents": count, "min_similarity": least, "tool": peer}
                    rows.append(row | of_peer(program, lines, least, folder))
                    print(rows[-1], flush=True)
    record["runs"] = rows
    write_json(given.output, record)


if __name__ == "__main__":
    main()
