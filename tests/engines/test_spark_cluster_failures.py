"""Drivers and workers die, disks are full, and executors lack what they need: a job goes on, or says in our words why it cannot."""

import os
import re
import shutil
import subprocess
import sys
import time

import pytest

from engines.corpus_files import rows_of, written
from engines.spark_cluster import missing, running
from engines.spark_kills import TIMEOUT, begun, driver_killed, told, workers_killed

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(1200),  # something dies in each of some thirty stages
    pytest.mark.long,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.filterwarnings("ignore"),  # pyspark's, of versions of pandas and of sockets
]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with running(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.mark.parametrize("moved", [{}, {"MOVED": "1"}], ids=["files", "a frame that is copied"])
def test_a_driver_that_is_killed_goes_on_when_it_is_started_again(cluster, tmp_path, moved):
    found = driver_killed(cluster, tmp_path, after=8, **moved)
    assert found.is_same
    assert found.again <= 2  # the one that was cut short


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


@pytest.mark.parametrize("names", [("documents", "pairs", "texts again"), None], ids=["three", "each"])
def test_a_worker_that_dies_in_a_stage_changes_nothing(cluster, tmp_path, names):
    found = workers_killed(cluster, tmp_path, names)
    assert found.is_same
    if names is None:  # a short stage may be over before
        assert set(found.killed) <= set(found.ran)
        assert len(found.ran) - 3 <= len(found.killed) <= len(found.ran)
    else:
        assert sorted(found.killed) == sorted(names)


def test_a_cluster_that_is_lost_is_given_up(cluster, tmp_path):
    """The last test of this cluster, which it ends."""
    given, work = written(tmp_path / "in", rows_of()), tmp_path / "work"
    driver, ends = begun(cluster, given, work, "spark.neardup.patience=10"), time.monotonic() + TIMEOUT
    while not list((work / "finished").glob("*.txt")):
        assert time.monotonic() < ends
        assert driver.poll() is None
        time.sleep(0.05)
    for worker in cluster.workers:
        os.killpg(worker.pid, 9)
    printed, _ = driver.communicate(timeout=TIMEOUT)
    assert re.match("IdleError No task has run for 10 seconds, though some wait: the executors are lost", printed), (
        printed
    )
