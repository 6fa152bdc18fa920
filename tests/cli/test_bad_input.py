"""Data that cannot be read: nothing is guessed, nothing is lost unsaid, nothing half-written stays."""

import gzip
import json
import os
import struct
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from cli_corpora import BREAD, FERRY, FERRY_SHOUTED, ROWS, files, lines, read_lines, write_lines

GOOD = lines([{"id": 0, "text": FERRY}])

BAD_LINES = {
    b'{"id": 1, "text": "The night': "malformed JSON",
    b'{"id": 1, "text": "%s"} x' % BREAD.encode(): "malformed JSON",
    b"{'text': 'a'}": "malformed JSON",
    b'{"id": 1, "text": "a\tb"}': "malformed JSON",
    b"[1, 2]": "it is not a JSON object, but an array",
    b"3": "it is not a JSON object, but an integer",
    b"null": "it is not a JSON object, but null",
    b'"text"': "it is not a JSON object, but a string",
    b'{"id": 1, "body": "a"}': 'it has no column "text", but id, body',
    b"{}": 'it has no column "text", but nothing',
    b'{"id": 1, "text": null}': 'its column "text" is null, not a string',
    b'{"id": 1, "text": 3}': 'its column "text" is an integer, not a string',
    b'{"id": 1, "text": ["a"]}': 'its column "text" is an array, not a string',
    b'{"id": 1, "text": {"a": "b"}}': 'its column "text" is an object, not a string',
    b'{"id": 1, "text": true}': 'its column "text" is true or false, not a string',
    b'{"id": 1, "text": "a", "text": "b"}': 'its key "text" occurs 2 times',
    b'{"id": 1, "text": "\xff"}': "it is not UTF-8",
    b'{"id": 1, "text": "a", "x": "\xed\xa0\x80"}': "it is not UTF-8",
    b'{"id": 1, "text": "\\ud83d"}': "half of a surrogate pair",
    b'{"id": 1, "text": "\\udc00\\ud83d"}': "half of a surrogate pair",
}


@pytest.mark.parametrize(
    ("line", "reason"), [pytest.param(*case, id=case[0][:40].decode("ascii", "replace")) for case in BAD_LINES.items()]
)
def test_a_bad_line_stops_the_run_with_its_place_and_the_reason(run, line, reason):
    Path("in.jsonl").write_bytes(GOOD + b"\n" + line + b"\n" + GOOD)
    done = run("dedup", "in.jsonl", "-o", "out.jsonl", "--quiet")
    assert (done.code, done.out) == (1, b"")
    assert done.err.startswith("neardup: error: in.jsonl, row 1")
    done.said(reason, "--on-error skip")
    assert files() == ["in.jsonl"]


@pytest.mark.parametrize("threads", [1, 3])
def test_bad_lines_can_be_set_aside_and_are_counted(run, threads):
    content = b"".join(GOOD.replace(b"0", b"%d" % i, 1) + line + b"\n" for i, line in enumerate(BAD_LINES))
    Path("in.jsonl").write_bytes(content)
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--on-error", "skip", "--threads", threads).ok(
        f"{len(BAD_LINES)} rows could not be read: out.rejects.jsonl"
    )
    rejects = read_lines("out.rejects.jsonl")
    assert [(list(line), line["file"], line["row"]) for line in rejects] == [
        (["file", "row", "reason"], "in.jsonl", 2 * i + 1) for i in range(len(BAD_LINES))
    ]
    assert all(reason in line["reason"] for line, reason in zip(rejects, BAD_LINES.values(), strict=True))
    assert Path("out.jsonl").read_bytes() == GOOD
    assert [line["row"] for line in read_lines("out.duplicates.jsonl")] == list(range(2, 2 * len(BAD_LINES), 2))


def test_rows_that_are_set_aside_are_counted_as_rows(run):
    write_lines("a.jsonl", [{"id": "a", "text": BREAD}, {"id": "b", "text": None}])
    write_lines("b.jsonl", [{"id": "c", "text": None}, {"id": "d", "text": BREAD.upper()}])
    run("dedup", "a.jsonl", "b.jsonl", "-o", "out.jsonl", "--on-error", "skip")
    assert [(line["file"], line["row"]) for line in read_lines("out.rejects.jsonl")] == [("a.jsonl", 1), ("b.jsonl", 0)]
    [line] = read_lines("out.duplicates.jsonl")
    assert (line["id"], line["row"], line["survivor_row"]) == ("d", 3, 0)


def test_a_file_without_bad_rows_has_an_empty_file_of_rejects(run):
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--on-error", "skip")
    assert Path("out.rejects.jsonl").read_bytes() == b""


def test_a_named_id_column_must_hold_no_other_values(run):
    for value, kind in ((1.5, "a floating-point number"), (True, "true or false"), ({}, "an object")):
        write_lines("in.jsonl", [{"id": 1, "text": FERRY}, {"id": value, "text": FERRY}])
        run("dedup", "in.jsonl", "-o", "out.jsonl", "--id", "id").refused(
            "row 1", f'its column "id" is {kind}, not a string or an integer', code=1
        )


@pytest.mark.parametrize("name", ["in.jsonl", "in.csv", "in.parquet"])
def test_a_row_with_a_text_and_no_id_is_never_left_out(run, name):
    rows = [{"url": "a", "text": FERRY}, {"url": None, "text": FERRY_SHOUTED}, {"url": None, "text": BREAD}]
    if name == "in.parquet":
        pq.write_table(pa.table({"url": ["a", None, None], "text": [row["text"] for row in rows]}), name)
    elif name == "in.csv":
        Path(name).write_text("url,text\n" + "".join(f'{row["url"] or ""},"{row["text"]}"\n' for row in rows))
    else:
        write_lines(name, [*rows[:2], {"text": BREAD}, {"url": "x", "text": None}])
    run("dedup", name, "-o", f"out{name[2:]}", "--id", "url", "--on-error", "skip").ok("kept     2 documents")
    [line] = read_lines("out.duplicates.jsonl")
    assert (line["id"], line["survivor_id"]) == (f"{name}:1", "a")
    assert [each["row"] for each in read_lines("out.rejects.jsonl")] == ([3] if name == "in.jsonl" else [])


def test_rows_that_could_not_be_read_are_counted_by_reason(run):
    bad = [b'{"text": null}', b'{"text": null}', b'{"text": "a"', b'{"text": }', b'{"a:b, c": [], "text": "d"}']
    Path("in.jsonl").write_bytes(GOOD + b"\n".join([*bad, b'{"text": "a", "a:b, c": "b"}']))
    done = run("dedup", "in.jsonl", "-o", "out.jsonl", "--on-error", "skip", "--text", "text", "--text", "a:b, c")
    counts = {
        'its column "text" is null': 2,
        "malformed JSON": 2,
        'it has no column "a:b, c"': 1,
        'its column "a:b, c" is an array': 1,
    }
    told = "; ".join(f"{count}: {reason}" for reason, count in counts.items())
    assert f"skipped  6 rows could not be read: out.rejects.jsonl\n         {told}\n" in done.err
    assert json.loads(Path("out.summary.json").read_bytes())["rejected_for"] == counts
    done = run("pairs", "in.jsonl", "-o", "pairs.jsonl", "--on-error", "skip")
    assert '4 rows could not be read, and were left out (2: its column "text" is null; 2: malformed JSON)' in done.err


def test_all_commands_name_a_row_without_an_id(run):
    write_lines("in.jsonl", [{"url": "a", "text": FERRY}, {"url": None, "text": FERRY_SHOUTED}])
    write_lines("bench.jsonl", [{"url": None, "text": FERRY}])
    by_url = ("--id", "url", "--on-error", "skip", "--quiet")

    def told(*command):
        done = run(*command, *by_url).ok()
        return done.out

    told("fingerprint", "in.jsonl", "-o", "prints.parquet")
    assert pq.read_table("prints.parquet")["id"].to_pylist() == ["a", "in.jsonl:1"]
    told("pairs", "in.jsonl", "-o", "pairs.jsonl")
    assert [line["right_id"] for line in read_lines("pairs.jsonl")] == ["in.jsonl:1"]
    told("decontaminate", "in.jsonl", "--against", "bench.jsonl", "-o", "clean.jsonl")
    assert [line["id"] for line in read_lines("clean.contaminated.jsonl")] == ["a", "in.jsonl:1"]
    run("store", "create", "added", "--quiet")
    assert b'"id": "row:0"' in told("store", "add", "added", "in.jsonl", "-o", "-")
    run("store", "create", "filtered", "--quiet")
    told("filter", "in.jsonl", "--store", "filtered", "-o", "new.jsonl", "--audit", "old.jsonl")
    assert (len(read_lines("new.jsonl")), len(read_lines("old.jsonl"))) == (1, 1)
    told("index", "build", "index", "in.jsonl")
    assert b"in.jsonl:1" in told("index", "query", "index", "in.jsonl")


def test_rows_that_are_odd_but_clear_are_read_and_copied(run):
    content = b'{"text": "a", "x": ' + b"[" * 2000 + b"]" * 2000 + b'}\n{"text": "b", "x": NaN, "y": -1e999, "y": ""}\n'
    Path("in.jsonl").write_bytes(content)
    assert run("dedup", "in.jsonl", "-o", "-", "--quiet").out == content


def test_a_json_array_is_told_from_json_lines(run):
    Path("in.json").write_bytes(b'[\n{"text": "a"}\n]\n')
    run("dedup", "in.json", "-o", "out.json").refused(
        "in.json is a JSON array, not one object a line. Convert it: jq -c '.[]' FILE > FILE.jsonl"
    )


def test_utf_16_is_told(run):
    Path("in.jsonl").write_bytes(lines(ROWS).decode().encode("utf-16"))
    run("dedup", "in.jsonl", "-o", "out.jsonl").refused(
        "in.jsonl begins with the byte order mark of UTF-16, but is read as UTF-8. Pass --encoding utf-16.", code=1
    )


def corrupted(content):
    damaged = bytearray(content)
    damaged[len(damaged) // 2] ^= 0xFF
    return bytes(damaged)


MANY = lines([{"id": i, "text": f"{FERRY} {os.urandom(30).hex()}"} for i in range(500)])
DAMAGED = {
    "cut.jsonl.gz": gzip.compress(MANY)[:-5],
    "half.jsonl.gz": gzip.compress(MANY)[:9000],
    "corrupt.jsonl.gz": corrupted(gzip.compress(MANY)),
    "plain.jsonl.gz": MANY,
    "empty.jsonl.gz": b"",
    "cut.jsonl.zst": zstandard.compress(MANY)[:-3],
    "corrupt.jsonl.zst": corrupted(zstandard.ZstdCompressor(write_checksum=True).compress(MANY)),
    "plain.jsonl.zst": MANY,
    "empty.jsonl.zst": b"",
    "nonsense.parquet": b"PAR1 nonsense",
    "empty.parquet": b"",
    "json.parquet": MANY,
}


@pytest.mark.parametrize("flags", [[], ["--on-error", "skip"]])
@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_stops_the_run_even_where_rows_may_be_set_aside(run, name, flags):
    Path(name).write_bytes(DAMAGED[name])
    out = "out.parquet" if name.endswith(".parquet") else "out.jsonl"
    done = run("dedup", name, "-o", out, "--quiet", *flags)
    assert (done.code, done.out) == (1, b"")
    assert f"{name} is damaged, or is not" in done.err
    assert files() == [name]


def test_damaged_parquet_stops_the_run(run):
    pq.write_table(
        pa.table({"id": list(range(500)), "text": [f"{FERRY} {os.urandom(30).hex()}" for _ in range(500)]}),
        "whole.parquet",
    )
    content = Path("whole.parquet").read_bytes()
    footer = struct.unpack("<I", content[-8:-4])[0]
    for damaged in (
        content[:-20],
        content[: len(content) // 2],
        content[:-100] + b"x" * 20 + content[-80:],
        content[:4] + b"x" * (len(content) - footer - 12) + content[-footer - 8 :],
    ):
        Path("in.parquet").write_bytes(damaged)
        run("dedup", "in.parquet", "-o", "out.parquet", "--quiet", "--on-error", "skip").refused(
            "in.parquet is damaged, or is not Parquet data", code=1
        )
        assert files() == ["in.parquet", "whole.parquet"]


@pytest.mark.parametrize(("packed", "ending"), [(gzip.compress, ".gz"), (zstandard.compress, ".zst")])
def test_a_compressed_file_without_its_ending_is_told(run, packed, ending):
    Path("in.jsonl").write_bytes(packed(lines(ROWS)))
    run("dedup", "in.jsonl", "-o", "out.jsonl").refused(f"but its name does not end in {ending}. Rename it.", code=1)


@pytest.mark.parametrize(
    ("table", "flags", "message"),
    [
        ({"text": [1, 2]}, [], 'in.parquet: column "text" is int64, but a column of strings is needed.'),
        ({"text": [b"a", b"b"]}, [], 'column "text" is binary, but a column of strings is needed.'),
        ({"body": ["a"]}, [], 'in.parquet has no column "text". It has: body: string.'),
        (
            {"text": ["a"], "id": [1.5]},
            ["--id", "id"],
            'column "id" is double, but a column of strings or integers is needed.',
        ),
        ({"text": ["a"]}, ["--text", "text.body"], 'in.parquet has no column "text.body". It has: text: string.'),
    ],
)
def test_parquet_without_the_right_columns_is_refused(run, table, flags, message):
    pq.write_table(pa.table(table), "in.parquet")
    run("dedup", "in.parquet", "-o", "out.parquet", *flags).refused(message)


def test_null_and_broken_texts_in_parquet_are_bad_rows(run):
    broken = pa.array([FERRY.encode(), b"\xff", None, FERRY_SHOUTED.encode()], pa.binary())
    texts = pa.Array.from_buffers(pa.string(), 4, broken.buffers())
    pq.write_table(pa.table({"id": [1, 2, 3, 4], "text": texts}), "in.parquet")
    run("dedup", "in.parquet", "-o", "out.parquet").refused(
        "in.parquet, row 1", 'its column "text" is not UTF-8', code=1
    )
    assert run("dedup", "in.parquet", "-o", "out.parquet", "--on-error", "skip").code == 0
    assert [(line["row"], line["reason"]) for line in read_lines("out.rejects.jsonl")] == [
        (1, 'its column "text" is not UTF-8'),
        (2, 'its column "text" is null, not a string'),
    ]
    assert pq.read_table("out.parquet").column("id").to_pylist() == [1]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads and writes everything")
def test_what_may_not_be_read_or_written_is_told(run):
    write_lines("in.jsonl", ROWS)
    write_lines("locked.jsonl", ROWS).chmod(0)
    Path("locked").mkdir(mode=0o500)
    run("dedup", "locked.jsonl", "-o", "out.jsonl").refused("locked.jsonl cannot be read: Permission denied")
    run("dedup", "in.jsonl", "-o", "locked/out.jsonl").refused(
        "cannot be written: Permission denied. Name another output."
    )


@pytest.mark.skipif(
    not (sys.platform == "linux" and os.geteuid() == 0), reason="only root can lower its rights for a while, on Linux"
)
def test_what_another_user_may_not_read_or_write_is_told(run, tmp_path):
    write_lines("in.jsonl", ROWS)
    write_lines("locked.jsonl", ROWS).chmod(0)
    closed = {folder: folder.stat().st_mode for folder in Path.cwd().parents if not folder.stat().st_mode & 0o001}
    for folder, mode in closed.items():
        folder.chmod(mode | 0o011)
    (tmp_path / "temporary").chmod(0o777)
    os.seteuid(65534)
    try:
        unread = run("dedup", "locked.jsonl", "-o", "out.jsonl")
        unwritten = run("dedup", "in.jsonl", "-o", "out.jsonl")
    finally:
        os.seteuid(0)
        for folder, mode in closed.items():
            folder.chmod(mode)
    assert (unread.code, unwritten.code) == (2, 2)
    assert "locked.jsonl cannot be read: Permission denied" in unread.err
    assert f"The folder {Path.cwd()} cannot be written: Permission denied. Name another output." in unwritten.err


def test_a_file_that_changes_meanwhile_is_told(run, monkeypatch):
    from neardup.jobs.removal import dedup_steps

    write_lines("in.jsonl", ROWS)
    original = dedup_steps.find_duplicates

    def find_and_change(*arguments, **options):
        found = original(*arguments, **options)
        write_lines("in.jsonl", ROWS[::-1] + ROWS)
        return found

    monkeypatch.setattr(dedup_steps, "find_duplicates", find_and_change)
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--quiet").refused(
        "in.jsonl changed while it was in use. Run again when no other program writes to it.", code=1
    )
    assert files() == ["in.jsonl"]


def test_a_nested_object_is_not_taken_for_a_vector(run, tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text('{"title": "a", "meta": {"a": 1, "b": 2}}\n')
    done = run("dedup", str(path), "-o", str(tmp_path / "out.jsonl"), "--text", "txt")
    assert done.code != 0
    assert "holds vectors" not in done.err
