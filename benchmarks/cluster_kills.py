"""Is the answer of a cluster the same when workers and nodes are killed in each stage, and drivers between stages?

    python benchmarks/cluster_kills.py [--quick] [--output FILE]

Runs `tests/engines/spark_kills.py` on a master and two workers of Spark, and `tests/engines/ray_kills.py` on a head and a second
node of Ray, all as processes. Needs Java and the extras `[spark]` and `[ray]`; with `--only`, one of them.
"""

import argparse
import json
from pathlib import Path

import measure
from reliability import figures

DRIVERS = {False: "8", True: "1"}


def main() -> None:
    """Run, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one driver; writes no results")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="default: benchmarks/results/cluster_kills.json, none with --quick"
    )
    parser.add_argument("--only", choices=("spark", "ray"), help="keep what the result file has of the other")
    given = parser.parse_args()
    result, found = given.output or measure.RESULTS / "cluster_kills.json", {}
    if given.only and result.exists():
        found = json.loads(result.read_text(encoding="utf-8"))
    here = measure.environment(("pyspark", "ray"))
    if given.only != "ray":
        found |= {"environment": here, **figures("engines.spark_kills", ("--drivers", DRIVERS[given.quick]))}
    if given.only != "spark":
        found["ray"] = {"environment": here, **figures("engines.ray_kills", ("--drivers", DRIVERS[given.quick]))}
    print(found, flush=True)
    measure.write_json(given.output if given.quick else result, found)


if __name__ == "__main__":
    main()
