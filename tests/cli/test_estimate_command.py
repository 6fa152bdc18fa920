"""`neardup dedup --dry-run`: what it says before it begins."""

import json

from cli_corpora import ROWS, write_lines


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
