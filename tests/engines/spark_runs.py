"""Runs of a job on Spark on the documents of a corpus, and the answer of one machine."""

import importlib.util
import os
import shutil
import sys

import pyarrow as pa
import pyarrow.parquet as pq

import neardup as nd
from agreement import corpora
from neardup import spark as on_spark

OPTIONS = {"method": "exact", "min_similarity": 0.6}
SCHEMA = pa.schema([("id", pa.string()), ("text", pa.string()), ("language", pa.string()), ("n", pa.int64())])


def missing():
    """Why there can be no Spark; None if there can."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed: make test-cluster installs it"
    return None if shutil.which("java") else "there is no Java: make java installs it"


def local_session(cores=2, **more):
    """A session of this process alone."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master(f"local[{cores}]")
    for name, value in (settings | more).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def rows_of(name="mixture"):
    return [{**row, "n": number} for number, row in enumerate(corpora.make(name).rows)]


def written(folder, rows, files=3):
    """A folder of Parquet files, with the rows dealt to them in turn."""
    folder.mkdir()
    for number in range(files):
        some = [row for row in rows if row["n"] % files == number]
        pq.write_table(pa.Table.from_pylist(some, SCHEMA), folder / f"{number}.parquet")
    return str(folder)


def run(session, folder, work, *, moved=False, **options):
    """A job on files; with `moved`, on a frame that is copied first, as Spark moves its rows."""
    frame = session.read.parquet(str(folder))
    frame = frame.repartition(3) if moved else frame
    return on_spark.deduplicate(frame, order="n", work=str(work), **(OPTIONS | options))


def survivors(done):
    return sorted(row.n for row in done.survivors.select("n").collect())


def expected(rows, **options):
    return [row["n"] for row in nd.deduplicate(rows, **(OPTIONS | options)).survivors]
