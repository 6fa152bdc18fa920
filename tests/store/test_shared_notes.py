"""Notes of a store in PostgreSQL are in the database with the documents: every service reads them, and the first of a key is the only one."""

import random
import struct
import threading
import time
import zlib

import pytest
from streams import near_copies

import neardup as nd
from forked import ended, forked
from neardup.store.record.notes_table import NotedError
from neardup.store.store import Store

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
TEXTS = list(near_copies(60, 3))
LATER = time.time() + 86_400  # more than any run of the tests takes


def noting(**values):
    return lambda answers: {key: (value, LATER) for key, value in values.items()}


def test_notes_are_read_by_every_service_and_are_in_no_replica(place, tmp_path):
    with Store(place) as one, Store(place) as other, Store(place, mode="r") as reader:
        one.check_and_add_many(
            ["a"], TEXTS[:1], notes=lambda answers: {"k": ([answers[0].is_new, "ü\n"], LATER), "j": (1, LATER)}
        )
        for each in (one, other, reader):
            assert each.notes(["k", "none", "j"]) == {"k": [True, "ü\n"], "j": 1}
        with Store(one.path, mode="r") as replica:
            assert replica.notes(["k"]) == {}
        other.check_and_add_many([], [], notes=noting(k={"x": [None, 1.5]}))
        assert one.notes(["k", "j"]) == {"k": {"x": [None, 1.5]}, "j": 1}
        with Store(f"{place}&replica={tmp_path / 'late'}") as late:
            assert late.notes(["k"]) == {"k": {"x": [None, 1.5]}}
            assert late.verify().is_sound


def noted_by(store, name, text, key, value):
    """Add a document unless there is a note; what this keeps, or None if there was none."""
    try:
        store.check_and_add_many([name], [text], notes=noting(**{key: value}), unless=[key])
    except NotedError as noted:
        return noted.notes
    return None


def test_processes_that_are_asked_the_same_give_one_answer(server, place, tmp_path):
    """Each tries to be the first of every key, in another order; the others find its note under the lock."""
    keys = [f"k{i}" for i in range(30)]
    Store(place, min_similarity=0.7).close()

    def work(number):
        own = random.Random(number)
        with Store(place) as store:
            first = []
            for key in own.sample(keys, len(keys)):
                row = keys.index(key)
                noted = noted_by(store, f"{number}-{row}", TEXTS[row], key, [number, row])
                if noted is None:
                    first.append(key)
                else:
                    assert noted[key][1] == row
            assert first == [key for key in first if store.notes([key])[key][0] == number]
            (tmp_path / str(number)).write_text(" ".join(first))

    children = [forked(work, number) for number in range(4)]
    assert [ended(child) for child in children] == [0] * 4
    found = [key for number in range(4) for key in (tmp_path / str(number)).read_text().split()]
    assert sorted(found) == sorted(keys)
    with Store(place) as store:
        info = store.info()
        assert info.documents + info.removed == len(set(TEXTS[:30]))


def test_notes_stay_through_compaction_and_go_with_an_unfinished_import(server, place, schema, tmp_path, monkeypatch):
    with Store(place) as store, Store(place) as other:
        store.check_and_add_many(["a", "b"], TEXTS[:2], notes=noting(k=1))
        store.remove(["a"])
        assert store.compact()
        assert store.notes(["k"]) == other.notes(["k"]) == {"k": 1}
        store.export(tmp_path / "export")
    with Store.from_export(server.place(schema, "again"), tmp_path / "export") as again:
        assert again.notes(["k"]) == {}  # answers to requests are no part of an export
        again._files.database.run(again._files.log.drop)
    assert server.execute(f"SELECT DISTINCT store FROM {schema}.notes") == server.execute(
        f"SELECT id FROM {schema}.stores"
    )


def test_a_damaged_note_is_named_and_the_checksum_is_that_of_a_folder(server, place, schema):
    with Store(place) as store:
        store.check_and_add_many(["a"], TEXTS[:1], notes=noting(k="ü"))
        [(key, value, until, checksum)] = server.execute(f"SELECT key, value, until, checksum FROM {schema}.notes")
        assert checksum == zlib.crc32(struct.pack("<d", until) + f"{key}\0{value}".encode())
        assert store.verify().is_sound
        server.execute(f"""UPDATE {schema}.notes SET value = '"x"'""")
        with pytest.raises(nd.DataError, match="the note 'k' is not what was written. Restore the database."):
            store.notes(["k"])
        with pytest.raises(nd.DataError, match="the note 'k'"):
            store.check_and_add_many(["b"], TEXTS[1:2], unless=["k"])
        assert "the note 'k' is not what was written" in store.verify().problems[0]
        assert store.get("b") is None
        assert store.check_and_add("b", TEXTS[1]).is_new


def test_a_call_that_waits_for_the_lock_finds_the_note_of_the_one_before(place):
    """The second has asked before the first has written: it waits in the database, and looks when it has the lock."""
    entered, goes_on, told = threading.Event(), threading.Event(), []

    def slow(answers):
        entered.set()
        assert goes_on.wait(60)
        return {"k": (answers[0].is_new, LATER)}

    with Store(place) as one, Store(place) as other:
        first = threading.Thread(target=lambda: one.check_and_add_many(["a"], TEXTS[:1], notes=slow, unless=["k"]))
        first.start()
        assert entered.wait(60)
        assert other.notes(["k"]) == {}

        def second():
            told.append(noted_by(other, "a", TEXTS[0], "k", "second"))

        waiting = threading.Thread(target=second)
        waiting.start()
        time.sleep(0.1)
        goes_on.set()
        first.join(60)
        waiting.join(60)
        assert told == [{"k": True}]
        assert one.notes(["k"]) == {"k": True}


def test_info_counts_what_all_services_have_added(place):
    with Store(place) as one, Store(place) as other:
        one.check_and_add_many(range(20), TEXTS[:20], notes=noting(k=1))
        other.check_and_add_many(range(20, 60), TEXTS[20:])
        other.remove([0])
        mine, theirs = one.info(), other.info()
        assert (mine.documents, mine.removed, mine.gone) == (theirs.documents, theirs.removed, theirs.gone)
        assert (mine.documents, mine.gone) == (len(other), 1)
