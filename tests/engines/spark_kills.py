"""Kill workers of a cluster of Spark while tasks of its stages run, and drivers between stages: is the answer the same?

    python -m engines.spark_kills [--drivers 8] [--output FILE]

A worker is killed in each stage of a job that runs on the cluster, unless that is over before, and replaced. Drivers are killed after so many finished stages as
are spread over a job, half of them with a frame that is copied first, and the job is started again. Exits with 1 if anything differs.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from engines.corpus_files import expected, rows_of, written
from engines.spark_cluster import running, session_on
from engines.spark_runs import run, survivors
from neardup.engines.job import cluster_engine
from neardup.engines.spark import engine

TESTS = Path(__file__).parents[1]
TIMEOUT = 400


class Workers(NamedTuple):
    """Of a job whose workers were killed: the stages that ran on the cluster, those in which one was, whether the answer is the same."""

    ran: list
    killed: list
    is_same: bool


class Driver(NamedTuple):
    """Of a driver that was killed: how many stages it had finished that ran again, and whether the answer is the same."""

    again: int
    is_same: bool


def begun(cluster, given, work, *settings, **environment):
    """A driver of its own."""
    command = [sys.executable, "-m", "engines.spark_job", cluster.url, given, work, *settings]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True, "start_new_session": True}
    return subprocess.Popen([*map(str, command)], cwd=TESTS, env=os.environ | environment, **pipes)


def told(cluster, given, work, *settings, **environment):
    """What a driver prints; it must end within `TIMEOUT` seconds."""
    printed, _ = begun(cluster, given, work, *settings, **environment).communicate(timeout=TIMEOUT)
    return printed


def driver_killed(cluster, folder, *, after, **environment):
    """Kill a driver when it has finished so many stages, and start it again."""
    rows = rows_of()
    given, work = written(folder / "in", rows), folder / "work"
    driver, ends = begun(cluster, given, work, **environment), time.monotonic() + TIMEOUT
    while len(list((work / "finished").glob("*.txt"))) < after:
        assert time.monotonic() < ends
        assert driver.poll() is None
        time.sleep(0.05)
    os.killpg(driver.pid, 9)
    driver.wait()
    before = {path.name for path in (work / "rows").iterdir()}
    printed = told(cluster, given, work, SMALL="16000000", **environment)
    stages = [path.name[:3] for path in (work / "rows").iterdir()]
    return Driver(sum(stages.count(name[:3]) > 1 for name in before), printed == f"survivors {expected(rows)}\n")


def workers_killed(cluster, folder, names=None):
    """Kill a worker in each of some stages, or in all, while tasks of it run, and start another one."""
    rows, killed = rows_of(), []
    materialized = engine.SparkEngine._materialized

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

    with patch.object(engine.SparkEngine, "_materialized", materialize), patch.object(cluster_engine, "SMALL", 0):
        session = session_on(cluster.url)
        try:
            done = run(session, written(folder / "in", rows), folder / "work")
            is_same = survivors(done) == expected(rows)
            looks = ("look at ids", "plan", cluster_engine.ASCENT)  # at the input, before the stages
            ran = [stage.name for stage in done.stages if stage.ran == "cluster" and stage.name not in looks]
        finally:
            session.stop()
    return Workers(ran, killed, is_same)


def main():
    """Kill, count, compare."""
    parser = argparse.ArgumentParser(prog="engines.spark_kills", description=__doc__)
    parser.add_argument("--drivers", type=int, default=8)
    parser.add_argument("--seed", type=int, help="taken for the sake of its callers: nothing here is drawn")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # pyspark's, of versions of pandas
    with tempfile.TemporaryDirectory() as name, running(name) as cluster:
        folders = (Path(name) / str(number) for number in range(given.drivers + 1))
        began, folder = time.monotonic(), next(folders)
        folder.mkdir()
        workers = workers_killed(cluster, folder)
        figures = {
            "stages": len(workers.ran), "workers_killed": len(workers.killed), "drivers_killed": 0, "stages_again": 0,
            "different": int(not workers.is_same),
        }  # fmt: skip
        for number, folder in enumerate(folders):
            folder.mkdir()
            after = 1 + number * (len(workers.ran) - 2) // max(given.drivers, 1)
            driver = driver_killed(cluster, folder, after=after, **({"MOVED": "1"} if number % 2 else {}))
            figures["drivers_killed"] += 1
            figures["stages_again"] += driver.again
            figures["different"] += not driver.is_same
            print(after, driver, flush=True)
    figures["seconds"] = round(time.monotonic() - began)
    print(json.dumps(figures), flush=True)
    if given.output:
        given.output.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 1 if figures["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
