"""`spark-submit …/neardup/spark.py` on a cluster writes the survivors and duplicates of `neardup dedup`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from engines.corpus_files import rows_of, written
from engines.spark_cluster import MARKS
from neardup import spark

pytestmark = MARKS
SETTINGS = (
    "spark.driver.bindAddress=127.0.0.1",
    "spark.driver.host=127.0.0.1",
    "spark.executor.memory=1g",
    "spark.sql.shuffle.partitions=2",
    "spark.ui.enabled=false",
    "spark.log.level=ERROR",
)


@pytest.fixture(scope="module")
def submit(shared_cluster):
    """Call the command by `spark-submit`, in a folder."""
    import pyspark

    home = Path(pyspark.__file__).parent
    given = [word for setting in SETTINGS for word in ("--conf", setting)]
    environment = os.environ | {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }

    def call(folder, *words):
        command = [home / "bin" / "spark-submit", "--master", shared_cluster.address, *given, spark.__file__, *words]
        return subprocess.run(
            command, env=environment, cwd=folder, capture_output=True, text=True, timeout=500, check=False
        )

    return call


def test_the_command_writes_what_dedup_writes(submit, tmp_path):
    rows = sorted(rows_of(), key=lambda row: row["n"])
    written(tmp_path / "in", rows, files=3)
    usual = ["--min-similarity", "0.6", "--method", "exact", "--keep", "max:n", "--within", "language"]
    done = submit(tmp_path, "in", "-o", "out.parquet", "--order", "n", *usual)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "buckets of about" in done.stdout, "the plan comes first; spark-submit puts errors and output together"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["in", "out.duplicates.parquet", "out.parquet"]

    (tmp_path / "one").mkdir()
    written(tmp_path / "one" / "in", rows, files=1)
    one = [
        sys.executable,
        "-m",
        "neardup",
        "dedup",
        "in/0.parquet",
        "-o",
        "out.parquet",
        "--audit",
        "audit.jsonl",
        *usual,
    ]
    subprocess.run(one, cwd=tmp_path / "one", check=True, capture_output=True)
    audit = [json.loads(line) for line in (tmp_path / "one" / "audit.jsonl").read_text("utf-8").splitlines()]
    ours, theirs = (pq.read_table(folder / "out.parquet").sort_by("n") for folder in (tmp_path, tmp_path / "one"))
    assert ours.select(theirs.column_names).to_pylist() == theirs.to_pylist()
    assert 0 < len(theirs) < len(rows)
    assert decisions(pq.read_table(tmp_path / "out.duplicates.parquet").to_pylist()) == decisions(audit)
    assert f"{len(rows):,} documents → {len(theirs):,} survivors" in done.stdout

    again = submit(tmp_path, "in", "-o", "out.parquet", "--order", "n")
    assert again.returncode == 2
    assert "out.parquet exists. Choose another path, or replace it with --overwrite" in again.stdout
    inside = submit(tmp_path, "in", "-o", "in", "--overwrite", "--order", "n")
    assert inside.returncode == 2
    assert "in is to be written, and is, holds, or lies in what is read" in inside.stdout
    assert len(list((tmp_path / "in").glob("*.parquet"))) == 3


def decisions(rows):
    return sorted((row["id"], row["survivor_id"], row["exact"]) for row in rows)
