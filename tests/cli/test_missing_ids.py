"""Documents without an id get FILE:ROW in its place, and the run says of how many: on screen, in the summary and in Python."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd

TEXTS = [f"a text number {n} of some words that are alone {n * 7}" for n in range(6)]
IDS = ["a", None, "c", None, "e", None]


def write(name, ids=IDS):
    rows = [{"key": i, "text": text} for i, text in zip(ids, TEXTS, strict=True)]
    rows = [row if row["key"] is not None or n % 4 != 3 else {"text": row["text"]} for n, row in enumerate(rows)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    if name.endswith(".parquet"):
        pq.write_table(pa.table({"key": pa.array(ids, pa.string()), "text": TEXTS}), name, row_group_size=2)
    elif name.endswith(".gz"):
        Path(name).write_bytes(gzip.compress(lines.encode()))
    elif name.endswith(".jsonl"):
        Path(name).write_text(lines, encoding="utf-8")
    else:
        mark = "," if name.endswith(".csv") else "\t"
        cells = [f"{'' if i is None else i}{mark}{text}\n" for i, text in zip(ids, TEXTS, strict=True)]
        Path(name).write_text(f"key{mark}text\n" + "".join(cells), encoding="utf-8")


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz", "x.csv", "x.tsv", "x.parquet"])
@pytest.mark.parametrize("unit", ["document", "line"])
def test_documents_without_an_id_are_counted(run, name, unit):
    write(name)
    done = run("dedup", name, "-o", f"out{''.join(Path(name).suffixes)}", "--id", "key", "--unit", unit)
    done.ok("3 documents without an id: FILE:ROW stands for it")
    assert json.loads(Path("out.summary.json").read_bytes())["unnamed"] == 3


@pytest.mark.parametrize(
    ("ids", "named", "count"),
    [
        (list("abcdef"), "key", 0),
        ([None] * 6, "key", 6),
        (["x.jsonl:0", "b", "x.jsonl:9", "d", "e", "f"], "key", 1),  # which is what a row without an id has
        ([None] * 6, None, 0),
    ],
)
def test_only_ids_that_should_be_there_are_counted(tmp_path, monkeypatch, ids, named, count):
    monkeypatch.chdir(tmp_path)
    write("x.jsonl", ids)
    found = nd.deduplicate_files(["x.jsonl"], "out.jsonl", **({} if named is None else {"id": named}))
    assert found.summary.unnamed == count
    assert ("FILE:ROW" in str(found)) == bool(count)
    assert ("unnamed" in found.summary.as_dict()) == bool(count)


def test_a_file_without_the_column_beside_one_that_has_it_is_counted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text("".join(json.dumps({"id": n, "text": text}) + "\n" for n, text in enumerate(TEXTS)))
    Path("b.jsonl").write_text("".join(json.dumps({"text": text + " b"}) + "\n" for text in TEXTS[:2]))
    Path("c.txt").write_text("the id of a text file is its name")
    assert nd.deduplicate_files(["a.jsonl", "b.jsonl", "c.txt"], "out/").summary.unnamed == 2
