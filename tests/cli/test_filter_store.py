"""`neardup filter --store`: what passes is what `dedup` keeps, byte for byte; after a crash nothing is lost or passed twice."""

import contextlib
import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cli_corpora import lines, read_lines, write_lines

import neardup as nd
from neardup.jobs.streams import filter_store_walk, line_walk
from neardup.jobs.streams.filter_store import filter_with_store
from neardup.store.record.record import Record

AUDIT = ("id", "row", "survivor_id", "similarity", "distance", "exact")


def corpus(count, seed=0):
    """Rows of which many are near copies or equal to others; some are short or empty."""
    choose = random.Random(seed)
    words = [f"word{i}" for i in range(300)]
    rows: list[dict] = []
    for i in range(count):
        if rows and choose.random() < 0.5:
            text = choose.choice(rows)["text"] + choose.choice(["", " !", " more", " and more of it"])
        else:
            text = " ".join(choose.sample(words, choose.choice([0, 3, 30, 60])))
        rows.append({"id": f"d{i}", "text": text, "other": [1, None]})
    return rows


ROWS = corpus(150)


def small_steps(monkeypatch, documents=15):
    """Blocks of some ten documents, and commits of fewer."""
    monkeypatch.setattr(filter_store_walk, "DOCUMENTS_AT_ONCE", documents)
    monkeypatch.setattr(line_walk, "BLOCK_BYTES", 4_000)


def shards_of(rows):
    """The rows in three files, the second one compressed."""
    Path("in").mkdir(exist_ok=True)
    write_lines("in/a.jsonl", rows[:40])
    Path("in/b.jsonl.gz").write_bytes(gzip.compress(lines(rows[40:90])))
    Path("in/c.jsonl").write_bytes(lines(rows[90:]).rstrip(b"\n"))
    return ["in/a.jsonl", "in/b.jsonl.gz", "in/c.jsonl"]


def by_dedup(run, *arguments):
    """The output and the audit of `dedup`, as `filter --store` writes it."""
    done = run("dedup", *arguments, "--cluster", "star", "--keep", "first", "-o", "dedup.jsonl", "--overwrite")
    assert done.code == 0, done.err
    audit = [{name: line[name] for name in AUDIT} for line in read_lines("dedup.duplicates.jsonl")]
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
    small_steps(monkeypatch)
    inputs = shards_of(ROWS)
    done = run("filter", "--create", "--store", "seen", *inputs, "-o", "out.jsonl", *options)
    assert done.code == 0, done.err
    assert (Path("out.jsonl").read_bytes(), read_lines("out.duplicates.jsonl")) == by_dedup(run, *inputs, *options)
    assert 10 < len(read_lines("out.duplicates.jsonl")) < len(ROWS) - 10
    piped = run("filter", "--create", "--store", "piped", "--audit", "piped.jsonl", *options, stdin=lines(ROWS))
    assert piped.out.rstrip(b"\n") == Path("out.jsonl").read_bytes()
    assert Path("piped.jsonl").read_bytes() == Path("out.duplicates.jsonl").read_bytes()


def test_rows_without_ids_are_numbered_over_all_runs(run, monkeypatch):
    small_steps(monkeypatch)
    rows = [{name: value for name, value in row.items() if name != "id"} for row in ROWS]
    inputs = shards_of(rows)
    run("filter", "--create", "--store", "seen", *inputs, "-o", "out.jsonl")
    out, audit = by_dedup(run, *inputs, "--method", "exact")
    assert Path("out.jsonl").read_bytes() == out
    removed = read_lines("dedup.duplicates.jsonl")
    expected = [line | {"survivor_id": f"row:{row['survivor_row']}"} for line, row in zip(audit, removed, strict=True)]
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
    found = Path("out.jsonl").read_bytes(), read_lines("out.duplicates.jsonl")
    assert found == by_dedup(run, "a.jsonl", "--method", "exact")


def test_what_was_passed_before_is_remembered(run):
    first = run("filter", "--create", "--store", "seen", stdin=lines(ROWS[:70])).out
    second = run("filter", "--create", "--store", "seen", stdin=lines(ROWS[70:])).out
    assert first + second == run("filter", "--create", "--store", "other", stdin=lines(ROWS)).out
    assert run("filter", "--create", "--store", "seen", stdin=lines(ROWS)).out == b""


def test_lines_of_text_are_passed_on_in_their_encoding(run):
    text = "".join(f"{row['text']}\r\n" for row in ROWS)
    Path("a.txt").write_bytes(text.encode("utf-16"))
    how = ["--lines", "--encoding", "utf-16", "a.txt"]
    assert run("filter", "--create", "--store", "seen", *how, "-o", "out.txt").code == 0
    run("dedup", *how, "-o", "dedup.txt", "--method", "exact")
    assert Path("out.txt").read_bytes() == Path("dedup.txt").read_bytes()


def test_rows_that_cannot_be_read_stop_it_or_are_set_aside(run, monkeypatch):
    small_steps(monkeypatch, 2)
    content = lines(ROWS[:5]) + b"nonsense\n" + lines(ROWS[5:9]) + b"[]\n"
    done = run("filter", "--create", "--store", "seen", stdin=content)
    assert (done.code, "row 5" in done.err) == (1, True)
    Path("a.jsonl").write_bytes(content)
    done = run("filter", "--create", "--store", "two", "--on-error", "skip", "a.jsonl", "-o", "out.jsonl")
    assert "skipped  2 rows could not be read\n" in done.err
    assert Path("out.jsonl").read_bytes() == run("filter", "--create", "--store", "three", stdin=lines(ROWS[:9])).out
    assert [row["row"] for row in read_lines("out.rejects.jsonl")] == [5, 10]
    assert all(line["row"] < 5 or line["row"] > 5 for line in read_lines("out.duplicates.jsonl"))


@pytest.mark.parametrize("memory", ["--store", "--index"])
def test_a_column_that_is_missing_is_refused_and_nothing_is_left(run, memory):
    write_lines("a.jsonl", ROWS[:3])
    done = run("filter", "--create", memory, "seen", "a.jsonl", "-o", "out.jsonl", "--text", "body")
    assert (done.code, "body" in done.err) == (1, True)


class Killed(BaseException):
    """The process ends here."""


def test_killed_at_any_step_and_run_again_it_gives_what_an_uninterrupted_run_gives(run, monkeypatch, place):
    small_steps(monkeypatch, 12)
    inputs = shards_of(ROWS)
    run("filter", "--create", "--store", "whole", *inputs, "-o", "whole.jsonl")
    expected = Path("whole.jsonl").read_bytes(), Path("whole.duplicates.jsonl").read_bytes()
    left = [-1]

    def counted(original):
        def step(*args, **kwargs):
            if left[0] == 0:
                raise Killed
            left[0] -= 1
            return original(*args, **kwargs)

        return step

    resumed = 0
    for kill_at in range(1000):
        store, out = f"store{kill_at}", f"out{kill_at}.jsonl"
        with monkeypatch.context() as patch:
            for owner, name in ((os, "fsync"), (os, "fdatasync"), (Path, "replace"), (Record, "set_facts")):
                patch.setattr(owner, name, counted(getattr(owner, name)))
            left[0] = kill_at
            done = False
            with contextlib.suppress(Killed):
                filter_with_store(store, inputs, out, threads=1, create=True)
                done = True
        resumed += Path(store).exists()
        filter_with_store(store, inputs, out, threads=1, create=True)
        assert (Path(out).read_bytes(), Path(f"out{kill_at}.duplicates.jsonl").read_bytes()) == expected, kill_at
        with nd.Store(store) as one, nd.Store("whole") as other:
            assert len(one) == len(other)
        shutil.rmtree(store)
        if done:
            break
    assert resumed > 40
    assert place.leftovers() == []


SELF_KILLING = """
import os, random, signal, sys, threading
from neardup.cli.main import main
from neardup.jobs.streams import filter_store_walk as job, line_walk
job.DOCUMENTS_AT_ONCE, line_walk.BLOCK_BYTES = 20, 4_000
choose = random.Random(int(sys.argv[1]))
original = job.FilterStoreWalk.decide
def decide(self, *args):
    if self.counts.rows > moment:
        threading.Timer(choose.random() * 0.03, os.kill, (os.getpid(), signal.SIGKILL)).start()
    return original(self, *args)
moment = choose.randrange(int(sys.argv[2]))
job.FilterStoreWalk.decide = decide
main(sys.argv[3:])
"""


def test_a_process_that_is_killed_again_and_again_loses_no_line(run):
    rows = corpus(400, 7)
    write_lines("a.jsonl", rows)
    run("filter", "--create", "--store", "whole", "a.jsonl", "-o", "whole.jsonl")
    command = ["filter", "--create", "--store", "seen", "a.jsonl", "-o", "out.jsonl"]
    kills = 0
    for seed in range(int(os.environ.get("NEARDUP_KILLS", "4"))):
        shutil.rmtree("seen", ignore_errors=True)
        for name in ("out.jsonl", "out.duplicates.jsonl"):
            Path(name).unlink(missing_ok=True)
        ended = subprocess.run([sys.executable, "-c", SELF_KILLING, str(seed), str(len(rows)), *command], check=False)
        kills += ended.returncode == -signal.SIGKILL
        assert run(*command).code == 0
        for name in ("{}.jsonl", "{}.duplicates.jsonl"):
            assert Path(name.format("out")).read_bytes() == Path(name.format("whole")).read_bytes(), seed
    assert kills > 0


def test_to_a_pipe_each_line_comes_at_least_once_although_the_process_is_killed(run):
    rows = corpus(300, 9)
    write_lines("a.jsonl", rows)
    expected = run("filter", "--create", "--store", "whole", "a.jsonl").out.splitlines()
    kills = 0
    for seed in range(4):
        shutil.rmtree("seen", ignore_errors=True)
        command = ["filter", "--create", "--store", "seen", "--quiet", *([] if seed % 2 else ["a.jsonl"])]
        with open("a.jsonl", "rb") as given:
            call = [sys.executable, "-c", SELF_KILLING, str(seed), str(len(rows)), *command]
            first = subprocess.run(call, stdin=given, capture_output=True, check=False)
        kills += first.returncode == -signal.SIGKILL
        before = first.stdout.splitlines()
        assert before == expected[: len(before)]
        after = run("filter", "--create", "--store", "seen", stdin=lines(rows)).out.splitlines()
        assert after == expected[len(expected) - len(after) :]
        assert len(before) + len(after) >= len(expected)
    assert kills > 0


def interrupted(monkeypatch, store="seen", inputs="a.jsonl", out="out.jsonl"):
    """A run that stops half way."""
    small_steps(monkeypatch, 12)
    with monkeypatch.context() as patch:
        original, count = filter_store_walk.FilterStoreWalk.decide, [0]

        def decide(self, *args):
            count[0] += 1
            if count[0] > 4:
                raise Killed
            return original(self, *args)

        patch.setattr(filter_store_walk.FilterStoreWalk, "decide", decide)
        with pytest.raises(Killed):
            filter_with_store(store, inputs, out, threads=1, create=True)


def test_another_command_after_an_interrupted_one_is_refused_until_that_is_given_up(run, monkeypatch):
    write_lines("a.jsonl", ROWS)
    write_lines("b.jsonl", ROWS)
    interrupted(monkeypatch)
    for arguments in (["b.jsonl", "-o", "rest.jsonl"], []):
        refused = run("filter", "--create", "--store", "seen", *arguments, stdin=lines(ROWS), leaves_nothing=False)
        assert (refused.code, "was interrupted. The same command" in refused.err) == (2, True)
    assert run("filter", "--create", "--store", "seen", "b.jsonl", "-o", "rest.jsonl", "--give-up").code == 0
    both = Path("out.jsonl").read_bytes() + Path("rest.jsonl").read_bytes()
    assert both == run("filter", "--create", "--store", "other", "b.jsonl").out
    assert 0 < Path("rest.jsonl").stat().st_size < len(both)


def test_a_run_of_many_inputs_goes_on_and_notices_one_that_has_changed(run, monkeypatch):
    inputs = [write_lines(f"in/{number:02}.jsonl", ROWS[5 * number : 5 * number + 5]) for number in range(30)]
    interrupted(monkeypatch, inputs=inputs)
    with nd.Store("seen") as store:
        assert len(store.state["filter"]["of"]["inputs"]) == 2
    shutil.copytree("seen", "changed")
    assert run("filter", "--create", "--store", "seen", *inputs, "-o", "out.jsonl").code == 0
    assert Path("out.jsonl").read_bytes() == run("filter", "--create", "--store", "other", *inputs).out
    write_lines("in/29.jsonl", ROWS[:1])
    done = run("filter", "--create", "--store", "changed", *inputs, "-o", "out2.jsonl")
    assert (done.code, "in/00.jsonl and 29 more inputs to" in done.err) == (2, True)


def test_giving_up_that_was_killed_half_way_is_done_again(run, monkeypatch, place):
    write_lines("a.jsonl", ROWS)
    interrupted(monkeypatch)
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
    again = run("filter", "--create", "--store", "seen", "-o", "out.jsonl", stdin=lines(ROWS))
    assert (again.code, "out.jsonl, out.duplicates.jsonl exist already" in again.err) == (2, True)


def test_the_same_command_again_changes_nothing(run):
    write_lines("a.jsonl", ROWS)
    command = ["filter", "--create", "--store", "seen", "a.jsonl", "-o", "out.jsonl"]
    assert "interrupted" not in run(*command).err
    before = Path("out.jsonl").read_bytes()
    again = run(*command)
    assert (again.code, "nothing is left to do" in again.err) == (0, True)
    assert Path("out.jsonl").read_bytes() == before
    Path("out.jsonl").unlink()
    refused = run(*command)
    assert (refused.code, "so the store knows all of its documents" in refused.err) == (2, True)


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


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--store", "seen", "--index", "ix", "a.jsonl"], "Give either --store FOLDER"),
        (["a.jsonl"], "Give either --store FOLDER"),
        (["--store", "full", "a.jsonl"], "is there, and is no store"),
        (["--store", "seen", "a.jsonl", "--min-similarity", "0.7"], "was made with --min-similarity 0.8"),
        (["--store", "seen", "a.jsonl", "--method", "minhash"], "was made with --method exact"),
        (["--store", "seen", "a.jsonl", "--similarity", "edit"], "was made with --similarity jaccard"),
        (["--store", "seen", "a.jsonl", "--recipe", "textbook"], "was made by the recipe"),
        (["--store", "new", "a.jsonl", "--min-similarity", "2"], "--min-similarity 2.0: give a number"),
        (["--store", "seen", "a.jsonl", "--integer-ids"], "--integer-ids is for --index, not for --store"),
        (["--index", "ix", "a.jsonl", "--method", "exact"], "--method is for --store, not for --index"),
        (["--index", "ix", "a.jsonl", "--similarity", "edit"], "--similarity is for --store, not for --index"),
        (["--index", "ix", "a.jsonl", "--min-similarity", "0.9"], "--min-similarity is for --store, not for --index"),
        (["--store", "seen", "a.jsonl", "-"], "Standard input (-) goes alone"),
        (["--store", "seen", "a.csv"], "can be passed on line by line"),
        (["--store", "seen", "a.jsonl", "-o", "out.jsonl.gz"], "Name a plain file"),
        (["--store", "new", "a.jsonl", "-o", "b.jsonl"], "exists already"),
        (["--store", "seen", "a.jsonl", "-o", "a.jsonl", "--overwrite"], "is an input"),
        (["--store", "seen", "a.jsonl", "--on-error", "skip"], "has no place for the rejects"),
        (["--store", "s3://bucket/seen", "a.jsonl"], "a store"),
    ],
)
def test_what_cannot_be_done_is_refused_with_what_to_do(run, place, arguments, told):
    write_lines("a.jsonl", ROWS[:3])
    write_lines("b.jsonl", ROWS[:3])
    (place.work / "full").mkdir()
    (place.work / "full/file").touch()
    (place.work / "a.csv").write_text("id,text\n1,x\n")
    assert run("store", "create", "seen").code == 0
    done = run("filter", "--create", *arguments)
    assert (done.code, told in done.err) == (2, True), done.err
    assert not Path("new").exists()


@pytest.mark.parametrize(("flag", "kind"), [("--store", "store"), ("--index", "index")])
def test_nothing_is_made_of_a_misspelled_name_unless_it_is_asked_for(run, place, flag, kind):
    write_lines("a.jsonl", ROWS[:3])
    command = ("filter", flag, "seen", "a.jsonl", "-o", "out.jsonl")
    refused = run(*command)
    assert refused.code == 2
    assert f"seen is no {kind}. Name the folder of one, or pass --create to make it." in refused.err
    assert [path.name for path in place.work.iterdir()] == ["a.jsonl"]
    made = run(*command, "--create")
    assert (made.code, f"made     a new {kind}, as there was none\n" in made.err) == (0, True)
    assert "made " not in run("filter", flag, "seen", "a.jsonl", "-o", "again.jsonl", "--create").err
    typo = run("filter", flag, "sen", "a.jsonl", "-o", "more.jsonl")
    assert (typo.code, f"sen is no {kind} (did you mean seen?)." in typo.err) == (2, True)
    assert not Path("sen").exists()


def test_commands_of_stores_name_the_store_that_may_be_meant(run):
    run("store", "create", "seen")
    for command in (("info", "sene"), ("check", "sene", "--literal", "x"), ("get", "sene", "x")):
        assert "sene is no store (did you mean seen?)." in run("store", *command).err


def test_the_screen_says_by_what_each_decides(run):
    assert (
        "by jaccard similarity of at least 0.8"
        in run("filter", "--create", "--store", "seen", stdin=lines(ROWS[:2])).err
    )
    assert "by the distance of fingerprints" in run("filter", "--create", "--index", "ix", stdin=lines(ROWS[:2])).err
    assert json.loads(run("store", "info", "seen", "--json").out)["documents"] > 0
