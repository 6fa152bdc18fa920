"""A job on Ray, as a program that a test may kill: ADDRESS INPUT WORK. Prints the survivors, or the error.

The variable SMALL has the bytes up to which stages run on the driver: none, if it is not set.
"""

import os
import sys
import warnings

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    import ray

    from engines.ray_runs import run, survivors
    from neardup.engines.job import cluster_engine

    address, given, work = sys.argv[1:]
    cluster_engine.SMALL = int(os.environ.get("SMALL", "0"))
    ray.init(address=address, log_to_driver=False, logging_level="error", _node_ip_address="127.0.0.1")
    try:
        print("survivors", survivors(run(ray.data.read_parquet(given), work)))
    except Exception as problem:
        print(type(problem).__name__, problem)
        raise SystemExit(2) from None
