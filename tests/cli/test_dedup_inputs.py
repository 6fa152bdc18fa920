"""What `neardup dedup` reads: files, folders, globs and standard input, in every format."""

import gzip
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from cli_corpora import BREAD, CLOCK, FERRY, FERRY_SHOUTED, ROWS, files, lines, read_lines, survivors, write_lines

KEPT = ["ferry", "bread", "bridge"]


@pytest.mark.parametrize(
    ("name", "packed"),
    [
        ("in.jsonl", bytes),
        ("in.ndjson", bytes),
        ("in.json", bytes),
        ("in.JSONL", bytes),
        ("in.jsonl.gz", gzip.compress),
        ("in.jsonl.zst", zstandard.compress),
        ("in.ndjson.gz", lambda content: gzip.compress(content[:300]) + gzip.compress(content[300:])),
        ("in.jsonl.zst", lambda content: zstandard.compress(content[:300]) + zstandard.compress(content[300:])),
    ],
)
def test_json_lines_are_read_plain_and_compressed(run, name, packed):
    Path(name).write_bytes(packed(lines(ROWS)))
    assert run("dedup", name, "-o", "out.jsonl", "--quiet").code == 0
    assert survivors("out.jsonl") == KEPT


@pytest.mark.parametrize("unit", ["document", "line"])
def test_files_of_a_folder_that_are_passed_over_are_told_and_counted(run, unit):
    write_lines("in/a.jsonl", ROWS)
    write_lines("in/more/b.jsonl", [{"text": CLOCK}])
    unread = ["a.doc", "more/b.PDF", "c.7z", "d", "e.bin", "f.bin"]
    for name in [*unread, "README.md", "page.html", ".hidden"]:
        Path("in", name).write_text("not read")
    done = run("dedup", "in", "-o", "out/", "--unit", unit)
    said = " ".join(done.err.split())
    assert done.code == 0
    assert "neardup: 6 files in in passed over, of no known format: a.doc, c.7z, d, e.bin, f.bin …" in said
    assert "neardup: 1 file in in passed over, for such files are read only if they are named: README.md" in said
    assert "neardup: 1 file in in passed over, for HTML is read with --html main or --html whole: page.html" in said
    assert "skipped 8 files in folders, of no known format or read only if named" in said
    assert json.loads(Path("out.summary.json").read_bytes())["passed_over"] == 8
    done = run("dedup", "in/*.jsonl", "in/more/b.jsonl", "-o", "named/", "--unit", unit)
    assert (done.code, "passed over" in done.err) == (0, False)


def test_every_command_that_reads_a_folder_tells_what_it_passes_over(run):
    write_lines("in/a.jsonl", ROWS)
    Path("in/a.doc").write_text("not read")
    for command in (
        ["fingerprint", "in", "-o", "prints/"],
        ["pairs", "in", "-o", "pairs.jsonl"],
        ["fit", "in", "-o", "words.parquet"],
    ):
        done = run(*command)
        assert "1 file in in passed over, of no known format: a.doc" in " ".join(done.err.split())


def test_parquet_is_read(run):
    pq.write_table(pa.Table.from_pylist(ROWS), "in.parquet", row_group_size=2)
    assert run("dedup", "in.parquet", "-o", "out.parquet", "--quiet").code == 0
    assert pq.read_table("out.parquet").column("id").to_pylist() == KEPT
    assert [line["id"] for line in read_lines("out.duplicates.jsonl")] == ["edited", "shouted"]


@pytest.mark.parametrize("packed", [bytes, gzip.compress, zstandard.compress])
def test_standard_input_holds_json_lines_plain_or_compressed(run, packed):
    run("dedup", "-", "-o", "out.jsonl", stdin=packed(lines(ROWS))).ok()
    assert survivors("out.jsonl") == KEPT


def test_documents_of_standard_input_are_called_by_row(run):
    run("dedup", "-", "-o", "out.jsonl", stdin=lines([{"text": FERRY}, {"text": FERRY}]))
    assert read_lines("out.duplicates.jsonl")[0]["id"] == "stdin:1"


def test_a_pipe_of_parquet_is_known_by_its_first_bytes(run, tmp_path):
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "in.parquet")
    piped = (tmp_path / "in.parquet").read_bytes()
    run("dedup", "-", "-o", "out.jsonl", stdin=piped).ok()
    assert survivors("out.jsonl") == KEPT
    run("dedup", "-", "-o", "out.csv", stdin=piped, leaves_nothing=False).refused(
        "stdin is parquet, but the output is csv."
    )
    run("dedup", "-", "-o", "rows.parquet", stdin=piped).ok()
    assert pq.read_table("rows.parquet").column("id").to_pylist() == KEPT


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_pipe_of_warc_is_known_by_its_first_bytes(run, pack):
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + FERRY.encode()
    head = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://%s.org/\r\nContent-Length: %d\r\n\r\n"
    records = [head % (host, len(block)) + block + b"\r\n\r\n" for host in (b"a", b"b")]
    done = run("dedup", "-", "-o", "-", "--audit", "removed.jsonl", stdin=b"".join(map(pack, records)))
    assert (done.code, done.out) == (0, records[0])
    assert read_lines("removed.jsonl")[0]["id"] == "http://b.org/"


@pytest.mark.parametrize(
    "given", [["in"], ["in/"], ["in/**/*.jsonl"], ["in/a.jsonl", "in/deep/b.jsonl"], ["in/*"], ["i?"]]
)
def test_several_inputs_are_one_corpus_counted_through(run, given):
    write_lines("in/a.jsonl", ROWS[:2])
    write_lines("in/deep/b.jsonl", ROWS[2:])
    assert run("dedup", *given, "-o", "out.jsonl", "--quiet").code == 0
    assert survivors("out.jsonl") == KEPT
    assert [(line["row"], line["survivor_row"]) for line in read_lines("out.duplicates.jsonl")] == [(1, 0), (3, 0)]


def test_the_order_of_inputs_is_the_order_given(run):
    write_lines("b.jsonl", [{"id": "b", "text": FERRY}])
    write_lines("a.jsonl", [{"id": "a", "text": FERRY}])
    run("dedup", "b.jsonl", "a.jsonl", "-o", "out.jsonl")
    assert survivors("out.jsonl") == ["b"]
    run(
        "dedup",
        "b.jsonl",
        "-",
        "-o",
        "two.jsonl",
        stdin=lines([{"id": "c", "text": FERRY}, {"id": "d", "text": BREAD}]),
    )
    assert survivors("two.jsonl") == ["b", "d"]


def test_a_folder_stands_for_all_its_files_of_known_formats_but_hidden_ones(run):
    for name in ("in/b.jsonl", "in/a.ndjson", "in/.hidden.jsonl", "in/.hidden/c.jsonl", "in/settings.json"):
        write_lines(name, [{"id": name, "text": f"{CLOCK} This one lies in {name}."}])
    Path("in/readme.md").write_text("nothing")
    run("dedup", "in", "-o", "out.jsonl", "--min-similarity", "1")
    assert survivors("out.jsonl") == ["in/a.ndjson", "in/b.jsonl"]


def test_links_are_followed(run):
    write_lines("real/a.jsonl", ROWS[:2])
    write_lines("real/b.jsonl", ROWS[2:])
    Path("in").mkdir()
    os.symlink("../real/a.jsonl", "in/linked.jsonl")
    os.symlink("../real", "in/folder")
    run("dedup", "in/linked.jsonl", "real/b.jsonl", "-o", "out.jsonl").ok()
    assert survivors("out.jsonl") == KEPT
    run("dedup", "in", "-o", "two.jsonl").refused("is given twice")


def test_formats_may_be_mixed_where_each_shard_has_its_own_output(run):
    write_lines("in/a.jsonl", ROWS[:2])
    pq.write_table(pa.Table.from_pylist(ROWS[2:]), "in/b.parquet")
    assert run("dedup", "in", "-o", "out/").code == 0
    assert survivors("out/a.jsonl") == ["ferry"]
    assert pq.read_table("out/b.parquet").column("id").to_pylist() == ["bread", "bridge"]


def test_an_empty_corpus_is_no_error(run):
    Path("in.jsonl").write_bytes(b"")
    pq.write_table(pa.Table.from_pylist(ROWS).slice(0, 0), "in.parquet")
    Path("in.jsonl.gz").write_bytes(gzip.compress(b""))
    for name in ("in.jsonl", "in.parquet", "in.jsonl.gz"):
        out = name.replace("in", "out", 1)
        run("dedup", name, "-o", out, "--overwrite").ok(
            "read     0 documents\nkept     0 documents\nremoved  0 documents\n"
        )
        assert read_lines("out.duplicates.jsonl") == []
    assert Path("out.jsonl").read_bytes() == b""
    assert gzip.decompress(Path("out.jsonl.gz").read_bytes()) == b""
    assert pq.read_schema("out.parquet").equals(pq.read_schema("in.parquet"))
    assert run("dedup", "-", "-o", "-", "--quiet", stdin=b"").out == b""


def test_blank_lines_and_a_byte_order_mark_are_no_rows(run):
    Path("in.jsonl").write_bytes(
        b"\xef\xbb\xbf\n  \r\n" + lines([{"text": FERRY}]) + b"\t\n\n" + lines([{"text": FERRY_SHOUTED}]) + b"\n"
    )
    run("dedup", "in.jsonl", "-o", "out.jsonl")
    assert Path("out.jsonl").read_bytes() == lines([{"text": FERRY}])
    assert [(line["row"], line["survivor_row"]) for line in read_lines("out.duplicates.jsonl")] == [(1, 0)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["missing.jsonl"], "missing.jsonl: there is no such file or folder."),
        (["*.missing"], "*.missing: no file matches."),
        (["empty"], "empty: this folder has no file with a known ending."),
        (["text.doc"], "text.doc: the ending does not tell the format."),
        (["packed"], "packed/a.jsonl.br: .br is not read."),
        (["in.jsonl", "in.jsonl"], "in.jsonl is given twice. Name it once."),
        (["in.jsonl", "link.jsonl"], "link.jsonl is given twice (as in.jsonl): all its rows would be duplicates."),
        (["-", "-"], "- is given twice."),
        (["dangling.jsonl"], "dangling.jsonl cannot be read: No such file or directory."),
        (["pipe.jsonl"], "pipe.jsonl is not a regular file. Give its contents on standard input: -"),
        ([""], "An input is an empty string."),
        ([], "Missing argument 'INPUT...'."),
    ],
)
def test_inputs_that_are_not_there_or_cannot_serve_are_refused(run, given, message):
    write_lines("in.jsonl", ROWS)
    Path("empty").mkdir()
    write_lines("packed/a.jsonl.br", ROWS)
    Path("text.doc").write_text("text")
    os.symlink("in.jsonl", "link.jsonl")
    os.symlink("nowhere", "dangling.jsonl")
    os.mkfifo("pipe.jsonl")
    before = files()
    run("dedup", *given, "-o", "out.jsonl").refused(message)
    assert files() == before


def test_all_missing_inputs_are_named_at_once(run):
    done = run("dedup", "one.jsonl", "two.jsonl", "-o", "out.jsonl")
    done.said("one.jsonl: there is no such", "two.jsonl: there is no such")


@pytest.mark.parametrize("levels", [90, 150, 499, 900])
def test_a_text_that_is_nested_deeply_is_read_or_its_row_is_refused(run, place, levels):
    rows = [
        b'{"m":' + b'{"a":' * levels + json.dumps(text).encode() + b"}" * (levels + 1) for text in (FERRY, FERRY, CLOCK)
    ]
    Path("deep.jsonl").write_bytes(b"\n".join(rows))
    column = ".".join(["m"] + ["a"] * levels)
    assert run("dedup", "deep.jsonl", "--text", column, "-o", "out.jsonl").code == 0
    assert Path("out.jsonl").read_bytes() == rows[0] + b"\n" + rows[2]
    run("dedup", "deep.jsonl", "--text", column.removesuffix(".a"), "-o", "no.jsonl").refused(
        "is an object, not a string", code=1
    )


def test_a_text_that_is_nested_too_deeply_is_refused(run, place):
    Path("deep.jsonl").write_bytes(b'{"m":' + b'{"a":' * 5_000 + b'"text"' + b"}" * 5_001)
    run("dedup", "deep.jsonl", "--text", ".".join(["m"] + ["a"] * 5_000), "-o", "out.jsonl").refused(
        "row 0 (counted from 0): malformed JSON, or nested too deeply", code=1
    )


@pytest.fixture
def of_fingerprints(run):
    """The fingerprints of the corpus by a recipe with a file and a distance of its own."""
    write_lines("old.jsonl", ROWS)
    write_lines("new.jsonl", [*ROWS[:1], {"id": "clock", "text": CLOCK}])
    Path("stop.txt").write_text("the\nof\n")
    Path("mine.toml").write_text('stop_words = ["stop.txt"]\nbits = 64\nmax_distance = 5\n')
    assert run("fingerprint", "old.jsonl", "--recipe", "mine.toml", "-o", "old.parquet").code == 0
    Path("stop.txt").unlink()


def test_a_reference_of_fingerprints_brings_its_recipe(run, of_fingerprints):
    run("dedup", "new.jsonl", "-o", "out.jsonl", "--against", "old.parquet", "--min-similarity", "0").ok(
        "no --recipe is given, so it is that of old.parquet"
    )
    assert survivors("out.jsonl") == ["clock"]
    summary = json.loads(Path("out.summary.json").read_text())
    assert (summary["max_distance"], summary["recipe"]["bits"]) == (5, 64)


def test_a_recipe_that_is_given_is_not_replaced_by_that_of_the_reference(run, of_fingerprints):
    arguments = ("dedup", "new.jsonl", "-o", "out.jsonl", "--against", "old.parquet", "--min-similarity", "0")
    run(*arguments, "--recipe", "default-64").refused("old.parquet was made by the recipe")
    write_lines("lists.jsonl", [{"id": 1, "tags": ["a", "b"]}])
    run("dedup", "lists.jsonl", "--elements", "tags", *arguments[2:]).refused("old.parquet was made by the recipe")


def test_a_reference_of_other_documents_brings_no_recipe(run, of_fingerprints):
    write_lines("lists.jsonl", [{"id": 1, "tags": ["a", "b"], "fp": "12345678901234567"}])
    assert run("fingerprint", "lists.jsonl", "--elements", "tags", "-o", "lists.parquet").code == 0
    brought = ("--fingerprint", "fp", "--digits", "decimal", "--program", "mine")
    assert run("fingerprint", "lists.jsonl", *brought, "-o", "program.parquet").code == 0
    for reference, message in (
        (
            "lists.parquet",
            "lists.parquet is of given lists, and the inputs are texts. Name the column of the lists with --elements.",
        ),
        (
            "program.parquet",
            "program.parquet holds fingerprints of another program, and how to make them of these inputs is not",
        ),
    ):
        run("dedup", "new.jsonl", "-o", "out.jsonl", "--against", reference, "--min-similarity", "0").refused(message)
    run(
        "dedup",
        "lists.jsonl",
        "--elements",
        "tags",
        "-o",
        "out.jsonl",
        "--against",
        "lists.parquet",
        "--min-similarity",
        "0",
    ).ok()


@pytest.mark.parametrize("command", [["dedup"], ["passages", "--min-tokens", "3"], ["decontaminate"]], ids=" ".join)
def test_a_file_after_that_of_against_is_named_as_an_input(run, command):
    for name in ("a", "b", "c"):
        write_lines(f"{name}.jsonl", [{"text": f"{name} one two three"}])
    told = run(*command, "a.jsonl", "--against", "b.jsonl", "c.jsonl", "-o", "out.jsonl").ok().err
    assert "of a.jsonl, c.jsonl; the reference is b.jsonl\n" in told
    told = (
        run(*command, "a.jsonl", "--against", "b.jsonl", "--against", "c.jsonl", "-o", "out.jsonl", "--overwrite")
        .ok()
        .err
    )
    assert "the reference is" not in told  # there is one input
