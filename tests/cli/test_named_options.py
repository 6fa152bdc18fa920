"""Errors name the option that mends them, once for all files; and names without an ending are folders beside several files."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import BRIDGE, CLOCK, FERRY, ROWS, write_lines

from neardup.io.checks.likely_encoding import likely_encoding

ACCENTS = "Le café près de la gare est fermé, et la bibliothèque l'est aussi."


def test_a_column_that_files_lack_is_told_once_with_the_option_and_the_nearest(run):
    for number in range(5):
        write_lines(f"in/{number}.jsonl", [{"key": 1, "body": FERRY}])
    refused = run("dedup", "in", "-o", "out", "--text", "bdy")
    assert (refused.code, refused.err) == (
        2,
        'neardup: error: in/0.jsonl, in/1.jsonl, in/2.jsonl and 2 more files have no column "bdy" in their first rows. '
        "They have: key, body. Did you mean --text body?\n",
    )
    refused = run("dedup", "in", "-o", "out")
    assert refused.err.endswith("They have: key, body. Name the one that is meant with --text.\n")
    refused = run("dedup", "in", "-o", "out", "--text", "body", "--id", "KEY")
    assert refused.err.endswith("Did you mean --id key?\n")
    refused = run("dedup", "in", "-o", "out", "--text", "body", "--within", "langue")
    assert refused.err.endswith("They have: key, body. Name the one that is meant with --within.\n")


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_the_columns_of_a_rule_and_of_groups_are_told_with_their_options(run, ending):
    rows = [{"id": 1, "text": FERRY, "date": "2020-01-01", "language": "en"}]
    if ending == "jsonl":
        write_lines("in.jsonl", rows)
    elif ending == "csv":
        Path("in.csv").write_text(",".join(rows[0]) + "\n" + ",".join(map(str, rows[0].values())) + "\n")
    else:
        pq.write_table(pa.Table.from_pylist(rows), "in.parquet")
    for given, meant in (
        (("--keep", "max:dat"), "Did you mean --keep max:date?"),
        (("--keep", "min:Date"), "Did you mean --keep min:date?"),
        (("--within", "langauge"), "Did you mean --within language?"),
        (("--keep", "max:score"), "Name the one that is meant with --keep max:COLUMN."),
    ):
        for command in (("dedup",), *([("dedup", "--unit", "line")] if ending == "jsonl" else [])):
            refused = run(*command, f"in.{ending}", "-o", f"out.{ending}", *given)
            assert (refused.code, refused.err.endswith(f"{meant}\n")) == (2, True), refused.err


def test_columns_that_are_kept_are_told_with_their_options(run):
    write_lines("in.jsonl", [{"id": 1, "text": FERRY, "language": "en"}])
    run("store", "create", "store")
    for call, flag in (
        (("fingerprint", "in.jsonl", "-o", "out.parquet", "--value", "langauge"), "--value"),
        (("store", "add", "store", "in.jsonl", "--metadata", "langauge"), "--metadata"),
        (
            ("filter", "--create", "--store", "store", "in.jsonl", "-o", "new.jsonl", "--metadata", "langauge"),
            "--metadata",
        ),
    ):
        refused = run(*call)
        assert (refused.code, refused.err.endswith(f"Did you mean {flag} language?\n")) == (2, True), refused.err


def test_a_file_that_is_not_of_the_corpus_is_told_apart(run):
    for name in ("a", "b"):
        write_lines(f"in/{name}.jsonl", [{"id": name, "text": FERRY}])
    Path("in/labels.csv").write_text("left,right,same\na,b,1\n")
    refused = run("dedup", "in", "-o", "out").refused()
    assert refused.err.startswith(
        'neardup: error: in/labels.csv has no column "text". It has: left, right, same (read with'
    )
    assert refused.err.endswith(
        ". 2 other inputs have it. If this file is not of the corpus, leave it out: name 'in/*.jsonl'; if it is, rename its "
        "column.\n"
    )
    assert run("dedup", "in/*.jsonl", "-o", "out").code == 0


def test_files_that_differ_in_nothing_but_their_columns_are_told_apart_without_a_pattern(run):
    for name in ("a", "b", "deep/c"):
        write_lines(f"in/{name}.jsonl", [{"id": name, "text": FERRY}])
    for name in ("d", "e"):
        write_lines(f"in/{name}.jsonl", [{"id": name, "Text": FERRY}])
    refused = run("dedup", "in", "-o", "out")
    assert refused.err.endswith(
        "3 other inputs have it. If these files are not of the corpus, leave them out; if they are, rename their column "
        '"Text".\n'
    )


def test_where_most_files_lack_a_column_the_option_is_told(run):
    for name in ("a", "b"):
        write_lines(f"in/{name}.jsonl", [{"id": name, "body": FERRY}])
    write_lines("in/c.jsonl", [{"id": 1, "text": FERRY}])
    assert run("dedup", "in", "-o", "out").err.endswith("Name the one that is meant with --text.\n")


@pytest.mark.parametrize(
    ("stored", "given", "told"),
    [
        ("utf-8", "shift_jis", "The file is UTF-8, not what --encoding shift_jis says: leave that out."),
        ("utf-8", "utf-16-le", "The file is UTF-8, not what --encoding utf-16-le says: leave that out."),
        ("utf-8", "ascii", "The file is UTF-8, not what --encoding ascii says: leave that out."),
        (
            "gb18030",
            "shift_jis",
            "The file looks like gb18030, not like what --encoding shift_jis says: pass --encoding gb18030.",
        ),
        (
            "utf-16-le",
            "ascii",
            "The file looks like utf-16-le, not like what --encoding ascii says: pass --encoding utf-16-le.",
        ),
        (
            "utf-16-be",
            "gb18030",
            "The file looks like utf-16-be, not like what --encoding gb18030 says: pass --encoding utf-16-be.",
        ),
        (
            "utf-16",
            "shift_jis",
            "The file looks like utf-16, not like what --encoding shift_jis says: pass --encoding utf-16.",
        ),
    ],
)
@pytest.mark.parametrize("kind", ["jsonl", "txt", "csv"])
def test_a_wrong_encoding_is_told_and_the_row_is_not_blamed(run, stored, given, told, kind):
    text = f"{BRIDGE} {BRIDGE} and so on"
    content = {"jsonl": json.dumps({"text": text}, ensure_ascii=False) + "\n", "txt": text, "csv": f'text\n"{text}"\n'}
    Path(f"in.{kind}").write_bytes(content[kind].encode(stored))
    refused = run("dedup", f"in.{kind}", "-o", f"out.{kind}", "--encoding", given)
    assert refused.code in (1, 2)
    assert told in refused.err


def test_where_no_encoding_is_likely_the_option_is_named(run):
    Path("in.jsonl").write_bytes(b'{"text": "\xff"}\n')
    refused = run("dedup", "in.jsonl", "-o", "out.jsonl", "--encoding", "gb18030")
    refused.said("If all of the file has another encoding than --encoding gb18030 says, name that. Otherwise mend")


def test_a_row_of_a_file_in_the_right_encoding_is_blamed_alone(run):
    Path("in.jsonl").write_bytes('{"text": "é"}\n{"text": 3}\n'.encode("latin-1"))
    refused = run("dedup", "in.jsonl", "-o", "out.jsonl", "--encoding", "latin-1").refused(code=1)
    assert "--encoding" not in refused.err
    Path("in.jsonl").write_bytes(b'{"text": "ascii"}\n{"text": 3}\n')
    assert "--encoding" not in run("dedup", "in.jsonl", "-o", "out.jsonl", "--encoding", "latin-1").err


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_every_format_names_the_option(run, ending):
    if ending == "csv":
        Path("in.csv").write_text("id,content\n1,x\n")
    else:
        pq.write_table(pa.table({"id": [1], "content": ["x"]}), "in.parquet")
    for command in (
        ["dedup", f"in.{ending}", "-o", f"out.{ending}"],
        ["evaluate", f"in.{ending}"],
        ["plan", f"in.{ending}"],
    ):
        refused = run(*command, "--text", "contents")
        assert (refused.code, refused.err.endswith("Did you mean --text content?\n")) == (2, True), refused.err


@pytest.mark.parametrize(
    ("text", "stored", "guess"),
    [
        (BRIDGE, "gb18030", "gb18030"),
        (BRIDGE, "gbk", "gb18030"),
        ("圖書館每週二閉館，其餘時間早上九點開門。這裡的書很多，歡迎大家來借閱。", "big5", "big5"),
        ("図書館は毎週火曜日が休みです。ほかの日は朝九時に開きます。", "shift_jis", "shift_jis"),
        ("도서관은 매주 화요일에 쉽니다. 다른 날은 아침 아홉 시에 엽니다.", "euc_kr", "euc_kr"),
        (ACCENTS, "latin-1", "latin-1"),
        (ACCENTS + " “Fermé”", "cp1252", "cp1252"),
    ],
)
@pytest.mark.parametrize("kind", ["jsonl", "txt", "csv"])
def test_an_encoding_is_guessed_and_the_guess_reads_the_file(run, text, stored, guess, kind):
    content = {"jsonl": json.dumps({"text": text}, ensure_ascii=False) + "\n", "txt": text, "csv": f'text\n"{text}"\n'}
    Path(f"in.{kind}").write_bytes(content[kind].encode(stored))
    refused = run("dedup", f"in.{kind}", "-o", f"out.{kind}").refused(code=1)
    assert "it is not utf-8: " in refused.err.lower()
    refused.said(f"It looks like {guess}: pass --encoding {guess}. Otherwise mend or remove the row; --on-error skip")
    assert run("dedup", f"in.{kind}", "-o", f"out.{kind}", "--encoding", guess).code == 0


def test_a_header_that_is_not_utf_8_comes_with_a_guess(run):
    Path("in.csv").write_bytes("编号,文本,出版地点\n1,x,y\n".encode("gbk"))
    assert "its header is not UTF-8. It looks like gb18030: pass --encoding gb18030." in run("plan", "in.csv").err


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"\x80\x81\x82", bytes(range(256)), b"\xc3", "é".encode(), b"abc\xff\xfe" * 9]
)
def test_no_guess_is_made_where_none_is_good(data):
    assert likely_encoding(data) is None


def test_without_a_guess_the_option_is_named_all_the_same(run):
    Path("in.jsonl").write_bytes(b'{"text": "\xff"}\n')
    refused = run("dedup", "in.jsonl", "-o", "out.jsonl")
    assert "If all of the file has another encoding, name it with --encoding. Otherwise mend" in refused.err
    piped = run("filter", "--create", "--store", "seen", stdin=b'{"text": "\xff"}\n')
    assert "name it with --encoding" in piped.err


@pytest.mark.parametrize(
    "command",
    [
        ["dedup"], ["dedup", "--unit", "line"], ["passages"], ["decontaminate", "--against", "bench.jsonl"],
        ["fingerprint"],
    ],
    ids=" ".join,
)  # fmt: skip
@pytest.mark.parametrize("inputs", [["in"], ["in/"], ["in/*.jsonl"], ["in/a.jsonl", "in/b.jsonl"]], ids=" ".join)
def test_a_name_without_an_ending_is_a_folder_beside_several_inputs(run, command, inputs):
    write_lines("bench.jsonl", [{"text": BRIDGE}])
    write_lines("in/a.jsonl", ROWS)
    write_lines("in/b.jsonl", [{"id": "b", "text": CLOCK}])
    run(*command, *inputs, "-o", "clean").ok()
    ending = "parquet" if command[0] == "fingerprint" else "jsonl"
    assert sorted(path.name for path in Path("clean").iterdir()) == [f"a.{ending}", f"b.{ending}"]


@pytest.mark.parametrize("command", [["dedup"], ["dedup", "--unit", "line"], ["fingerprint"]], ids=" ".join)
def test_of_one_file_and_with_an_unknown_ending_a_name_is_refused_as_a_file(run, command):
    write_lines("in/a.jsonl", ROWS)
    for inputs, name in (("in/a.jsonl", "clean"), ("in", "clean.d"), ("-", "clean")):
        refused = run(*command, inputs, "-o", name, stdin=b'{"text": "x"}\n')
        assert (refused.code, "a folder" in refused.err and "ends in /" in refused.err) == (2, True), refused.err
    assert not Path("clean").exists()


def test_apply_writes_a_folder_too(run):
    write_lines("in/a.jsonl", ROWS)
    run("fingerprint", "in", "-o", "prints.parquet")
    run("pairs", "prints.parquet", "-o", "pairs.parquet")
    run("clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "clusters.parquet")
    assert run("apply", "clusters.parquet", "in", "-o", "clean").code == 0
    assert [path.name for path in Path("clean").iterdir()] == ["a.jsonl"]


def test_lines_go_to_one_file_of_any_name(run):
    Path("in").mkdir()
    Path("in/a.txt").write_text(f"{FERRY}\n{CLOCK}\n")
    assert run("dedup", "in", "--lines", "-o", "clean").code == 0
    assert Path("clean").is_file()


def test_every_command_that_reads_rows_can_skip_those_that_cannot_be_read(run):
    reading = {
        "evaluate",
        "plan",
        "verify",
        "dedup",
        "passages",
        "decontaminate",
        "fingerprint",
        "fit",
        "pairs",
        "filter",
    }
    for command in (
        *([each] for each in reading),
        ["index", "add"],
        ["index", "query"],
        ["index", "build"],
        ["store", "add"],
        ["store", "check"],
    ):
        assert "--on-error" in run(*command, "--help").out.decode(), command
