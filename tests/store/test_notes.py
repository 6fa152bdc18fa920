"""Notes are written together with documents, kept until their time, and checked; documents expire each at its own time."""

import contextlib
import shutil
import sqlite3
import struct
import time
import zlib
from contextlib import closing

import pytest
from damage import changed

import neardup as nd
from neardup.store.record import transactions
from neardup.store.record.notes_table import MAX_KEY_CHARACTERS, NotedError
from neardup.store.store import Store

WORDS = [f"w{i}" for i in range(60)]
TEXTS = [" ".join(WORDS[i : i + 12]) for i in range(0, 60, 12)]
LATER = time.time() + 86_400  # more than any run of the tests takes


def noting(**values):
    return lambda answers: {key: (value, LATER) for key, value in values.items()}


def test_a_store_without_notes_has_no_table_and_a_reader_sees_those_that_come(tmp_path):
    with Store(tmp_path / "s") as store, Store(tmp_path / "s", mode="r") as reader:
        store.check_and_add_many(["a"], TEXTS[:1], notes=lambda _: {})
        with closing(sqlite3.connect(tmp_path / "s/record.sqlite")) as base:
            assert base.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'notes'").fetchone() == (0,)
        assert store.notes(["k"]) == reader.notes(["k"]) == {}
        store.check_and_add_many(["b"], TEXTS[1:2], notes=noting(k=1))
        assert store.notes(["k"]) == reader.notes(["k"]) == {"k": 1}


def test_notes_stay_through_compaction_and_backup(tmp_path):
    with Store(tmp_path / "s") as store:
        store.check_and_add_many(["a", "b"], TEXTS[:2], notes=noting(k=1))
        store.remove(["a"])
        assert store.compact()
        assert store.notes(["k"]) == {"k": 1}
        store.backup(tmp_path / "copy")
    with Store(tmp_path / "copy") as copy:
        assert copy.notes(["k"]) == {"k": 1}


def test_the_checksum_of_a_note_is_what_the_page_says_and_damage_is_named(tmp_path):
    with Store(tmp_path / "s") as store:
        store.check_and_add_many(["a"], TEXTS[:1], notes=noting(k="ü"))
    shutil.copytree(tmp_path / "s", tmp_path / "damaged")
    with closing(sqlite3.connect(tmp_path / "damaged/record.sqlite")) as base:
        [(key, value, until, checksum)] = base.execute("SELECT key, value, until, checksum FROM notes")
        assert checksum == zlib.crc32(struct.pack("<d", until) + f"{key}\0{value}".encode())
    changed(tmp_path / "damaged", """UPDATE notes SET value = '"x"'""")
    with Store(tmp_path / "damaged") as store:
        with pytest.raises(nd.DataError, match="row 1 of `notes` is not what was written"):
            store.notes(["k"])
        assert "row 1 of `notes`" in store.verify().problems[0]
    assert Store.repair(tmp_path / "damaged").problems
    with Store(tmp_path / "damaged") as store:
        assert store.verify().is_sound
        assert store.notes(["k"]) == {}
        assert store.get("a") is not None


def test_times_are_given_for_each_document_or_refused(any_place):
    with Store(any_place) as store:
        with pytest.raises(nd.OptionError, match="1 values of `expires` for 2 texts: give one each"):
            store.check_and_add_many(["a", "b"], TEXTS[:2], expires=[1.0])
        with pytest.raises(nd.OptionError, match="`expires=True`: give a number of seconds since 1970"):
            store.check_and_add_many(["a", "b"], TEXTS[:2], expires=[1.0, True])
        assert len(store) == 0


def test_a_note_that_is_there_keeps_documents_out(any_place):
    with Store(any_place) as store:
        answers = store.check_and_add_many([1, 2], TEXTS[:2], notes=noting(k=[1]), unless=["k", "j"])
        assert [answer.is_new for answer in answers] == [True, True]
        expected = store.check_many(TEXTS)
        with pytest.raises(NotedError, match="`unless`: there are notes already: 'k'. Nothing was added.") as caught:
            store.check_and_add_many(
                [3], ["A text that is like none of the others."], notes=noting(j=1), unless=["j", "k"]
            )
        assert caught.value.notes == {"k": [1]}
        assert isinstance(caught.value, nd.OptionError)
        assert (len(store), store.get(3), store.notes(["j"])) == (2, None, {})
        assert store.check_many(TEXTS) == expected
        assert store.check_and_add_many([3], TEXTS[2:3], unless=["j"])[0] == expected[2]
        assert store.verify().is_sound


@pytest.mark.parametrize("key", ["", "a\0b", "x" * (MAX_KEY_CHARACTERS + 1), 7, "\ud800"])
def test_what_is_no_key_is_refused(any_place, key):
    with Store(any_place) as store:
        for call in (
            lambda: store.notes([key]),
            lambda: store.check_and_add_many(["a"], TEXTS[:1], unless=["k", key]),
            lambda: store.check_and_add_many(["a"], TEXTS[:1], notes=lambda _: {key: (1, LATER)}),
        ):
            with pytest.raises(
                nd.OptionError, match="is no key of a note. Give 1 to 500 characters|is not valid Unicode"
            ):
                call()
        with pytest.raises(nd.OptionError, match="is one value: give a list"):
            store.notes("k")
        assert len(store) == 0
        store.check_and_add_many(["a"], TEXTS[:1], notes=lambda _: {"ü" * MAX_KEY_CHARACTERS: (1, LATER)})
        assert store.notes(["ü" * MAX_KEY_CHARACTERS]) == {"ü" * MAX_KEY_CHARACTERS: 1}


def test_a_later_note_takes_the_place_of_an_earlier_one(any_place):
    with Store(any_place) as store:
        store.check_and_add_many(["a"], TEXTS[:1], notes=noting(k=1, j=2))
        store.check_and_add_many([], [], notes=noting(k={"x": [None, 1.5]}))
        assert store.notes(["k", "j"]) == {"k": {"x": [None, 1.5]}, "j": 2}
        assert store.notes([f"{i}" for i in range(2 * transactions.SQL_VALUES)] + ["k"]) == {"k": {"x": [None, 1.5]}}


def test_notes_that_have_expired_are_not_found_and_go_when_others_come(back_end, any_place):
    with Store(any_place) as store:
        for i in range(20):
            store.check_and_add_many([], [], notes=lambda _, i=i: {f"old{i}": (i, 1.0 + i)})
        assert store.notes(["old3", "old19"]) == {}
        store.check_and_add_many([], [], notes=noting(old3=4), unless=["old3"])
        for i in range(20):
            store.check_and_add_many([], [], notes=noting(**{f"new{i}": i}))
        assert store.notes(["new0", "new19", "old3"]) == {"new0": 0, "new19": 19, "old3": 4}
    assert back_end.count(any_place, "notes") == 21


@pytest.mark.parametrize(
    ("fails", "message"),
    [
        ({"state": lambda _: 1 / 0}, "division"),
        ({"notes": lambda _: 1 / 0}, "division"),
        ({"notes": lambda _: {"k": (1, "x")}}, "`notes='x'`: give a number of seconds since 1970"),
        ({"notes": noting(k=object())}, "is no plain value"),
        ({"notes": noting(k=float("nan"))}, "is no plain value"),
        ({"notes": noting(k={1})}, "is no plain value"),
    ],
)
def test_a_function_that_fails_takes_the_documents_back_everywhere(back_end, any_place, fails, message):
    with Store(any_place) as store, contextlib.ExitStack() as stack:
        others, writers = (list(map(stack.enter_context, some)) for some in back_end.others(any_place))
        store.check_and_add_many(["first"], TEXTS[1:2], state={"at": 1})
        expected = store.check_many(TEXTS)
        with pytest.raises((ZeroDivisionError, nd.OptionError), match=message):
            store.check_and_add_many(["a"], TEXTS[:1], **fails)
        for each in (store, *others):
            assert (each.get("a"), each.notes(["k"]), each.state) == (None, {}, {"at": 1})
            assert each.check_many(TEXTS) == expected
            assert each.info().gone == (back_end.name == "folder")  # what it took in the files
        assert [store, *writers][-1].check_and_add_many(["a"], TEXTS[:1], notes=noting(k=1))[0].is_new
        assert (store.get("a") is not None, store.notes(["k"])) == (True, {"k": 1})
        assert store.verify().is_sound


@pytest.mark.parametrize("keep", ["first", "last", "always"])
def test_each_document_expires_at_its_own_time(back_end, any_place, keep):
    with Store(any_place, keep=keep) as store, contextlib.ExitStack() as stack:
        others, writers = (list(map(stack.enter_context, some)) for some in back_end.others(any_place))
        last = [store, *writers][-1]
        store.check_and_add_many(["a", "b", "c"], TEXTS[:3], expires=[LATER + 10, None, LATER + 20])
        for each in (store, *others):
            assert [each.get(name).expires for name in "abc"] == [LATER + 10, None, LATER + 20]
        assert last.expire(now=LATER + 15) == 1
        assert [store.get(name) is None for name in "abc"] == [True, False, False]
        store.check_and_add_many(["d", "e"], TEXTS[3:], expires=[LATER + 30, LATER + 40])
        assert last.compact()
        assert store.expire(now=LATER + 35) == 2
        for each in (store, *others):
            assert [each.get(name) is None for name in "abcde"] == [True, False, True, True, False]
