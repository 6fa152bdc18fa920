"""A job on Spark that failed goes on where it was: finished stages are not run again, and another job's folder is refused."""

import json
import logging
import shutil

import pytest

import neardup as nd
from agreement import corpora
from engines.corpus_files import expected, numbered, rows_of, written
from engines.spark_cluster import missing
from engines.spark_runs import local_session, run, survivors
from neardup.engines.job import checkpoint as kept
from neardup.engines.job import cluster_engine
from neardup.engines.job.checkpoint import Kept
from neardup.engines.stages import KEPT

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.filterwarnings("ignore"),  # pyspark's, of versions of pandas and of sockets
]


@pytest.fixture(scope="module")
def session():
    found = local_session()
    yield found
    found.stop()


class FailureError(Exception):
    """What a test makes a run fail with."""


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


def fail(failing, stages, session, tmp_path, *, is_noted=True, **options):
    failing |= {"stages": stages, "is_noted": is_noted}
    with pytest.raises(FailureError):
        run(session, tmp_path / "in", tmp_path / "work", **options)
    failing["stages"] = None


def goes_on(session, tmp_path, failing, monkeypatch, caplog, step, *, ascend=False):
    """Fail after each so many stages, until all are done; then every stage has run once, but those whose end was not noted.

    `ascend`: let rows ascend in each of several files of a partition, which are not sorted then.
    """
    monkeypatch.setattr(cluster_engine, "SMALL", 0)
    caplog.set_level(logging.INFO, "neardup")
    rows, options, known = rows_of(), {}, []
    written(tmp_path / "in", rows, files=6 if ascend else 3, dealt=not ascend)
    if ascend:
        known = numbered(corpora.make("chains").rows) + rows[:3]
        written(tmp_path / "known", numbered(known), files=5, dealt=False)
        options = {"keep": "last", "against": session.read.parquet(str(tmp_path / "known"))}
    attempts = 0
    while True:
        caplog.clear()
        failing |= {"stages": step, "is_noted": attempts % 4 != 3}
        try:
            done = run(session, tmp_path / "in", tmp_path / "work", **options)
            break
        except FailureError:
            attempts += 1
            ran = [record.args for record in caplog.records if len(record.args or ()) == 5]
            names = [name for name, place, *_ in ran if place == "cluster" and name != cluster_engine.ASCENT]
            assert len(names) == step - 1  # the one that failed is not told
    failing["stages"] = None
    assert survivors(done) == expected(rows, **({"keep": "last", "against": known} if ascend else {}))
    finished = [stage for stage in done.summary.stages if stage.name != cluster_engine.ASCENT]
    assert attempts >= sum(stage.ran in (KEPT, "cluster") for stage in finished) // step > 0
    assert [stage.ran for stage in finished].count("cluster") < step
    assert ("rank" in {stage.name for stage in finished}) != ascend
    done.close()


@pytest.mark.parametrize("step", [12, pytest.param(1, marks=pytest.mark.long)])
def test_a_job_on_files_whose_rows_ascend_goes_on(session, tmp_path, failing, monkeypatch, caplog, step):
    goes_on(session, tmp_path, failing, monkeypatch, caplog, step, ascend=True)


def test_a_job_goes_on_from_where_it_failed(session, tmp_path, failing, monkeypatch, caplog):
    goes_on(session, tmp_path, failing, monkeypatch, caplog, 12)


@pytest.mark.long
def test_a_job_goes_on_from_each_stage(session, tmp_path, failing, monkeypatch, caplog):
    goes_on(session, tmp_path, failing, monkeypatch, caplog, 1)


def test_stages_that_ran_on_the_driver_run_again(session, tmp_path, failing):
    rows = rows_of()
    written(tmp_path / "in", rows)
    fail(failing, 3, session, tmp_path)
    done = run(session, tmp_path / "in", tmp_path / "work")
    ran = {stage.name: stage.ran for stage in done.summary.stages}
    assert (ran["documents"], ran["order"], ran["rank"], ran["keys"], ran["ids"]) == (
        "kept", "kept", "driver", "kept", "cluster")  # fmt: skip
    assert survivors(done) == expected(rows)
    done.close()


def test_partitions_stay_with_another_number_of_processors(session, tmp_path, failing):
    rows = rows_of()
    written(tmp_path / "in", rows, files=8)
    try:
        session.conf.set("spark.sql.leafNodeDefaultParallelism", "7")
        fail(failing, 2, session, tmp_path)
        session.conf.set("spark.sql.leafNodeDefaultParallelism", "1")
        assert session.read.parquet(str(tmp_path / "in")).rdd.getNumPartitions() == 1
        done = run(session, tmp_path / "in", tmp_path / "work")
    finally:
        session.conf.unset("spark.sql.leafNodeDefaultParallelism")
    assert len(done.engine.seen) > 1
    assert survivors(done) == expected(rows)
    done.close()


def test_a_folder_of_another_job_is_refused(session, tmp_path, failing):
    written(tmp_path / "in", rows_of())
    fail(failing, 1, session, tmp_path)
    with pytest.raises(
        nd.RecipeMismatch, match=r"the work of another job: options min_similarity was 0.6, now 0.7\. Give"
    ):
        run(session, tmp_path / "in", tmp_path / "work", min_similarity=0.7)
    with pytest.raises(nd.RecipeMismatch, match="another job: recipe was"):
        run(session, tmp_path / "in", tmp_path / "work", recipe=nd.Recipe(bits=64))
    with pytest.raises(nd.RecipeMismatch, match='another job: columns text was "text", now "id"'):
        run(session, tmp_path / "in", tmp_path / "work", text="id")
    with pytest.raises(nd.RecipeMismatch, match="another job: reference columns"):
        run(
            session,
            tmp_path / "in",
            tmp_path / "work",
            against=session.createDataFrame([("a", "b", 1)], "id string, text string, n long"),
        )
    shutil.rmtree(tmp_path / "in")
    written(tmp_path / "in", rows_of(), files=2)
    with pytest.raises(
        nd.RecipeMismatch, match="another job: input files was 3, now 2; input files' names, sizes and times was"
    ):
        run(session, tmp_path / "in", tmp_path / "work")


def test_a_folder_of_other_files_is_refused(session, tmp_path):
    written(tmp_path / "in", rows_of())
    (tmp_path / "work" / "mine").mkdir(parents=True)
    (tmp_path / "work" / "mine" / "notes.txt").write_text("my own")
    with pytest.raises(
        nd.InputError, match="other files, such as .*notes.txt. Give a folder that is empty or not there"
    ):
        run(session, tmp_path / "in", tmp_path / "work")
    assert [path.name for path in (tmp_path / "work").rglob("*")] == ["mine", "notes.txt"]


def test_a_damaged_folder_is_refused(session, tmp_path, failing):
    written(tmp_path / "in", rows_of())
    fail(failing, 2, session, tmp_path)
    (stage,) = (tmp_path / "work" / "rows").glob("*-documents-*")
    next((stage / "output=documents").glob("*.parquet")).unlink()
    with pytest.raises(nd.DataError, match="-documents.* has .* rows in .* and the stage gave .* Files were removed"):
        run(session, tmp_path / "in", tmp_path / "work")
    (job,) = (tmp_path / "work" / "job").glob("*.txt")
    whole = job.read_text()
    (tmp_path / "work" / "job" / f".{job.name}.crc").unlink()
    job.write_text(json.dumps(json.loads(whole) | {"format": 9}))
    with pytest.raises(
        nd.InputError,
        match=f"begun by another version of neardup: its format is 9, and this version reads {kept.FORMAT}",
    ):
        run(session, tmp_path / "in", tmp_path / "work")
    job.write_text(whole[:40])
    with pytest.raises(nd.DataError, match="The record in .* is damaged. Give another folder"):
        run(session, tmp_path / "in", tmp_path / "work")


def test_the_input_is_that_of_the_first_run(session, tmp_path, failing):
    """A frame without files is known by its rows."""
    from neardup import spark as on_spark

    columns = "id string, text string"
    texts = [(str(i), f"one text of some words here {i % 3}") for i in range(9)]
    failing |= {"stages": 1, "is_noted": True}
    with pytest.raises(FailureError):
        on_spark.deduplicate(session.createDataFrame(texts, columns), order="id", work=str(tmp_path / "work"))
    failing["stages"] = None
    others = [("0", "another"), *texts[1:]]
    with pytest.raises(nd.RecipeMismatch, match="a job on other rows: the input had 9 rows with the sum"):
        on_spark.deduplicate(session.createDataFrame(others, columns), order="id", work=str(tmp_path / "work"))
