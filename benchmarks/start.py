"""How long a first and a later command take, and what is installed, beside other tools: each in an environment of its own.

Every tool is installed with pip into an empty environment; neardup as the wheel that `make wheels` made. First: the first run
after the installation, with an empty home. Warm: the median of the runs after it, tools taking turns. Each de-duplicates the
same 1,000 short documents; DuckDB, which knows only equal texts, selects the distinct ones; text-dedup only loads its command.
"""

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import RESULTS, environment, rounded

ROUNDS = 9
OF_PYTHON = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-precedence")
DOCUMENTS = 1000

PEERS = {
    "neardup": [],
    "rensa": ["rensa"],
    "datasketch": ["datasketch"],
    "duckdb": ["duckdb"],
    "text-dedup": ["text-dedup==0.4.0"],
}
PROGRAMS = {
    "rensa": """
import json, rensa
index = rensa.RMinHashLSH(threshold=0.8, num_perm=128, num_bands=16)
for number, line in enumerate(open("in.jsonl")):
    words = json.loads(line)["text"].split()
    sketch = rensa.RMinHash(num_perm=128, seed=42)
    sketch.update([" ".join(words[i:i + 3]) for i in range(len(words) - 2)])
    index.query(sketch); index.insert(number, sketch)
""",
    "datasketch": """
import json, datasketch
index = datasketch.MinHashLSH(threshold=0.8, num_perm=128)
for number, line in enumerate(open("in.jsonl")):
    words = json.loads(line)["text"].split()
    sketch = datasketch.MinHash(num_perm=128)
    sketch.update_batch([" ".join(words[i:i + 3]).encode() for i in range(len(words) - 2)])
    index.query(sketch); index.insert(number, sketch)
""",
    "duckdb": "import duckdb; duckdb.sql(\"copy (select distinct on (text) * from 'in.jsonl') to 'out.jsonl'\")",
    "text-dedup": "import text_dedup.minhash  # what its command loads before it works",
}
COMMANDS = {
    "neardup": ["dedup", "in.jsonl", "-o", "out.jsonl", "--overwrite", "--quiet"],
    "neardup --version": ["--version"],
    "neardup explain, removed": ["explain", "out.duplicates.jsonl", "19"],
    "neardup explain, kept": ["explain", "out.duplicates.jsonl", "17"],
    "neardup, refused": ["dedup", "in.jsonl", "-o", "out.jsonl"],
    "neardup index query": ["index", "query", "texts.index", "one.jsonl"],
}


def write_documents(folder: Path) -> None:
    """1,000 short documents, a tenth of them near-duplicates."""
    words, chosen = [f"word{number}" for number in range(3000)], random.Random(1)
    texts: list[list[str]] = []
    for number in range(DOCUMENTS):
        text = list(chosen.choice(texts)) if number % 10 == 9 else chosen.choices(words, k=40)
        text[-1] = chosen.choice(words)
        texts.append(text)
    rows = [json.dumps({"id": number, "text": " ".join(text)}) for number, text in enumerate(texts)]
    (folder / "in.jsonl").write_text("\n".join(rows) + "\n")
    (folder / "one.jsonl").write_text(rows[0] + "\n")


def timed(command: list[str], folder: Path, environment: dict[str, str]) -> tuple[float, float, int]:
    """Wall and processor seconds of a command, and its exit code."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.returncode


def installed_bytes(environment: Path) -> int:
    """Bytes of what pip installed, without what Python puts into every environment."""
    [packages] = environment.glob("lib/python*/site-packages")
    files = (path for path in packages.rglob("*") if path.is_file() and not path.is_symlink())
    found = (path for path in files if not path.relative_to(packages).parts[0].startswith(OF_PYTHON))
    return sum(path.stat().st_size for path in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, default=Path("dist"), help="where the wheel is")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument(
        "--environment", action="append", default=[], metavar="NAME=FOLDER", help="a tool is installed there already"
    )
    parser.add_argument("--quick", action="store_true", help="three rounds, without text-dedup")
    given = parser.parse_args()
    [wheel] = given.dist.resolve().glob("neardup-*-manylinux*.whl")
    rounds, record = 3 if given.quick else given.rounds, {}
    made = {name: Path(folder).resolve() for name, folder in (each.split("=", 1) for each in given.environment)}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_documents(folder)
        runs: dict[str, tuple[list[str], Path]] = {}
        clean = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NEARDUP", "NUMBA"))
        }
        variables = clean | {"HOME": str(folder / "home"), "XDG_CACHE_HOME": str(folder / "home" / "cache")}
        for name, requirements in PEERS.items():
            if given.quick and name == "text-dedup":
                continue
            place = made.get(name, folder / "environments" / name)
            if name not in made:
                subprocess.run([sys.executable, "-m", "venv", place], check=True)
                subprocess.run([place / "bin/pip", "install", "--quiet", *(requirements or [str(wheel)])], check=True)
            record[name] = {"installed_bytes": installed_bytes(place)}
            if name == "neardup":
                runs |= {each: ([str(place / "bin/neardup"), *words], place) for each, words in COMMANDS.items()}
            else:
                runs[name] = ([str(place / "bin/python"), "-c", PROGRAMS[name]], place)
        index = [*runs["neardup"][0][:1], "index", "build", "texts.index", "in.jsonl", "--quiet"]
        for name, (command, _) in runs.items():
            if name == "neardup index query":
                subprocess.run(index, cwd=folder, env=variables, check=True, capture_output=True)
            wall, processor, code = timed(command, folder, variables)
            record.setdefault(name, {})["first"] = {
                "wall_s": rounded(wall),
                "processor_s": rounded(processor),
                "exit": code,
            }
        times: dict[str, list[tuple[float, float, int]]] = {name: [] for name in runs}
        for _ in range(rounds):
            for name, (command, _) in runs.items():
                times[name].append(timed(command, folder, variables))
        for name, found in times.items():
            walls, processors, _ = zip(*found, strict=True)
            record[name]["warm"] = {
                "wall_s": rounded(statistics.median(walls)),
                "wall_min_s": rounded(min(walls)),
                "wall_max_s": rounded(max(walls)),
                "processor_s": rounded(statistics.median(processors)),
                "rounds": rounds,
            }
    result = {
        "environment": environment(),
        "documents": DOCUMENTS,
        "wheel_bytes": wheel.stat().st_size,
        "tools": record,
    }
    print(json.dumps(result, indent=1))
    if not given.quick:
        (RESULTS / "start.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
