"""Does a service keep what it has acknowledged, whenever it is killed? Two hundred kills on each kind of store.

    python benchmarks/service_kills.py [--quick] [--figures FILE …] [--output FILE]

Takes the figures of files instead, where some are named: `make kills-service KILLS=200 OUTPUT=FILE` writes such a file.
"""

import argparse
import json
from pathlib import Path

import measure
from reliability import figures

KILLS = {False: "200", True: "2"}


def main() -> None:
    """Run, or take, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="half a minute; writes no results")
    parser.add_argument("--figures", type=Path, nargs="*", metavar="FILE", help="take the figures of these files")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="default: benchmarks/results/service_kills.json, none with --quick"
    )
    given = parser.parse_args()
    if given.figures:
        found = {kind: of for path in given.figures for kind, of in json.loads(path.read_text()).items()}
    else:
        found = figures("service.kills", ("--kills", KILLS[given.quick]))
    sums = {name: sum(each[name] for each in found.values()) for name in ("kills", "requests", "documents")}
    sums["finds"] = sum(len(each["finds"]) for each in found.values())
    print(sums, flush=True)
    usual = None if given.quick else measure.RESULTS / "service_kills.json"
    measure.write_json(given.output or usual, {"environment": measure.environment(), **sums, "stores": found})


if __name__ == "__main__":
    main()
