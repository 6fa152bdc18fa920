"""Drivers and workers die, disks are full, and executors lack what they need: a job goes on, or says in our words why it cannot."""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from engines.spark_cluster import running, session_on
from engines.spark_runs import expected, missing, rows_of, run, survivors, written
from neardup.engines.spark import engine

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.long,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.filterwarnings("ignore"),  # pyspark's, of versions of pandas and of sockets
]
TESTS = Path(__file__).parents[1]
ENOUGH = 8
"""Finished stages after which a driver is killed."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with running(tmp_path_factory.mktemp("cluster")) as found:
        yield found


def begun(cluster, given, work, *settings, **environment):
    """A driver of its own."""
    command = [sys.executable, "-m", "engines.spark_job", cluster.url, given, work, *settings]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True, "start_new_session": True}
    return subprocess.Popen([*map(str, command)], cwd=TESTS, env=os.environ | environment, **pipes)


def told(cluster, given, work, *settings, **environment):
    """What a driver prints; it must end within two minutes."""
    printed, _ = begun(cluster, given, work, *settings, **environment).communicate(timeout=120)
    return printed


@pytest.mark.parametrize("moved", [{}, {"MOVED": "1"}], ids=["files", "a frame that is copied"])
def test_a_driver_that_is_killed_goes_on_when_it_is_started_again(cluster, tmp_path, moved):
    rows = rows_of()
    given, work = written(tmp_path / "in", rows), tmp_path / "work"
    driver, ends = begun(cluster, given, work, **moved), time.monotonic() + 120
    while len(list((work / "finished").glob("*.txt"))) < ENOUGH:
        assert time.monotonic() < ends
        assert driver.poll() is None
        time.sleep(0.05)
    os.killpg(driver.pid, 9)
    driver.wait()
    before = {path.name for path in (work / "rows").iterdir()}
    assert told(cluster, given, work, SMALL="16000000", **moved) == f"survivors {expected(rows)}\n"
    after = {path.name for path in (work / "rows").iterdir()}
    stages = [name[:3] for name in after]
    assert sum(stages.count(name[:3]) > 1 for name in before) <= 2  # of the one that was cut short


def test_an_executor_without_the_package_is_named(cluster, tmp_path):
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    bare.chmod(0o755)
    package = tmp_path / "path" / "neardup"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'neardup'\")")
    given = written(tmp_path / "in", rows_of())
    bare.write_text(f'#!/bin/sh\nPYTHONPATH={package.parent}:$PYTHONPATH exec {sys.executable} "$@"\n')
    once, pythons = "spark.task.maxFailures=1", {"PYSPARK_PYTHON": str(bare), "PYSPARK_DRIVER_PYTHON": sys.executable}
    printed = told(cluster, given, tmp_path / "work", once, **pythons)
    assert re.match("InputError An executor has no neardup. Ship the environment of the driver", printed), printed


def test_a_full_disk_is_named(cluster, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(work)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        printed = told(cluster, written(tmp_path / "in", rows_of()), work)
    finally:
        subprocess.run(["umount", "-l", str(work)], check=True)
    assert re.match(r"OSError \[Errno 28\] a disk of the cluster is full.*No space left on device", printed), printed


def killed_in(cluster, monkeypatch, names):
    """Kill a worker while tasks of the stages run, and start another. Returns the names of those where it was done."""
    materialized, killed = engine.SparkEngine._materialized, []

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

    monkeypatch.setattr(engine.SparkEngine, "_materialized", materialize)
    monkeypatch.setattr(engine, "SMALL", 0)
    return killed


def check_workers(cluster, tmp_path, monkeypatch, names):
    rows, killed = rows_of(), killed_in(cluster, monkeypatch, names)
    session = session_on(cluster.url)
    try:
        done = run(session, written(tmp_path / "in", rows), tmp_path / "work")
        assert survivors(done) == expected(rows)
        ran = [stage.name for stage in done.stages if stage.ran == "cluster"]
    finally:
        session.stop()
    assert killed == ran if names is None else sorted(killed) == sorted(names)


def test_a_worker_that_dies_in_a_stage_changes_nothing(cluster, tmp_path, monkeypatch):
    check_workers(cluster, tmp_path, monkeypatch, ("documents", "pairs", "texts again"))


def test_a_worker_that_dies_in_each_stage_changes_nothing(cluster, tmp_path, monkeypatch):
    check_workers(cluster, tmp_path, monkeypatch, None)


def test_a_cluster_that_is_lost_is_given_up(cluster, tmp_path):
    """The last test of this cluster, which it ends."""
    given, work = written(tmp_path / "in", rows_of()), tmp_path / "work"
    driver, ends = begun(cluster, given, work, "spark.neardup.patience=10"), time.monotonic() + 120
    while not list((work / "finished").glob("*.txt")):
        assert time.monotonic() < ends
        assert driver.poll() is None
        time.sleep(0.05)
    for worker in cluster.workers:
        os.killpg(worker.pid, 9)
    printed, _ = driver.communicate(timeout=120)
    assert re.match("IdleError No task has run for 10 seconds, though some wait: the executors are lost", printed), (
        printed
    )
