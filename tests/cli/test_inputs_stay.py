"""No command replaces what it reads, even with --overwrite: inputs, references, stores, indexes, labels, files of other stages."""

import hashlib
from pathlib import Path

import pytest
from cli_corpora import ROWS, files, write_lines

ITEM = [
    {
        "id": "item",
        "text": "a ferry leaves the islands at ten past nine and dogs travel free in winter as they did before",
    }
]


@pytest.fixture
def made(run):
    """Files of every kind that a command reads."""
    write_lines("in.jsonl", ROWS)
    write_lines(
        "more.jsonl", [{"id": "x", "text": "another text that has nothing in common with any of those before it"}]
    )
    write_lines("bench.jsonl", ITEM)
    write_lines("labels.jsonl", [{"a": "ferry", "b": "edited"}])
    for command in (
        ("dedup", "in.jsonl", "-o", "kept.jsonl", "--cluster", "star"),
        ("fingerprint", "in.jsonl", "-o", "prints.parquet"),
        ("pairs", "in.jsonl", "-o", "pairs.parquet"),
        ("clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "clusters.parquet"),
        ("store", "create", "store"),
        ("store", "add", "store", "in.jsonl"),
        ("index", "build", "index", "in.jsonl"),
    ):
        run(*command, "--quiet").ok()


def contents():
    """The digest of every file."""
    return {name: hashlib.sha256(Path(name).read_bytes()).hexdigest() for name in files()}


CALLS = [
    ("dedup", "in.jsonl", "-o", "in.jsonl"),
    ("dedup", "in.jsonl", "-o", "out.jsonl", "--audit", "in.jsonl"),
    ("dedup", "in.jsonl", "--against", "more.jsonl", "-o", "more.jsonl"),
    ("dedup", "in.jsonl", "--against", "more.jsonl", "-o", "out.jsonl", "--audit", "more.jsonl"),
    ("dedup", "in.jsonl", "--against", "more.jsonl", "-o", "more.jsonl", "--resume"),
    ("dedup", "more.jsonl", "--against", "store", "-o", "store/out.jsonl"),
    ("dedup", "more.jsonl", "--against", "store", "-o", "store/"),
    ("dedup", "in.jsonl", "-o", "in.jsonl", "--unit", "line"),
    ("passages", "in.jsonl", "-o", "in.jsonl"),
    ("passages", "in.jsonl", "-o", "in.jsonl", "--list"),
    ("passages", "in.jsonl", "-o", "out.jsonl", "--audit", "in.jsonl"),
    ("passages", "in.jsonl", "--against", "more.jsonl", "-o", "more.jsonl"),
    ("decontaminate", "in.jsonl", "--against", "bench.jsonl", "-o", "in.jsonl"),
    ("decontaminate", "in.jsonl", "--against", "bench.jsonl", "-o", "out.jsonl", "--audit", "bench.jsonl"),
    ("apply", "clusters.parquet", "in.jsonl", "-o", "in.jsonl"),
    ("apply", "clusters.parquet", "in.jsonl", "-o", "out.jsonl", "--audit", "in.jsonl"),
    ("fingerprint", "in.jsonl", "-o", "in.jsonl"),
    ("pairs", "in.jsonl", "--against", "more.jsonl", "-o", "more.jsonl"),
    ("pairs", "prints.parquet", "-o", "prints.parquet"),
    ("clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "prints.parquet"),
    ("evaluate", "in.jsonl", "--pairs", "labels.jsonl", "-o", "labels.jsonl"),
    ("evaluate", "in.jsonl", "-o", "in.jsonl"),
    ("store", "add", "store", "more.jsonl", "-o", "more.jsonl"),
    ("store", "add", "store", "more.jsonl", "-o", "store/answers.jsonl"),
    ("store", "check", "store", "more.jsonl", "-o", "more.jsonl"),
    ("store", "check", "store", "more.jsonl", "-o", "store/answers.jsonl.gz"),
    ("store", "pairs", "store", "-o", "store/pairs.jsonl"),
    ("store", "clusters", "store", "-o", "store/clusters.jsonl"),
    ("store", "judgements", "store", "-o", "store/labels.jsonl"),
    ("filter", "--store", "store", "more.jsonl", "-o", "more.jsonl"),
    ("filter", "--store", "store", "more.jsonl", "-o", "store/new.jsonl"),
    ("filter", "--index", "index", "more.jsonl", "-o", "more.jsonl"),
    ("filter", "--index", "index", "more.jsonl", "-o", "index/new.jsonl"),
    ("filter", "--store", "store", "more.jsonl", "-o", "-", "--audit", "more.jsonl"),
    ("index", "query", "index", "more.jsonl", "-o", "more.jsonl"),
    ("index", "query", "index", "more.jsonl", "-o", "index/answers.jsonl"),
]


def test_no_command_replaces_what_it_reads(run, made):
    before = contents()
    for call in CALLS:
        done = run(*call, "--overwrite").refused()
        assert "and no run replaces what it reads" in done.err or "where nothing else belongs" in done.err, (
            call,
            done.err,
        )
        assert contents() == before, call


def test_a_page_does_not_replace_the_inputs_of_its_run(run):
    pytest.importorskip("jinja2", reason="the extra `report` is not installed")
    Path("in").mkdir()
    for number, row in enumerate(ROWS):
        Path(f"in/{number}.html").write_text(f"<p>{row['text']}</p>")
    assert run("dedup", "in", "-o", "kept/", "--html", "whole", "--quiet").code == 0
    before = contents()
    run("report", "kept.duplicates.jsonl", "-o", "in/0.html", "--overwrite").refused(
        "in/0.html is an input, and no run replaces what it reads."
    )
    assert contents() == before
