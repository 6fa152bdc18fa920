"""Runs of a job on Spark on the documents of a corpus, and the answer of one machine."""

import os
import sys

from engines import cluster_runs
from engines.corpus_files import OPTIONS
from engines.spark_cluster import INTERPRETED
from neardup import spark as on_spark


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
    for name, value in (settings | INTERPRETED | more).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def run(session, folder, work, *, moved=False, **options):
    """A job on files; with `moved`, on a frame that is copied first, as Spark moves its rows."""
    frame = session.read.parquet(str(folder))
    frame = frame.repartition(3) if moved else frame
    return on_spark.deduplicate(frame, order="n", work=str(work), **(OPTIONS | options))


def survivors(done):
    return sorted(row.n for row in done.survivors.select("n").collect())


def check(session, *given, **options):
    return cluster_runs.check(cluster_runs.SparkRuns(session), *given, **options)
