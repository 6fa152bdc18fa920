"""`neardup verify` of runs that cut passages: formats, folders and references; and what cannot be verified is refused in words."""

import json
from pathlib import Path

import pytest
from cli_corpora import BREAD, BRIDGE, CLOCK, FERRY, lines, read_lines, write_lines
from test_passages_command import NOTICE, ROWS, SIZE, write_in


@pytest.fixture(autouse=True)
def inputs(place):
    write_lines("in.jsonl", ROWS)


@pytest.mark.parametrize("align", [(), ("--align", "line")], ids=str)
@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "csv", "tsv", "csv.gz", "parquet"])
def test_every_format_is_proven(run, ending, align):
    write_in(ending, ROWS)
    run("passages", f"in.{ending}", "-o", f"out.{ending}", *SIZE, *align).ok()
    done = run("verify", f"out.{ending}").ok()
    shown = done.out.decode()
    assert "6 documents, " in shown.splitlines()[-1]
    assert shown.splitlines()[-1].startswith("proven: ")
    assert "tokens were cut, as copies of what stands earlier" in shown
    assert run("verify", f"out.{ending}", "--quiet").ok().out == b""
    found = json.loads(run("verify", f"out.{ending}", "--json").ok().out)
    assert [check["name"] for check in found["checks"]] == ["rows", "passages", "stated", "repeated", "counts"]


@pytest.mark.parametrize("more", [("--scope", "same-document"), ("--keep", "last"), ("--min-left", "9")], ids=str)
def test_settings_are_those_of_the_summary(run, more):
    run("passages", "in.jsonl", "-o", "out.jsonl", *SIZE, *more).ok()
    run("verify", "out.jsonl").ok()


def test_folders_of_shards_and_of_logs(run):
    for number, row in enumerate(ROWS):
        write_lines(f"in/{number}/x.jsonl", [row])
    run("passages", "in", "-o", "out/", "--audit", "cuts/", *SIZE, "--prefer-source", "in/4").ok()
    run("verify", "out/", "--audit", "cuts/").ok()
    run("verify", "out", "--audit", "cuts").ok()
    Path("out/1/x.jsonl").write_bytes(lines(ROWS[1:2]))
    done = run("verify", "out", "--audit", "cuts").refused(code=1)
    assert '"bread" (row 1: in/1/x.jsonl, row 0)' in " ".join(done.out.decode().split())


def test_text_files_lines_and_nested_columns(run):
    for row in ROWS:
        Path("texts").mkdir(exist_ok=True)
        Path(f"texts/{row['n']}.txt").write_text(row["text"], encoding="utf-8")
    run("passages", "texts", "-o", "out/", *SIZE).ok()
    run("verify", "out/").ok()
    Path("lines.txt").write_bytes(f"{FERRY} {NOTICE}.\r\n\r\n{NOTICE}\n{BREAD} {NOTICE}\r\n{BRIDGE}".encode("gb18030"))
    run("passages", "lines.txt", "--lines", "-o", "cut.txt", "--encoding", "gb18030", *SIZE).ok()
    run("verify", "cut.txt").ok()
    write_lines("in.jsonl", [{"id": row["id"], "meta": {"body": row["text"], "n": 1}} for row in ROWS])
    run("passages", "in.jsonl", "-o", "nested.jsonl", "--text", "meta.body", *SIZE).ok()
    run("verify", "nested.jsonl").ok()


def test_references_and_segmenters(run):
    write_lines("ref/a.jsonl", [{"id": 7, "text": BREAD}])
    write_lines("ref/b.jsonl", [{"id": 8, "text": CLOCK}, {"id": 9, "text": f"so: {NOTICE}"}])
    run("passages", "in.jsonl", "--against", "ref", "-o", "out.jsonl", *SIZE).ok()
    run("verify", "out.jsonl").ok()
    log = read_lines("out.passages.jsonl")
    write_lines("out.passages.jsonl", [log[0] | {"reference": "ref/a.jsonl"}, *log[1:]])
    assert "its copy does not exist" in run("verify", "out.jsonl").refused(code=1).out.decode()
    Path("words.toml").write_text("segmenter = 'jieba'\n")
    text = "中华人民共和国中央人民政府今天成立了北京大学"
    write_lines("in.jsonl", [{"text": text}, {"text": f"他说{text}。"}, {"text": BRIDGE}])
    run("passages", "in.jsonl", "-o", "words.jsonl", "--similarity", "words.toml", *SIZE).ok()
    run("verify", "words.jsonl").ok()


def test_other_inputs_can_be_named(run):
    run("passages", "in.jsonl", "-o", "out.jsonl", *SIZE).ok()
    Path("in.jsonl").rename("moved.jsonl")
    run("verify", "out.jsonl").refused("with the inputs in their places")
    run("verify", "out.jsonl", "moved.jsonl").ok()


def test_what_cannot_be_verified_is_refused(run):
    run("passages", "in.jsonl", "-o", "out.jsonl", *SIZE).ok()
    run("verify", "out.jsonl", "--strict").refused("--strict: it is for similar documents")
    run("verify", "out.jsonl", "--min-similarity", "0.5").refused("the summary of the run, out.summary.json, has it")
    run("verify", "out.jsonl", "--against", "in.jsonl").refused("--against: the summary of the run")
    run("verify", "out.passages.jsonl").refused("out.passages.jsonl is an audit", "`neardup verify out.jsonl`")
    run("verify", "-", "in.jsonl").refused("an output that is verified is a file or a folder")
    run("passages", "in.jsonl", "-o", "all.jsonl", "--annotate", *SIZE).ok()
    run("verify", "all.jsonl").refused("all.jsonl has the column 'passages' of `neardup passages --annotate`")
    run("passages", "in.jsonl", "-o", "list.jsonl", "--list", *SIZE).ok()
    run("verify", "list.jsonl").refused("list.jsonl is a list of passages, as list.summary.json says, and no documents")
    run("passages", "-", "-o", "piped.jsonl", *SIZE, stdin=lines(ROWS)).ok()
    run("verify", "piped.jsonl").refused("The inputs came on standard input, which cannot be read again")
    run("verify", "piped.jsonl", "in.jsonl").ok()


def test_a_log_or_summary_that_is_none_is_refused(run):
    run("passages", "in.jsonl", "-o", "out.jsonl", *SIZE).ok()
    log, summary = Path("out.passages.jsonl").read_bytes(), Path("out.summary.json").read_bytes()
    for text, said in (
        ("{", "out.passages.jsonl, line 1: this is no line of a log of cuts"),
        ('{"id": 1}\n', "line 1: this is no line of a log of cuts: "),
        (log.decode().replace('"row": 1', '"row": -1'), "line 1: this is no line"),
        (log.decode().replace('"row": 1,', '"row": "1",'), "line 1: this is no line"),
        (log.decode().replace('"row": 1,', ""), "required field `row`"),
    ):
        Path("out.passages.jsonl").write_text(text)
        run("verify", "out.jsonl").refused(said, code=1)
    Path("out.passages.jsonl").write_bytes(log)
    for text in (
        "[]",
        "{}",
        summary.decode().replace('"cut_tokens": ', '"cut": '),
        summary.decode().replace('"min_tokens": 6', '"min_tokens": 1'),
    ):
        Path("out.summary.json").write_text(text)
        run("verify", "out.jsonl").refused("out.summary.json is not the summary of a run of `neardup passages`", code=1)
    Path("out.summary.json").unlink()
    run("verify", "out.jsonl").refused("out.passages.jsonl has no summary beside it")
