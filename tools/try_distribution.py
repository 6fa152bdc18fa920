"""Install one of the distributions that `make wheels` made into an empty environment, and use it there.

    python tools/try_distribution.py dist platform|pure|sdist [EXTRAS]

The platform wheel is that of this machine, and has its kernels compiled: it must neither need Numba nor compile
anything. The pure wheel is tried with the extra `jit`, which brings Numba where compiled kernels would be the rule.
"""

import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

KINDS: dict[str, Callable[[str], bool]] = {
    "platform": lambda name: name.endswith(f"_{platform.machine()}.whl"),
    "pure": lambda name: name.endswith("-none-any.whl"),
    "sdist": lambda name: name.endswith(".tar.gz"),
}
PROGRAM = """
import json, pathlib, neardup
import pyarrow, pyarrow.parquet
ferry = "The night ferry to the islands leaves at ten past nine from the old customs pier, every day of the year but one"
texts = [ferry, ferry.upper() + "!", "The station clock was built to run for eight days on one winding."]
assert neardup.deduplicate(texts).survivors == [texts[0], texts[2]]
for method in ("exact", "minhash", "simhash"):
    assert neardup.deduplicate(texts, method=method).survivors == [texts[0], texts[2]], method
rows = [json.dumps({"id": number, "text": text}) for number, text in enumerate(texts)]
pathlib.Path("in.jsonl").write_text("\\n".join(rows) + "\\n")
pyarrow.parquet.write_table(pyarrow.table({"id": range(3), "text": texts}), "in.parquet")
neardup.deduplicate_files("in.parquet", "out.parquet")
assert pyarrow.parquet.read_table("out.parquet").column("id").to_pylist() == [0, 2]
"""
NO_NUMBA = "import importlib.util as util; assert util.find_spec('numba') is None, 'Numba is installed'"


def run(folder: Path, *command: str | Path) -> str:
    """Run a command in `folder`, away from the checkout; returns what it prints, and shows it if the command fails."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NEARDUP", "NUMBA"))
    }
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment | {"NEARDUP_CACHE_DIR": str(folder / "kernels")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    print("$", *(str(word) if "\n" not in str(word) else "…" for word in command), flush=True)
    if done.returncode:
        sys.exit(f"{done.stdout}\nexit code {done.returncode}")
    return done.stdout


def main(folder: Path, kind: str, extras: str = "") -> None:
    """Find the distribution of that kind in `folder`, and try it."""
    extras = ",".join(filter(None, [extras, "jit" if kind == "pure" else ""]))
    found = [path for path in sorted(folder.resolve().iterdir()) if KINDS[kind](path.name)]
    if len(found) != 1:
        sys.exit(f"{folder} has {len(found)} distributions of kind {kind}: {', '.join(path.name for path in found)}")
    with tempfile.TemporaryDirectory() as temporary:
        here = Path(temporary)
        run(here, sys.executable, "-m", "venv", "environment")
        programs = here / "environment" / "bin"
        run(here, programs / "pip", "install", "--quiet", f"{found[0]}{f'[{extras}]' if extras else ''}")
        said = run(here, programs / "neardup", "--version").split()
        if said[-1] != found[0].name.removesuffix(".tar.gz").split("-")[1]:
            sys.exit(f"{found[0].name} says that it is {said[-1]}")
        if kind == "platform":
            run(here, programs / "python", "-c", NO_NUMBA)
        run(here, programs / "python", "-c", PROGRAM)
        run(here, programs / "neardup", "index", "build", "texts.index", "in.jsonl", "--quiet")
        run(here, programs / "neardup", "index", "query", "texts.index", "in.jsonl", "--quiet")
        run(here, programs / "neardup", "demo")
        if kind == "platform" and (here / "kernels").exists():
            sys.exit("kernels were compiled at first use")
    print(f"{found[0].name} works with Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
