"""A cluster of processes for all tests that leave it as it was."""

import os
import sys

import pytest

from engines.spark_cluster import Cluster, missing


@pytest.fixture(scope="session")
def shared_cluster(tmp_path_factory):
    if missing() is not None:
        pytest.skip(str(missing()))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        found.start()
        yield found
    finally:
        found.stop()
