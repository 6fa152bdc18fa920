"""The notebook of the cookbook that runs Spark shows what it prints."""

import pytest

from engines.spark_cluster import INTERPRETED, MARKS
from notebook_runs import NOTEBOOKS, shows_what_it_prints

pytestmark = [*MARKS, pytest.mark.timeout(900)]  # a session of its own, besides other tests


def test_the_notebook_of_spark_shows_what_it_prints(monkeypatch):
    pytest.importorskip("pandas")
    settings = [f"--conf {name}={value}" for name, value in INTERPRETED.items()]
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", " ".join([*settings, "pyspark-shell"]))
    [path] = [path for path in NOTEBOOKS if "spark" in path.name]
    shows_what_it_prints(path)
