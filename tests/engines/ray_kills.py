"""Kill nodes and workers of a cluster of Ray while tasks of its stages run, and drivers between stages: is the answer the same?

    python -m engines.ray_kills [--drivers 8] [--output FILE]

In each stage of a job, which all run as tasks, a node is killed while it runs a task, and replaced; in another job, a worker.
Drivers are killed after so many finished stages as are spread over a job, and the job is started again. Exits with 1 if anything
differs.
"""

import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from unittest.mock import patch

from engines import ray_slow
from engines.cluster_kills import TESTS, Killed, arguments, drivers_killed, reported
from engines.cluster_runs import RayRuns, removal
from engines.ray_cluster import connected, running
from neardup.engines.job import cluster_engine, folder_engine
from neardup.engines.ray import calls


def killed(cluster, folder, what, names=None, job=removal):
    """Kill in each of some stages, or in all, while a task of it runs there.

    Args:
        cluster: whose second node is killed, or a worker there; this process is its driver.
        folder: of the job.
        what: "node" or "worker".
        names: of stages; all, if none are given.
        job: what runs one, as `removal` does.
    """
    import ray

    done, slow = [], folder / "slow"
    # Of all stages, some have no task for the second node; of named ones, each has, as soon as a new node has come, on a busy machine too.
    patience = 10 if names is None else 120
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
        ends = threading.Timer(patience, (slow / f"go {name}").touch)
        ends.start()
        try:
            yield from called(self, name, slowed[work], some, str(slow), *shared)
        finally:
            (slow / f"go {name}").touch()
            ends.cancel()
            thread.join()
            if not cluster.nodes:
                cluster.add_node()

    with patch.object(calls.Calls, "run", call), patch.object(cluster_engine, "SMALL_BYTES", 0):
        stages, is_same = job(RayRuns(), folder)
        looks = ("plan", cluster_engine.ASCENT)
        ran = [stage.name for stage in stages if stage.ran == "cluster" and stage.name not in looks]
    return Killed(ran, done, is_same)


def main():
    """Kill, count, compare."""
    given, began = arguments("engines.ray_kills", __doc__), time.monotonic()
    figures = {"stages": 0, "different": 0}
    with tempfile.TemporaryDirectory() as name, running(paths=[TESTS]) as cluster:
        with connected(cluster):
            for what in ("node", "worker"):
                folder = Path(name) / what
                folder.mkdir()
                found = killed(cluster, folder, what)
                print(what, found, flush=True)
                figures |= {"stages": len(set(found.ran)), f"{what}s_killed": len(found.killed)}
                figures["different"] += not found.is_same
        drivers_killed(cluster, Path(name), given, figures, 30)
    return reported(figures, began, given.output)


if __name__ == "__main__":
    sys.exit(main())
