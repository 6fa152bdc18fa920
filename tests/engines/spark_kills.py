"""Kill workers of a cluster of Spark while tasks of its stages run, and drivers between stages: is the answer the same?

    python -m engines.spark_kills [--drivers 8] [--output FILE]

A worker is killed in each stage of a job that runs on the cluster, unless that is over before, and replaced. Drivers are killed after so many finished stages as
are spread over a job, half of them with a frame that is copied first, and the job is started again. Exits with 1 if anything differs.
"""

import os
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from unittest.mock import patch

from engines.cluster_kills import Killed, arguments, drivers_killed, reported
from engines.cluster_runs import SparkRuns, removal
from engines.spark_cluster import running, session_on
from neardup.engines.job import cluster_engine
from neardup.engines.spark.engine import SparkEngine


def workers_killed(cluster, folder, names=None, job=removal):
    """Kill a worker in each of some stages of a job, or in all, while tasks of it run, and start another one."""
    killed = []
    materialized = SparkEngine._materialized

    def materialize(self, name, *more):
        number = len(self.measured)
        if names is not None and (name not in names or name in killed):
            return materialized(self, name, *more)
        tracker, over = self.session.sparkContext.statusTracker(), threading.Event()

        def kill():
            while not over.wait(0.01):
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                if any(stage is not None and stage.numActiveTasks for stage in stages):
                    worker = cluster.workers[number % 2]
                    os.killpg(worker.pid, 9)
                    worker.wait()
                    killed.append(name)
                    return

        thread = threading.Thread(target=kill)
        thread.start()
        try:
            return materialized(self, name, *more)
        finally:
            over.set()
            thread.join()
            if cluster.workers[number % 2].poll() is not None:
                cluster.workers[number % 2] = cluster.started()

    with patch.object(SparkEngine, "_materialized", materialize), patch.object(cluster_engine, "SMALL_BYTES", 0):
        engine = SparkRuns(session_on(cluster.address))
        try:
            stages, is_same = job(engine, folder)
            looks = ("look at ids", "plan", cluster_engine.ASCENT)  # at the input, before the stages
            ran = [stage.name for stage in stages if stage.ran == "cluster" and stage.name not in looks]
        finally:
            engine.session.stop()
    return Killed(ran, killed, is_same)


def main():
    """Kill, count, compare."""
    given, began = arguments("engines.spark_kills", __doc__), time.monotonic()
    warnings.simplefilter("ignore")  # pyspark's, of versions of pandas
    with tempfile.TemporaryDirectory() as name, running(name) as cluster:
        folder = Path(name) / "workers"
        folder.mkdir()
        workers = workers_killed(cluster, folder)
        figures = {
            "stages": len(workers.ran),
            "workers_killed": len(workers.killed),
            "different": int(not workers.is_same),
        }
        drivers_killed(cluster, Path(name), given, figures, len(workers.ran) - 2, ({}, {"MOVED": "1"}))
    return reported(figures, began, given.output)


if __name__ == "__main__":
    sys.exit(main())
