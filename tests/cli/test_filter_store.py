"""`neardup filter --store`: what passes is what `dedup` keeps, byte for byte; after a crash nothing is lost or passed twice."""

import json
import shutil
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from cli_corpora import lines, read_lines, write_lines
from filter_memories import INDEX, ROWS, STORE, Killed, corpus, self_killing, shards_of

import neardup as nd
from neardup.jobs.streams.filter_store import filter_with_store

AUDIT = ("id", "row", "survivor_id", "similarity", "distance", "exact")


def by_dedup(run, *arguments):
    """The output and the audit of `dedup`, as `filter --store` writes it."""
    run("dedup", *arguments, "--cluster", "star", "--keep", "first", "-o", "dedup.jsonl", "--overwrite").ok()
    listed = read_lines("dedup.duplicates.jsonl")
    audit = [{**{name: line[name] for name in AUDIT}, "status": "duplicate"} for line in listed]
    audit = [line | {"only_digits": None if not line["exact"] else False} for line in audit]  # the store has no texts
    return Path("dedup.jsonl").read_bytes(), audit


@pytest.mark.parametrize(
    "options",
    [
        ["--method", "exact"],
        ["--method", "exact", "--similarity", "edit", "--min-similarity", "0.7"],
        ["--method", "minhash", "--min-similarity", "0.6"],
        ["--method", "simhash", "--similarity", "cosine"],
        ["--method", "simhash", "--min-similarity", "0", "--max-distance", "12"],
    ],
    ids=" ".join,
)
def test_the_decisions_are_those_of_dedup(run, monkeypatch, options):
    STORE.small_steps(monkeypatch)
    inputs = shards_of(ROWS)
    run("filter", "--create", "--store", "seen", *inputs, "-o", "out.jsonl", *options).ok()
    assert (Path("out.jsonl").read_bytes(), read_lines("out.duplicates.jsonl")) == by_dedup(run, *inputs, *options)
    assert 10 < len(read_lines("out.duplicates.jsonl")) < len(ROWS) - 10
    piped = run("filter", "--create", "--store", "piped", "--audit", "piped.jsonl", *options, stdin=lines(ROWS))
    assert piped.out.rstrip(b"\n") == Path("out.jsonl").read_bytes()
    assert Path("piped.jsonl").read_bytes() == Path("out.duplicates.jsonl").read_bytes()


def test_rows_without_ids_are_numbered_over_all_runs(run, monkeypatch):
    STORE.small_steps(monkeypatch)
    rows = [{name: value for name, value in row.items() if name != "id"} for row in ROWS]
    inputs = shards_of(rows)
    run("filter", "--create", "--store", "seen", *inputs, "-o", "out.jsonl")
    out, audit = by_dedup(run, *inputs, "--method", "exact")
    assert Path("out.jsonl").read_bytes() == out
    removed = read_lines("dedup.duplicates.jsonl")
    expected = [
        line | {"id": f"row:{line['row']}", "survivor_id": f"row:{row['survivor_row']}"}  # as the store names them
        for line, row in zip(audit, removed, strict=True)
    ]
    assert read_lines("out.duplicates.jsonl") == expected
    write_lines("in/a.jsonl", corpus(40, 8))  # other texts under the same name: nothing is replaced
    run("filter", "--create", "--store", "seen", "in/a.jsonl", "-o", "more.jsonl")
    assert run("filter", "--create", "--store", "seen", stdin=lines(rows)).out == b""
    with nd.Store("seen") as store:
        assert len(store) == len(read_lines("out.jsonl")) + len(read_lines("more.jsonl"))


def test_a_repeated_id_is_a_copy_or_an_update(run):
    texts = [" ".join(f"w{i}" for i in range(k, k + 30)) for k in (0, 100)]
    rows = [{"id": 7, "text": text} for text in (texts[0], texts[0].upper(), texts[1], texts[0])]
    done = run("filter", "--create", "--store", "seen", "--audit", "audit.jsonl", stdin=lines(rows))
    assert done.out == lines([rows[0], rows[2], rows[3]])
    copy, *updates = read_lines("audit.jsonl")
    assert (copy["row"], copy["survivor_id"], copy["exact"]) == (1, 7, True)
    assert [(line["row"], line["replaced_id"], line["distance"] > 0) for line in updates] == [
        (2, 7, True),
        (3, 7, True),
    ]


def test_a_repeated_id_with_an_equal_text_is_what_dedup_says(run):
    rows = [row | {"id": f"d{i % 50}"} for i, row in enumerate(ROWS[:50] * 3)]
    write_lines("a.jsonl", rows)
    run("filter", "--create", "--store", "seen", "a.jsonl", "-o", "out.jsonl")
    out, audit = by_dedup(run, "a.jsonl", "--method", "exact")
    unchanged = {"status": "unchanged"}
    expected = [line | (unchanged if line["survivor_id"] == line["id"] else {}) for line in audit]
    assert (Path("out.jsonl").read_bytes(), read_lines("out.duplicates.jsonl")) == (out, expected)
    assert {line["status"] for line in expected} == {"unchanged", "duplicate"}


@pytest.mark.parametrize("memory", ["--store", "--index"])
def test_a_column_that_is_missing_is_refused_and_nothing_is_left(run, memory):
    write_lines("a.jsonl", ROWS[:3])
    run("filter", "--create", memory, "seen", "a.jsonl", "-o", "out.jsonl", "--text", "body").refused("body", code=1)


def test_to_a_pipe_each_line_comes_at_least_once_although_the_process_is_killed(run):
    rows = corpus(300, 9)
    write_lines("a.jsonl", rows)
    expected = run("filter", "--create", "--store", "whole", "a.jsonl").out.splitlines()
    kills = 0
    for seed in range(4):
        shutil.rmtree("seen", ignore_errors=True)
        command = ["filter", "--create", "--store", "seen", "--quiet", *([] if seed % 2 else ["a.jsonl"])]
        with open("a.jsonl", "rb") as given:
            call = self_killing(STORE, seed, rows, *command)
            first = subprocess.run(call, stdin=given, capture_output=True, check=False)
        kills += first.returncode == -signal.SIGKILL
        before = first.stdout.splitlines()
        assert before == expected[: len(before)]
        after = run("filter", "--create", "--store", "seen", stdin=lines(rows)).out.splitlines()
        assert after == expected[len(expected) - len(after) :]
        assert len(before) + len(after) >= len(expected)
    assert kills > 0


def test_a_run_of_many_inputs_goes_on_and_notices_one_that_has_changed(run, monkeypatch):
    inputs = [write_lines(f"in/{number:02}.jsonl", ROWS[5 * number : 5 * number + 5]) for number in range(30)]
    STORE.interrupted(monkeypatch, "seen", inputs)
    with nd.Store("seen") as store:
        assert len(store.state["filter"]["of"]["inputs"]) == 2
    shutil.copytree("seen", "changed")
    assert run("filter", "--create", "--store", "seen", *inputs, "-o", "out.jsonl").code == 0
    assert Path("out.jsonl").read_bytes() == run("filter", "--create", "--store", "other", *inputs).out
    write_lines("in/29.jsonl", ROWS[:1])
    run("filter", "--create", "--store", "changed", *inputs, "-o", "out2.jsonl").refused(
        "in/00.jsonl and 29 more inputs to"
    )


def test_giving_up_that_was_killed_half_way_is_done_again(run, monkeypatch, place):
    write_lines("a.jsonl", ROWS)
    STORE.interrupted(monkeypatch, "seen")
    (place.work / ".out.jsonl.partial-filter").rename("out.jsonl")
    with nd.Store("seen") as store, open("out.jsonl", "r+b") as file:
        file.truncate(store.state["filter"]["lengths"][0])
    assert run("filter", "--create", "--store", "seen", "--give-up").code == 0
    assert Path("out.duplicates.jsonl").exists()


def test_a_run_that_was_killed_before_its_outputs_had_their_names_is_finished_by_the_next_command(run, monkeypatch):
    write_lines("a.jsonl", ROWS)

    def killed(_):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("neardup.jobs.streams.filter_run.FilterRun.publish", killed)
        with pytest.raises(Killed):
            filter_with_store("seen", "a.jsonl", "out.jsonl", create=True)
    assert not Path("out.jsonl").exists()
    assert run("filter", "--create", "--store", "seen", stdin=lines(ROWS)).out == b""
    assert Path("out.jsonl").read_bytes() == run("filter", "--create", "--store", "other", stdin=lines(ROWS)).out


def test_a_stream_to_a_file_goes_on_when_it_is_sent_again(run, monkeypatch, start, place):
    expected = run("filter", "--create", "--store", "whole", stdin=lines(ROWS)).out
    process = start("filter", "--create", "--store", "seen", "-o", "out.jsonl", "--verbose")
    process.stdin.write(lines(ROWS[:60]))
    process.stdin.flush()
    said = b""
    while b"no line is lost or passed on twice" not in said:
        said += process.stderr.readline()
    partial = place.work / ".out.jsonl.partial-filter"
    waiting = threading.Event()
    while not (partial.exists() and partial.stat().st_size):
        waiting.wait(0.02)
    process.kill()
    process.wait()
    assert run("filter", "--create", "--store", "seen", "-o", "out.jsonl", stdin=lines(ROWS)).code == 0
    assert Path("out.jsonl").read_bytes() == expected
    run("filter", "--create", "--store", "seen", "-o", "out.jsonl", stdin=lines(ROWS)).refused(
        "out.jsonl, out.duplicates.jsonl exist already"
    )


def test_a_pipe_is_answered_at_once_and_told_that_lines_may_come_twice(start):
    rows = [ROWS[0] | {"text": "a first line, and new"}, {"id": "x", "text": "something else, and new"}]
    process = start("filter", "--create", "--store", "seen", "--verbose")
    for row in rows:
        process.stdin.write(lines([row]))
        process.stdin.flush()
        assert process.stdout.readline() == lines([row])
    process.kill()  # what was passed on before the last line is remembered
    process.wait()
    assert b"a few may be passed on twice" in process.stderr.read()
    with nd.Store("seen") as store:
        assert len(store) >= 1


def test_what_nobody_reads_is_not_remembered(start):
    process = start("filter", "--create", "--store", "seen", "--quiet")
    process.stdout.close()
    process.stdin.write(lines(ROWS))
    process.stdin.close()
    assert process.wait(60) == 1
    with nd.Store("seen") as store:
        assert len(store) == 0


def test_one_run_writes_to_a_store_at_a_time(run):
    write_lines("a.jsonl", ROWS)
    with nd.Store("seen"):
        done = run("filter", "--create", "--store", "seen", "a.jsonl", "-o", "out.jsonl")
    assert (done.code, "Another process writes to the store at seen" in done.err) == (2, True)


@pytest.mark.parametrize(("flag", "kind"), [("--store", "store"), ("--index", "index")])
def test_nothing_is_made_of_a_misspelled_name_unless_it_is_asked_for(run, place, flag, kind):
    write_lines("a.jsonl", ROWS[:3])
    command = ("filter", flag, "seen", "a.jsonl", "-o", "out.jsonl")
    run(*command).refused(f"seen is no {kind}. Name the folder of one, or pass --create to make it.")
    assert [path.name for path in place.work.iterdir()] == ["a.jsonl"]
    run(*command, "--create").ok(f"made     a new {kind}, as there was none\n")
    assert "made " not in run("filter", flag, "seen", "a.jsonl", "-o", "again.jsonl", "--create").err
    run("filter", flag, "sen", "a.jsonl", "-o", "more.jsonl").refused(f"sen is no {kind} (did you mean seen?).")
    assert not Path("sen").exists()


def test_commands_of_stores_name_the_store_that_may_be_meant(run):
    run("store", "create", "seen")
    for command in (("info", "sene"), ("check", "sene", "--literal", "x"), ("get", "sene", "x")):
        assert "sene is no store (did you mean seen?)." in run("store", *command).err


def test_the_screen_says_by_what_each_decides(run):
    assert "by jaccard similarity of at least 0.8" in run(*STORE.command("seen"), stdin=lines(ROWS[:2])).err
    assert "by the distance of fingerprints" in run(*INDEX.command("ix"), stdin=lines(ROWS[:2])).err
    assert json.loads(run("store", "info", "seen", "--json").out)["documents"] > 0
