"""The command on Ray: it writes what one machine writes, tells in one line what it cannot do, and goes on where it was interrupted."""

import json
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import neardup as nd
from engines.corpus_files import rows_of
from engines.ray_cluster import SETTINGS, missing, running
from neardup.cli.engines import on_ray
from neardup.cli.shown.interruption import EXIT_INTERRUPTED
from neardup.engines.ray import files

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.filterwarnings("ignore"),  # ray's
]
ROWS = [{key: row[key] for key in ("id", "text", "n")} for row in rows_of()[:40]]
LINES = [json.dumps(row) for row in ROWS]
WORDS = ("--order", "n", "--min-similarity", "0.6")
EXPECTED = [row["n"] for row in nd.deduplicate(ROWS, method="exact", min_similarity=0.6).survivors]


@pytest.fixture
def command(shared_ray, capsys):
    """Call the command: its exit code, and what it says."""

    def call(*words):
        code = 0
        try:
            on_ray.main([*map(str, words), *WORDS])
        except SystemExit as ended:
            code = ended.code
        return code, capsys.readouterr().err

    return call


def lines(path, *some):
    path.write_text("".join(f"{line}\n" for line in some), encoding="utf-8")
    return path


READ = {
    "a line that is no JSON": (
        lambda folder: lines(folder / "in.jsonl", '{"id": "x", "text": "brok'),
        2,
        "Ray cannot read ",
    ),
    "a null text": (
        lambda folder: lines(folder / "in.jsonl", *LINES, '{"id": "x", "text": null, "n": 1000}'),
        1,
        "The text of document 'x' is null. Give each row a text, or leave such rows out.",
    ),
    "a file that is no Parquet": (lambda folder: lines(folder / "in.parquet", "some words"), 2, "Ray cannot read "),
    "an empty folder": (lambda folder: (folder / "in").mkdir() or folder / "in", 2, "Ray cannot read "),
    "a pattern of nothing": (lambda folder: folder / "*.parquet", 2, "Nothing matches "),
    "nothing": (lambda folder: folder / "in.csv", 2, "Ray cannot read "),
    "another format": (lambda folder: folder / "in.orc", 2, "its format is orc. Give parquet, json, csv."),
}


@pytest.mark.parametrize("name", READ)
def test_what_cannot_be_read_is_told_in_one_line(command, tmp_path, name):
    make, code, message = READ[name]
    found, said = command(make(tmp_path), "-o", tmp_path / "out.parquet", "--quiet")
    assert message in said
    assert said.startswith("neardup: error: ")
    assert said.count("\n") == 1
    assert found == code


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
    found = []
    for path in out.iterdir():
        if ending == "parquet":
            found += pq.read_table(path).to_pylist()
        elif ending == "csv":
            found += pa_csv.read_csv(path).to_pylist()
        else:
            found += [json.loads(line) for line in path.read_text().splitlines()]
    found.sort(key=lambda row: row["n"])
    assert found == [ROWS[n] for n in EXPECTED]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", f"out.{ending}", f"out.duplicates.{ending}"] or (
        sorted(path.name for path in tmp_path.iterdir()) == ["in", f"out.duplicates.{ending}", f"out.{ending}"])  # fmt: skip


def test_outputs_that_cannot_be_are_refused_before_the_job_runs(command, tmp_path):
    given = lines(tmp_path / "in.jsonl", *LINES)
    nested = tmp_path / "nested.parquet"
    pq.write_table(pa.table({"id": ["a"], "text": ["x"], "n": [1], "more": [[1]]}), nested)
    for words, message in (
        (
            (given, "-o", tmp_path / "in.jsonl" / "out.parquet"),
            "is to be written, and is, holds, or lies in what is read",
        ),
        ((given, "-o", tmp_path / "out.orc"), "on Ray, folders of .parquet, .jsonl and .csv files are written"),
        ((given, "-o", tmp_path / "out.jsonl.gz"), "on Ray, folders of .parquet, .jsonl and .csv files are written"),
        ((nested, "-o", tmp_path / "out.csv"), "CSV cannot hold the column 'more', which is nested or binary"),
        ((given, "-o", tmp_path / "out.csv", "--id", "name"), "The dataset has no column 'name'"),
    ):
        code, said = command(*words, "--quiet")
        assert (code, message in said, said.count("\n")) == (2, True, 1), said


def test_what_was_interrupted_while_it_was_written_is_written_anew(command, tmp_path, monkeypatch):
    given, write, left = lines(tmp_path / "in.jsonl", *LINES), files.write, [1]

    def interrupted(dataset, path, *more):
        write(dataset, path, *more)
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    monkeypatch.setattr(files, "write", interrupted)
    call = (given, "-o", tmp_path / "out.parquet", "--quiet")
    code, said = command(*call)
    assert code == EXIT_INTERRUPTED
    assert "make the same call again" in said
    code, said = command(*call, "--keep", "last")
    assert (code, "the work of another job" in said) == (2, True)
    left[:] = [9]
    assert command(*call) == (0, "")
    assert sorted(pq.read_table(tmp_path / "out.parquet").column("n").to_pylist()) == EXPECTED
    assert len(pq.read_table(tmp_path / "out.duplicates.parquet")) == len(ROWS) - len(EXPECTED)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.duplicates.parquet", "out.parquet"]
    code, said = command(*call)
    assert (code, "exists. Choose another path, or replace it with --overwrite" in said) == (2, True)
    assert command(*call, "--overwrite") == (0, "")


def test_the_entry_of_ray_job_submit_is_a_driver_of_the_cluster(tmp_path):
    given = lines(tmp_path / "in.jsonl", *LINES)
    words = [sys.executable, "-m", "neardup.ray", str(given), "-o", str(tmp_path / "out.parquet"), "--json", *WORDS]
    with running(nodes=0) as cluster:
        environment = os.environ | SETTINGS | {"RAY_ADDRESS": cluster.address}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["survivors"] == len(EXPECTED)
    assert "40 documents, about" in done.stderr
    assert "\ndocuments (cluster): " in done.stderr
