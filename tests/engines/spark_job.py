"""A job on a cluster, as a program that a test may kill: MASTER INPUT WORK [SETTING=VALUE …]. Prints the survivors, or the error.

The variable SMALL has the bytes up to which stages run on the driver: none, if it is not set. With MOVED, Spark moves the rows first.
"""

import os
import sys
import warnings

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    from engines.spark_cluster import session_on
    from engines.spark_runs import run, survivors
    from neardup.engines.job import cluster_engine

    master, given, work, *settings = sys.argv[1:]
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    cluster_engine.SMALL = int(os.environ.get("SMALL", "0"))
    session = session_on(master, **dict(setting.split("=", 1) for setting in settings))
    try:
        print("survivors", survivors(run(session, given, work, moved="MOVED" in os.environ)))
    except Exception as problem:
        print(type(problem).__name__, problem)
        raise SystemExit(2) from None
