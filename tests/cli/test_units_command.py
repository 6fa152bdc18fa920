"""`neardup dedup --unit`: repeated lines and paragraphs of documents."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import BREAD, BRIDGE, CLOCK, FERRY, files, lines, read_lines, write_lines

ROWS = [
    {"id": "a", "text": f"{FERRY}\n{BREAD}"},
    {"id": "b", "text": f"{BREAD}\n---\n{CLOCK}"},
    {"id": "c", "text": f"{FERRY}\n\n{CLOCK}\n"},
    {"id": "d", "text": BRIDGE},
]
LEFT = [ROWS[0], {"id": "b", "text": f"---\n{CLOCK}"}, ROWS[3]]


def test_lines_that_were_there_before_go_and_an_empty_document_with_them(run):
    write_lines("in.jsonl", ROWS)
    done = run("dedup", "in.jsonl", "-o", "out.jsonl", "--unit", "line")
    assert (done.code, done.out) == (0, b"")
    done.said(
        "read     7 lines of 4 documents\nkept     4 lines (57.1 %)\nremoved  3 lines (42.9 %): 3 exact, 0 near\n"
    )
    assert "1 document changed, 1 left empty and removed" in done.err
    assert Path("out.jsonl").read_bytes() == lines(LEFT)
    assert files() == ["in.jsonl", "out.duplicates.jsonl", "out.jsonl", "out.summary.json"]
    assert [
        (line["id"], line["unit"], line["survivor_id"], line["emptied"]) for line in read_lines("out.duplicates.jsonl")
    ] == [("b", 0, "a", False), ("c", 0, "a", True), ("c", 2, "b", True)]
    summary = json.loads(Path("out.summary.json").read_bytes())
    counts = (
        "unit",
        "rows",
        "documents",
        "survivors",
        "changed_documents",
        "emptied_documents",
        "units",
        "removed_units",
    )
    assert [summary[name] for name in counts] == ["line", 4, 4, 3, 1, 1, 7, 3]
    assert summary["removed_bytes"] == len(BREAD + FERRY + CLOCK)
    assert "duplicates" not in summary


def test_standard_input_and_output(run):
    done = run("dedup", "-", "-o", "-", "--unit", "line", "--quiet", stdin=lines(ROWS))
    assert (done.code, done.out) == (0, lines(LEFT))
    run("dedup", "-", "-o", "-", "--unit", "line", "--audit", "removed.jsonl", stdin=lines(ROWS))
    assert len(read_lines("removed.jsonl")) == 3


def test_a_dry_run_prints_the_summary_and_writes_nothing(run):
    write_lines("in.jsonl", ROWS)
    done = run("dedup", "in.jsonl", "--unit", "paragraph", "--dry-run", "--json")
    assert json.loads(done.out)["removed_units"] == 0
    assert files() == ["in.jsonl"]


def test_shards_of_several_formats_keep_their_names_and_threads_change_nothing(run):
    for threads in (1, 4):
        Path("in").mkdir(exist_ok=True)
        Path("in/a.jsonl.gz").write_bytes(gzip.compress(lines(ROWS[:1])))
        pq.write_table(pa.Table.from_pylist(ROWS[1:]), "in/b.parquet")
        assert run("dedup", "in", "-o", f"out{threads}/", "--unit", "line", "--threads", threads).code == 0
        assert gzip.decompress(Path(f"out{threads}/a.jsonl.gz").read_bytes()) == lines(LEFT[:1])
        assert pq.read_table(f"out{threads}/b.parquet").to_pylist() == LEFT[1:]
    assert Path("out1.duplicates.jsonl").read_bytes() == Path("out4.duplicates.jsonl").read_bytes()


def test_rows_that_cannot_be_read_are_set_aside(run):
    Path("in.jsonl").write_bytes(b"no JSON\n" + lines(ROWS[:1]) + b'{"text": 5}\n' + lines(ROWS[1:]))
    assert run("dedup", "in.jsonl", "-o", "no.jsonl", "--unit", "line").code == 1
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--unit", "line", "--on-error", "skip").code == 0
    assert Path("out.jsonl").read_bytes() == lines(LEFT)
    assert [line["row"] for line in read_lines("out.rejects.jsonl")] == [0, 2]
    assert [line["row"] for line in read_lines("out.duplicates.jsonl")] == [3, 4, 4]
    summary = json.loads(Path("out.summary.json").read_bytes())
    assert (summary["rows"], summary["documents"], summary["rejected"]) == (6, 4, 2)


def test_explain_names_the_units(run):
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--unit", "line")
    shown = run("explain", "out.duplicates.jsonl", "c").out.decode()
    assert f'unit 0 of "c" (row 2) was removed, the document with it, for nothing was left: "{FERRY[:80]}"' in shown
    assert '  survivor  unit 0 of "a" (row 0): an exact duplicate, distance 0' in shown
    run("explain", "out.duplicates.jsonl", "d").refused("none of its lines was a repeated one")


@pytest.mark.parametrize(
    "options", [["--annotate"], ["--html", "whole"], ["--against", "in.jsonl"], ["--unit", "word"]]
)
def test_what_cannot_be_done_with_units_is_refused_before_any_work(run, options):
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--unit", "line", *options).refused()
    assert files() == ["in.jsonl"]


def test_a_corpus_without_any_unit_is_written_as_it_was(run):
    rows = [{"text": ""}, {"text": "---\n\n"}, {"text": "\n"}]
    for name, content in (("in.jsonl", rows), ("none.jsonl", [])):
        write_lines(name, content)
        assert run("dedup", name, "-o", f"out-{name}", "--unit", "line", "--quiet").code == 0
        assert Path(f"out-{name}").read_bytes() == lines(content)
