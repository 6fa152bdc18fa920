"""The commands over every format: the same documents are removed, and what is kept is as it was."""

import csv
import gzip
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import FERRY, ROWS, lines, read_lines, write_lines

import neardup as nd

KEPT = ["ferry", "bread", "bridge"]


def table(rows, **dialect):
    out = io.StringIO(newline="")
    csv.writer(out, **dialect).writerows([["id", "text"], *([row["id"], row["text"]] for row in rows)])
    return out.getvalue().encode()


def write_folder(name):
    for row in ROWS:
        path = Path(name) / row["id"][:1] / f"{row['id']}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(row["text"].encode() + b"\r\n")


@pytest.mark.parametrize(
    ("name", "dialect"),
    [
        ("csv", {}),
        ("csv.gz", {"delimiter": ";", "quotechar": "'", "quoting": csv.QUOTE_ALL}),
        ("tsv", {"delimiter": "\t"}),
    ],
)
def test_delimited_text_is_deduplicated_byte_for_byte(run, name, dialect):
    pack = gzip.compress if name.endswith("gz") else bytes
    unpack = gzip.decompress if name.endswith("gz") else bytes
    Path(f"in.{name}").write_bytes(pack(table(ROWS, **dialect)))
    assert run("dedup", f"in.{name}", "-o", f"out.{name}").code == 0
    assert unpack(Path(f"out.{name}").read_bytes()) == table([row for row in ROWS if row["id"] in KEPT], **dialect)
    assert [row["id"] for row in read_lines("out.duplicates.jsonl")] == ["edited", "shouted"]
    assert run("dedup", f"in.{name}", "-o", f"all.{name}", "--annotate").code == 0
    first = unpack(Path(f"all.{name}").read_bytes()).decode().splitlines()[0]
    assert first.replace("'", "").replace(dialect.get("delimiter", ","), " ") == (
        "id text cluster_id cluster_size is_duplicate duplicate_of similarity distance"
    )


def test_a_folder_of_text_files_becomes_a_folder_of_survivors(run):
    write_folder("in")
    run("dedup", "in", "-o", "out/").ok()
    kept = sorted(str(path.relative_to("out")) for path in Path("out").rglob("*.txt"))
    assert kept == ["b/bread.txt", "b/bridge.txt", "e/edited.txt"]  # the first by path
    assert all(Path("out", name).read_bytes() == Path("in", name).read_bytes() for name in kept)
    assert [row["id"] for row in read_lines("out.duplicates.jsonl")] == ["f/ferry.txt", "s/shouted.txt"]
    run("dedup", "in", "-o", "one.txt").refused("one document each")
    run("dedup", "in", "-o", "more/", "--annotate").refused("Leave out --annotate: the audit says the same")


def test_what_is_removed_now_does_not_stay_from_an_earlier_run(run):
    write_folder("in")
    write_folder("out")
    assert run("dedup", "in", "-o", "out/").code == 2
    assert run("dedup", "in", "-o", "out/", "--overwrite").code == 0
    assert sorted(path.name for path in Path("out").rglob("*.txt")) == ["bread.txt", "bridge.txt", "edited.txt"]


def test_lines_of_any_file_are_documents(run):
    content = b"".join(row["text"].encode() + b"\r\n\r\n" for row in ROWS)
    Path("in.log").write_bytes(content)
    assert run("dedup", "in.log", "--lines", "-o", "out.log").code == 0
    kept = b"".join(row["text"].encode() + b"\r\n" for row in ROWS if row["id"] in KEPT)
    assert Path("out.log").read_bytes() == kept
    assert [row["id"] for row in read_lines("out.log.duplicates.jsonl")] == ["in.log:1", "in.log:3"]
    assert run("dedup", "-", "--lines", "-o", "-", "--quiet", stdin=content).out == kept


def test_formats_can_be_mixed_in_one_folder(run):
    write_folder("in")
    write_lines(
        "in/x.jsonl", [{"id": 1, "text": FERRY}, {"id": 2, "text": "Something else that nobody else has written."}]
    )
    Path("in/y.csv").write_bytes(
        table([*ROWS[2:3], {"id": "new", "text": "A line of its own, in a table of its own."}])
    )
    assert run("dedup", "in", "-o", "out/").code == 0
    assert [row["id"] for row in read_lines("out/x.jsonl")] == [2]
    assert Path("out/y.csv").read_bytes() == b'id,text\r\nnew,"A line of its own, in a table of its own."\r\n'
    assert len(list(Path("out").rglob("*.txt"))) == 3


@pytest.mark.parametrize(
    "command",
    [
        ["dedup"],
        ["dedup", "--annotate"],
        ["dedup", "--unit", "line"],
        ["passages", "--min-tokens", "5"],
        ["decontaminate", "--against", "items.jsonl"],
        ["apply", "clusters.parquet"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("order", [["empty", "full"], ["full", "empty"]], ids="-".join)
def test_files_whose_columns_have_no_value_share_an_output_with_others(run, command, order):
    row = {"text": "one two three four five six seven", "tags": ["a"]}
    pq.write_table(pa.table({"text": pa.nulls(2), "tags": pa.nulls(2)}), "empty.parquet")
    pq.write_table(pa.Table.from_pylist([row, {"text": "eight nine", "tags": None}]), "full.parquet")
    write_lines("items.jsonl", [{"text": "unlike all of these, and long enough to be looked for in any of the texts"}])
    names = [f"{name}.parquet" for name in order]
    if command[0] == "apply":
        run("fingerprint", *names, "-o", "prints.parquet", "--on-error", "skip").ok()
        run("pairs", "prints.parquet", "--max-distance", "3", "-o", "pairs.parquet").ok()
        run("clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "clusters.parquet").ok()
    skip = () if command[0] == "apply" else ("--on-error", "skip")
    run(*command, *names, "-o", "out.parquet", *skip).ok()
    out = pq.read_table("out.parquet")
    assert out.select(["text", "tags"]).to_pylist() == [row, {"text": "eight nine", "tags": None}]
    assert out.schema.field("tags").type == pq.read_schema("full.parquet").field("tags").type


def test_names_of_two_folders_that_would_meet_are_refused_with_both(run):
    for folder in ("a", "b"):
        write_lines(f"{folder}/x.jsonl", ROWS)
    run("dedup", "a", "b", "-o", "out/").refused("a/x.jsonl and b/x.jsonl would both be written to out/x.jsonl.")


@pytest.mark.parametrize("encoding", ["utf-16", "gb18030"])
def test_other_encodings_are_read_and_written(run, encoding):
    Path("in.jsonl").write_bytes(lines(ROWS).decode().encode(encoding))
    assert run("dedup", "in.jsonl", "-o", "out.jsonl").code == 1
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--encoding", encoding).code == 0
    assert Path("out.jsonl").read_bytes() == lines(row for row in ROWS if row["id"] in KEPT).decode().encode(encoding)
    explained = run("explain", "out.duplicates.jsonl", "bread")  # which was kept, so the texts are read again
    assert explained.code == 0
    assert run("dedup", "in.jsonl", "-o", "x.jsonl", "--encoding", "klingon").code == 2


def test_a_row_that_is_too_long_stops_the_run_or_is_set_aside(run):
    write_lines("in.jsonl", [*ROWS, {"id": "long", "text": "x" * 5000}])
    Path("bomb.jsonl.gz").write_bytes(gzip.compress(b'{"text": "' + b"x" * (64 << 20) + b'"}\n'))
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--max-document-bytes", "4K").refused(
        "in.jsonl, row 5 (counted from 0): it is longer than --max-document-bytes, 4,096 bytes", code=1
    )
    run("dedup", "in.jsonl", "bomb.jsonl.gz", "-o", "out/", "--max-document-bytes", "4K", "--on-error", "skip").ok()
    assert [(row["file"], row["row"]) for row in read_lines("out.rejects.jsonl")] == [
        ("in.jsonl", 5),
        ("bomb.jsonl.gz", 0),
    ]
    assert gzip.decompress(Path("out/bomb.jsonl.gz").read_bytes()) == b""


def test_a_dialect_can_be_stated(run):
    Path("in.csv").write_bytes(b"id;text,more\n1;some words that are a text,2\n")
    run("dedup", "in.csv", "-o", "out.csv").refused("Give --dialect the delimiter")
    assert run("dedup", "in.csv", "-o", "out.csv", "--dialect", ";", "--text", "text,more").code == 0
    assert json.loads(Path("out.summary.json").read_text())["documents"] == 1
    assert run("dedup", "in.csv", "-o", "new.csv", "--dialect", "abcd").code == 2


TITLED = [
    {"id": "a", "title": "Ferries", "body": FERRY},
    {"id": "b", "title": "Bread", "body": FERRY},
    {"id": "c", "title": "ferries", "body": FERRY.upper() + "\nsecond line"},
    {"id": "d", "title": "Ferries", "body": FERRY + "!"},
]


def write_titled(form, nested):
    """`nested`: the body is a field of `meta` where the format has such, else a column of that name."""
    body = "meta.body" if nested else "body"
    rows = [
        {"id": row["id"], "title": row["title"]}
        | ({"meta": {"body": row["body"]}} if nested else {"body": row["body"]})
        for row in TITLED
    ]
    if form == "jsonl":
        write_lines("in.jsonl", rows)
    elif form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), "in.parquet")
    else:
        with Path("in.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(
                [["id", "title", body], *([row["id"], row["title"], row["body"]] for row in TITLED)]
            )
    return body


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("form", ["jsonl", "parquet", "csv"])
def test_several_and_nested_columns_are_joined_alike_in_every_format_and_in_the_library(run, form, nested):
    body = write_titled(form, nested)
    run("dedup", f"in.{form}", "-o", f"out.{form}", "--text", "title", "--text", body, "--min-similarity", "1").ok()
    assert [(line["id"], line["survivor_id"]) for line in read_lines("out.duplicates.jsonl")] == [("d", "a")]
    assert run("fingerprint", f"in.{form}", "-o", "prints.parquet", "--text", "title", "--text", body).code == 0
    stored = pq.read_table("prints.parquet").column("fingerprint").to_pylist()
    joined = nd.fingerprint([f"{row['title']}\n{row['body']}" for row in TITLED])
    assert [bytes(value) for value in stored] == [value.astype(">u8").tobytes() for value in joined]
    both = nd.deduplicate(TITLED, text=("title", "body"), min_similarity=1)
    assert [row["id"] for row in both.survivors] == ["a", "b", "c"]
    if nested:
        run("dedup", f"in.{form}", "-o", f"body.{form}", "--text", body, "--min-similarity", "1").ok()
        assert [line["id"] for line in read_lines("body.duplicates.jsonl")] == ["b", "d"]


@pytest.mark.parametrize("command", ["dedup", "fingerprint", "pairs"])
def test_a_column_without_a_name_is_refused(run, command):
    write_lines("in.jsonl", ROWS)
    run(command, "in.jsonl", "-o", "out.jsonl", "--text", "").refused(
        "--text '': give names of columns, such as text or meta.body; none may be empty"
    )
    run(command, "in.jsonl", "-o", "out.jsonl", "--temp-dir", "/nope").refused("'/nope' does not exist")
