"""Runs of a job on Spark on the documents of a corpus, and the answer of one machine."""

import os
import sys

import neardup as nd
from agreement import corpora
from engines.corpus_files import OPTIONS, numbered, same, written
from engines.spark_cluster import INTERPRETED
from neardup import spark as on_spark
from neardup.engines.job import cluster_engine


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


def check(session, tmp_path, name, options, files=3, *, small=0, shuffled=False, dealt=True):
    """Compare a run on Spark with `deduplicate`. `small`: bytes up to which the driver runs a stage. Returns its stages."""
    corpus = corpora.make(name)
    rows, against = numbered(corpus.rows), numbered(corpus.reference) or None
    expected = nd.deduplicate(rows, against=against, **options)
    frame = session.read.parquet(written(tmp_path / "in", rows, files, dealt=dealt))
    if shuffled:
        frame = frame.repartition(5, "text").sortWithinPartitions("n")
    reference = session.read.parquet(written(tmp_path / "ref", against, 1)) if against else None
    before, cluster_engine.SMALL = cluster_engine.SMALL, small
    try:
        done = on_spark.deduplicate(frame, order="n", against=reference, work=str(tmp_path / "work"), **options)
        assert sorted(row.n for row in done.survivors.collect()) == [row["n"] for row in expected.survivors]
        found = {row.id: row.asDict() for row in done.duplicates.collect()}
    finally:
        cluster_engine.SMALL = before
    lines = expected.duplicates.to_pylist()
    assert found.keys() == {line["id"] for line in lines}
    for line in lines:
        columns = ["survivor_id", "exact", "distance"] + ["similarity"] * (options.get("cluster") != "components")
        assert all(same(found[line["id"]][column], line[column]) for column in columns), (line, found[line["id"]])
        assert found[line["id"]]["cluster_id"] == rows[line["cluster_id"]]["id"]
    done.close()
    return done.stages
