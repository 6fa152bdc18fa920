"""Is the answer of a cluster of Spark the same when workers are killed in each stage, and drivers between stages?

    python benchmarks/cluster_kills.py [--quick] [--output FILE]

Runs `tests/engines/spark_kills.py` on a master and two workers, as processes. Needs Java and the extra `[spark]`.
"""

import argparse
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
    given = parser.parse_args()
    found = figures("engines.spark_kills", ("--drivers", DRIVERS[given.quick]))
    print(found, flush=True)
    usual = None if given.quick else measure.RESULTS / "cluster_kills.json"
    measure.write_json(given.output or usual, {"environment": measure.environment(("pyspark",)), **found})


if __name__ == "__main__":
    main()
