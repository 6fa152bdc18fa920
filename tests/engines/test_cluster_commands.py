"""The commands on clusters: what one cannot read or write it tells in one line, and what was interrupted goes on."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import neardup as nd
from engines import ray_cluster, spark_cluster
from engines.corpus_files import rows_of
from neardup.cli.engines import on_ray, on_spark
from neardup.cli.shown.interruption import EXIT_INTERRUPTED
from neardup.engines.ray.files import RayFiles
from neardup.engines.spark.files import SparkFiles

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]  # of the clusters
ROWS = [{key: row[key] for key in ("id", "text", "n")} for row in rows_of()[:40]]
LINES = [json.dumps(row) for row in ROWS]
WORDS = ("--order", "n", "--min-similarity", "0.6")
EXPECTED = [row["n"] for row in nd.deduplicate(ROWS, method="exact", min_similarity=0.6).survivors]
ON_SPARK, ON_RAY = (pytest.mark.parametrize("engine", [name], indirect=True) for name in ("spark", "ray"))


@pytest.fixture
def command(engine, monkeypatch, capsys):
    """Call the command, by one session for all tests: its exit code, and what it says."""
    monkeypatch.setattr(on_spark, "session_of_command", lambda quiet: contextlib.nullcontext(engine.session))
    main = {"spark": on_spark, "ray": on_ray}[engine.name].main

    def call(*words):
        code = 0
        try:
            main([*map(str, words), *WORDS])
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


def null_text(folder):
    return lines(folder / "in.jsonl", *LINES, '{"id": "x", "text": null, "n": 1000}')


NULL = "The text of document 'x' is null. Drop or fill nulls first."
CSV = ["id,text,n", *(f'{row["id"]},"one of {row["n"]} texts",{row["n"]}' for row in ROWS)]
READ_ON_SPARK = {
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
    "a null text": (null_text, 1, NULL),
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
READ_ON_RAY = {
    "a line that is no JSON": (lambda folder: lines(folder / "in.jsonl", '{"id": "x", "text": "brok'), 2, None),
    "a null text": (null_text, 1, NULL),
    "a file that is no Parquet": (not_parquet, 2, None),
    "an empty folder": (empty_folder, 2, None),
    "a pattern of nothing": (lambda folder: folder / "*.parquet", 2, "Nothing matches "),
    "nothing": (lambda folder: folder / "in.csv", 2, None),
    "another format": (lambda folder: folder / "in.orc", 2, "its format is orc. Give parquet, json, csv."),
}


@pytest.mark.parametrize(
    ("engine", "make", "code", "message"),
    [
        pytest.param(engine, *case, id=f"{name} on {engine}")
        for engine, cases in (("spark", READ_ON_SPARK), ("ray", READ_ON_RAY))
        for name, case in cases.items()
    ],
    indirect=["engine"],
)
def test_what_cannot_be_read_is_told_in_one_line(command, tmp_path, make, code, message):
    found, said = command(make(tmp_path), "-o", tmp_path / "out.parquet", "--quiet")
    assert (message or "Ray cannot read ") in said
    assert said.startswith("neardup: error: ")
    assert said.count("\n") == 1
    assert "SQLSTATE" not in said
    assert found == code


@ON_SPARK
def test_what_cannot_be_written_is_told_in_one_line(command, tmp_path):
    given = lines(tmp_path / "in.jsonl", *LINES)
    there = lines(tmp_path / "file", "a file, no folder")
    for words in (("-o", tmp_path / "out.parquet", "--work", there / "work"), ("-o", there / "out.parquet")):
        code, said = command(given, *words, "--quiet")
        assert (code, said.count("\n")) == (2, 1), said
        assert "Give a path where the driver and all executors may write" in said


@ON_RAY
def test_outputs_that_cannot_be_are_refused_before_the_job_runs(command, tmp_path):
    given = lines(tmp_path / "in.jsonl", *LINES)
    nested = tmp_path / "nested.parquet"
    pq.write_table(pa.table({"id": ["a"], "text": ["x"], "n": [1], "more": [[1]]}), nested)
    inside, formats = (
        tmp_path / "in.jsonl" / "out.parquet",
        "on Ray, folders of .parquet, .jsonl and .csv files are written",
    )
    for words, message in (
        ((given, "-o", inside), "is to be written, and is, holds, or lies in what is read"),
        ((given, "-o", tmp_path / "out.orc"), formats),
        ((given, "-o", tmp_path / "out.jsonl.gz"), formats),
        ((nested, "-o", tmp_path / "out.csv"), "CSV cannot hold the column 'more', which is nested or binary"),
        ((given, "-o", tmp_path / "out.csv", "--id", "name"), "There is no column 'name' for the ids"),
    ):
        code, said = command(*words, "--quiet")
        assert (code, message in said, said.count("\n")) == (2, True, 1), said


@spark_cluster.NEEDED
def test_an_error_is_all_that_a_session_of_its_own_shows(tmp_path):
    given = lines(tmp_path / "in.jsonl", *LINES[:5], "no JSON")
    words = [sys.executable, "-m", "neardup.spark", str(given), "-o", str(tmp_path / "out"), *WORDS]
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 1
    assert "\tat " not in done.stderr
    assert "Exception" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("neardup: error: A row of the input is malformed: ")


def rows_in(path):
    """The rows of a folder of files, by their numbers."""
    found = []
    for file in path.iterdir():
        if path.suffix == ".jsonl":
            found += [json.loads(line) for line in file.read_text().splitlines()]
        else:
            found += (pq.read_table if path.suffix == ".parquet" else pa_csv.read_csv)(file).to_pylist()
    return sorted(found, key=lambda row: row["n"])


@ON_RAY
@pytest.mark.parametrize("ending", ["parquet", "jsonl", "csv"])
def test_the_answer_is_that_of_one_machine_in_every_format(command, tmp_path, ending):
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(2):
        some = pa.Table.from_pylist(ROWS[number::2])
        path = folder / f"{number}.{ending}"
        if ending == "parquet":
            pq.write_table(some, path)
        elif ending == "csv":
            pa_csv.write_csv(some, path)
        else:
            lines(path, *LINES[number::2])
    out = tmp_path / f"out.{ending}"
    assert command(folder / f"*.{ending}", "-o", out, "--quiet") == (0, "")
    assert rows_in(out) == [ROWS[n] for n in EXPECTED]
    assert {path.name for path in tmp_path.iterdir()} == {"in", f"out.{ending}", f"out.duplicates.{ending}"}


def kept(path):
    return sorted(pq.read_table(path).column("n").to_pylist())


def test_what_was_interrupted_while_it_was_written_is_written_anew(engine, command, tmp_path, monkeypatch):
    files = {"spark": SparkFiles, "ray": RayFiles}[engine.name]
    given, write, left = lines(tmp_path / "in.jsonl", *LINES), files.write, [1, 2]

    def interrupted(*given, **how):
        write(*given, **how)
        left[0] -= 1
        if not left[0]:
            left.pop(0)
            raise KeyboardInterrupt

    monkeypatch.setattr(files, "write", interrupted)
    call = (given, "-o", tmp_path / "out.parquet", "--quiet")
    for _ in range(2):  # after the duplicates, and then after the survivors
        code, said = command(*call)
        assert code == EXIT_INTERRUPTED
        assert "make the same call again" in said
        code, said = command(*call, "--keep", "last")
        assert (code, "the work of another job" in said) == (2, True)
    left[:] = [9]
    assert command(*call) == (0, "")
    assert kept(tmp_path / "out.parquet") == EXPECTED
    assert len(pq.read_table(tmp_path / "out.duplicates.parquet")) == len(ROWS) - len(EXPECTED)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.duplicates.parquet", "out.parquet"]
    code, said = command(*call)
    assert (code, "exists. Choose another path, or replace it with --overwrite" in said) == (2, True)
    assert command(*call, "--overwrite") == (0, "")


def test_an_interrupt_when_all_is_written_names_what_is_complete(engine, command, tmp_path, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(engine.engine, "close", interrupted)
    out = tmp_path / "out.parquet"
    code, said = command(lines(tmp_path / "in.jsonl", *LINES), "-o", out, "--quiet")
    assert code == EXIT_INTERRUPTED
    assert said.strip() == (
        f"neardup: error: interrupted; {out} and {tmp_path / 'out.duplicates.parquet'} are complete"
    )
    assert kept(out) == EXPECTED


@spark_cluster.NEEDED
def test_an_interrupt_of_a_session_of_its_own_is_one_line(tmp_path):
    given, work = lines(tmp_path / "in.jsonl", *LINES), tmp_path / "out.work"
    words = [sys.executable, "-m", "neardup.spark", str(given), "-o", str(tmp_path / "out"), "--quiet", *WORDS]
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}
    with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True) as done:
        while not work.exists():
            assert done.poll() is None
            time.sleep(0.05)
        done.send_signal(signal.SIGINT)
        _, said = done.communicate(timeout=250)
    assert done.returncode == EXIT_INTERRUPTED
    assert said.strip() == (
        "neardup: error: interrupted; make the same call again, and it goes on: finished stages are kept"
    )


@ON_SPARK
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


@ray_cluster.NEEDED
def test_the_entry_of_ray_job_submit_is_a_driver_of_the_cluster(tmp_path):
    given = lines(tmp_path / "in.jsonl", *LINES)
    words = [sys.executable, "-m", "neardup.ray", str(given), "-o", str(tmp_path / "out.parquet"), "--json", *WORDS]
    with ray_cluster.running(nodes=0) as cluster:
        environment = os.environ | ray_cluster.SETTINGS | {"RAY_ADDRESS": cluster.address}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["survivors"] == len(EXPECTED)
    assert "40 documents, about" in done.stderr
    assert "\ndocuments (cluster): " in done.stderr
