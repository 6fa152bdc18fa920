"""Clusters of processes for all tests that leave them as they were."""

import pytest

from engines import ray_cluster, spark_cluster


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
