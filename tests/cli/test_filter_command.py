"""`neardup filter`: what is new passes byte for byte; after a crash the same command goes on, and nothing is lost or passed twice."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from cli_corpora import lines, read_lines, write_lines
from filter_memories import INDEX, ROWS, STORE, Killed, corpus, self_killing, shards_of

import neardup as nd
from neardup.hamming.index.files.folder import read_manifest
from neardup.text.normalizers import normalize

RECIPE = nd.RECIPES["default"].recipe
DISTANCE = 3
"""The one that a new index takes."""


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
            audit.append(
                {"id": f"d{i}", "row": i, "matched_id": f"d{best[1]}", "distance": best[0], "only_digits": None}
            )
    return kept, audit


@pytest.fixture(params=[INDEX, STORE], ids=lambda memory: memory.kind)
def memory(request):
    return request.param


def test_what_is_new_passes_byte_for_byte_and_the_audit_names_the_match(run, monkeypatch):
    INDEX.small_steps(monkeypatch, 20)
    kept, audit = by_definition(ROWS)
    done = run("filter", "--create", "--index", "ix", "--audit", "removed.jsonl", stdin=lines(ROWS)).ok()
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
        done = run(*INDEX.command("ix", *given), stdin=lines(ROWS[:9]))
        assert f"duplicates are within {told}" in done.err


def test_an_index_that_is_there_keeps_its_distance(run):
    write_lines("a.jsonl", ROWS)
    nd.build_index("ix", "a.jsonl", max_distance=18)
    assert "within distance 18 of 128 bits; where" in run(*INDEX.command("ix"), stdin=lines(ROWS[:9])).err


def test_files_give_what_a_pipe_gives_on_any_number_of_threads(run, monkeypatch):
    INDEX.small_steps(monkeypatch, 20)
    write_lines("a.jsonl", ROWS[:60])
    Path("b.jsonl").write_bytes(lines(ROWS[60:]).rstrip(b"\n"))
    piped = run("filter", "--create", "--index", "pipe", stdin=lines(ROWS)).out
    for threads in (1, 3):
        name, out = f"out{threads}.jsonl", f"plain{threads}.jsonl"
        how = ("--threads", threads)
        assert run(*INDEX.command(f"ix{threads}", "b.jsonl", "a.jsonl", "-o", name, *how)).code == 0
        assert run(*INDEX.command(f"iy{threads}", "a.jsonl", "b.jsonl", "-o", out, *how)).code == 0
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


def test_what_was_passed_before_is_remembered(run, memory):
    first = run(*memory.command("seen"), stdin=lines(ROWS[:70])).out
    second = run(*memory.command("seen"), stdin=lines(ROWS[70:])).out
    assert first + second == run(*memory.command("other"), stdin=lines(ROWS)).out
    assert run(*memory.command("seen"), stdin=lines(ROWS)).out == b""


def test_lines_of_text_are_passed_on_in_their_encoding(run, memory):
    texts = [row["text"] for row in ROWS if row["text"]]
    passed = run(*memory.command("seen"), stdin=lines({"text": text} for text in texts)).out
    Path("a.txt").write_bytes("".join(f"{text}\r\n" for text in texts).encode("utf-16"))
    how = ("--lines", "--encoding", "utf-16", "a.txt", "-o", "out.txt")
    assert run(*memory.command("other", *how)).code == 0
    expected = "".join(f"{json.loads(line)['text']}\r\n" for line in passed.splitlines())
    assert Path("out.txt").read_bytes().decode("utf-16") == expected


def test_rows_that_cannot_be_read_stop_it_or_are_set_aside(run, monkeypatch, memory):
    memory.small_steps(monkeypatch, 2)
    content = lines(ROWS[:5]) + b"nonsense\n" + lines(ROWS[5:9]) + b"[]\n"
    run(*memory.command("one"), stdin=content).refused("row 5", code=1)
    Path("a.jsonl").write_bytes(content)
    done = run(*memory.command("two", "--on-error", "skip", "a.jsonl", "-o", "out.jsonl"))
    assert "skipped  2 rows could not be read\n" in done.err
    assert Path("out.jsonl").read_bytes() == run(*memory.command("three"), stdin=lines(ROWS[:9])).out
    piped = run(*memory.command("four", "--on-error", "skip", "--audit", "piped.jsonl"), stdin=content)
    assert piped.out == Path("out.jsonl").read_bytes()
    for rejects in ("out.rejects.jsonl", "piped.rejects.jsonl"):
        assert [row["row"] for row in read_lines(rejects)] == [5, 10]
    assert all(line["row"] != 5 for line in read_lines("out.duplicates.jsonl"))


def test_killed_at_any_step_and_run_again_it_gives_what_an_uninterrupted_run_gives(run, monkeypatch, place, memory):
    memory.small_steps(monkeypatch, {"index": 50, "store": 12}[memory.kind])
    first, second, last = shards_of(ROWS)
    inputs = [last, first, second]  # after a line without a newline, others come
    run(*memory.command("whole", *inputs, "-o", "whole.jsonl"))
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
        seen, out = f"seen{kill_at}", f"out{kill_at}.jsonl"
        done = False
        with monkeypatch.context() as patch:
            for owner, name in memory.steps:
                patch.setattr(owner, name, counted(getattr(owner, name)))
            left[0] = kill_at
            with contextlib.suppress(Killed):
                memory.filter(seen, inputs, out, threads=1, create=True)
                done = True
        resumed += Path(seen).exists()
        memory.filter(seen, inputs, out, threads=1, create=True)
        assert (Path(out).read_bytes(), Path(f"out{kill_at}.duplicates.jsonl").read_bytes()) == expected, kill_at
        assert memory.documents(seen) == memory.documents("whole")
        shutil.rmtree(seen)
        if done:
            break
    assert resumed > 20
    assert place.leftovers() == []


def test_a_process_that_is_killed_again_and_again_loses_no_line(run, memory):
    rows = corpus(400, 7)
    write_lines("a.jsonl", rows)
    run(*memory.command("whole", "a.jsonl", "-o", "whole.jsonl"))
    command = memory.command("seen", "a.jsonl", "-o", "out.jsonl")
    kills = 0
    for seed in range(int(os.environ.get("NEARDUP_KILLS", "4"))):
        shutil.rmtree("seen", ignore_errors=True)
        for name in ("out.jsonl", "out.duplicates.jsonl"):
            Path(name).unlink(missing_ok=True)
        ended = subprocess.run(self_killing(memory, seed, rows, *command), check=False)
        kills += ended.returncode == -signal.SIGKILL
        assert run(*command).code == 0
        for name in ("{}.jsonl", "{}.duplicates.jsonl"):
            assert Path(name.format("out")).read_bytes() == Path(name.format("whole")).read_bytes(), seed
    assert kills > 0


def test_another_command_after_an_interrupted_one_is_refused_until_that_is_given_up(run, monkeypatch, memory):
    write_lines("a.jsonl", ROWS)
    write_lines("b.jsonl", ROWS)
    memory.interrupted(monkeypatch, "seen")
    for arguments in (["b.jsonl", "-o", "rest.jsonl"], []):
        run(*memory.command("seen", *arguments), stdin=lines(ROWS), leaves_nothing=False).refused(
            "was interrupted. The same command"
        )
    assert run(*memory.command("seen", "b.jsonl", "-o", "rest.jsonl", "--give-up")).code == 0
    both = Path("out.jsonl").read_bytes() + Path("rest.jsonl").read_bytes()
    assert both == run(*memory.command("other", "b.jsonl")).out
    assert 0 < Path("rest.jsonl").stat().st_size < len(both)


def test_giving_up_replaces_no_file_that_an_index_only_names(run, monkeypatch):
    """An index may come from elsewhere."""
    write_lines("a.jsonl", ROWS)
    write_lines("b.jsonl", ROWS)
    Path("victim").write_bytes(b"precious")
    INDEX.interrupted(monkeypatch, "ix")
    index = nd.Index.open("ix")
    record = index.state["filter"]
    index.state = index.state | {"filter": record | {"of": record["of"] | {"output": str(Path("victim").resolve())}}}
    index.save()
    for length in (0, 5):
        index.state["filter"]["lengths"][0] = length
        index.save()
        run(
            "filter", "--create", "--index", "ix", "b.jsonl", "-o", "rest.jsonl", "--give-up", leaves_nothing=False
        ).refused("The index names", code=1)
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
    done = run(
        "filter", "--create", "--index", "new.index", "in.jsonl", "-o", "second.jsonl", leaves_nothing=False
    ).refused()
    assert "Another process writes to the index at new.index. Wait until it has ended." in done.err.replace("\n", " ")
    assert first.communicate(timeout=60)[1] is not None
    assert first.returncode == 0
    assert run("filter", "--create", "--index", "new.index", "in.jsonl", "-o", "second.jsonl").code == 0
    assert Path("second.jsonl").read_bytes() == b""


def test_the_same_command_again_changes_nothing(run, memory):
    write_lines("a.jsonl", ROWS)
    command = memory.command("seen", "a.jsonl", "-o", "out.jsonl")
    assert "interrupted" not in run(*command).err
    before = Path("out.jsonl").read_bytes()
    run(*command).ok("nothing is left to do")
    assert Path("out.jsonl").read_bytes() == before
    Path("out.jsonl").unlink()
    run(*command).refused(f"so the {memory.kind} knows all of its documents, but out.jsonl is not there any more")


def test_an_output_that_was_cut_short_is_refused(run, monkeypatch, place):
    write_lines("a.jsonl", ROWS)
    INDEX.interrupted(monkeypatch, "ix")
    (place.work / ".out.jsonl.partial-filter").write_bytes(b"")
    run("filter", "--create", "--index", "ix", "a.jsonl", "-o", "out.jsonl", leaves_nothing=False).refused(
        "when the run was interrupted", code=1
    )


@pytest.fixture
def refusals(place):
    """Files that a filter cannot do with."""
    write_lines("a.jsonl", ROWS[:3])
    write_lines("b.jsonl", ROWS[:3])
    for name in ("little", "big"):
        marked = "\ufeff" + lines(ROWS[:3]).decode()
        (place.work / f"{name}.jsonl").write_bytes(marked.encode(f"utf-16-{name[0]}e"))
    (place.work / "full").mkdir()
    (place.work / "full/file").touch()
    (place.work / "a.csv").write_text("id,text\n1,x\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["a.jsonl", "-"], "Standard input (-) goes alone"),
        (["a.csv"], "can be passed on line by line"),
        (["a.jsonl", "-o", "out.jsonl.gz"], "Name a plain file"),
        (["a.jsonl", "-o", "memory://out.jsonl"], "Name a plain file"),
        (["a.jsonl", "-o", "full"], "Name a plain file"),
        (["a.jsonl", "-o", "b.jsonl"], "exists already"),
        (["a.jsonl", "-o", "a.jsonl", "--overwrite"], "is an input"),
        (["a.jsonl", "-o", "c.jsonl", "--audit", "c.jsonl"], "are the same file"),
        (["a.jsonl", "-o", "c.jsonl", "--audit", "-"], "the audit is a file"),
        (["a.jsonl", "--on-error", "skip"], "has no place for the rejects"),
        (["a.jsonl", "--recipe", "textbook"], "was made by the recipe"),
        (["little.jsonl", "big.jsonl", "--encoding", "utf-16"], "cannot be passed on as one"),
    ],
)
def test_what_cannot_be_done_is_refused_with_what_to_do(run, refusals, memory, arguments, told):
    run(*memory.command("seen", "b.jsonl")).ok()
    run(*memory.command("seen", *arguments)).refused(told)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--index", "full", "a.jsonl"], "is no index"),
        (["--index", "ix", "a.jsonl", "--max-distance", "4"], "the index was made for 3"),
        (["--index", "ix", "a.jsonl", "--integer-ids"], "of which kind they are cannot change"),
        (["--index", "ix", "a.jsonl", "--method", "exact"], "--method is for --store, not for --index"),
        (["--index", "ix", "a.jsonl", "--similarity", "edit"], "--similarity is for --store, not for --index"),
        (["--index", "ix", "a.jsonl", "--min-similarity", "0.9"], "--min-similarity is for --store, not for --index"),
        (["--store", "seen", "--index", "ix", "a.jsonl"], "Give either --store FOLDER"),
        (["a.jsonl"], "Give either --store FOLDER"),
        (["--store", "full", "a.jsonl"], "is there, and is no store"),
        (["--store", "seen", "a.jsonl", "--min-similarity", "0.7"], "was made with --min-similarity 0.8"),
        (["--store", "seen", "a.jsonl", "--method", "minhash"], "was made with --method exact"),
        (["--store", "seen", "a.jsonl", "--similarity", "edit"], "was made with --similarity jaccard"),
        (["--store", "new", "a.jsonl", "--min-similarity", "2"], "--min-similarity 2.0: give a number"),
        (["--store", "seen", "a.jsonl", "--integer-ids"], "--integer-ids is for --index, not for --store"),
        (["--store", "new", "a.jsonl", "-o", "b.jsonl"], "exists already"),
        (["--store", "s3://bucket/seen", "a.jsonl"], "a store"),
    ],
)
def test_options_that_the_memory_does_not_have_are_refused(run, refusals, arguments, told):
    run("store", "create", "seen").ok()
    run(*INDEX.command("ix", "b.jsonl")).ok()
    run("filter", "--create", *arguments).refused(told)
    assert not Path("new").exists()


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
    # one that comes just before Python begins to read waits for the next line, or the next interrupt
    for _ in range(5):
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            assert process.wait(20) == 130
            break
    assert run("filter", "--create", "--index", "ix", stdin=lines(rows)).out == b""
    assert json.loads(run("index", "info", "ix", "--json").out)["documents"] == 2
