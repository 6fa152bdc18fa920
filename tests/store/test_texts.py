"""A store with texts has those of its documents and of remembered duplicates, as they were given, until they are forgotten."""

import random
import sqlite3
from contextlib import closing

import pytest
from damage import changed
from streams import near_copies

import neardup as nd
from naive_store import NaiveStore
from naive_store_folder import text_of
from neardup.store.store import Store

TEXTS = list(near_copies(60, 3))
OPTIONS = {"min_similarity": 0.6}
"""Of a store."""


def has_those_of(store, naive):
    """Whether a store has the texts that it should, and no others."""
    assert {name: store.get(name).text for name in naive.kept} == {
        name: text for name, (_, text, _) in naive.kept.items()
    }
    found = [(each.text, each.duplicate_of, each.survivor_text, each.similarity) for each in store.recent(limit=1000)]
    names = {number: (name, text) for name, (number, text, _) in naive.kept.items()}
    assert found == [(text, *names[number], alike) for text, number, alike, _ in reversed(naive.removed)]
    return True


@pytest.mark.parametrize("keep", ["first", "always", "longest", "last"])
@pytest.mark.parametrize("seed", [1, 2])
def test_texts_are_those_of_the_naive_store_through_everything(any_place, tmp_path, keep, seed):
    choose = random.Random(seed)
    naive = NaiveStore(tuple(OPTIONS.items()), keep)
    with Store(any_place, texts=True, keep=keep, **OPTIONS) as store:
        for at in range(0, 60, 5):
            ids = [choose.choice([choose.randrange(12), f"d{at + i}"]) for i in range(5)]
            texts = [f" {text}\t" if choose.random() < 0.3 else text for text in TEXTS[at : at + 5]]
            for name, text in zip(ids, texts, strict=True):
                naive.add(name, text)
            store.check_and_add_many(ids, texts)
            if at % 20 == 10:
                gone = choose.sample(list(naive.kept), 3)
                for name in gone:
                    naive.remove(name)
                store.remove(gone)
            if at % 20 == 15:
                store.compact()
            assert has_those_of(store, naive)
        assert store.verify().is_sound
        store.export(tmp_path / "export")
    with Store.from_export(tmp_path / "again", tmp_path / "export") as again:
        assert has_those_of(again, naive)
        assert again.verify().is_sound
        again.backup(tmp_path / "copy")
    with Store(tmp_path / "copy", mode="r") as copy:
        assert has_those_of(copy, naive)
        assert copy.info().texts


def test_a_store_without_texts_has_no_table_of_them_and_says_so(tmp_path):
    with Store(tmp_path / "s") as store:
        store.check_and_add_many(["a", "b"], ["a text of some words", "a text of some words!"])
        assert store.get("a").text is None
        assert store.info().texts is False
        store.export(tmp_path / "export")
    with closing(sqlite3.connect(tmp_path / "s/record.sqlite")) as base:
        assert "texts" not in str(base.execute("SELECT name FROM sqlite_schema").fetchall())
        assert "texts" not in base.execute("SELECT value FROM facts WHERE name = 'rules'").fetchone()[0]
    with Store.from_export(tmp_path / "again", tmp_path / "export") as again:
        assert again.get("a").text is None
    with pytest.raises(nd.OptionError, match="was made otherwise: `texts=False`. Leave it out, or make another store."):
        Store(tmp_path / "s", texts=True)
    Store(tmp_path / "s", texts=False).close()


def test_another_value_is_refused(tmp_path):
    with Store(tmp_path / "s", texts=True) as store:
        assert store.info().texts is True
    with pytest.raises(nd.OptionError, match="was made with `texts=True`"):
        Store(tmp_path / "s", texts=False)
    with pytest.raises(nd.OptionError, match="`texts='yes'`: give True to keep the texts of documents, or False"):
        Store(tmp_path / "t", texts="yes")


def test_a_record_that_lost_its_tables_is_refused(tmp_path):
    Store(tmp_path / "s", texts=True).close()
    changed(tmp_path / "s", "DROP TABLE removed_texts")
    with pytest.raises(nd.DataError, match="the table `removed_texts` is missing"):
        Store(tmp_path / "s")


def test_what_expires_takes_its_texts_along(any_place):
    with Store(any_place, texts=True, **OPTIONS) as store:
        store.check_and_add_many(range(60), TEXTS, expires=[1e10 if row % 2 else None for row in range(60)])
        before = store.recent(limit=100)
        store.expire(now=1e10)
        kept = {row for row in range(60) if store.get(row)}
        assert [each for each in before if each.duplicate_of in kept] == store.recent(limit=100) != before
        assert store.verify().is_sound


def test_texts_of_documents_that_a_failed_call_added_are_taken_back(any_place):
    with Store(any_place, texts=True, **OPTIONS) as store:
        store.check_and_add_many(range(20), TEXTS[:20])
        before = store.recent()
        with pytest.raises(ZeroDivisionError):
            store.check_and_add_many(range(20, 60), TEXTS[20:], notes=lambda _: 1 / 0)
        assert store.recent() == before
        assert store.verify().is_sound
        store.check_and_add_many(range(20, 60), TEXTS[20:])
        assert store.verify().is_sound


def test_the_seal_of_a_text_is_what_the_page_says(tmp_path):
    text = "Ferry\r\n  “ü” 夜"
    with Store(tmp_path / "s", texts=True) as store:
        store.check_and_add('é"', text)
        digest = store._files.digests(store._files.kept())[0]
    with closing(sqlite3.connect(tmp_path / "s/record.sqlite")) as base:
        [(number, content)] = base.execute("SELECT number, text FROM texts")
        assert base.execute("SELECT count(*) FROM removed_texts").fetchone() == (0,)
    assert number == 0
    assert text_of(digest, '"é\\""', content) == text


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        ("UPDATE texts SET text = zeroblob(40) WHERE number = 3", "The text of document 3 is not what was written"),
        ("DELETE FROM texts WHERE number = 3", "The text of document 3 is not what was written, or missing"),
        (
            "UPDATE texts SET text = (SELECT text FROM texts WHERE number = 2) WHERE number = 3",
            "The text of document 3",
        ),
        ("UPDATE removed_texts SET id = '\"x\"' WHERE number = 1", "The text of remembered duplicate 1 is not"),
        ("DELETE FROM removed_texts WHERE number = 1", "The text of remembered duplicate 1 is not"),
    ],
)
def test_damage_is_found_and_repaired(tmp_path, harm, told):
    with Store(tmp_path / "s", texts=True, **OPTIONS) as store:
        store.check_and_add_many(range(60), TEXTS)
        ids = [row for row in range(60) if store.get(row)]
        lost = store.recent(limit=100)[-2]
    changed(tmp_path / "s", harm)
    with Store(tmp_path / "s", mode="r") as store:
        assert told in store.verify().problems[0]
        if harm.startswith("UPDATE"):
            with pytest.raises(nd.DataError, match="is not what was written. Verify the store."):
                store.get(ids[3]) if "document" in told else store.recent()
    assert told in str(Store.repair(tmp_path / "s").problems)
    with Store(tmp_path / "s") as store:
        assert store.verify().is_sound
        if "document" in told:
            assert [store.get(each).text is None for each in ids] == [place == 3 for place in range(len(ids))]
        else:
            found = {each.position: each.text for each in store.recent(limit=100)}
            assert [position for position, text in found.items() if text is None] == [lost.position]
        store.export(tmp_path / "export")
        store.remove(ids[:2])
        store.compact()
        assert store.verify().is_sound
    with Store.from_export(tmp_path / "again", tmp_path / "export") as again:
        assert again.verify().is_sound


def test_what_can_be_read_of_a_damaged_record_keeps_its_texts(tmp_path):
    with Store(tmp_path / "s", texts=True, **OPTIONS) as store:
        store.check_and_add_many(range(60), TEXTS)
        ids = [row for row in range(60) if store.get(row)]
        texts = {each: store.get(each).text for each in ids}
        pairs = store.review(limit=5)
        for pair in pairs:
            store.judge(pair, same=True)
        judged, recent = store.judgements(), store.recent(limit=100)
    changed(tmp_path / "s", "UPDATE documents SET metadata = 'x' WHERE number = 2")
    changed(tmp_path / "s", "DELETE FROM texts WHERE number = 5")
    assert "1 document of it is lost." in Store.repair(tmp_path / "s").problems
    with Store(tmp_path / "s") as store:
        assert store.verify().is_sound
        for place, each in enumerate(ids):
            found = store.get(each)
            assert found is None if place == 2 else found.text == (None if place == 5 else texts[each])
        there = {each.text: each.duplicate_of for each in store.recent(limit=100)}
        assert there == {each.text: each.duplicate_of for each in recent if each.duplicate_of != ids[2]}
        assert [(each.left, each.right, each.same) for each in store.judgements()] == [
            (each.left, each.right, each.same) for each in judged
        ]


def test_a_store_of_a_finished_run_has_the_texts_of_the_run(tmp_path):
    import json

    lines = [json.dumps({"id": f"d{row}", "text": text}) for row, text in enumerate(TEXTS)]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    nd.deduplicate_files(tmp_path / "in.jsonl", tmp_path / "out.jsonl", method="exact", **OPTIONS)
    with (
        Store.build(tmp_path / "built", tmp_path / "out.jsonl", texts=True) as built,
        Store(tmp_path / "s", texts=True, **OPTIONS) as store,
    ):
        store.check_and_add_many([f"d{row}" for row in range(60)], TEXTS)
        assert built.verify().is_sound
        for row in range(60):
            assert getattr(built.get(f"d{row}"), "text", None) == getattr(store.get(f"d{row}"), "text", None)
        both = [{each.text: (each.id, each.duplicate_of) for each in some.recent(limit=100)} for some in (built, store)]
        assert both[0] == both[1]
        assert len(both[0]) > 10
