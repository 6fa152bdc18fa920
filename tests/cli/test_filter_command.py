"""`neardup filter`: what is new passes byte for byte; after a crash the same command goes on, and nothing is lost or passed twice."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from cli_corpora import lines, read_lines, write_lines

import neardup as nd
from neardup.hamming.index.files.folder import read_manifest
from neardup.jobs.streams import filter_walk as job
from neardup.jobs.streams import line_walk
from neardup.text.normalizers import normalize

RECIPE = nd.RECIPES["default"].recipe
DISTANCE = 3
"""The one that a new index takes."""


def corpus(count, seed=0):
    """Rows of which many are near others; some are short."""
    choose = random.Random(seed)
    words = [f"word{i}" for i in range(400)]
    rows: list[dict] = []
    for i in range(count):
        if rows and choose.random() < 0.4:
            text = choose.choice(rows)["text"] + choose.choice(["", " !", " more"])
        else:
            text = " ".join(choose.sample(words, choose.choice([3, 40, 60])))
        rows.append({"id": f"d{i}", "text": text, "other": [1, None]})
    return rows


def is_short(text):
    return len(text.replace("!", "").split()) < RECIPE.min_tokens


def by_definition(rows):
    """The numbers of the rows that pass, and the audit."""
    texts = [row["text"] for row in rows]
    values, kept, audit = nd.fingerprint(texts, recipe=RECIPE), [], []
    for i, text in enumerate(texts):
        short = is_short(text)
        near = []
        for j in kept:
            if short and normalize(texts[j]) == normalize(text):
                near.append((0, j))
            if not short and not is_short(texts[j]):
                near.append((int(np.bitwise_count(values[i] ^ values[j]).sum()), j))
        best = min((each for each in near if each[0] <= DISTANCE), default=None)
        if best is None:
            kept.append(i)
        else:
            audit.append({"id": f"d{i}", "row": i, "matched_id": f"d{best[1]}", "distance": best[0]})
    return kept, audit


def small_steps(monkeypatch, rows=20):
    monkeypatch.setattr(job, "COMMIT_ROWS", rows)
    monkeypatch.setattr(line_walk, "BLOCK_BYTES", 4_000)


ROWS = corpus(150)


def test_what_is_new_passes_byte_for_byte_and_the_audit_names_the_match(run, monkeypatch):
    small_steps(monkeypatch)
    kept, audit = by_definition(ROWS)
    done = run("filter", "--create", "--index", "ix", "--audit", "removed.jsonl", stdin=lines(ROWS))
    assert done.code == 0, done.err
    assert done.out == lines([ROWS[i] for i in kept])
    assert read_lines("removed.jsonl") == audit
    assert 0 < len(kept) < len(ROWS)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([], "distance 3 of 128 bits; where this was measured, 99 of 100 were similar texts\n"),
        (["--max-distance", "2"], "distance 2 of 128 bits; where this was measured, 99 of 100 were similar texts\n"),
        (
            ["--max-distance", "18"],
            "distance 18 of 128 bits; where this was measured, 99 of 100 were similar texts up to distance 3",
        ),
        (
            ["--recipe", "default-64"],
            "distance 0 of 64 bits; where this was measured, more than 1 of 100 was no similar text, even",
        ),
        (
            ["--recipe", "own.toml"],
            "distance 7 of 64 bits; for this recipe, nobody has measured how many of them are unlike texts",
        ),
        (
            ["--recipe", "near.toml"],
            "distance 5 of 128 bits; where this was measured, 99 of 100 were similar texts up to distance 3",
        ),
    ],
)
def test_which_distance_decides_is_told_with_what_is_known_of_it(run, given, told):
    Path("own.toml").write_text("bits = 64\nword_shingle = 2\nmax_distance = 7\n")
    Path("near.toml").write_text("max_distance = 5\n")
    for _ in range(2):  # of a new index, and of one that is there
        assert (
            f"duplicates are within {told}"
            in run("filter", "--create", "--index", "ix", *given, stdin=lines(ROWS[:9])).err
        )


def test_an_index_that_is_there_keeps_its_distance(run):
    write_lines("a.jsonl", ROWS)
    nd.build_index("ix", "a.jsonl", max_distance=18)
    assert (
        "within distance 18 of 128 bits; where" in run("filter", "--create", "--index", "ix", stdin=lines(ROWS[:9])).err
    )


def test_what_was_passed_before_is_remembered(run):
    first = run("filter", "--create", "--index", "ix", stdin=lines(ROWS[:70])).out
    second = run("filter", "--create", "--index", "ix", stdin=lines(ROWS[70:])).out
    assert first + second == run("filter", "--create", "--index", "other", stdin=lines(ROWS)).out
    assert run("filter", "--create", "--index", "ix", stdin=lines(ROWS)).out == b""


def test_files_give_what_a_pipe_gives_on_any_number_of_threads(run, monkeypatch):
    small_steps(monkeypatch)
    write_lines("a.jsonl", ROWS[:60])
    Path("b.jsonl").write_bytes(lines(ROWS[60:]).rstrip(b"\n"))
    piped = run("filter", "--create", "--index", "pipe", stdin=lines(ROWS)).out
    for threads in (1, 3):
        name = f"out{threads}.jsonl"
        assert (
            run(
                "filter", "--create", "--index", f"ix{threads}", "b.jsonl", "a.jsonl", "-o", name, "--threads", threads
            ).code
            == 0
        )
        out = f"plain{threads}.jsonl"
        assert (
            run(
                "filter", "--create", "--index", f"iy{threads}", "a.jsonl", "b.jsonl", "-o", out, "--threads", threads
            ).code
            == 0
        )
        assert Path(out).read_bytes() in (piped, piped.rstrip(b"\n"))
    assert Path("out1.jsonl").read_bytes() == Path("out3.jsonl").read_bytes()
    assert read_lines("plain1.duplicates.jsonl") == by_definition(ROWS)[1]


def test_standard_input_can_go_to_a_file_and_files_to_standard_output(run):
    write_lines("a.jsonl", ROWS)
    expected = run("filter", "--create", "--index", "one", stdin=lines(ROWS)).out
    assert run("filter", "--create", "--index", "two", "a.jsonl").out == expected
    assert run("filter", "--create", "--index", "three", "-o", "out.jsonl", stdin=lines(ROWS)).code == 0
    assert Path("out.jsonl").read_bytes() == expected
    assert read_manifest(Path("three")).generation == 1


def test_lines_of_text_are_passed_on_in_their_encoding(run):
    text = "".join(f"{row['text']}\r\n" for row in ROWS)
    expected = "".join(f"{ROWS[i]['text']}\r\n" for i in by_definition(ROWS)[0])
    Path("a.txt").write_bytes(text.encode("utf-16"))
    assert (
        run("filter", "--create", "--index", "ix", "--lines", "--encoding", "utf-16", "a.txt", "-o", "out.txt").code
        == 0
    )
    assert Path("out.txt").read_bytes().decode("utf-16") == expected


def test_rows_that_cannot_be_read_stop_it_or_are_set_aside(run):
    content = lines(ROWS[:5]) + b"nonsense\n" + lines(ROWS[5:9])
    done = run("filter", "--create", "--index", "ix", stdin=content)
    assert (done.code, "row 5" in done.err) == (1, True)
    done = run("filter", "--create", "--index", "iy", "--on-error", "skip", "--audit", "a.jsonl", stdin=content)
    assert done.out == run("filter", "--create", "--index", "iz", stdin=lines(ROWS[:9])).out
    assert [row["row"] for row in read_lines("a.rejects.jsonl")] == [5]


class Killed(BaseException):
    """The process ends here."""


def test_killed_at_any_step_and_run_again_it_gives_what_an_uninterrupted_run_gives(run, monkeypatch, place):
    small_steps(monkeypatch, 50)
    write_lines("a.jsonl", ROWS[:70])
    Path("b.jsonl").write_bytes(lines(ROWS[70:]).rstrip(b"\n"))
    run("filter", "--create", "--index", "whole", "b.jsonl", "a.jsonl", "-o", "whole.jsonl")
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
        index, out = f"ix{kill_at}", f"out{kill_at}.jsonl"
        with monkeypatch.context() as patch:
            for owner, name in ((os, "fsync"), (os, "replace"), (Path, "replace"), (Path, "unlink")):
                patch.setattr(owner, name, counted(getattr(owner, name)))
            left[0] = kill_at
            try:
                nd.filter_files(index, ["b.jsonl", "a.jsonl"], out, threads=1, create=True)
                done = True
            except Killed:
                done = False
        resumed += (Path(index) / "index.json").exists()
        nd.filter_files(index, ["b.jsonl", "a.jsonl"], out, threads=1, create=True)
        assert (Path(out).read_bytes(), Path(f"out{kill_at}.duplicates.jsonl").read_bytes()) == expected, kill_at
        assert len(nd.Index.open(index)) == len(nd.Index.open("whole"))
        shutil.rmtree(index)
        if done:
            break
    assert resumed > 20
    assert place.leftovers() == []


SELF_KILLING = """
import os, random, signal, sys, time, threading
from neardup.cli.main import main
from neardup.jobs.streams import filter_walk as job, line_walk
from neardup.text.normalizers import normalize
job.COMMIT_ROWS, line_walk.BLOCK_BYTES = 40, 4_000
choose = random.Random(int(sys.argv[1]))
original = job.FilterWalk.decide
def decide(self, *args):
    if self.counts.rows > moment:
        threading.Timer(choose.random() * 0.01, os.kill, (os.getpid(), signal.SIGKILL)).start()
    return original(self, *args)
moment = choose.randrange(int(sys.argv[2]))
job.FilterWalk.decide = decide
main(sys.argv[3:])
"""


def test_a_process_that_is_killed_again_and_again_loses_no_line(run, place):
    rows = [row | {"id": f"x{i}"} for i, row in enumerate(corpus(600, 7))]
    write_lines("a.jsonl", rows)
    run("filter", "--create", "--index", "whole", "a.jsonl", "-o", "whole.jsonl")
    command = ["filter", "--create", "--index", "ix", "a.jsonl", "-o", "out.jsonl"]
    kills = 0
    for seed in range(int(os.environ.get("NEARDUP_KILLS", "6"))):
        shutil.rmtree("ix", ignore_errors=True)
        for name in ("out.jsonl", "out.duplicates.jsonl"):
            Path(name).unlink(missing_ok=True)
        ended = subprocess.run([sys.executable, "-c", SELF_KILLING, str(seed), str(len(rows)), *command], check=False)
        kills += ended.returncode == -signal.SIGKILL
        assert run(*command).code == 0
        for name in ("{}.jsonl", "{}.duplicates.jsonl"):
            assert Path(name.format("out")).read_bytes() == Path(name.format("whole")).read_bytes(), seed
    assert kills > 0


def interrupted(monkeypatch, index="ix", out="out.jsonl"):
    """A run from a.jsonl that stops half way."""
    small_steps(monkeypatch, 30)
    with monkeypatch.context() as patch:
        original, count = job.FilterWalk.decide, [0]

        def decide(self, *args):
            count[0] += 1
            if count[0] > 6:
                raise Killed
            return original(self, *args)

        patch.setattr(job.FilterWalk, "decide", decide)
        with pytest.raises(Killed):
            nd.filter_files(index, "a.jsonl", out, threads=1, create=True)


def test_another_command_after_an_interrupted_one_is_refused_until_that_is_given_up(run, monkeypatch):
    write_lines("a.jsonl", ROWS)
    write_lines("b.jsonl", ROWS)
    interrupted(monkeypatch)
    for arguments in (["b.jsonl", "-o", "rest.jsonl"], []):
        refused = run("filter", "--create", "--index", "ix", *arguments, stdin=lines(ROWS), leaves_nothing=False)
        assert (refused.code, "was interrupted. The same command" in refused.err) == (2, True)
    assert run("filter", "--create", "--index", "ix", "b.jsonl", "-o", "rest.jsonl", "--give-up").code == 0
    both = Path("out.jsonl").read_bytes() + Path("rest.jsonl").read_bytes()
    assert both == lines([ROWS[i] for i in by_definition(ROWS)[0]])
    assert Path("rest.jsonl").stat().st_size > 0
    assert Path("out.jsonl").stat().st_size > 0


def test_giving_up_replaces_no_file_that_an_index_only_names(run, monkeypatch):
    """An index may come from elsewhere."""
    write_lines("a.jsonl", ROWS)
    write_lines("b.jsonl", ROWS)
    Path("victim").write_bytes(b"precious")
    interrupted(monkeypatch)
    index = nd.Index.open("ix")
    record = index.state["filter"]
    index.state = index.state | {"filter": record | {"of": record["of"] | {"output": str(Path("victim").resolve())}}}
    index.save()
    for length in (0, 5):
        index.state["filter"]["lengths"][0] = length
        index.save()
        refused = run(
            "filter", "--create", "--index", "ix", "b.jsonl", "-o", "rest.jsonl", "--give-up", leaves_nothing=False
        )
        assert (refused.code, "The index names" in refused.err) == (1, True)
        assert Path("victim").read_bytes() == b"precious"


def test_of_two_that_begin_with_the_same_new_index_one_waits(run, start):
    write_lines("in.jsonl", ROWS)
    with open("in.jsonl", "rb") as given:
        first = start("filter", "--create", "--index", "new.index", "-o", "first.jsonl")
        first.stdin.write(given.read())
        first.stdin.flush()
    until = time.monotonic() + 60
    while not list(Path().glob(".first.jsonl.partial-*")):
        assert time.monotonic() < until
        time.sleep(0.02)
    done = run("filter", "--create", "--index", "new.index", "in.jsonl", "-o", "second.jsonl", leaves_nothing=False)
    assert done.code == 2
    assert "Another process writes to the index at new.index. Wait until it has ended." in done.err.replace("\n", " ")
    assert first.communicate(timeout=60)[1] is not None
    assert first.returncode == 0
    assert run("filter", "--create", "--index", "new.index", "in.jsonl", "-o", "second.jsonl").code == 0
    assert Path("second.jsonl").read_bytes() == b""


def test_the_same_command_again_changes_nothing(run):
    write_lines("a.jsonl", ROWS)
    command = ["filter", "--create", "--index", "ix", "a.jsonl", "-o", "out.jsonl"]
    run(*command)
    before = Path("out.jsonl").read_bytes()
    again = run(*command)
    assert (again.code, "nothing is left to do" in again.err) == (0, True)
    assert Path("out.jsonl").read_bytes() == before
    Path("out.jsonl").unlink()
    refused = run(*command)
    assert (refused.code, "is not there any more" in refused.err) == (2, True)


def test_an_output_that_was_cut_short_is_refused(run, monkeypatch, place):
    write_lines("a.jsonl", ROWS)
    interrupted(monkeypatch)
    (place.work / ".out.jsonl.partial-filter").write_bytes(b"")
    refused = run("filter", "--create", "--index", "ix", "a.jsonl", "-o", "out.jsonl", leaves_nothing=False)
    assert (refused.code, "when the run was interrupted" in refused.err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--index", "full", "a.jsonl"], "is no index"),
        (["--index", "ix", "a.jsonl", "-"], "Standard input (-) goes alone"),
        (["--index", "ix", "a.csv"], "can be passed on line by line"),
        (["--index", "ix", "a.jsonl", "-o", "out.jsonl.gz"], "Name a plain file"),
        (["--index", "ix", "a.jsonl", "-o", "memory://out.jsonl"], "Name a plain file"),
        (["--index", "ix", "a.jsonl", "-o", "full"], "Name a plain file"),
        (["--index", "ix", "a.jsonl", "-o", "b.jsonl"], "exists already"),
        (["--index", "ix", "a.jsonl", "-o", "a.jsonl", "--overwrite"], "is an input"),
        (["--index", "ix", "a.jsonl", "-o", "c.jsonl", "--audit", "c.jsonl"], "are the same file"),
        (["--index", "ix", "a.jsonl", "-o", "c.jsonl", "--audit", "-"], "the audit is a file"),
        (["--index", "ix", "a.jsonl", "--on-error", "skip"], "has no place for the rejects"),
        (["--index", "ix", "a.jsonl", "--recipe", "textbook"], "was made by the recipe"),
        (["--index", "ix", "a.jsonl", "--max-distance", "4"], "the index was made for 3"),
        (["--index", "ix", "a.jsonl", "--integer-ids"], "of which kind they are cannot change"),
        (["--index", "ix", "little.jsonl", "big.jsonl", "--encoding", "utf-16"], "cannot be passed on as one"),
    ],
)
def test_what_cannot_be_done_is_refused_with_what_to_do(run, place, arguments, told):
    write_lines("a.jsonl", ROWS[:3])
    write_lines("b.jsonl", ROWS[:3])
    for name in ("little", "big"):
        marked = "\ufeff" + lines(ROWS[:3]).decode()
        (place.work / f"{name}.jsonl").write_bytes(marked.encode(f"utf-16-{name[0]}e"))
    (place.work / "full").mkdir()
    (place.work / "full/file").touch()
    (place.work / "a.csv").write_text("id,text\n1,x\n")
    run("filter", "--create", "--index", "ix", "b.jsonl")
    done = run("filter", "--create", *arguments)
    assert (done.code, told in done.err) == (2, True), done.err


@pytest.mark.parametrize("content", [b"PAR1abcd", b"\x1f\x8b\x08\x00"])
def test_a_pipe_that_holds_no_lines_is_refused(start, content):
    process = start("filter", "--create", "--index", "ix")
    _, told = process.communicate(content, timeout=60)
    assert (process.returncode, b"must be plain lines" in told) == (2, True)


def test_a_pipe_is_answered_as_it_comes_and_what_was_passed_is_known_after_an_interrupt(start, run):
    rows = [ROWS[i] for i in by_definition(ROWS)[0] if not is_short(ROWS[i]["text"])][:2]
    process = start("filter", "--create", "--index", "ix", "--quiet")
    for row in rows:
        process.stdin.write(lines([row]))
        process.stdin.flush()
        assert process.stdout.readline() == lines([row])
    for _ in range(
        5
    ):  # one that comes just before Python begins to read waits for the next line, or the next interrupt
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            assert process.wait(20) == 130
            break
    assert run("filter", "--create", "--index", "ix", stdin=lines(rows)).out == b""
    assert json.loads(run("index", "info", "ix", "--json").out)["documents"] == 2
