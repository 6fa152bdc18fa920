"""Does what comes out stay right under attack: random corpora against the definitions, flipped bytes, killed runs?

    python benchmarks/reliability.py [--quick] [--fuzz FILE] [--flips FILE] [--kills FILE] [--output FILE]

Runs `tests/fuzz` for an hour of processor time, 10,000 flips of `tests/flips` and 500 kills of `tests/kills`, and joins their
figures. Takes the figures of a file instead, where one is named: `make fuzz OUTPUT=FILE` and the like write such files.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import measure

ROOT = Path(__file__).parent.parent
LONG = {"fuzz": ("--seconds", "3600"), "flips": ("--flips", "10000"), "kills": ("--kills", "500")}
QUICK = {"fuzz": ("--seconds", "10"), "flips": ("--flips", "80"), "kills": ("--kills", "11")}
SEED = "20261122"


def figures(name: str, options: tuple[str, ...]) -> dict[str, Any]:
    """Run one of the programs; what it finds is in its figures."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "figures.json"
        command = [sys.executable, "-m", name, *options, "--seed", SEED, "--output", str(output)]
        paths = os.pathsep.join(filter(None, [str(ROOT / "tests"), os.environ.get("PYTHONPATH")]))
        subprocess.run(command, env=os.environ | {"PYTHONPATH": paths}, stdout=subprocess.DEVNULL, check=False)
        return dict(json.loads(output.read_text()))


def main() -> None:
    """Run, or take, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a minute; writes no results")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="default: benchmarks/results/reliability.json, none with --quick"
    )
    for name in LONG:
        parser.add_argument(f"--{name}", type=Path, metavar="FILE", help="take the figures of this file")
    given = parser.parse_args()
    record: dict[str, Any] = {"environment": measure.environment()}
    for name, options in (QUICK if given.quick else LONG).items():
        file = getattr(given, name)
        record[name] = json.loads(file.read_text()) if file else figures(name, options)
        print(name, {key: value for key, value in record[name].items() if not isinstance(value, dict)}, flush=True)
    usual = None if given.quick else measure.RESULTS / "reliability.json"
    measure.write_json(given.output or usual, record)


if __name__ == "__main__":
    main()
