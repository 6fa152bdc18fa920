"""Kill runs at random moments, finish them, and count.

    python -m kills [--kills 500] [--seed 1] [--scenarios store] [--output FILE.json]

Exits with 1 if a finished run gives anything else than one that was not killed, or leaves temporary files.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

from kills.killing import kill
from kills.scenarios import SCENARIOS


def main() -> int:
    """Kill, print, and write."""
    parser = argparse.ArgumentParser(
        prog="kills", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scenarios", default="", help="only those whose names have this in them")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    began, found = time.monotonic(), {}
    scenarios = [each for each in SCENARIOS if given.scenarios in each.name]
    for number, scenario in enumerate(scenarios):
        share = given.kills * (number + 1) // len(scenarios) - given.kills * number // len(scenarios)
        found[scenario.name] = kill(scenario, share, given.seed)
        print(scenario.name, found[scenario.name].kills, *found[scenario.name].finds, sep="\n   ", flush=True)
    told = {
        "seed": given.seed,
        "seconds": round(time.monotonic() - began),
        "kills": sum(each.kills for each in found.values()),
        "finished_runs": sum(each.runs for each in found.values()),
        "scenarios": {name: {"kills": each.kills, "finished_runs": each.runs} for name, each in found.items()},
        "finds": [find for each in found.values() for find in each.finds],
    }
    if given.output:
        given.output.write_text(json.dumps(told, indent=1) + "\n")
    print(json.dumps(told, indent=1))
    return 1 if told["finds"] else 0


if __name__ == "__main__":
    sys.exit(main())
