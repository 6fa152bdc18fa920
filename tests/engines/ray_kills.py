"""Kill nodes and workers of a cluster of Ray while tasks of its stages run, and drivers between stages: is the answer the same?

    python -m engines.ray_kills [--drivers 8] [--output FILE]

In each stage of a job, which all run as tasks, a node is killed while it runs a task, and replaced; in another job, a worker.
Drivers are killed after so many finished stages as are spread over a job, and the job is started again. Exits with 1 if anything
differs.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from engines import ray_slow
from engines.corpus_files import expected, rows_of, written
from engines.ray_cluster import SETTINGS, connected, running
from engines.ray_runs import run, survivors
from neardup.engines.job import cluster_engine, folder_engine
from neardup.engines.ray import calls

TESTS = Path(__file__).parents[1]
TIMEOUT = 400


class Killed(NamedTuple):
    """Of a job whose nodes or workers were killed: the stages that ran as tasks, those in which one was, whether the answer is the same."""

    ran: list
    killed: list
    is_same: bool


class Driver(NamedTuple):
    """Of a driver that was killed: how many stages it had finished that ran again, and whether the answer is the same."""

    again: int
    is_same: bool


def begun(cluster, given, work, **environment):
    """A driver of its own."""
    command = [sys.executable, "-m", "engines.ray_job", cluster.address, given, work]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True, "start_new_session": True}
    return subprocess.Popen([*map(str, command)], cwd=TESTS, env=os.environ | SETTINGS | environment, **pipes)


def told(cluster, given, work, **environment):
    """What a driver prints; it must end within `TIMEOUT` seconds."""
    printed, _ = begun(cluster, given, work, **environment).communicate(timeout=TIMEOUT)
    return printed


def driver_killed(cluster, folder, *, after, **environment):
    """Kill a driver when it has finished so many stages, and start it again."""
    rows = rows_of()
    given, work = written(folder / "in", rows), folder / "work"
    driver, ends = begun(cluster, given, work, **environment), time.monotonic() + TIMEOUT
    while len(list((work / "finished").glob("*.json"))) < after:
        assert time.monotonic() < ends
        assert driver.poll() is None
        time.sleep(0.05)
    os.killpg(driver.pid, 9)
    driver.wait()
    before = {path.name for path in (work / "rows").iterdir()}
    printed = told(cluster, given, work, SMALL="16000000", **environment)
    stages = [path.name[:3] for path in (work / "rows").iterdir()]
    return Driver(sum(stages.count(name[:3]) > 1 for name in before), printed == f"survivors {expected(rows)}\n")


def killed(cluster, folder, what, names=None):
    """Kill in each of some stages, or in all, while a task of it runs there.

    Args:
        cluster: whose second node is killed, or a worker there; this process is its driver.
        folder: of the job.
        what: "node" or "worker".
        names: of stages; all, if none are given.
    """
    import ray

    rows, done, slow = rows_of(), [], folder / "slow"
    slow.mkdir()
    called = calls.Calls.run
    head = ray.get_runtime_context().get_node_id()

    def kill(name):
        while not (slow / f"go {name}").exists():
            for file in slow.glob(f"{name}:*"):
                _, node, pid, _ = file.name.split(":")
                if node != head:
                    if what == "node":
                        cluster.kill_node(cluster.nodes[0])
                    else:
                        os.kill(int(pid), 9)
                    done.append(name)
                    (slow / f"go {name}").touch()
                    return
            time.sleep(0.01)

    def call(self, name, work, some, *shared):
        slowed = {folder_engine.run_buckets: ray_slow.run, folder_engine.read_files: ray_slow.read}
        if work not in slowed or name in done or (names is not None and name not in names):
            yield from called(self, name, work, some, *shared)
            return
        thread = threading.Thread(target=kill, args=(name,))
        thread.start()
        ends = threading.Timer(10, (slow / f"go {name}").touch)  # no task may have come to the second node
        ends.start()
        try:
            yield from called(self, name, slowed[work], some, str(slow), *shared)
        finally:
            (slow / f"go {name}").touch()
            ends.cancel()
            thread.join()
            if not cluster.nodes:
                cluster.add_node()

    with patch.object(calls.Calls, "run", call), patch.object(cluster_engine, "SMALL", 0):
        found = run(ray.data.read_parquet(written(folder / "in", rows)), folder / "work")
        ran = [
            stage.name
            for stage in found.stages
            if stage.ran == "cluster" and stage.name not in ("plan", cluster_engine.ASCENT)
        ]
    return Killed(ran, done, survivors(found) == expected(rows))


def main():
    """Kill, count, compare."""
    parser = argparse.ArgumentParser(prog="engines.ray_kills", description=__doc__)
    parser.add_argument("--drivers", type=int, default=8)
    parser.add_argument("--seed", type=int, help="taken for the sake of its callers: nothing here is drawn")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    began, figures = time.monotonic(), {"stages": 0, "different": 0, "drivers_killed": 0, "stages_again": 0}
    with tempfile.TemporaryDirectory() as name, running(paths=[TESTS]) as cluster:
        with connected(cluster):
            for what in ("node", "worker"):
                folder = Path(name) / what
                folder.mkdir()
                found = killed(cluster, folder, what)
                print(what, found, flush=True)
                figures |= {"stages": len(set(found.ran)), f"{what}s_killed": len(found.killed)}
                figures["different"] += not found.is_same
        for number in range(given.drivers):
            folder = Path(name) / str(number)
            folder.mkdir()
            driver = driver_killed(cluster, folder, after=1 + number * 30 // max(given.drivers, 1))
            figures["drivers_killed"] += 1
            figures["stages_again"] += driver.again
            figures["different"] += not driver.is_same
            print(number, driver, flush=True)
    figures["seconds"] = round(time.monotonic() - began)
    print(json.dumps(figures), flush=True)
    if given.output:
        given.output.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 1 if figures["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
