"""Ids that a store knows with another text, and ids that come twice: answers, counts and warnings of commands."""

import json
import os
from pathlib import Path

import pytest
from cli_corpora import BREAD, CLOCK, FERRY, FERRY_EDITED, lines, read_lines, write_lines

import neardup as nd
from neardup.jobs.stores import store_add_run
from neardup.jobs.stores.store_add import add_to_store
from neardup.jobs.streams import store_rows
from neardup.jobs.streams.filter_store import filter_with_store

REPEATED = [{"id": "x", "text": FERRY}, {"id": "x", "text": BREAD}, {"id": "y", "text": FERRY}]
WARNING = "warning  1 repeated id; a store keeps only the last text of each id\n"


def test_add_counts_a_repeated_id_as_an_update_and_warns(run):
    write_lines("in.jsonl", REPEATED)
    run("store", "create", "seen")
    done = run("store", "add", "seen", "in.jsonl", "-o", "answers.jsonl")
    done.said(
        "kept     2 new documents (66.7 %)\n",
        "updated  1 document in the place of an earlier text of the same id\n",
        WARNING,
    )
    answers = read_lines("answers.jsonl")
    assert [line["replaces"] for line in answers] == [[], ["x"], []]
    assert [line.get("is_update") for line in answers] == [None, True, None]
    with nd.Store("seen", mode="r") as store:
        assert len(store) == 2


def test_an_update_of_an_earlier_run_is_counted_without_a_warning(run):
    write_lines("a.jsonl", [{"id": "x", "text": FERRY}, {"id": "z", "text": CLOCK}])
    write_lines("b.jsonl", [{"id": "x", "text": BREAD}, {"id": "z", "text": BREAD.upper()}])
    run("store", "create", "seen")
    run("store", "add", "seen", "a.jsonl")
    done = run("store", "add", "seen", "b.jsonl")
    done.said(
        "kept     0 new documents",
        "updated  1 document in",
        "dropped  1 id: the new text is a duplicate of another document\n",
    )
    assert "repeated" not in done.err


def test_the_counts_add_up_to_what_the_store_holds(run):
    write_lines("in.jsonl", [*REPEATED, {"id": "z", "text": CLOCK}, {"id": "z", "text": FERRY_EDITED}])
    run("store", "create", "seen")
    found = add_to_store("seen", "in.jsonl")
    assert (found.new, found.updated, found.duplicates, found.dropped, found.repeated_ids) == (3, 1, 1, 1, 2)
    assert found.new + found.updated + found.duplicates == found.documents
    with nd.Store("seen", mode="r") as store:
        assert len(store) == found.new - found.dropped - found.replaced


@pytest.mark.parametrize("keep", ["first", "always", "last", "longest", "shortest", "max:stars"])
def test_the_counts_of_two_runs_add_up_to_what_the_store_holds_for_every_keep(run, keep):
    rows = [{"id": f"d{i % 37}", "text": FERRY + " and" * (i % 3) + f" {i % 5}" * 9, "stars": i % 4} for i in range(60)]
    rows += [{"id": i, "text": CLOCK + f" at {i}"} for i in range(4)] + [{"id": "b", "text": BREAD}] * 2
    write_lines("a.jsonl", rows)
    write_lines("b.jsonl", [*rows[20:64], {"id": "new", "text": "Nothing of all this was said of the night train."}])
    run("store", "create", "seen", "--keep", keep, "--min-similarity", "0.7").ok()
    before = 0
    for name in ("a.jsonl", "b.jsonl"):
        found = add_to_store("seen", name, f"answers.{name}", metadata="stars")
        with nd.Store("seen", mode="r") as store:
            assert len(store) == found.held == before + found.new - found.replaced - found.dropped
            for line in read_lines(f"answers.{name}")[-1:]:
                assert (store.get(line["id"]) is not None) == (line["status"] != "duplicate" or keep == "always")
        assert found.new + found.updated + found.duplicates == found.documents
        assert 0 <= found.exact <= found.duplicates
        assert not found.matched or keep == "always"
        statuses = [line["status"] for line in read_lines(f"answers.{name}")]
        assert statuses.count("updated") == found.updated
        assert name == "b.jsonl" or {"new", "unchanged"} <= set(statuses)
        before = found.held


def test_better_documents_and_updates_are_counted_apart(run):
    write_lines(
        "in.jsonl", [{"id": "x", "text": BREAD}, {"id": "y", "text": FERRY}, {"id": "x", "text": FERRY + " so"}]
    )
    run("store", "create", "seen", "--keep", "longest", "--min-similarity", "0.7")
    found = add_to_store("seen", "in.jsonl", "answers.jsonl")
    assert (found.new, found.updated, found.replaced) == (2, 1, 1)
    assert read_lines("answers.jsonl")[2]["replaces"] == ["x", "y"]


def test_a_run_that_goes_on_still_counts_and_warns(run, monkeypatch):
    monkeypatch.setattr(store_rows, "DOCUMENTS_AT_ONCE", 1)
    write_lines("in.jsonl", REPEATED)
    run("store", "create", "seen")
    state_after = store_add_run.AddRun.state_after
    calls = []

    def interrupted(self, lines, **how):
        calls.append(lines)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return state_after(self, lines, **how)

    with monkeypatch.context() as patched:
        patched.setattr(store_add_run.AddRun, "state_after", interrupted)
        assert run("store", "add", "seen", "in.jsonl").code == 130
    done = run("store", "add", "seen", "in.jsonl")
    done.said("going on after 2 documents", "updated  1 document in", WARNING)


@pytest.mark.parametrize("through_pipe", [True, False])
def test_filter_says_that_it_passes_on_an_earlier_text_again(run, through_pipe):
    write_lines("in.jsonl", REPEATED)
    how = ["--create", "--store", "seen", "--audit", "audit.jsonl"]
    if through_pipe:
        done = run("filter", *how, stdin=lines(REPEATED))
        assert done.out == lines(REPEATED)
    else:
        done = run("filter", *how, "in.jsonl", "-o", "out.jsonl")
        assert Path("out.jsonl").read_bytes() == lines(REPEATED)
    done.said("new      2 documents (66.7 %)\n", "updated  1 document in", WARNING)
    assert [(each["row"], each["id"], each["replaced_id"]) for each in read_lines("audit.jsonl")] == [(1, "x", "x")]


def test_a_finished_filter_has_the_same_counts_when_it_is_called_again(run):
    write_lines("in.jsonl", [*REPEATED, {"id": "y", "text": BREAD.upper()}])
    first, again = (filter_with_store("seen", "in.jsonl", "out.jsonl", create=True, overwrite=True) for _ in range(2))
    assert (first.passed, first.updated, first.duplicates, first.dropped, first.repeated_ids) == (3, 1, 1, 1, 2)
    assert (again.passed, again.updated, again.dropped, again.repeated_ids) == (3, 1, 1, 2)


# ----------------------------------------------------------------------------------------------------------- text files


def text_file(name, text):
    path = Path(os.fsdecode(name))
    path.parent.mkdir(exist_ok=True)
    try:
        path.write_text(text)
    except OSError:
        pytest.skip("this file system takes only names in Unicode")


@pytest.mark.parametrize("inputs", [["t1", "t2"], ["t1/a.txt", "t2/a.txt"], ["t1", "t2/*.txt"]])
def test_files_of_the_same_name_below_two_inputs_are_refused(run, inputs):
    text_file("t1/a.txt", FERRY)
    text_file("t2/a.txt", BREAD)
    run("store", "create", "seen")
    run("store", "add", "seen", *inputs).refused(
        "t1/a.txt and t2/a.txt would both have the id a.txt, and a store keeps one text of each id."
    )
    with nd.Store("seen", mode="r") as store:
        assert len(store) == 0
    assert run("store", "add", "seen", "t?/*.txt").code == 0
    with nd.Store("seen", mode="r") as store:
        assert (len(store), store.get("t1/a.txt") is None) == (2, False)


def test_files_of_a_known_name_are_updates_and_the_command_says_why(run):
    text_file("t1/a.txt", FERRY)
    text_file("t2/a.txt", BREAD)
    run("store", "create", "seen")
    assert "the id of a text file is its path" not in run("store", "add", "seen", "t1").err
    done = run("store", "add", "seen", "t2")
    done.said("updated  1 document in", "the id of a text file is its path below the input")


def test_files_whose_names_are_no_unicode_have_ids_of_their_own(run):
    text_file(b"in/a\xfe.txt", FERRY)
    text_file(b"in/a\xff.txt", BREAD)
    text_file(b"in/a\\xff.txt", CLOCK)
    run("store", "create", "seen")
    done = run("store", "add", "seen", "in", "-o", "-")
    assert "kept     3 new documents" in done.err
    assert {json.loads(line)["id"] for line in done.out.splitlines()} == {r"a\xfe.txt", r"a\xff.txt", r"a\\xff.txt"}
    assert "repeated id" not in run("dedup", "in", "-o", "out/").err
    assert run("verify", "out").code == 0


def test_stores_take_inputs_whose_names_are_no_unicode(run):
    Path("in").mkdir()
    texts = {b"in/a\xfe.txt": FERRY, b"in/a\xff.txt": BREAD}
    try:
        for name, text in texts.items():
            Path(os.fsdecode(name)).write_text(text)
    except OSError:
        pytest.skip("this file system takes only names in Unicode")
    run("store", "create", "seen")
    assert run("store", "add", "seen", "in").code == 0
    with nd.Store("seen", mode="r") as store:
        assert store.get(r"a\xfe.txt")
        assert store.get(r"a\xff.txt")
    name = os.fsdecode(b"lines\xff.jsonl")
    write_lines(name, [{"id": "x", "text": CLOCK}])
    assert run("filter", name, "--store", "seen", "-o", "new.jsonl").code == 0
    run("filter", name, "--store", "seen", "-o", os.fsdecode(b"new\xff.jsonl")).refused(
        r"new\xff.jsonl: the name of an output must be UTF-8"
    )


@pytest.mark.parametrize("command", ["add", "filter"])
def test_a_store_that_keeps_every_document_drops_no_id(run, command):
    write_lines("in.jsonl", [{"id": "x", "text": FERRY}, {"id": "y", "text": BREAD}, {"id": "y", "text": FERRY_EDITED}])
    run("store", "create", "seen", "--keep", "always", "--min-similarity", "0.7")
    if command == "add":
        done = run("store", "add", "seen", "in.jsonl")
    else:
        done = run("filter", "in.jsonl", "--store", "seen", "-o", "out.jsonl")
    with nd.Store("seen", mode="r") as store:
        assert store.get("y") is not None
    assert "dropped" not in done.err
    assert WARNING in done.err
