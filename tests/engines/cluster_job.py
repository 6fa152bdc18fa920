"""A job on a cluster, as a program that a test may kill: ENGINE ADDRESS INPUT WORK [SETTING=VALUE …]. Prints the survivors, or the error.

The variable SMALL has the bytes up to which stages run on the driver: none, if it is not set. With MOVED, rows are moved first.
"""

import os
import sys
import warnings

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    from engines.cluster_runs import RayRuns, SparkRuns, run, survivors
    from neardup.engines.job import cluster_engine

    name, address, given, work, *settings = sys.argv[1:]
    cluster_engine.SMALL_BYTES = int(os.environ.get("SMALL", "0"))
    if name == "spark":
        from engines.spark_cluster import session_on

        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        engine = SparkRuns(session_on(address, **dict(setting.split("=", 1) for setting in settings)))
    else:
        import ray

        ray.init(address=address, log_to_driver=False, logging_level="error", _node_ip_address="127.0.0.1")
        engine = RayRuns()
    try:
        rows = engine.read(given)
        print("survivors", survivors(engine, run(engine, rows.repartition(3) if "MOVED" in os.environ else rows, work)))
    except Exception as problem:
        print(type(problem).__name__, problem)
        raise SystemExit(2) from None
