"""A job on a cluster that failed goes on where it was: finished stages are not run again, and another job's folder is refused."""

import json
import shutil

import pytest

import neardup as nd
from agreement import corpora
from engines.cluster_runs import FailureError, run, survivors
from engines.corpus_files import expected, numbered, rows_of, written
from neardup.engines.job import checkpoint as kept
from neardup.engines.job import cluster_engine
from neardup.engines.job.folder_engine import INDEX
from neardup.engines.stages import KEPT

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]  # of the clusters
LOOKS = ("look at ids", "plan", cluster_engine.ASCENT)
"""At the input: in each run, or before the stages."""


@pytest.fixture
def started(engine, tmp_path):
    """Start the job of the files in a folder, or go on with it."""

    def call(**options):
        return run(engine, engine.read(tmp_path / "in"), tmp_path / "work", **options)

    return call


def fail(failing, stages, call):
    failing |= {"stages": stages, "is_noted": True}
    with pytest.raises(FailureError):
        call()
    failing["stages"] = None


@pytest.mark.parametrize("step", [12, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("ascend", [False, True])
def test_a_job_goes_on_from_where_it_failed(engine, tmp_path, started, failing, monkeypatch, caplog, step, ascend):
    """Fail after each so many stages, until all are done; then every stage has run once, but those whose end was not noted.

    `ascend`: let rows ascend in each of several files, which are not sorted then.
    """
    monkeypatch.setattr(cluster_engine, "SMALL_BYTES", 0)
    caplog.set_level("INFO", "neardup")
    rows, options, known = rows_of(), {}, None
    written(tmp_path / "in", rows, files=6 if ascend else 3, dealt=not ascend)
    if ascend:
        known = numbered(numbered(corpora.make("chains").rows) + rows[:3])
        options = {"keep": "last", "against": engine.read(written(tmp_path / "known", known, files=5, dealt=False))}
    attempts = 0
    while True:
        caplog.clear()
        failing |= {"stages": step, "is_noted": attempts % 4 != 3}
        try:
            done = started(**options)
            break
        except FailureError:
            attempts += 1
            ran = [record.args for record in caplog.records if len(record.args or ()) == 5]
            names = [name for name, place, *_ in ran if place == "cluster" and name not in LOOKS]
            assert len(names) == step - 1  # the one that failed is not told
    failing["stages"] = None
    assert survivors(engine, done) == expected(rows, **({"keep": "last", "against": known} if ascend else {}))
    finished = [stage for stage in done.summary.stages if stage.name not in LOOKS]
    assert attempts >= sum(stage.ran in (KEPT, "cluster") for stage in finished) // step > 0
    assert [stage.ran for stage in finished].count("cluster") < step
    assert ("rank" in {stage.name for stage in finished}) != ascend
    done.engine.close()


def test_stages_that_ran_on_the_driver_run_again(engine, tmp_path, started, failing):
    rows = rows_of()
    written(tmp_path / "in", rows)
    fail(failing, {"spark": 3, "ray": 4}[engine.name], started)  # Ray looks at ids in a stage
    done = started()
    ran = {stage.name: stage.ran for stage in done.stages}
    names = ("documents", engine.order, "rank", "keys", "ids")
    assert [ran[name] for name in names] == ["kept", "kept", "driver", "kept", "cluster"]
    assert survivors(engine, done) == expected(rows)
    done.engine.close()


def test_a_folder_of_another_job_is_refused(engine, tmp_path, started, failing):
    written(tmp_path / "in", rows_of())
    fail(failing, 1, started)
    for options, message in (
        ({"min_similarity": 0.7}, r"the work of another job: options min_similarity was 0.6, now 0.7\. Give"),
        ({"recipe": nd.Recipe(bits=64)}, "another job: recipe was"),
        ({"text": "id"}, 'another job: columns text was "text", now "id"'),
        ({"against": engine.of([{"id": "a", "text": "b", "n": 1}])}, "another job: reference columns"),
    ):
        with pytest.raises(nd.RecipeMismatch, match=message):
            started(**options)
    shutil.rmtree(tmp_path / "in")
    written(tmp_path / "in", rows_of(), files=2)
    with pytest.raises(nd.RecipeMismatch, match="another job: input files was 3, now 2; input files' names, sizes and"):
        started()


def test_a_folder_of_other_files_is_refused(tmp_path, started):
    written(tmp_path / "in", rows_of())
    (tmp_path / "work" / "mine").mkdir(parents=True)
    (tmp_path / "work" / "mine" / "notes.txt").write_text("my own")
    message = "other files, such as .*notes.txt. Give a folder that is empty or not there"
    with pytest.raises(nd.InputError, match=message):
        started()
    assert [path.name for path in (tmp_path / "work").rglob("*")] == ["mine", "notes.txt"]


def test_a_damaged_folder_is_refused(engine, tmp_path, started, failing):
    written(tmp_path / "in", rows_of())
    fail(failing, 2, started)
    (stage,) = (tmp_path / "work" / "rows").glob("*-documents-*")
    lost = "-documents.* has .* rows in .* and the stage gave .* Files were removed"
    if engine.name == "ray":
        lost = "is not there. Either a file of this job was removed, or the folder of `work="
        file = next(path for path in stage.iterdir() if path.name != INDEX)
        whole = file.read_bytes()
        file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(nd.DataError, match="is damaged: its content is not what was written. Give another folder"):
            started()
    else:
        file = next((stage / "output=documents").glob("*.parquet"))
    file.unlink()
    with pytest.raises(nd.DataError, match=lost):
        started()
    (job,) = (path for path in (tmp_path / "work" / "job").iterdir() if path.suffix in (".txt", ".json"))
    whole = job.read_text()
    (tmp_path / "work" / "job" / f".{job.name}.crc").unlink(missing_ok=True)
    job.write_text(json.dumps(json.loads(whole) | {"format": 9}))
    message = f"begun by another version of neardup: its format is 9, and this version reads {kept.FORMAT}"
    with pytest.raises(nd.InputError, match=message):
        started()
    job.write_text(whole[:40])
    with pytest.raises(nd.DataError, match="The record in .* is damaged. Give another folder"):
        started()


def test_the_input_is_that_of_the_first_run(engine, tmp_path, failing):
    """Rows that are in no files are known by themselves."""
    rows = [{"id": str(i), "text": f"one text of some words here {i % 3}", "n": i} for i in range(9)]
    fail(failing, 1, lambda: run(engine, engine.of(rows), tmp_path / "work"))
    with pytest.raises(nd.RecipeMismatch, match="a job on other rows: the input had 9 rows with the sum"):
        run(engine, engine.of([{**rows[0], "text": "another"}, *rows[1:]]), tmp_path / "work")
    done = run(engine, engine.of(rows).repartition(3), tmp_path / "other")
    assert survivors(engine, done) == expected(rows)
    done.engine.close()


@pytest.mark.parametrize("engine", ["spark"], indirect=True)
def test_partitions_stay_with_another_number_of_processors(engine, tmp_path, started, failing):
    rows, session = rows_of(), engine.session
    written(tmp_path / "in", rows, files=8)
    try:
        session.conf.set("spark.sql.leafNodeDefaultParallelism", "7")
        fail(failing, 2, started)
        session.conf.set("spark.sql.leafNodeDefaultParallelism", "1")
        assert engine.read(tmp_path / "in").rdd.getNumPartitions() == 1
        done = started()
    finally:
        session.conf.unset("spark.sql.leafNodeDefaultParallelism")
    assert len(done.engine.seen) > 1
    assert survivors(engine, done) == expected(rows)
    done.engine.close()
