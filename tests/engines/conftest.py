"""A cluster of processes for all tests that leave it as it was."""

import pytest

from engines.spark_cluster import missing, running


@pytest.fixture(scope="session")
def shared_cluster(tmp_path_factory):
    if missing() is not None:
        pytest.skip(str(missing()))
    with running(tmp_path_factory.mktemp("cluster")) as found:
        yield found
