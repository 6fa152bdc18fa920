"""`neardup dedup --dry-run`: what it says before it begins."""

import json

import pytest
from cli_corpora import FERRY, ROWS, write_lines

from neardup.cli.commands.dedup import command


def test_a_dry_run_says_what_it_expects_and_goes_on(run, place):
    write_lines("in.jsonl", ROWS)
    done = run("dedup", "in.jsonl", "--dry-run", "--json")
    first, second = done.err.splitlines()[:2]
    assert first.startswith(f"neardup: estimate: {len(ROWS)} documents in 722 B take less than 1 s, ")
    assert second == "neardup: all is done now but writing; interrupt it if the estimate is enough"
    told = json.loads(done.out)
    assert told["estimate"]["documents"] == told["documents"] == len(ROWS)
    assert [path.name for path in place.work.iterdir()] == ["in.jsonl"]


def test_a_quiet_dry_run_has_the_estimate_in_its_summary_only(run):
    write_lines("in.jsonl", ROWS)
    done = run("dedup", "in.jsonl", "--dry-run", "--json", "--quiet")
    assert done.err == ""
    assert set(json.loads(done.out)["estimate"]["seconds"]) == set(json.loads(done.out)["seconds"])


def test_a_run_that_writes_estimates_nothing(run):
    write_lines("in.jsonl", ROWS)
    assert "estimate" not in json.loads(run("dedup", "in.jsonl", "-o", "out.jsonl", "--json").out)


VALUES = [row | {"score": at, "language": "en", "words": row["text"].split()} for at, row in enumerate(ROWS)]
"""Rows of `in.jsonl`."""
OPTIONS = {
    "inputs": ["known/a.jsonl"],
    "output": ["-o", "out.jsonl"],
    "text": ["--text", "text", "--text", "language"],
    "id": ["--id", "score"],
    "html": ["--html", "whole"],
    "lines": ["--lines"],
    "encoding": ["--encoding", "utf-8"],
    "dialect": ["--dialect", ";"],
    "max_document_bytes": ["--max-document-bytes", "1M"],
    "elements": ["--elements", "words"],
    "method": ["--method", "minhash"],
    "min_similarity": ["--min-similarity", "0.5"],
    "similarity": ["--similarity", "containment", "--method", "exact"],
    "max_distance": ["--max-distance", "3"],
    "recipe": ["--recipe", "textbook"],
    "keep": ["--keep", "max:score"],
    "keep_as": ["--keep", "max:score", "--keep-as", "number"],
    "prefer_source": ["--prefer-source", "in.jsonl"],
    "within": ["--within", "language"],
    "cluster": ["--cluster", "components"],
    "guard": ["--guard", "same-numbers"],
    "keep_most": ["--keep-most", "2"],
    "drop_matched": ["--drop-matched", "--cluster", "components"],
    "max_cluster": ["--max-cluster", "0.9"],
    "against": ["--against", "known/a.jsonl"],
    "prefer": ["--against", "known/a.jsonl", "--prefer", "best", "--keep", "longest"],
    "unit": ["--unit", "line"],
    "annotate": ["--annotate"],
    "dry_run": [],
    "audit": ["--audit", "audit.jsonl"],
    "report": ["--report", "report.html"],
    "report_by": ["--report", "report.html", "--report-by", "language"],
    "as_json": ["--json"],
    "overwrite": ["--overwrite"],
    "resume": ["--resume"],
    "on_error": ["--on-error", "skip"],
    "threads": ["--threads", "1"],
    "memory": ["--memory", "64M"],
    "temp_dir": ["--temp-dir", "."],
    "temp_limit": ["--temp-limit", "1G"],
    "quiet": ["--quiet"],
    "verbose": ["--verbose"],
}
"""Each option of `dedup`, with a value."""
REFUSED = {"resume": "--resume keeps its work beside the output. Give -o a file or a folder."}
"""What is said of those that a dry run does not take."""


def test_every_option_of_dedup_is_tried():
    assert {option.name for option in command.params} - {"config"} == set(OPTIONS)


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_works_in_a_dry_run_or_is_refused_in_words(run, option):
    write_lines("in.jsonl", VALUES)
    write_lines("known/a.jsonl", [{"id": "known", "text": FERRY}])
    done = run("dedup", "in.jsonl", "--dry-run", *OPTIONS[option])
    if option in REFUSED:
        assert (done.code, REFUSED[option] in done.err) == (2, True)
    else:
        assert done.code == 0, done.err
        assert option in ("quiet", "unit") or "estimate: " in done.err
