"""What is left of a job without `work=`: nothing, after an error, after `close`, and when the process ends; and how rows that come later fail."""

import contextlib
import errno
import os
import subprocess
import sys

import pyarrow as pa
import pytest

import neardup as nd
from engines.engine_errors import TableFrontend, table_of
from engines.spark_cluster import MARKS
from neardup.engines.frontend import Given
from neardup.engines.job.failures import GOES_ON, forget_work, told_in, translated_by, without_colors
from neardup.engines.job.own_folder import OwnFolder
from neardup.engines.lazy import telling


def made(tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "rows").write_text("some")
    return OwnFolder(str(folder))


def test_a_folder_goes_once_and_another_one_in_its_place_stays(tmp_path):
    own = made(tmp_path)
    own.remove()
    assert list(tmp_path.iterdir()) == []
    own.remove()


def test_a_folder_goes_with_the_process_and_not_with_one_that_was_forked(tmp_path):
    program = (
        "import os, sys; from neardup.engines.job.own_folder import OwnFolder\n"
        "os.mkdir(sys.argv[1]); own = OwnFolder(sys.argv[1])\n"
        "child = os.fork()\n"
        "if not child: own.remove(); sys.exit(0)\n"
        "os.waitpid(child, 0); print(os.path.exists(sys.argv[1]))"
    )
    words = [sys.executable, "-c", program, str(tmp_path / "own")]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "True\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "problem", [nd.DataError("a text is null"), KeyboardInterrupt(), OSError(errno.ENOSPC, f"c{GOES_ON}.")]
)
def test_an_error_removes_the_folder(tmp_path, monkeypatch, problem):
    class FailingJob:
        def __init__(self, given, work): ...

        def started(self, path, kind):
            assert os.path.isdir(path)
            raise problem

    monkeypatch.setattr(TableFrontend, "job", FailingJob)
    monkeypatch.setattr(TableFrontend, "own_folder", lambda _, __: made(tmp_path))
    frontend = TableFrontend()
    work = frontend.work_of("text", None, {}, nd.deduplicate)
    with pytest.raises(type(problem)) as told:
        frontend.decided(work, Given(table_of({}), "text", "id", "n", None))
    assert list(tmp_path.iterdir()) == []
    assert "finished stages are kept" not in str(told.value)


def test_what_is_not_kept_is_not_said_to_be():
    for problem in (MemoryError(f"C{GOES_ON}."), OSError(errno.ENOSPC, f"C{GOES_ON}.")):
        forget_work(problem)
        assert str(problem).endswith("Call again; with `work=`, a job keeps its finished stages.")


def test_an_error_is_translated_once_and_its_cause_is_not_shown():
    def translation(problem):
        return nd.DataError(f"in our words: {problem}")

    with pytest.raises(nd.DataError) as told, translated_by(translation), translated_by(translation):
        raise ValueError("theirs")
    assert str(told.value) == "in our words: theirs"
    assert told.value.__suppress_context__
    with pytest.raises(ValueError, match="^unknown$"), translated_by(lambda _: None):
        raise ValueError("unknown")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("DataError", nd.DataError),
        ("RowError", nd.DataError),
        ("InputError", nd.InputError),
        ("OptionError", nd.OptionError),
        ("RecipeMismatch", nd.RecipeMismatch),
        ("TransferError", nd.NeardupError),
        ("annotations", None),
    ],
)
def test_errors_of_tasks_are_found_in_what_clusters_say(line, kind):
    found = told_in(f"Traceback:\n  File x\nneardup.errors.{line}: a text: null\n SQLSTATE: 1\n\tat org")
    assert type(found) is (kind or type(None))
    assert found is None or str(found) == "a text: null"


def test_colors_are_left_out():
    assert without_colors("\x1b[36mray::work\x1b[39m says \x1b[1;31mno") == "ray::work says no"


class Rows:
    def count(self):
        raise ValueError("a count")

    def iter_rows(self):
        yield 1
        raise ValueError("a row")

    def write(self):
        return [1]


@contextlib.contextmanager
def _translated():
    with translated_by(lambda problem: nd.DataError(f"told: {problem}")):
        yield


def test_rows_that_come_later_tell_errors_in_other_words():
    rows = Rows()
    rows.__class__ = telling(Rows, ("count", "iter_rows", "write", "no_such_method"), _translated)
    assert telling(type(rows), ("count",), _translated) is type(rows)
    assert isinstance(rows, Rows)
    assert rows.write() == [1]
    with pytest.raises(nd.DataError, match="^told: a count$"):
        rows.count()
    left = rows.iter_rows()
    assert next(left) == 1
    with pytest.raises(nd.DataError, match="^told: a row$"):
        next(left)
    with pytest.raises(nd.DataError, match="^told: a row$"):
        list(rows.iter_rows())


class TestOnSpark:
    pytestmark = MARKS

    def test_a_call_leaves_nothing(self, session, tmp_path, monkeypatch):
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        from neardup import spark

        rows = session.createDataFrame(table_of({}))
        done = spark.deduplicate(rows, order="n")
        assert done.survivors.count() == 1
        assert len(list(tmp_path.iterdir())) == 1
        done.close()
        assert list(tmp_path.iterdir()) == []
        with pytest.raises(nd.DataError, match="The text of document 'b' is null"):
            spark.pairs(session.createDataFrame(table_of({"text": pa.array(["x", None])})), order="n")
        assert list(tmp_path.iterdir()) == []
        with pytest.raises(nd.InputError, match="this kind of path: Class .*S3AFileSystem not found"):
            spark.deduplicate(rows, order="n", work="s3a://bucket/work")
