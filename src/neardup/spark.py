"""De-duplicate data frames of Spark, with the answer of `neardup dedup`. Needs the extra `neardup[spark]`, and Java 17.

`spark-submit …/neardup/spark.py` and `python -m neardup.spark` are a command: `cli/engines/on_spark.py`.
"""

import os
import sys

# The folder of a script comes first, and modules of this one, such as `io` and `text`, would hide others.
if __name__ == "__main__" and os.path.realpath(sys.path[0]) == os.path.dirname(os.path.realpath(__file__)):
    del sys.path[0]

from neardup.engines.spark.functions import (
    SparkPassages,
    SparkResult,
    clusters,
    deduplicate,
    filter_new,
    fingerprint,
    pairs,
    passages,
    plan,
)

__all__ = [
    "SparkPassages",
    "SparkResult",
    "clusters",
    "deduplicate",
    "filter_new",
    "fingerprint",
    "pairs",
    "passages",
    "plan",
]

if __name__ == "__main__":
    from neardup.cli.engines.on_spark import main

    main()
