"""A job on Ray that failed goes on where it was: finished stages are not run again, and another job's folder is refused."""

import json
import shutil

import pytest

import neardup as nd
from engines.corpus_files import expected, rows_of, written
from engines.ray_cluster import missing
from engines.ray_runs import run, survivors
from neardup.engines.job import checkpoint as kept
from neardup.engines.job import cluster_engine
from neardup.engines.job.checkpoint import Kept
from neardup.engines.ray import engine
from neardup.engines.stages import KEPT

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.usefixtures("shared_ray"),
    pytest.mark.filterwarnings("ignore"),  # ray's
]


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


def started(tmp_path, **options):
    import ray

    return run(ray.data.read_parquet(str(tmp_path / "in")), tmp_path / "work", **options)


def fail(failing, stages, tmp_path):
    failing |= {"stages": stages, "is_noted": True}
    with pytest.raises(FailureError):
        started(tmp_path)
    failing["stages"] = None


@pytest.mark.parametrize("step", [12, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("dealt", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_job_goes_on_from_where_it_failed(tmp_path, failing, monkeypatch, step, dealt):
    monkeypatch.setattr(cluster_engine, "SMALL", 0)
    rows = rows_of()
    written(tmp_path / "in", rows, dealt=dealt)
    attempts = 0
    while True:
        failing |= {"stages": step, "is_noted": attempts % 4 != 3}
        try:
            done = started(tmp_path)
            break
        except FailureError:
            attempts += 1
    failing["stages"] = None
    assert survivors(done) == expected(rows)
    ran = [stage.ran for stage in done.stages if stage.name not in ("plan", cluster_engine.ASCENT)]
    assert attempts >= sum(each in (KEPT, "cluster") for each in ran) // step > 0
    assert ran.count("cluster") < step


def test_stages_that_ran_on_the_driver_run_again(tmp_path, failing):
    rows = rows_of()
    written(tmp_path / "in", rows)
    fail(failing, 4, tmp_path)
    done = started(tmp_path)
    ran = {stage.name: stage.ran for stage in done.stages}
    assert (ran["documents"], ran["columns of order"], ran["rank"], ran["keys"], ran["ids"]) == (
        "kept", "kept", "driver", "kept", "cluster")  # fmt: skip
    assert survivors(done) == expected(rows)


def test_a_folder_of_another_job_is_refused(tmp_path, failing):
    import ray

    written(tmp_path / "in", rows_of())
    fail(failing, 1, tmp_path)
    for options, message in (
        ({"min_similarity": 0.7}, r"the work of another job: options min_similarity was 0.6, now 0.7\. Give"),
        ({"recipe": nd.Recipe(bits=64)}, "another job: recipe was"),
        ({"text": "id"}, 'another job: columns text was "text", now "id"'),
        ({"against": ray.data.from_items([{"id": "a", "text": "b", "n": 1}])}, "another job: reference columns"),
    ):
        with pytest.raises(nd.RecipeMismatch, match=message):
            started(tmp_path, **options)
    shutil.rmtree(tmp_path / "in")
    written(tmp_path / "in", rows_of(), files=2)
    with pytest.raises(nd.RecipeMismatch, match="another job: input files was 3, now 2; input files' names, sizes and"):
        started(tmp_path)


def test_a_folder_of_other_files_is_refused(tmp_path):
    written(tmp_path / "in", rows_of())
    (tmp_path / "work" / "mine").mkdir(parents=True)
    (tmp_path / "work" / "mine" / "notes.txt").write_text("my own")
    with pytest.raises(
        nd.InputError, match="other files, such as .*notes.txt. Give a folder that is empty or not there"
    ):
        started(tmp_path)
    assert [path.name for path in (tmp_path / "work").rglob("*")] == ["mine", "notes.txt"]


def test_a_damaged_folder_is_refused(tmp_path, failing):
    written(tmp_path / "in", rows_of())
    fail(failing, 2, tmp_path)
    (stage,) = (tmp_path / "work" / "rows").glob("*-documents-*")
    files = [path for path in stage.iterdir() if path.name != engine.INDEX]
    whole = files[0].read_bytes()
    files[0].write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(nd.DataError, match="is damaged: its content is not what was written. Give another folder as"):
        started(tmp_path)
    files[0].unlink()
    with pytest.raises(
        nd.DataError, match="is not there. Either a file of this job was removed, or the folder of `work="
    ):
        started(tmp_path)
    (job,) = (tmp_path / "work" / "job").glob("*.json")
    whole = job.read_text()
    job.write_text(json.dumps(json.loads(whole) | {"format": 9}))
    with pytest.raises(nd.InputError, match=f"its format is 9, and this version reads {kept.FORMAT}"):
        started(tmp_path)
    job.write_text(whole[:40])
    with pytest.raises(nd.DataError, match="The record in .* is damaged. Give another folder"):
        started(tmp_path)


def test_the_input_is_that_of_the_first_run(tmp_path, failing):
    """A dataset without files is known by its rows."""
    import ray

    rows = [{"id": str(i), "text": f"one text of some words here {i % 3}", "n": i} for i in range(9)]
    failing |= {"stages": 1, "is_noted": True}
    with pytest.raises(FailureError):
        run(ray.data.from_items(rows), tmp_path / "work")
    failing["stages"] = None
    with pytest.raises(nd.RecipeMismatch, match="a job on other rows: the input had 9 rows with the sum"):
        run(ray.data.from_items([{**rows[0], "text": "another"}, *rows[1:]]), tmp_path / "work")
    assert survivors(run(ray.data.from_items(rows).repartition(3), tmp_path / "other")) == expected(rows)
