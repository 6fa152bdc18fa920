"""What `neardup dedup` writes: survivors as they were, shard by shard or in one file, complete or not at all."""

import gzip
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from cli_corpora import BREAD, CLOCK, FERRY, FERRY_EDITED, ROWS, files, lines, read_lines, survivors, write_lines

ODD_LINES = [
    b'{"id": 1, "text": "%s"}\r\n' % FERRY.encode(),
    b'  {"text"\t:  "%s" , "z": 1e400, "a": [ ],"id" : 2 }  \n' % BREAD.encode(),
    b'{"id": 3, "x": 1, "x": 2, "text": "\\u732b\\u00e9\\ud83d\\ude00 \\/ %s"}\n' % CLOCK.encode(),
    b'{"id": 4, "text": "%s"}\r\n' % FERRY.upper().encode(),
    b'{"id":5,"text":"","n":12345678901234567890123456789012345678901234567890,"m":1.0000000000000000001}\n',
    '{"id": 6, "text": "河上的老石桥建于明代，全长八十六米，共有七个拱。", "\\u0000": "\u2028\\n"}'.encode(),
]


def test_survivors_are_the_bytes_that_came(run):
    Path("in.jsonl").write_bytes(b"".join(ODD_LINES))
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--quiet").code == 0
    assert Path("out.jsonl").read_bytes() == b"".join(ODD_LINES[:3] + ODD_LINES[4:])
    assert run("dedup", "in.jsonl", "-o", "-", "--quiet").out == Path("out.jsonl").read_bytes()


def test_a_missing_newline_at_the_end_is_added_only_where_something_follows(run):
    Path("a.jsonl").write_bytes(lines([{"text": FERRY}]).rstrip())
    Path("b.jsonl").write_bytes(lines([{"text": BREAD}]).rstrip())
    assert (
        run("dedup", "a.jsonl", "b.jsonl", "-o", "-", "--quiet").out
        == lines([{"text": FERRY}, {"text": BREAD}]).rstrip()
    )


def unpacked_zstd(content):
    return zstandard.ZstdDecompressor().decompressobj().decompress(content)


@pytest.mark.parametrize(("ending", "unpacked"), [(".gz", gzip.decompress), (".zst", unpacked_zstd)])
def test_the_output_is_compressed_as_its_name_says(run, ending, unpacked):
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", f"out.jsonl{ending}", "--audit", f"removed.jsonl{ending}")
    assert unpacked(Path(f"out.jsonl{ending}").read_bytes()) == lines([ROWS[0], ROWS[2], ROWS[4]])
    assert len(unpacked(Path(f"removed.jsonl{ending}").read_bytes()).splitlines()) == 2
    assert files() == ["in.jsonl", f"out.jsonl{ending}", f"removed.jsonl{ending}", "removed.summary.json"]


def test_a_folder_gets_one_shard_for_each_input_under_its_relative_name(run):
    write_lines("in/a.jsonl", ROWS[:2])
    Path("in/deep").mkdir()
    Path("in/deep/b.jsonl.gz").write_bytes(gzip.compress(lines(ROWS[2:])))
    write_lines("in/deep/none.jsonl", [ROWS[1]])
    assert run("dedup", "in", "-o", "new/out/").code == 0
    assert files()[3:] == [
        "new/out.duplicates.jsonl",
        "new/out.summary.json",
        "new/out/a.jsonl",
        "new/out/deep/b.jsonl.gz",
        "new/out/deep/none.jsonl",
    ]
    assert survivors("new/out/a.jsonl") == ["ferry"]
    assert gzip.decompress(Path("new/out/deep/b.jsonl.gz").read_bytes()) == lines([ROWS[2], ROWS[4]])
    assert Path("new/out/deep/none.jsonl").read_bytes() == b""


def test_an_existing_folder_is_a_folder_without_its_slash(run):
    write_lines("in.jsonl", ROWS)
    Path("out").mkdir()
    run("dedup", "in.jsonl", "-o", "out")
    assert files() == ["in.jsonl", "out.duplicates.jsonl", "out.summary.json", "out/in.jsonl"]


def test_standard_output_gets_survivors_only_and_an_audit_only_if_it_is_named(run):
    write_lines("in.jsonl", ROWS)
    done = run("dedup", "in.jsonl", "-o", "-")
    assert done.out == lines([ROWS[0], ROWS[2], ROWS[4]])
    assert files() == ["in.jsonl"]
    assert "output   standard output" in done.err
    run("dedup", "in.jsonl", "-o", "-", "--audit", "removed.jsonl", "--on-error", "skip")
    assert files() == ["in.jsonl", "removed.jsonl", "removed.rejects.jsonl", "removed.summary.json"]
    assert [line["id"] for line in read_lines("removed.jsonl")] == ["edited", "shouted"]


def test_parquet_keeps_schema_metadata_and_every_kind_of_column(run):
    schema = pa.schema(
        [
            pa.field("id", pa.int64(), nullable=False, metadata={"unit": "none"}),
            ("text", pa.string()),
            ("language", pa.dictionary(pa.int8(), pa.string())),
            ("meta", pa.struct([("tags", pa.list_(pa.string())), ("score", pa.float32())])),
            ("at", pa.timestamp("us", tz="Asia/Tokyo")),
            ("price", pa.decimal128(10, 2)),
            ("pairs", pa.map_(pa.string(), pa.int32())),
            ("blob", pa.binary()),
            ("nothing", pa.null()),
        ],
        metadata={"made by": "a test", "empty": ""},
    )
    rows = [
        {
            "id": i,
            "text": text,
            "language": "en",
            "meta": {"tags": ["a", None], "score": 0.5},
            "at": 10**15,
            "price": 1,
            "pairs": [("k", i)],
            "blob": b"\xff",
        }
        for i, text in enumerate([FERRY, FERRY_EDITED, BREAD])
    ] + [{"id": 3, "text": ""}]
    table = pa.Table.from_pylist(rows, schema)
    pq.write_table(table, "in.parquet", compression="zstd", row_group_size=3)
    assert run("dedup", "in.parquet", "-o", "out.parquet", "--quiet").code == 0
    kept = pq.read_table("out.parquet")
    assert kept.schema.equals(pq.read_schema("in.parquet"), check_metadata=True)
    assert kept.equals(table.take([0, 2, 3]))
    assert pq.ParquetFile("out.parquet").metadata.row_group(0).column(0).compression == "ZSTD"


def test_several_parquet_files_become_one(run):
    table = pa.Table.from_pylist(ROWS)
    pq.write_table(table.slice(0, 2), "a.parquet")
    pq.write_table(table.slice(2), "b.parquet")
    assert run("dedup", "a.parquet", "b.parquet", "-o", "out.parquet").code == 0
    assert pq.read_table("out.parquet").column("id").to_pylist() == ["ferry", "bread", "bridge"]


ADDED = {
    "ferry": (0, 3, False, None, None, None),
    "edited": (0, 3, True, "ferry", pytest.approx(0.904, abs=1e-3), 9),
    "bread": (2, 1, False, None, None, None),
    "shouted": (0, 3, True, "ferry", 1.0, 0),
    "bridge": (4, 1, False, None, None, None),
}
COLUMNS = ["cluster_id", "cluster_size", "is_duplicate", "duplicate_of", "similarity", "distance"]


def added(row):
    return tuple(row[column] for column in COLUMNS)


def test_annotate_writes_all_rows_of_json_lines_with_what_would_become_of_them(run):
    write_lines("in.jsonl", [{"n": None} | row for row in ROWS])
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--annotate").code == 0
    rows = read_lines("out.jsonl")
    assert [list(row) for row in rows] == [["n", "id", "text", *COLUMNS]] * 5
    assert {row["id"]: added(row) for row in rows} == ADDED
    assert Path("out.jsonl").read_bytes().startswith(lines([{"n": None} | ROWS[0]])[:-2])
    assert [line["id"] for line in read_lines("out.duplicates.jsonl")] == ["edited", "shouted"]


def test_annotate_writes_all_rows_of_parquet_with_what_would_become_of_them(run):
    pq.write_table(pa.Table.from_pylist(ROWS), "in.parquet")
    assert run("dedup", "in.parquet", "-o", "out.parquet", "--annotate").code == 0
    table = pq.read_table("out.parquet")
    assert table.column_names == ["id", "text", *COLUMNS]
    kinds = [pa.int64(), pa.int64(), pa.bool_(), pa.string(), pa.float64(), pa.int64()]
    assert [table.schema.field(name).type for name in COLUMNS] == kinds
    assert {row["id"]: added(row) for row in table.to_pylist()} == ADDED


def test_annotate_keeps_the_kind_of_ids_in_json_lines_and_leaves_out_rejected_rows(run):
    write_lines("in.jsonl", [{"id": 7, "text": FERRY}, {"id": 8, "text": None}, {"id": 9, "text": FERRY}])
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--annotate", "--on-error", "skip").code == 0
    assert [(row["id"], row["duplicate_of"]) for row in read_lines("out.jsonl")] == [(7, None), (9, 7)]


def test_annotate_on_standard_output(run):
    done = run(
        "dedup", "-", "-o", "-", "--annotate", "--quiet", stdin=b"{}\n".replace(b"{}", json.dumps(ROWS[0]).encode())
    )
    assert json.loads(done.out)["is_duplicate"] is False


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_rows_that_are_annotated_already_are_refused(run, kind):
    rows = [row | {"similarity": 1.0} for row in ROWS]
    write_lines("in.jsonl", rows)
    pq.write_table(pa.Table.from_pylist(rows), "in.parquet")
    run("dedup", f"in.{kind}", "-o", f"out.{kind}", "--annotate").refused(
        f'in.{kind} has a column "similarity" already'
    )
    assert files() == ["in.jsonl", "in.parquet"]


def test_existing_outputs_are_refused_all_of_them_named_and_left_as_they_are(run):
    write_lines("in.jsonl", ROWS)
    for name in ("out.jsonl", "out.duplicates.jsonl", "out.summary.json", "out.rejects.jsonl"):
        Path(name).write_text("old")
    done = run("dedup", "in.jsonl", "-o", "out.jsonl", "--on-error", "skip").refused()
    names = "out.jsonl, out.duplicates.jsonl, out.rejects.jsonl, out.summary.json"
    assert f"{names} exist already. Name another output, or pass --overwrite to replace them." in done.err
    for name in names.split(", "):
        assert Path(name).read_text() == "old"


def test_overwrite_replaces_outputs(run):
    write_lines("in.jsonl", ROWS)
    Path("out.jsonl").write_text("old")
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--overwrite").code == 0
    assert survivors("out.jsonl") == ["ferry", "bread", "bridge"]


@pytest.mark.parametrize(
    ("given", "out"),
    [
        ("in.jsonl", "in.jsonl"),
        ("in.jsonl", "link.jsonl"),
        ("link.jsonl", "in.jsonl"),
        ("in.jsonl", "./in.jsonl"),
        ("in.jsonl", "hard.jsonl"),
    ],
)
def test_an_input_is_never_replaced_even_through_a_link(run, given, out):
    write_lines("in.jsonl", ROWS)
    os.symlink("in.jsonl", "link.jsonl")
    os.link("in.jsonl", "hard.jsonl")
    before = files()
    for more in ((), ("--overwrite",), ("--overwrite", "--resume"), ("--overwrite", "--annotate")):
        run("dedup", given, "-o", out, *more).refused(
            f"{Path(out)} is an input, and no run replaces what it reads. Name another file."
        )
        assert files() == before
    assert Path("in.jsonl").read_bytes() == lines(ROWS)


def test_a_folder_is_not_deduplicated_in_place(run):
    write_lines("in/a.jsonl", ROWS[:2])
    write_lines("in/b.jsonl", ROWS[2:])
    for given in ("in", "in/*.jsonl"):
        run("dedup", given, "-o", "in/", "--overwrite").refused(
            "in/a.jsonl is an input, and no run replaces what it reads. Name another file.", "in/b.jsonl is an input"
        )
    assert files() == ["in/a.jsonl", "in/b.jsonl"]
    assert Path("in/a.jsonl").read_bytes() == lines(ROWS[:2])


@pytest.mark.parametrize("name", ["removed.jsonl", "removed.summary.json", "removed.rejects.jsonl"])
def test_no_record_ever_replaces_an_input(run, name):
    write_lines(name, ROWS)
    run("dedup", name, "-o", "out.jsonl", "--audit", "removed.jsonl", "--on-error", "skip", "--overwrite").refused(
        f"{name} is an input, and no run replaces what it reads."
    )
    assert files() == [name]
    assert Path(name).read_bytes() == lines(ROWS)


@pytest.mark.parametrize(
    ("given", "out", "message"),
    [
        (
            ["in/a.jsonl", "in/p.parquet"],
            "out.parquet",
            "The inputs are jsonl and parquet, whose rows have types in some files only.",
        ),
        (["in/p.parquet"], "out.tsv", "in/p.parquet is parquet, but the output is tsv."),
        (["in/p.parquet", "in/a.jsonl"], "-", "in/a.jsonl is jsonl, but the output is parquet on standard output."),
        (
            ["in/p.parquet", "other/q.parquet"],
            "out.parquet",
            'cannot be written to one file: column "id" is string in one, int64 in the other.',
        ),
        (["in/a.jsonl", "other/a.jsonl"], "out/", "in/a.jsonl and other/a.jsonl would both be written to out/a.jsonl."),
        (
            ["in/a.jsonl"],
            "out.csv",
            "in/a.jsonl is jsonl, but the output is csv. Rows are written as they are, or converted to JSON lines, Parquet or Arrow: "
            "name an output of such a format",
        ),
        (["in/a.jsonl"], "out", "out: the ending does not tell the format of the output."),
        (["in/a.jsonl"], "out.parquet.gz", "the ending does not tell the format of the output."),
        (["in/a.jsonl"], "nowhere/out.jsonl", "nowhere does not exist. Make it, or name another output."),
        (["in/a.jsonl"], "in/a.jsonl/out.jsonl", "cannot be written: Not a directory"),
        (["in"], "in/deep/", "in/deep/c.jsonl lies in the output folder in/deep/. Name another folder."),
    ],
)
def test_outputs_that_cannot_be_are_refused_before_any_work(run, given, out, message):
    write_lines("in/a.jsonl", ROWS)
    write_lines("in/deep/c.jsonl", [{"text": CLOCK}])
    write_lines("other/a.jsonl", ROWS)
    pq.write_table(pa.Table.from_pylist(ROWS), "in/p.parquet")
    pq.write_table(pa.table({"id": [1], "text": [CLOCK]}), "other/q.parquet")
    before = files()
    run("dedup", *given, "-o", out).refused(message)
    assert files() == before


@pytest.mark.parametrize(("out", "kind"), [("out.parquet", "parquet"), ("out.feather", "arrow"), ("out.wet", "warc")])
def test_lines_are_not_written_under_the_ending_of_a_format_that_has_none(run, out, kind):
    Path("in.txt").write_text(f"{CLOCK}\n")
    run("dedup", "in.txt", "--lines", "-o", out).refused(f"in.txt is lines, but the output is {kind}. Rows are written")
    assert files() == ["in.txt"]


def test_what_cannot_be_rewritten_is_refused_before_its_output_is(run):
    Path("in.wet").write_bytes(b"")
    run("dedup", "in.wet", "-o", "out.jsonl", "--unit", "line").refused("in.wet is warc: --unit line can rewrite jsonl")


def test_advice_on_standard_input_is_a_sentence_of_its_own(run):
    done = run("dedup", "-", "-o", "out.jsonl", stdin=b"id,text\n")
    done.said("""give its --dialect: ',"'. Otherwise mend or remove the row""")
    assert not Path("out").exists()


def test_a_device_is_no_output_file(run):
    write_lines("in.jsonl", ROWS)
    os.mkfifo("out.jsonl")
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--overwrite").refused(
        "out.jsonl is not a regular file. Name another output, or - for standard output."
    )


def test_outputs_have_the_usual_permissions(run):
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", "out.jsonl")
    assert Path("out.jsonl").stat().st_mode == Path("in.jsonl").stat().st_mode
