"""`neardup store`: documents expire, stores are compacted, verified, repaired and copied, and tell what is similar in them."""

import contextlib
import json
import sqlite3
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest
from cli_corpora import BREAD, CLOCK, FERRY, FERRY_EDITED, ROWS, read_lines, write_lines

import neardup as nd
from neardup.jobs.streams.filter_store import filter_with_store
from neardup.store.arguments import seconds_of

WORDS = [f"w{i}" for i in range(40)]
DAY = 86_400.0


def told(done):
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def documents(run, store="seen"):
    return told(run("store", "info", store, "--json"))[0]["documents"]


@pytest.fixture
def filled(run):
    """A store of the three documents that `dedup` keeps, and one removed text."""
    write_lines("in.jsonl", ROWS)
    run("store", "create", "seen")
    assert run("store", "add", "seen", "in.jsonl").code == 0


def grow_old(monkeypatch, seconds):
    """Let so much time pass for what asks the clock from now on."""
    clock = time.time
    monkeypatch.setattr(time, "time", lambda: clock() + seconds)


# ---------------------------------------------------------------------------------------------------------------- expiry


def test_documents_expire_that_were_not_seen_for_so_long(run, filled, monkeypatch):
    assert "removed  0 documents\nstore    seen" in run("store", "expire", "seen", "--older-than", "1d").err
    grow_old(monkeypatch, 2 * DAY)
    write_lines("again.jsonl", [{"id": "x", "text": FERRY}])
    run("store", "add", "seen", "again.jsonl")
    assert "removed  2 documents\nstore    seen" in run("store", "expire", "seen", "--older-than", "36h").err
    assert run("store", "expire", "seen", "--older-than", "36h", "--quiet").err == ""
    assert told(run("store", "get", "seen", "ferry"))[0]["id"] == "ferry"
    done = run("store", "expire", "seen", "--older-than", "36h", "--by", "first-seen")
    assert "removed  1 document\norphans  3 skipped documents that no kept document matches any more" in done.err
    assert documents(run) == 0


def test_documents_expire_but_the_newest(run, filled):
    assert "removed  1 document\norphans  2 skipped documents" in run("store", "expire", "seen", "--newest", "2").err
    assert [line["is_new"] for line in told(run("store", "add", "seen", "in.jsonl", "-o", "-"))][:2] == [True, False]


@pytest.mark.parametrize("given", ["30d", timedelta(days=30), 30 * DAY, "720 h", "2592000", "43200m"])
def test_a_duration_has_several_forms(tmp_path, monkeypatch, given):
    assert seconds_of("older_than", given) == 30 * DAY
    with nd.Store(tmp_path / "s") as store:
        store.check_and_add("a", FERRY)
        now = time.time()
        assert store.expire(older_than=given, now=now + 30 * DAY - 60) == 0
        assert store.expire(older_than=given, now=now + 30 * DAY + 60) == 1


@pytest.mark.parametrize("given", ["a month", "-3d", -1, timedelta(days=-1), float("nan"), float("inf"), True, "", [3]])
def test_what_is_no_duration_is_refused(tmp_path, given):
    with nd.Store(tmp_path / "s") as store, pytest.raises(nd.OptionError, match="`older_than=.*such as 90s, 15m, 12h"):
        store.expire(older_than=given)


def test_a_filter_with_a_window_passes_on_what_was_not_seen_within_it(run, monkeypatch):
    write_lines("in.jsonl", ROWS[:1])
    how = ["filter", "--create", "--store", "seen", "--window", "30d", "--quiet"]

    def passed():
        return len(run(*how, stdin=Path("in.jsonl").read_bytes()).out.splitlines())

    assert (passed(), passed()) == (1, 0)
    grow_old(monkeypatch, 29 * DAY)
    assert passed() == 0
    grow_old(monkeypatch, 29 * DAY)
    assert passed() == 0  # it was seen a month after it was added
    grow_old(monkeypatch, 31 * DAY)
    assert (passed(), documents(run)) == (1, 1)


def test_documents_expire_while_a_filter_runs(place, monkeypatch):
    from neardup.jobs.streams import filter_store_walk

    now = [time.time()]

    def clock():
        now[0] += 600
        return now[0]

    monkeypatch.setattr(filter_store_walk, "DOCUMENTS_AT_ONCE", 1)
    monkeypatch.setattr(time, "time", clock)
    write_lines("in.jsonl", [{"text": text} for text in (FERRY, BREAD, CLOCK, "four", "five", FERRY)])
    result = filter_with_store("seen", ["in.jsonl"], "out.jsonl", window=timedelta(hours=1), create=True)
    assert (result.passed, result.duplicates) == (6, 0)
    with nd.Store("seen", mode="r") as store:
        assert len(store) < 6


# ----------------------------------------------------------------------------------------------------------- maintenance


def test_compaction_gives_up_room_and_changes_no_answer(run, filled):
    before = told(run("store", "check", "seen", "in.jsonl"))[:2]
    run("store", "remove", "seen", "bread")
    assert told(run("store", "info", "seen", "--json"))[0]["gone"] == 1
    run("store", "compact", "seen").ok("bytes before")
    assert told(run("store", "info", "seen", "--json"))[0]["gone"] == 0
    assert told(run("store", "check", "seen", "in.jsonl"))[:2] == before


def damage(name):
    """Flip a bit in the middle of the file of a store."""
    path = next(Path("seen").glob(name))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 16
    path.write_bytes(content)


def test_a_sound_store_is_verified(run, filled):
    done = run("store", "verify", "seen")
    assert (done.code, done.out) == (0, b"")
    assert "sound    3 documents\nstore    seen" in done.err
    assert run("store", "verify", "seen", "--repair").code == 0


def test_damaged_documents_are_named_and_a_repair_removes_them(run, filled):
    damage("rows-*")
    done = run("store", "verify", "seen")
    assert (done.code, "is damaged." in done.out.decode()) == (1, True)
    assert "damaged  run the command with --repair, or restore a backup\nstore    seen" in done.err
    quiet = run("store", "verify", "seen", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (1, done.out, "")
    run("store", "verify", "seen", "--repair").ok("mended   2 documents\nremoved  1 document\nstore    seen")
    assert run("store", "verify", "seen").code == 0


def test_damaged_files_that_are_made_of_others_are_made_anew(run, filled):
    before = told(run("store", "check", "seen", "in.jsonl"))
    damage("segment-*")
    done = run("store", "verify", "seen")
    assert (done.code, "segment-" in done.out.decode()) == (1, True)
    assert "mended   3 documents\nremoved  0 documents\nstore    seen" in run("store", "verify", "seen", "--repair").err
    assert told(run("store", "check", "seen", "in.jsonl")) == before


def test_a_damaged_record_cannot_be_repaired(run, filled):
    for path in Path("seen").glob("record*"):
        path.write_bytes(b"nonsense" * 512)
    done = run("store", "verify", "seen")
    assert (done.code, "damaged" in done.out.decode()) == (1, True)
    run("store", "verify", "seen", "--repair").refused("damaged", code=1)


# ------------------------------------------------------------------------------------------------------------- similarity


@pytest.fixture
def chained(run):
    """A store that tells what is similar from 0.5 on: a and b are, and so are b and c."""
    run("store", "create", "seen", "--floor", "0.5", "--min-similarity", "0.9")
    with nd.Store("seen") as store:
        for name, first in (("a", 0), ("b", 7), ("c", 14), (7, 100)):
            assert store.check_and_add(name, " ".join(f"w{i}" for i in range(first, first + 40))).is_new


def test_neighbors_of_a_text_and_of_a_document_are_listed_best_first(run, chained):
    found = told(run("store", "neighbors", "seen", "--literal", " ".join(WORDS), "--min-similarity", "0.5"))
    assert [(line["id"], line["similarity"] == 1) for line in found] == [("a", True), ("b", False)]
    assert told(run("store", "neighbors", "seen", "--literal", " ".join(WORDS))) == found[:1]
    found = told(run("store", "neighbors", "seen", "--id", "b", "--min-similarity", "0.5"))
    assert sorted(line["id"] for line in found) == ["a", "c"]
    assert found[0].keys() == {"id", "similarity", "distance"}
    assert told(run("store", "neighbors", "seen", "--id", "7", "--min-similarity", "0.5")) == []


def test_pairs_and_clusters_are_listed(run, chained):
    assert told(run("store", "pairs", "seen")) == []
    found = told(run("store", "pairs", "seen", "--min-similarity", "0.5"))
    assert [(line["a"], line["b"]) for line in found] == [("a", "b"), ("b", "c")]
    assert found[0].keys() == {"a", "b", "similarity", "distance"}
    run("store", "pairs", "seen", "--min-similarity", "0.5", "-o", "p.jsonl").said("found    2 pairs\noutput   p.jsonl")
    assert read_lines("p.jsonl") == found
    assert told(run("store", "clusters", "seen", "--min-similarity", "0.5")) == [{"ids": ["a", "b", "c"]}]
    done = run("store", "clusters", "seen", "--min-similarity", "0.5", "-o", "c.jsonl.gz")
    assert "found    1 cluster\noutput   c.jsonl.gz" in done.err


def test_what_is_kept_follows_the_rule(run):
    write_lines("in.jsonl", ROWS)
    run("store", "create", "seen", "--keep", "always")
    found = told(run("store", "add", "seen", "in.jsonl", "-o", "-"))
    assert [line["duplicate_of"] for line in found] == [None, "ferry", None, "ferry", None]
    assert documents(run) == 5
    assert len(told(run("store", "pairs", "seen"))) == 3
    run("filter", "--create", "--store", "other", "--keep", "always", "--floor", "0.4", "in.jsonl", "-o", "out.jsonl")
    info = told(run("store", "info", "other", "--json"))[0]
    assert (info["documents"], info["keep"], info["floor"]) == (5, "always", 0.4)
    assert len(read_lines("out.jsonl")) == 3


# ----------------------------------------------------------------------------------------------------------------- copies


def test_an_export_is_imported(run, filled):
    assert "wrote    3 documents\noutput   copy" in run("store", "export", "seen", "copy").err
    assert sorted(path.name for path in Path("copy").iterdir()) == [
        "documents.parquet",
        "removed.parquet",
        "skipped.parquet",
        "store.json",
    ]
    assert "read     3 documents\nstore    new" in run("store", "import", "new", "copy").err
    assert told(run("store", "check", "new", "in.jsonl")) == told(run("store", "check", "seen", "in.jsonl"))


def test_a_backup_is_a_store(run, filled):
    with nd.Store("seen"):  # a writer
        assert "copied   3 documents\noutput   copy" in run("store", "backup", "seen", "copy").err
    assert told(run("store", "check", "copy", "in.jsonl")) == told(run("store", "check", "seen", "in.jsonl"))


# ----------------------------------------------------------------------------------------------------------- finished runs


@pytest.mark.parametrize("named", ["out.jsonl", "out.duplicates.jsonl"])
def test_a_store_is_built_of_a_finished_run(run, filled, named):
    run("dedup", "in.jsonl", "-o", "out.jsonl")
    done = run("store", "build", "built", named)
    assert "kept     3 documents\nremoved  1 text\nstore    built" in done.err
    assert told(run("store", "check", "built", "in.jsonl")) == told(run("store", "check", "seen", "in.jsonl"))
    added = told(run("store", "add", "built", "in.jsonl", "-o", "-"))
    for line in read_lines("out.duplicates.jsonl"):
        found = {name: line[name] for name in ("similarity", "distance", "exact")}
        assert added[line["row"]] == {
            "id": line["id"],
            "is_new": False,
            "duplicate_of": line["survivor_id"],
            **found,
            "status": "duplicate",
            "replaces": [],
        }


def test_a_run_with_other_decisions_is_refused(run):
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--cluster", "components", "--keep", "last")
    run("store", "build", "built", "out.jsonl").refused("a store cannot decide as this run did")
    assert not Path("built").exists()


# --------------------------------------------------------------------------------------------------------------- together


def test_what_reads_goes_on_beside_a_writer(run, filled):
    with nd.Store("seen") as store:
        store.check_and_add("new", CLOCK)
        assert documents(run) == 4
        for arguments in (["get", "seen", "new"], ["pairs", "seen"], ["clusters", "seen"], ["verify", "seen"]):
            assert run("store", *arguments).code == 0
        assert told(run("store", "neighbors", "seen", "--literal", CLOCK))[0]["id"] == "new"
        assert told(run("store", "check", "seen", "--literal", CLOCK))[0]["duplicate_of"] == "new"
        assert run("store", "export", "seen", "copy").code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["store", "add", "seen", "in.jsonl"],
        ["store", "expire", "seen", "--older-than", "30d"],
        ["store", "compact", "seen"],
        ["store", "remove", "seen", "bread"],
        ["filter", "--create", "--store", "seen", "in.jsonl", "-o", "out.jsonl"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_what_writes_waits_for_another_writer(run, filled, arguments):
    store = nd.Store("seen")
    assert "Another process writes to the store" in run(*arguments).err
    threading.Timer(0.3, store.close).start()
    assert run(*arguments, "--wait", "60").code == 0


def test_that_nothing_is_similar_is_told(run, filled):
    for command in ("pairs", "clusters"):
        done = run("store", command, "seen")
        assert (done.code, done.out, "no two kept documents are so similar" in done.err) == (0, b"", True)
        assert run("store", command, "seen", "--quiet").err == ""
    done = run("store", "neighbors", "seen", "--literal", "a")
    assert (done.code, done.out, "no kept document is so similar" in done.err) == (0, b"", True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["store", "expire", "new"], "new is no store"),
        (["store", "expire", "seen", "--older-than", "a month"], "--older-than 'a month': give seconds, 0 or more"),
        (["store", "expire", "seen", "--newest", "-1"], "--newest -1: give a number of documents"),
        (["store", "compact", "new"], "new is no store"),
        (["store", "compact", "seen", "--wait", "-1"], "--wait -1.0: give seconds, 0 or more"),
        (["store", "verify", "new"], "new is no store"),
        (["store", "verify", "new", "--repair"], "new is no store"),
        (["store", "neighbors", "seen"], "Give either --literal, or the --id of a kept document"),
        (["store", "neighbors", "seen", "--literal", "x", "--id", "y"], "Give either --literal, or the --id"),
        (["store", "neighbors", "seen", "--id", "nobody"], "seen keeps no document of 'nobody'"),
        (["store", "neighbors", "seen", "--literal", "x", "--min-similarity", "0.3"], "make a store with a lower"),
        (["store", "pairs", "seen", "--min-similarity", "0.3"], "--min-similarity 0.3: this store finds"),
        (["store", "pairs", "seen", "-o", "in.jsonl"], "in.jsonl exists already"),
        (["store", "clusters", "new"], "new is no store"),
        (["store", "export", "seen", "full"], "Name a folder that is empty"),
        (["store", "import", "new", "full"], "full is no export of a store"),
        (["store", "import", "seen", "full"], "seen is a store already"),
        (["store", "build", "seen", "in.jsonl"], "seen is a store already"),
        (["store", "build", "new", "in.jsonl"], "in.summary.json, which tells how the run decided, is missing"),
        (["store", "build", "new", "gone.jsonl"], "There is no audit"),
        (["store", "backup", "seen", "full"], "Name a folder that is empty"),
        (["store", "create", "new", "--floor", "0.9"], "--floor 0.9: give a number above 0, and up to"),
        (["store", "create", "new", "--floor", "0.5", "--method", "minhash"], "--floor 0.5: only"),
        (
            ["filter", "--create", "--store", "new", "--window", "soon", "in.jsonl"],
            "--window soon: give seconds, 0 or more",
        ),
        (
            ["filter", "--create", "--store", "seen", "--keep", "always", "in.jsonl", "-o", "o.jsonl"],
            "was made with --keep",
        ),
        (
            ["filter", "--create", "--index", "new", "--window", "3d", "in.jsonl"],
            "--window is for --store, not for --index",
        ),
        (["filter", "--create", "--index", "new", "--wait", "3", "in.jsonl"], "--wait is for --store, not for --index"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_done_is_refused_with_what_to_do(run, filled, arguments, message):
    write_lines("full/file.jsonl", [{"text": FERRY_EDITED}])
    run(*arguments).refused(message)
    assert not Path("new").exists()


def test_messages_say_what_a_user_of_commands_can_do(run, filled):
    assert "done     nothing to give up\nstore    seen" in run("store", "compact", "seen").err
    for command in (["info", "seen"], ["get", "seen", "bread"], ["neighbors", "seen", "--literal", "a"]):
        assert run("store", *command, "--quiet").code == 0
    with nd.Store("seen"):
        done = run("store", "compact", "seen")
    done.said("Wait until it has ended (most changes do with --wait 60). It can be read: by commands that only read")
    Path("file.jsonl").write_text("{}\n")
    done = run("store", "import", "new", "file.jsonl")
    assert "file.jsonl is a file. Name the folder that `neardup store export` has made" in done.err
    run("filter", "--create", "--store", "other", "--window", "0s", stdin=b"").refused(
        "--window 0s: give a time above 0, such as 30d"
    )
    assert not Path("other").exists()


def test_verify_does_not_call_another_version_damaged(run, filled):
    with contextlib.closing(sqlite3.connect("seen/record.sqlite")) as base, base:
        base.execute("UPDATE facts SET value = '9' WHERE name = 'format'")
    done = run("store", "verify", "seen").refused("has version 9 of the format of stores", code=1)
    assert "sound" not in done.out.decode() + done.err
    assert "--repair" not in done.err


@pytest.mark.parametrize("command", ["add", "filter"])
def test_documents_get_a_time_to_live(run, command):
    write_lines("in.jsonl", [{"id": "a", "text": FERRY}])
    if command == "add":
        run("store", "create", "seen").ok()
        run("store", "add", "seen", "in.jsonl", "--ttl", "30d").ok()
    else:
        run("filter", "--create", "--store", "seen", "in.jsonl", "-o", "out.jsonl", "--ttl", "30d").ok()
    with nd.Store("seen", mode="r") as store:
        found = store.get("a")
        assert found.expires == found.first_seen + 30 * DAY


def test_removed_ids_are_written_to_a_file(run):
    write_lines("in.jsonl", [{"id": "a", "text": FERRY}, {"id": 17, "text": BREAD}, {"id": "c", "text": CLOCK}])
    run("store", "create", "seen").ok()
    run("store", "add", "seen", "in.jsonl").ok()
    run("store", "remove", "seen", "17", "no", "-o", "removed.jsonl").ok()
    assert read_lines("removed.jsonl") == [{"id": 17}]
    assert told(run("store", "expire", "seen", "--newest", "0", "-o", "-")) == [{"id": "a"}, {"id": "c"}]
    run("store", "remove", "seen", "c", "-o", "removed.jsonl").refused("removed.jsonl")
