"""The command on Spark: what it cannot read or write it tells in one line, and what was interrupted goes on."""

import contextlib
import json
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from engines.corpus_files import rows_of
from engines.spark_cluster import missing
from engines.spark_runs import local_session
from neardup.cli.engines import on_spark
from neardup.cli.shown.interruption import EXIT_INTERRUPTED
from neardup.engines.spark import folder as outputs

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.filterwarnings("ignore"),  # pyspark's, of versions of pandas and of sockets
]
ROWS = [{key: row[key] for key in ("id", "text", "n")} for row in rows_of()[:40]]
LINES = [json.dumps(row) for row in ROWS]
WORDS = ("--order", "n", "--min-similarity", "0.6")


@pytest.fixture(scope="module")
def session():
    found = local_session()
    yield found
    found.stop()


@pytest.fixture
def command(session, monkeypatch, capsys):
    """Call the command, by one session for all tests: its exit code, and what it says."""
    monkeypatch.setattr(on_spark, "session_of_command", lambda: contextlib.nullcontext(session))

    def call(*words):
        code = 0
        try:
            on_spark.main([*map(str, words), *WORDS])
        except SystemExit as ended:
            code = ended.code
        return code, capsys.readouterr().err

    return call


def lines(path, *some):
    path.write_text("".join(f"{line}\n" for line in some), encoding="utf-8")
    return path


def not_parquet(folder):
    return lines(folder / "in.parquet", "some words that are not Parquet at all")


def empty_folder(folder):
    (folder / "in").mkdir()
    return folder / "in"


CSV = ["id,text,n", *(f'{row["id"]},"one of {row["n"]} texts",{row["n"]}' for row in ROWS)]
READ = {
    "a line that is no JSON": (
        lambda folder: lines(folder / "in.jsonl", *LINES[:5], '{"id": "x", "text": "brok', *LINES[5:]),
        1,
        "A row of the input is malformed: Unexpected end-of-input in VALUE_STRING. A line of JSON is one object",
    ),
    "a row of CSV with more columns": (
        lambda folder: lines(folder / "in.csv", *CSV, "x,y,1,more"),
        1,
        "/in.csv is malformed: x,y,1,more. A line of JSON is one object, and a row of CSV has the columns of its header. Mend",
    ),
    "a null text": (
        lambda folder: lines(folder / "in.jsonl", *LINES, '{"id": "x", "text": null, "n": 1000}'),
        1,
        "The text of document 'x' is null. Give each row a text, or leave such rows out.",
    ),
    "a file that is no Parquet": (not_parquet, 1, "in.parquet is not a Parquet file"),
    "an empty file": (
        lambda folder: lines(folder / "in.jsonl"),
        2,
        "in.jsonl, and nothing tells the columns. Give paths of json with rows, and --format where no ending",
    ),
    "an empty file of CSV": (lambda folder: lines(folder / "in.csv"), 2, "There are no rows in "),
    "an empty folder": (empty_folder, 2, "/in, and nothing tells the columns. Give paths of parquet with rows"),
    "nothing": (lambda folder: folder / "in.orc", 2, "as orc: Path does not exist: file:/"),
}


@pytest.mark.parametrize("name", READ)
def test_what_cannot_be_read_is_told_in_one_line(command, tmp_path, name):
    make, code, message = READ[name]
    found, said = command(make(tmp_path), "-o", tmp_path / "out.parquet", "--quiet")
    assert message in said
    assert said.startswith("neardup: error: ")
    assert said.count("\n") == 1
    assert "SQLSTATE" not in said
    assert found == code


def test_what_cannot_be_written_is_told_in_one_line(command, tmp_path):
    given = lines(tmp_path / "in.jsonl", *LINES)
    there = lines(tmp_path / "file", "a file, no folder")
    for words in (("-o", tmp_path / "out.parquet", "--work", there / "work"), ("-o", there / "out.parquet")):
        code, said = command(given, *words, "--quiet")
        assert (code, said.count("\n")) == (2, 1), said
        assert "Give a path where the driver and all executors may write" in said


def test_an_error_is_all_that_a_session_of_its_own_shows(tmp_path):
    given = lines(tmp_path / "in.jsonl", *LINES[:5], "no JSON")
    words = [sys.executable, "-m", "neardup.spark", str(given), "-o", str(tmp_path / "out"), *WORDS]
    done = subprocess.run(
        words,
        env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == 1
    assert "\tat " not in done.stderr
    assert "Exception" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("neardup: error: A row of the input is malformed: ")


def kept(path):
    return sorted(pq.read_table(path).column("n").to_pylist())


EXPECTED = [row["n"] for row in nd.deduplicate(ROWS, method="exact", min_similarity=0.6).survivors]


def test_what_was_interrupted_while_it_was_written_is_written_anew(command, tmp_path, monkeypatch):
    given, write, left = lines(tmp_path / "in.jsonl", *LINES), outputs.write, [1, 2]

    def interrupted(frame, path, *more, **how):
        write(frame, path, *more, **how)
        left[0] -= 1
        if not left[0]:
            left.pop(0)
            raise KeyboardInterrupt

    monkeypatch.setattr(outputs, "write", interrupted)
    call = (given, "-o", tmp_path / "out.parquet", "--quiet")
    for _ in range(2):  # after the duplicates, and then after the survivors
        code, said = command(*call)
        assert code == EXIT_INTERRUPTED
        assert "make the same call again" in said
        code, said = command(given, "-o", tmp_path / "out.parquet", "--quiet", "--keep", "last")
        assert (code, "the work of another job" in said) == (2, True)
    left[:] = [9]
    assert command(*call) == (0, "")
    assert kept(tmp_path / "out.parquet") == EXPECTED
    assert len(pq.read_table(tmp_path / "out.duplicates.parquet")) == len(ROWS) - len(EXPECTED)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.duplicates.parquet", "out.parquet"]
    code, said = command(*call)
    assert (code, "exists. Choose another path, or replace it with --overwrite" in said) == (2, True)


def test_a_folder_that_stays_and_paths_with_the_characters_of_patterns(command, tmp_path):
    folder, name = tmp_path / r"a [1] {x,y} *?\b %20 é", r"job [1-9] {a,b} *?\d"
    folder.mkdir()
    given = tmp_path / "in.parquet"
    pq.write_table(pa.Table.from_pylist(ROWS), given)
    call = (given, "-o", folder / f"{name}.parquet", "--work", folder / f"{name}.work", "--quiet")
    assert command(*call) == (0, "")
    code, said = command(*call)  # it is finished, so that nothing is written anew
    assert (code, "exists. Choose another path, or replace it with --overwrite" in said) == (2, True)
    assert command(*call, "--overwrite") == (0, "")
    assert kept(folder / f"{name}.parquet") == EXPECTED
    assert len(list(folder.iterdir())) == 3
