"""What the tests of all clusters need of each: how it reads rows and gives them back; and a run that is compared with one machine."""

from unittest.mock import patch

import pyarrow as pa

import neardup as nd
from agreement import corpora
from engines.corpus_files import OPTIONS, expected, numbered, rows_of, same, with_traps, written
from neardup import ray as on_ray
from neardup import spark
from neardup.engines.job import cluster_engine
from neardup.engines.ray import job as ray_job
from neardup.engines.ray.engine import RayEngine
from neardup.engines.spark import engine as spark_engine


class FailureError(Exception):
    """What a test makes a run fail with."""


class SparkRuns:
    """Runs on Spark.

    Attributes:
        order: the stage that puts rows in order.
        words: what messages call what holds rows.
        versioned: the module that tells tasks the version of the driver.
    """

    name, order, words = "spark", "order", "frame"
    functions, engine, versioned = spark, spark_engine.SparkEngine, spark_engine

    def __init__(self, session):
        self.session = session

    def read(self, folder, kind="parquet"):
        return self.session.read.format(kind).load(str(folder))

    def of(self, rows, kinds=None):
        """Rows in memory. `kinds`: of columns, in the order of these; `int` or `string`."""
        if kinds is None:
            return self.session.createDataFrame(rows)
        columns = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
        return self.session.createDataFrame([tuple(row[name] for name in kinds) for row in rows], columns)

    def of_table(self, table):
        """Rows of a table of Arrow, with its types."""
        return self.session.createDataFrame(table)

    def without(self, frame, name):
        return frame.drop(name)

    def shuffled(self, frame):
        return frame.repartition(5, "text").sortWithinPartitions("n")

    def rows(self, frame):
        return [row.asDict() for row in frame.collect()]


class RayRuns:
    """Runs on Ray."""

    name, order, words = "ray", "columns of order", "dataset"
    functions, engine, versioned = on_ray, RayEngine, ray_job

    def read(self, folder, kind="parquet"):
        import ray

        return getattr(ray.data, f"read_{kind}")(str(folder))

    def of(self, rows, kinds=None):
        import ray

        if kinds is None:
            return ray.data.from_items(rows)
        types = {"int": pa.int32(), "string": pa.string()}
        schema = pa.schema({name: types[kind] for name, kind in kinds.items()})
        return ray.data.from_arrow(pa.Table.from_pylist(rows, schema))

    def of_table(self, table):
        """Rows of a table of Arrow, with its types."""
        import ray

        return ray.data.from_arrow(table)

    def without(self, dataset, name):
        return dataset.drop_columns([name])

    def shuffled(self, dataset):
        return dataset.random_shuffle(seed=7)

    def rows(self, dataset):
        return list(dataset.iter_rows())


def run(engine, rows, work, **options):
    """A job."""
    return engine.functions.deduplicate(rows, work=str(work), **({"order": "n"} | OPTIONS | options))


def survivors(engine, done):
    return sorted(row["n"] for row in engine.rows(done.survivors))


def removal(engine, folder):
    """Run a job in a folder. Returns its stages, and whether the answer is that of one machine."""
    rows = rows_of()
    done = run(engine, engine.read(written(folder / "in", rows)), folder / "work")
    return done.stages, survivors(engine, done) == expected(rows)


def change_before(engine, monkeypatch, name, change):
    """Do something before a stage runs."""
    ran = engine.engine.run

    def changing(self, stage, *inputs):
        if stage.name == name:
            change()
        return ran(self, stage, *inputs)

    monkeypatch.setattr(engine.engine, "run", changing)


def check(engine, tmp_path, name, options, files=3, *, small=0, shuffled=False, dealt=True):
    """Compare a run with `deduplicate`, on a corpus or the one of a name. `small`: bytes up to which the driver runs a stage.

    Returns its stages.
    """
    corpus = corpora.make(name) if isinstance(name, str) else name
    rows, against = with_traps(numbered(corpus.rows)), with_traps(numbered(corpus.reference)) or None
    expected = nd.deduplicate(rows, against=against, **options)
    given = engine.read(written(tmp_path / "in", rows, files, dealt=dealt))
    given = engine.shuffled(given) if shuffled else given
    reference = engine.read(written(tmp_path / "ref", against, 1)) if against else None
    with patch.object(cluster_engine, "SMALL_BYTES", small):
        work = str(tmp_path / "work")
        done = engine.functions.deduplicate(given, order="n", against=reference, work=work, **options)
        assert sorted(row["n"] for row in engine.rows(done.survivors)) == [row["n"] for row in expected.survivors]
        found = {row["id"]: row for row in engine.rows(done.duplicates)}
        summary = done.summary
    lines = expected.duplicates.to_pylist()
    assert found.keys() == {line["id"] for line in lines}
    for line in lines:
        columns = ["survivor_id", "exact", "distance", "only_digits"] + ["similarity"] * (
            options.get("cluster") != "components"
        )
        assert all(same(found[line["id"]][column], line[column]) for column in columns), (line, found[line["id"]])
        assert found[line["id"]]["cluster_id"] == rows[line["cluster_id"]]["id"]
    counted = (
        "survivors",
        "duplicates",
        "exact_duplicates",
        "only_digits",
        "against_reference",
        "matching_reference",
        "clusters",
        "compared_as",
    )
    assert [getattr(summary, name) for name in counted] == [getattr(expected.summary, name) for name in counted]
    done.engine.close()
    return done.stages
