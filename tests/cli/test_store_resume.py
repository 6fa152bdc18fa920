"""`neardup store add`, interrupted: the same command goes on, and no document is lost or answered twice."""

import contextlib
import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import ROWS, lines, read_lines, write_lines

import neardup as nd
from neardup.jobs.store_places import create_store
from neardup.jobs.stores.store_add import add_to_store
from neardup.jobs.streams import store_rows
from neardup.store.record.record import Record


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    monkeypatch.setattr(store_rows, "DOCUMENTS_AT_ONCE", 3)


def inputs(count=24):
    """Files of two formats; rows without ids; copies."""
    rows = [{"text": f"{ROWS[i % 5]['text']} {'again and ' * (i % 7)}"} for i in range(count)]
    pq.write_table(pa.Table.from_pylist(rows[: count // 2]), "a.parquet")
    write_lines("b.jsonl", [row | ({"id": i} if i % 2 else {}) for i, row in enumerate(rows[count // 2 :])])
    return ["a.parquet", "b.jsonl"]


def killed_after(monkeypatch, steps, names, output, store="seen"):
    """A run that is killed after so many steps; whether it came to its end."""
    left = [steps]

    def counted(original):
        def step(*args, **kwargs):
            if left[0] == 0:
                raise Killed
            left[0] -= 1
            return original(*args, **kwargs)

        return step

    with monkeypatch.context() as patch:
        for owner, name in ((os, "fsync"), (os, "fdatasync"), (Path, "replace"), (Record, "set_facts")):
            patch.setattr(owner, name, counted(getattr(owner, name)))
        with contextlib.suppress(Killed):
            add_to_store(store, names, output, threads=1)
            return True
    return False


@pytest.mark.parametrize("output", ["answers.jsonl", None])
def test_killed_at_any_step_and_run_again_it_gives_what_an_uninterrupted_run_gives(monkeypatch, place, output):
    names = inputs(14)
    create_store("whole")
    counts = add_to_store("whole", names, output and "whole.jsonl")
    resumed = 0
    for steps in range(1000):
        shutil.rmtree("seen", ignore_errors=True)
        Path("answers.jsonl").unlink(missing_ok=True)
        create_store("seen")
        ended = killed_after(monkeypatch, steps, names, output)
        with nd.Store("seen") as store, nd.Store("whole") as other:
            resumed += "add" in (store.state or {})
            is_done = store.state == other.state
        if not is_done:
            assert add_to_store("seen", names, output) == counts
        with nd.Store("seen") as store, nd.Store("whole") as other:
            assert (len(store), store.state) == (len(other), other.state), steps
        if output:
            assert Path("answers.jsonl").read_bytes() == Path("whole.jsonl").read_bytes(), steps
        if ended:
            break
    assert resumed > 10
    assert place.leftovers() == []


def half(run, monkeypatch, names, output="answers.jsonl"):
    """A run that stopped half way."""
    run("store", "create", "seen")
    assert not killed_after(monkeypatch, 20, names, output)


def test_who_asks_how_it_is_done_is_told_what_an_interruption_means(run, monkeypatch, place):
    names = inputs()
    half(run, monkeypatch, names)
    assert len(place.leftovers()) == 1
    run("store", "add", "seen", *names, "-o", "answers.jsonl").said("documents that were added before an interruption")
    assert len(read_lines("answers.jsonl")) == 24
    for output, told in (
        ([], "the same command goes on where it stopped"),
        (["-o", "-"], "because standard output cannot be taken back"),
        (["-o", "answers.jsonl.gz"], "because answers.jsonl.gz cannot grow"),
    ):
        assert told in run("store", "add", "seen", *names, *output, "--verbose").err
    piped = ("store", "add", "seen", "-")
    assert "because standard input cannot be read again" in run(*piped, "--verbose", stdin=lines(ROWS)).err
    assert "interrupt" not in run(*piped, stdin=lines(ROWS)).err


def test_inputs_that_have_changed_are_refused_until_the_run_is_given_up(run, monkeypatch):
    names = inputs()
    half(run, monkeypatch, names)
    write_lines("b.jsonl", ROWS)
    command = ["store", "add", "seen", *names, "-o", "answers.jsonl"]
    run(*command, leaves_nothing=False).refused(
        "b.jsonl has changed since this command was interrupted, after", "pass --give-up to begin anew"
    )
    other = run("store", "add", "seen", "b.jsonl", leaves_nothing=False)  # another command may run meanwhile
    assert other.code == 0
    assert run(*command, "--give-up").code == 0
    assert len(read_lines("answers.jsonl")) == 12 + len(ROWS)
    with nd.Store("seen") as store:
        assert "add" not in store.state


def test_many_inputs_that_have_changed_are_refused(run, monkeypatch):
    names = [str(write_lines(f"in/{i:02}.jsonl", ROWS[:2])) for i in range(20)]
    half(run, monkeypatch, names)
    write_lines("in/19.jsonl", ROWS)
    run("store", "add", "seen", *names, "-o", "answers.jsonl", leaves_nothing=False).refused(
        "One of the inputs has changed since"
    )


def test_a_row_that_cannot_be_read_may_be_skipped_the_next_time(run):
    write_lines("a.jsonl", ROWS[:4])
    Path("b.jsonl").write_bytes(lines(ROWS[4:]) + b"nonsense\n")
    run("store", "create", "seen")
    command = ["store", "add", "seen", "a.jsonl", "b.jsonl", "-o", "answers.jsonl"]
    assert run(*command, leaves_nothing=False).code == 1
    done = run(*command, "--on-error", "skip")
    assert "removed  2 duplicates (40.0 %): 1 exact, 1 near" in done.err
    assert "skipped  1 row could not be read\n" in done.err
    assert [line["id"] for line in read_lines("answers.jsonl")] == [row["id"] for row in ROWS]


def test_nothing_is_given_up_where_nothing_is_known(run):
    run("store", "create", "seen")
    run("store", "add", "seen", "-", "--give-up", stdin=lines(ROWS)).refused(
        "--give-up: nothing is known of a run before this one"
    )
