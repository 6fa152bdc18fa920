"""Is a store sound whenever its writer is killed? A thousand kills of `tests/kills`, of writers of stores.

    python benchmarks/store_kills.py [--quick] [--figures FILE] [--output FILE]

Takes the figures of a file instead, where one is named: `make kills SCENARIOS=store KILLS=1000 OUTPUT=FILE` writes such a file.
"""

import argparse
import json
from pathlib import Path

import measure
from reliability import figures

KILLS = {False: "1000", True: "8"}


def main() -> None:
    """Run, or take, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="half a minute; writes no results")
    parser.add_argument("--figures", type=Path, metavar="FILE", help="take the figures of this file")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="default: benchmarks/results/store_kills.json, none with --quick"
    )
    given = parser.parse_args()
    options = ("--kills", KILLS[given.quick], "--scenarios", "store")
    found = json.loads(given.figures.read_text()) if given.figures else figures("kills", options)
    print({key: value for key, value in found.items() if not isinstance(value, dict)}, flush=True)
    usual = None if given.quick else measure.RESULTS / "store_kills.json"
    measure.write_json(given.output or usual, {"environment": measure.environment(), "kills": found})


if __name__ == "__main__":
    main()
