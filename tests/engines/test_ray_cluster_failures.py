"""Nodes, workers and drivers die, stores and disks are full, and workers lack what they need: a job on Ray goes on, or says why not."""

import os
import re
import shutil
import subprocess

import numpy as np
import pytest

import neardup as nd
from engines.corpus_files import expected, rows_of, written
from engines.ray_cluster import connected, missing, running
from engines.ray_kills import driver_killed, killed, told
from engines.ray_runs import run, survivors
from neardup.engines.job import cluster_engine
from neardup.engines.ray import calls
from neardup.engines.ray.failures import IdleError

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(1200),  # something dies in each of some thirty stages
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.filterwarnings("ignore"),  # ray's
]


@pytest.fixture(scope="module")
def cluster():
    with running(paths=[os.path.dirname(os.path.dirname(__file__))]) as found:
        yield found


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("node", ("documents", "pairs", "texts again")),
        ("worker", ("documents", "distinct pairs", "ids")),
        pytest.param("node", None, marks=pytest.mark.long),
        pytest.param("worker", None, marks=pytest.mark.long),
    ],
    ids=["nodes in three stages", "workers in three stages", "nodes in each stage", "workers in each stage"],
)
def test_what_dies_in_a_stage_changes_nothing(cluster, tmp_path, what, names):
    with connected(cluster):
        found = killed(cluster, tmp_path, what, names)
    assert found.is_same
    if names is None:
        assert set(found.killed) <= set(found.ran)
        assert len(found.killed) > len(set(found.ran)) / 2  # of few rows, all tasks may run on the head
    else:
        assert sorted(found.killed) == sorted(names)


def test_an_object_store_that_is_full_changes_nothing(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_engine, "SMALL", 0)
    rows = rows_of()
    with connected(cluster) as ray:
        held = [ray.put(np.random.default_rng(seed).bytes(30 << 20)) for seed in range(8)]  # more than the store has
        assert survivors(run(ray.data.read_parquet(written(tmp_path / "in", rows)), tmp_path / "work")) == expected(
            rows
        )
        assert len(ray.get(held[0])) == 30 << 20


@pytest.mark.long
def test_a_driver_that_is_killed_goes_on_when_it_is_started_again(cluster, tmp_path):
    found = driver_killed(cluster, tmp_path, after=8)
    assert found.is_same
    assert found.again <= 1  # the one that was cut short


def test_a_full_disk_is_named(cluster, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(work)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        printed = told(cluster, written(tmp_path / "in", rows_of()), work)
    finally:
        subprocess.run(["umount", "-l", str(work)], check=True)
    assert re.match(r"OSError \[Errno 28\] a disk of the cluster is full.*No space left on device", printed), printed


def test_nodes_that_are_lost_are_given_up(tmp_path, monkeypatch):
    monkeypatch.setenv(calls.PATIENCE, "3")
    with running(cpus=0) as cluster, connected(cluster) as ray:
        dataset = ray.data.read_parquet(written(tmp_path / "in", rows_of()))
        assert len(survivors(run(dataset, tmp_path / "work"))) > 0
        cluster.kill_node(cluster.nodes[0])
        with pytest.raises(
            IdleError, match="No node has had room for a task for 3 seconds: nodes are lost, or have less"
        ):
            run(dataset, tmp_path / "other")


def test_a_worker_without_the_package_is_named(tmp_path):
    package = tmp_path / "path" / "neardup"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'neardup'\")")
    with running(nodes=0, paths=[package.parent]) as cluster, connected(cluster) as ray:
        dataset = ray.data.read_parquet(written(tmp_path / "in", rows_of()))
        with pytest.raises(
            nd.InputError, match="A worker has no neardup. Ship the environment of the driver to all nodes"
        ):
            run(dataset, tmp_path / "work")
