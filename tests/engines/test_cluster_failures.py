"""Drivers, workers and nodes die, disks are full, and tasks lack what they need: a job goes on, or says in our words why it cannot."""

import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import neardup as nd
from engines import ray_cluster
from engines.cluster_kills import TIMEOUT, await_stages, begun, driver_killed, printed_by
from engines.cluster_runs import RayRuns, run, survivors
from engines.corpus_files import expected, rows_of, written
from engines.ray_cluster import connected
from engines.ray_kills import killed
from engines.spark_kills import workers_killed
from neardup.engines.job import cluster_engine
from neardup.engines.job.failures import IdleError
from neardup.engines.ray import calls

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(1200),  # something dies in each of some thirty stages
    pytest.mark.filterwarnings("ignore"),  # of the clusters
]
RAY, SPARK = pytest.param("ray"), pytest.param("spark", marks=pytest.mark.long)
LONG = pytest.mark.long
RUNS = RayRuns()


@pytest.mark.parametrize(
    ("cluster", "environment", "again"),
    [("spark", {}, 2), ("spark", {"MOVED": "1"}, 2), ("ray", {}, 1)],  # again: the stages that were cut short
    indirect=["cluster"],
    ids=["files on Spark", "a frame that is copied on Spark", "files on Ray"],
)
@pytest.mark.long
def test_a_driver_that_is_killed_goes_on_when_it_is_started_again(cluster, tmp_path, environment, again):
    found = driver_killed(cluster, tmp_path, after=8, **environment)
    assert found.is_same
    assert found.again <= again


@pytest.mark.parametrize("cluster", [SPARK, RAY], indirect=True)
def test_a_full_disk_is_named(cluster, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    size = {"spark": "128k", "ray": "64k"}[cluster.name]
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(work)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        printed = printed_by(cluster, written(tmp_path / "in", rows_of()), work)
    finally:
        subprocess.run(["umount", "-l", str(work)], check=True)
    assert re.match(r"OSError \[Errno 28\] a disk of the cluster is full.*No space left on device", printed), printed


def without_the_package(folder):
    """A folder before others where Python imports."""
    package = folder / "path" / "neardup"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'neardup'\")")
    return package.parent


@pytest.mark.parametrize("cluster", [SPARK], indirect=True)
def test_an_executor_without_the_package_is_named(cluster, tmp_path):
    bare, path = tmp_path / "python", without_the_package(tmp_path)
    bare.write_text(f'#!/bin/sh\nPYTHONPATH={path}:$PYTHONPATH exec {sys.executable} "$@"\n')
    bare.chmod(0o755)
    given = written(tmp_path / "in", rows_of())
    once, pythons = "spark.task.maxFailures=1", {"PYSPARK_PYTHON": str(bare), "PYSPARK_DRIVER_PYTHON": sys.executable}
    printed = printed_by(cluster, given, tmp_path / "work", once, **pythons)
    assert re.match("InputError An executor has no neardup. Ship the environment of the driver", printed), printed


@pytest.mark.parametrize(
    ("cluster", "what", "names"),
    [
        pytest.param("spark", "worker", ("documents", "pairs", "texts again"), marks=LONG),
        pytest.param("spark", "worker", None, marks=LONG),
        ("ray", "node", ("documents", "pairs", "texts again")),
        ("ray", "worker", ("documents", "distinct pairs", "ids")),
        pytest.param("ray", "node", None, marks=LONG),
        pytest.param("ray", "worker", None, marks=LONG),
    ],
    indirect=["cluster"],
)
def test_what_dies_in_a_stage_changes_nothing(cluster, tmp_path, what, names):
    if cluster.name == "spark":
        found = workers_killed(cluster, tmp_path, names)
    else:
        with connected(cluster):
            found = killed(cluster, tmp_path, what, names)
    assert found.is_same
    if names is not None:
        assert sorted(found.killed) == sorted(names)
        return
    assert set(found.killed) <= set(found.ran)
    if cluster.name == "spark":  # a short stage may be over before
        assert len(found.ran) - 3 <= len(found.killed) <= len(found.ran)
    else:  # of few rows, all tasks may run on the head
        assert len(found.killed) > len(set(found.ran)) / 2


@pytest.mark.parametrize("cluster", [RAY], indirect=True)
def test_an_object_store_that_is_full_changes_nothing(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_engine, "SMALL_BYTES", 0)
    rows = rows_of()
    with connected(cluster) as ray:
        held = [ray.put(np.random.default_rng(seed).bytes(30 << 20)) for seed in range(8)]  # more than the store has
        done = run(RUNS, RUNS.read(written(tmp_path / "in", rows)), tmp_path / "work")
        assert survivors(RUNS, done) == expected(rows)
        assert len(ray.get(held[0])) == 30 << 20


@pytest.mark.parametrize("cluster", [SPARK], indirect=True)
def test_a_cluster_that_is_lost_is_given_up(cluster, tmp_path):
    """The last test of this cluster, which it ends."""
    given, work = written(tmp_path / "in", rows_of()), tmp_path / "work"
    driver = begun(cluster, given, work, "spark.neardup.patience=10")
    await_stages(driver, work, 1)
    for worker in cluster.workers:
        os.killpg(worker.pid, 9)
    printed, _ = driver.communicate(timeout=TIMEOUT)
    message = "IdleError No task has run for 10 seconds, though some wait: the executors are lost"
    assert re.match(message, printed), printed


@ray_cluster.NEEDED
def test_nodes_that_are_lost_are_given_up(tmp_path, monkeypatch):
    monkeypatch.setenv(calls.PATIENCE, "3")
    with ray_cluster.running(cpus=0) as cluster, connected(cluster):
        dataset = RUNS.read(written(tmp_path / "in", rows_of()))
        assert len(survivors(RUNS, run(RUNS, dataset, tmp_path / "work"))) > 0
        cluster.kill_node(cluster.nodes[0])
        message = "No node has had room for a task for 3 seconds: nodes are lost, or have less"
        with pytest.raises(IdleError, match=message):
            run(RUNS, dataset, tmp_path / "other")


@ray_cluster.NEEDED
def test_a_worker_without_the_package_is_named(tmp_path):
    with ray_cluster.running(nodes=0, paths=[without_the_package(tmp_path)]) as cluster, connected(cluster):
        dataset = RUNS.read(written(tmp_path / "in", rows_of()))
        message = "A worker has no neardup. Ship the environment of the driver to all nodes"
        with pytest.raises(nd.InputError, match=message):
            run(RUNS, dataset, tmp_path / "work")
