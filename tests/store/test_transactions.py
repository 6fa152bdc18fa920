"""After each public call of a store, whether it is answered or refused, no transaction is open; so a backup never waits for itself."""

import contextlib
import os
import signal
import sqlite3
import threading

import pytest

import neardup as nd
from at_rest import WatchedStore, demand_at_rest, public_methods
from neardup.store.record.record import Record
from neardup.store.store import Store

NIGHT = "The night ferry to the islands leaves at ten past nine from the old customs pier."
LATER = NIGHT.replace("night", "evening")
BREAD = "Flour, water, salt and a day of patience make bread."


def fails(*_):
    raise ZeroDivisionError


CALLS = {
    "backup": [lambda store, folder: store.backup(folder / "backup"), lambda store, folder: store.backup(folder)],
    "check": [lambda store, _: store.check(LATER), lambda store, _: store.check(5)],
    "check_and_add": [
        lambda store, _: store.check_and_add("c", BREAD),
        lambda store, _: store.check_and_add("c", BREAD, expires=-1),
        lambda store, _: store.check_and_add(1.5, BREAD),
    ],
    "check_and_add_many": [
        lambda store, _: store.check_and_add_many(["d", "e"], [BREAD, LATER], state=len),
        lambda store, _: store.check_and_add_many([], []),
        lambda store, _: store.check_and_add_many(["d"], [LATER + " Soon."], state=fails),
        lambda store, _: store.check_and_add_many(["a"], ["Something else altogether."], notes=fails),
        lambda store, _: store.check_and_add_many(["f"], [BREAD], unless=["noted"]),
        lambda store, folder: store.check_and_add_many(["f"], [BREAD], state=lambda _: store.backup(folder / "no")),
        lambda store, _: store.check_and_add_many(["f"], [BREAD], state=lambda _: store.compact()),
        lambda store, _: store.check_and_add_many(["f"], [BREAD], state=lambda _: store.close()),
        lambda store, _: store.check_and_add_many(["f"], [BREAD], state=lambda _: store.flush()),
    ],
    "check_many": [lambda store, _: store.check_many([NIGHT, BREAD]), lambda store, _: store.check_many(BREAD)],
    "clusters": [lambda store, _: store.clusters(), lambda store, _: store.clusters(min_similarity=2)],
    "compact": [lambda store, _: store.compact(), lambda store, _: (store.remove(["b"]), store.compact())],
    "expire": [
        lambda store, _: store.expire(newest=1),
        lambda store, _: store.expire(by="name"),
        lambda store, _: store.expire(older_than="long"),
        lambda store, _: store.expire(newest=-1),
    ],
    "export": [lambda store, folder: store.export(folder / "export"), lambda store, folder: store.export(folder)],
    "flush": [lambda store, _: store.flush()],
    "get": [lambda store, _: store.get("a"), lambda store, _: store.get(1.5)],
    "ids": [lambda store, _: store.ids()],
    "info": [lambda store, _: store.info()],
    "judge": [
        lambda store, _: store.judge(store.recent()[0], same=True),
        lambda store, _: store.judge(("a", "b"), same=False),
        lambda store, _: store.judge(("a", "nobody"), same=True),
        lambda store, _: store.judge(("a", "b"), same=1),
    ],
    "judgements": [lambda store, _: store.judgements(), lambda store, _: store.judgements(after=-1)],
    "neighbors": [lambda store, _: store.neighbors(LATER), lambda store, _: store.neighbors(id="nobody")],
    "notes": [lambda store, _: store.notes(["noted"]), lambda store, _: store.notes([""])],
    "orphans": [lambda store, _: store.orphans(), lambda store, _: store.orphans(after=-1)],
    "pairs": [lambda store, _: store.pairs(), lambda store, _: store.pairs(min_similarity=-1)],
    "ping": [lambda store, _: store.ping()],
    "prepare": [
        lambda store, _: store.check_many(store.prepare([NIGHT, BREAD])),
        lambda store, _: store.check_and_add_many(["f", "g"], store.prepare([NIGHT, BREAD])),
        lambda store, _: store.prepare(BREAD),
    ],
    "recent": [lambda store, _: store.recent(), lambda store, _: store.recent(limit=0)],
    "remove": [lambda store, _: store.remove(["a", "nobody"]), lambda store, _: store.remove("a")],
    "review": [lambda store, _: store.review(), lambda store, _: store.review(limit=-1)],
    "verify": [lambda store, _: store.verify()],
    "keep": [lambda store, _: store.keep],
    "keep_as": [lambda store, _: store.keep_as],
    "options": [lambda store, _: store.options],
    "path": [lambda store, _: store.path],
    "recipe": [lambda store, _: store.recipe],
    "state": [lambda store, _: store.state],
    "close": [lambda store, _: store.close(), lambda store, _: (store.close(), len(store))],
}
"""Calls of each public method, some of which are refused."""
MAKERS = {"build", "from_export", "repair"}
"""Class methods, which give no store, or a new one."""


def filled(store):
    store.check_and_add_many(
        ["a", "b", "x"],
        [NIGHT, "Ferries, bells and customs: a small history.", LATER],
        notes=lambda _: {"noted": (1, 2e11)},
    )


def demand_calls(name, opened, folder):
    """A store is at rest after each call of a method, and can be backed up; `opened` opens it again."""
    for number, call in enumerate(CALLS[name]):
        with opened() as store:
            demand_at_rest(store)
            with contextlib.suppress(nd.NeardupError, ZeroDivisionError):
                call(store, folder)
            demand_at_rest(store)
            with contextlib.suppress(nd.InputError):  # it is closed, or in a database
                store.backup(folder / f"after {number}")
                demand_at_rest(store)


def test_the_table_has_every_public_method():
    assert CALLS.keys() | MAKERS == set(public_methods())


MODES = {"each": {}, "batch": {"durable": "batch"}, "r": {"mode": "r"}}


@pytest.mark.parametrize("name", CALLS)
def test_no_transaction_is_open_after_a_call(tmp_path, back_end, name):
    for mode, how in MODES.items():
        place = back_end.place(mode)
        with Store(place, min_similarity=0.6, texts=True) as store:
            filled(store)
        demand_calls(name, lambda place=place, how=how: WatchedStore(place, **how), tmp_path / mode)
        with Store(place, mode="r") as store:
            assert store.verify().is_sound


def test_a_store_that_is_made_of_another_is_at_rest(tmp_path):
    with Store(tmp_path / "s") as store:
        filled(store)
        store.export(tmp_path / "export")
    assert Store.repair(tmp_path / "s").is_sound
    with Store.from_export(tmp_path / "again", tmp_path / "export") as again:
        demand_at_rest(again)
        assert not again.compact()
        again.backup(tmp_path / "backup")


def test_a_call_that_is_interrupted_between_its_changes_leaves_nothing_behind(tmp_path, monkeypatch):
    with WatchedStore(tmp_path / "s") as store:
        filled(store)
        monkeypatch.setattr(store._files, "acknowledge", fails)
        with pytest.raises(ZeroDivisionError):
            store.check_and_add("c", BREAD)
        with pytest.raises(nd.InputError, match="Close the store, and open it again"):
            store.check_and_add("c", BREAD)
    with Store(tmp_path / "s") as store:
        assert (len(store), store.verify().is_sound) == (3, True)


def test_a_record_that_is_being_changed_is_not_waited_for(tmp_path):
    with Store(tmp_path / "s") as store:
        record = store._files.record
        with record.changing():
            record.set_facts({"state": 1})
            with pytest.raises(nd.InputError, match="is being changed. Copy the store when that is done"):
                record.copy_to(tmp_path / "copy")
        record.copy_to(tmp_path / "copy.sqlite")


def test_a_copy_that_waits_for_another_process_can_be_interrupted(tmp_path):
    Store(tmp_path / "s").close()
    with contextlib.closing(Record(tmp_path / "s" / "record.sqlite")) as record:
        other = sqlite3.connect(tmp_path / "copy", isolation_level=None)
        other.execute("CREATE TABLE t (x)")
        other.execute("BEGIN EXCLUSIVE")
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            record.copy_to(tmp_path / "copy")
        timer.join()
        other.close()


@pytest.mark.parametrize("durable", ["each", "batch"])
@pytest.mark.parametrize("has_written", [False, True])
def test_a_second_writer_that_the_lock_lets_in_is_refused(tmp_path, monkeypatch, durable, has_written):
    """As on a network file system on which two machines do not see each other's locks."""
    monkeypatch.setattr("neardup.store.session.folder.fcntl.flock", lambda *_: None)
    one = nd.Store(tmp_path / "s", durable=durable)
    if has_written:
        one.check_and_add("a", NIGHT)
        one.flush()
    other = nd.Store(tmp_path / "s", durable=durable)
    first, second = (other, one) if has_written else (one, other)
    assert first.check_and_add("b", BREAD).is_new
    first.flush()
    for _ in range(2):
        with pytest.raises(nd.InputError, match="has a second writer: process .*|has failed before"):
            second.check_and_add("c", BREAD + " Salt.")
    first.check_and_add("d", NIGHT + " And more of it.")
    second.close()
    first.close()
    with nd.Store(tmp_path / "s") as store:
        assert store.verify().is_sound
        assert (store.get("b").id, store.get("d").id, store.get("c")) == ("b", "d", None)


def test_a_writer_that_was_read_before_anything_changed_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("neardup.store.session.folder.fcntl.flock", lambda *_: None)
    with nd.Store(tmp_path / "s") as one:
        one.check_and_add("a", NIGHT)
        other = nd.Store(tmp_path / "s")
        one.check_and_add("b", BREAD)  # what the other one does not know
        with pytest.raises(nd.InputError, match="has a second writer"):
            other.check_and_add("c", BREAD + " Salt.")
        other.close()
        assert one.check_and_add("d", NIGHT + " And more of it.").is_new
