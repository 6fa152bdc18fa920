"""Corpora as they are: thousands of shards and few files, schemas that differ, names and ids of any characters, bombs."""

import csv
import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from cli_corpora import BREAD, CLOCK, FERRY, FERRY_EDITED, write_lines

from marks import long

OPEN_FILES = 64
SHARDS = 300


def limited(*arguments):
    """Call the command line in a process that may have few files open."""
    command = ["sh", "-c", f'ulimit -n {OPEN_FILES}; exec "$@"', "sh", sys.executable, "-m", "neardup", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("flags", [[], ["--annotate"], ["--memory", "16M"], ["--resume"]])
def test_many_shards_need_few_open_files(flags):
    for number in range(SHARDS):
        write_lines(f"in/{number:03}.jsonl", [{"id": number, "text": FERRY}, {"id": -1, "text": f"{CLOCK} {number}"}])
    done = limited("dedup", "in", "-o", "out/", "--quiet", "--min-similarity", "1", *flags)
    assert (done.returncode, done.stderr) == (0, "")
    written = sorted(Path("out").glob("*.jsonl"))
    assert len([path for path in written if path.name[0].isdigit()]) == SHARDS
    assert [row["id"] for row in read_lines("out/000.jsonl")] == [0, -1]
    assert [row["id"] for row in read_lines("out/299.jsonl")] == ([299, -1] if "--annotate" in flags else [-1])


@pytest.mark.parametrize("kind", ["csv", "txt", "parquet"])
def test_many_shards_of_other_formats_need_few_open_files(kind):
    Path("in").mkdir()
    for number in range(SHARDS):
        path, text = Path(f"in/{number:03}.{kind}"), f"{CLOCK} {number}"
        if kind == "parquet":
            pq.write_table(pa.table({"text": [text]}), path)
        else:
            path.write_text(f'text\n"{text}"\n' if kind == "csv" else text)
    done = limited("dedup", "in", "-o", "out/", "--quiet", "--min-similarity", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list(Path("out").glob(f"*.{kind}"))) == SHARDS


def read_lines(name):
    """As JSON says, where a line ends at a newline and nowhere else."""
    return [json.loads(line) for line in Path(name).read_bytes().splitlines()]


def tables(kind, name, rows):
    """A file of rows, dicts with equal keys, in a format; returns its name."""
    path = Path(f"{name}.{kind}")
    if kind == "jsonl":
        write_lines(path, rows)
    elif kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        written = io.StringIO(newline="")
        writer = csv.DictWriter(written, list(rows[0]), delimiter="," if kind == "csv" else "\t")
        writer.writeheader()
        writer.writerows(rows)
        path.write_bytes(written.getvalue().encode())
    return str(path)


def rows_of(kind, name):
    """Those of a file that the command has written."""
    if kind == "jsonl":
        return read_lines(name)
    if kind == "parquet":
        return pq.read_table(name).to_pylist()
    return list(
        csv.DictReader(
            io.StringIO(Path(name).read_bytes().decode(), newline=""), delimiter="," if kind == "csv" else "\t"
        )
    )


TABLES = ["jsonl", "csv", "tsv", "parquet"]
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What spreadsheets take for the beginning of a formula."""

ODD_IDS = [
    "=1+2",
    "@SUM(A1)",
    "a\nb",
    'say "no"',
    "a,b;c\td",
    "\u2028\u0085",
    "名",
    " ",
    "null",
    "\U0001f40b",
    "../x",
    "\\",
    "\x7f",
]
ODD_NAMES = ["te\nxt", "a,b", 'say "no"', "=text", "名", " ", "a.b", "text\r\n"]


@pytest.mark.parametrize("kind", TABLES)
def test_ids_may_have_any_characters(run, kind):
    rows = [{"id": f"{each}1", "text": f"{CLOCK} {number}"} for number, each in enumerate(ODD_IDS)]
    copies = [{"id": each, "text": row["text"]} for each, row in zip(ODD_IDS, rows, strict=True)]
    source = tables(kind, "in", rows + copies)
    assert run("dedup", source, "-o", f"out.{kind}", "--min-similarity", "1").code == 0
    assert rows_of(kind, f"out.{kind}") == rows
    audit = read_lines("out.duplicates.jsonl")
    assert [(row["id"], row["survivor_id"]) for row in audit] == [(each, f"{each}1") for each in ODD_IDS]
    assert run("dedup", source, "-o", f"all.{kind}", "--annotate", "--min-similarity", "1").code == 0
    assert [row["duplicate_of"] or None for row in rows_of(kind, f"all.{kind}")] == [None] * len(rows) + [
        f"'{each}1" if kind in ("csv", "tsv") and each.startswith(FORMULAS) else f"{each}1" for each in ODD_IDS
    ]
    for each in ODD_IDS:
        assert run("explain", "out.duplicates.jsonl", each).code == 0


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("name", ODD_NAMES)
def test_columns_may_have_any_names(run, kind, name):
    rows = [{name: text, f"{name}id": str(number)} for number, text in enumerate([FERRY, BREAD, FERRY_EDITED])]
    flags = ["--text", name, "--id", f"{name}id", "--keep", f"max:{name}id"]
    source = tables(kind, "in", rows)
    assert run("dedup", source, "-o", f"out.{kind}", *flags).code == 0
    assert rows_of(kind, f"out.{kind}") == rows[1:]
    run("dedup", source, "-o", f"other.{kind}").refused('has no column "text"')


@pytest.mark.parametrize("kind", TABLES)
def test_shards_of_different_columns_go_to_a_folder_and_not_to_one_file_where_a_file_has_one_header(run, kind):
    Path("in").mkdir()
    one, other = {"id": "a", "text": FERRY}, {"text": BREAD, "more": "x", "id": "b"}
    tables(kind, "in/0", [one])
    tables(kind, "in/1", [other, {**other, "text": FERRY_EDITED}])
    assert run("dedup", "in", "-o", "out/").code == 0
    assert [rows_of(kind, f"out/{number}.{kind}") for number in (0, 1)] == [[one], [other]]
    done = run("dedup", "in", "-o", f"out.{kind}", "--overwrite")
    assert done.code == (0 if kind == "jsonl" else 2)
    assert kind == "jsonl" or (f"in/0.{kind}" in done.err and f"in/1.{kind}" in done.err)


def members(pack, part, count):
    """Compressed data of `count` times the same part, which is compressed once."""
    return pack(part) * count


PACKS = {".gz": gzip.compress, ".zst": zstandard.compress}
BOMB_BYTES, PART_BYTES, LIMIT = 400 << 20, 10 << 20, 1 << 20


@pytest.mark.parametrize("ending", [long(".gz"), ".zst"])
@pytest.mark.parametrize("kind", ["jsonl", "csv", "txt", "lines"])
def test_what_grows_when_it_is_unpacked_is_held_to_the_longest_document(run, kind, ending):
    pack = PACKS[ending]
    head, tail = {"jsonl": (b'{"text": "', b'"}\n'), "csv": (b'text\n"', b'"\n')}.get(kind, (b"", b""))
    name = f"in.{'txt' if kind == 'lines' else kind}{ending}"
    bomb = members(pack, b"x" * PART_BYTES, BOMB_BYTES // PART_BYTES)
    Path(name).write_bytes((pack(head) if head else b"") + bomb + (pack(tail) if tail else b""))
    Path("other.txt").write_text(FERRY)
    flags = ["--max-document-bytes", str(LIMIT), *(["--lines"] if kind == "lines" else [])]
    run("dedup", name, "-o", "out/", *flags).refused(
        f"{name}, row 0 (counted from 0): it is longer than --max-document-bytes, 1,048,576 bytes", code=1
    )
    command = [
        sys.executable,
        "-m",
        "neardup",
        "dedup",
        name,
        "other.txt",
        "-o",
        "out/",
        *flags,
        "--on-error",
        "skip",
        "--json",
        "--quiet",
    ]
    found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert (found["rejected"], found["documents"]) == (1, 1)
    assert found["peak_memory_bytes"] < BOMB_BYTES
