"""Clusters of processes for all tests that leave them as they were."""

import pytest

from engines import ray_cluster, spark_cluster
from engines.cluster_kills import TESTS
from engines.cluster_runs import FailureError, RayRuns, SparkRuns
from engines.spark_cluster import local_session, session_on
from neardup.engines.job.checkpoint import Kept


@pytest.fixture(scope="session")
def shared_cluster(tmp_path_factory):
    if spark_cluster.missing() is not None:
        pytest.skip(str(spark_cluster.missing()))
    with spark_cluster.running(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture(scope="session")
def shared_nodes():
    """A head and a second node of Ray."""
    if ray_cluster.missing() is not None:
        pytest.skip(str(ray_cluster.missing()))
    with ray_cluster.running() as found:
        yield found


@pytest.fixture(scope="module")
def shared_ray(shared_nodes):
    """Those, and this process is a driver of them: of one cluster at a time, so no longer than a module."""
    with ray_cluster.connected(shared_nodes):
        yield shared_nodes


def runs_on(request, start):
    """Runs on a cluster. `start`: makes the session of Spark."""
    if request.param == "ray":
        request.getfixturevalue("shared_ray")
        yield RayRuns()
        return
    if spark_cluster.missing() is not None:
        pytest.skip(str(spark_cluster.missing()))
    session = start()
    yield SparkRuns(session)
    session.stop()


@pytest.fixture(scope="module")
def cluster(request, tmp_path_factory):
    """A cluster of processes, which tests may kill."""
    module = {"ray": ray_cluster, "spark": spark_cluster}[request.param]
    if module.missing() is not None:
        pytest.skip(str(module.missing()))
    how = {"paths": [TESTS]} if request.param == "ray" else {"folder": tmp_path_factory.mktemp("cluster")}
    with module.running(**how) as found:
        yield found


@pytest.fixture(scope="module", params=["spark", "ray"])
def engine(request):
    """Each cluster in turn: Spark in this process, and Ray on two nodes."""
    yield from runs_on(request, local_session)


@pytest.fixture(scope="module", params=["spark", "ray"])
def processes(request):
    """Each cluster in turn, as processes."""
    yield from runs_on(request, lambda: session_on(request.getfixturevalue("shared_cluster").address))


@pytest.fixture(scope="module")
def session():
    """Of Spark in this process."""
    found = local_session()
    yield found
    found.stop()


@pytest.fixture
def failing(monkeypatch):
    """A run fails when so many stages have been written, before or after it is written down that they are finished."""
    left, finish = {"stages": None, "is_noted": True}, Kept.finish

    def finish_or_fail(self, number, path, measured):
        fails = left["stages"] is not None and left["stages"] <= 1
        if not fails or left["is_noted"]:
            finish(self, number, path, measured)
        if fails:
            raise FailureError
        if left["stages"] is not None:
            left["stages"] -= 1

    monkeypatch.setattr(Kept, "finish", finish_or_fail)
    return left
