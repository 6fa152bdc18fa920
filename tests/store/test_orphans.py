"""Orphans: skipped documents that no kept document matches any more are named by whatever has removed theirs, on every back end."""

import json
import random
import sqlite3
import time
from contextlib import closing

import pytest
from sizes import set_sizes

import neardup as nd
from naive_store import NaiveStore
from neardup.store import answers
from neardup.store.decisions import orphans
from neardup.store.record.schema import fact_checksum
from neardup.store.store import Store

FERRY = "The night ferry to the islands leaves at ten past nine from the old customs pier."
LATER = FERRY.replace("night", "evening")
BREAD = "Flour, water, salt and a day of patience make bread."
WORDS = [f"w{i}" for i in range(60)]
WAYS = [
    ("exact", "jaccard", 0.5),
    ("exact", "weighted", 0.5),
    ("exact", "containment", 0.6),
    ("exact", "cosine", 0.6),
    ("exact", "edit", 0.6),
    ("minhash", "jaccard", 0.5),
    ("simhash", "jaccard", 0.4),
    ("simhash", "jaccard", 0.0),
    ("exact", nd.Similarity(word_shingle=1), 0.6),
]


def drawn(choose):
    """A window of one sequence of words: it matches windows nearby, which need not match one another."""
    first = choose.randrange(0, 24, 3)
    text = " ".join(WORDS[first : first + 18])
    return choose.choice([text, text, text.upper(), BREAD, ""]) if choose.random() < 0.4 else text


def named(found):
    """The ids of orphans, and how many were not compared."""
    return sorted(found.ids, key=str), found.not_compared


def expected(naive, before):
    new = naive.orphans.keys() - before
    return sorted(new, key=str), sum(not naive.orphans[name] for name in new)


def lives(place, choose, naive, *, steps, size, durable="each", **options):
    """A store that adds, updates, removes and expires, beside its definition. Returns how many skipped documents have moved."""
    store = Store(place, threads=1, durable=durable, keep=naive.keep, texts=naive.texts, **options)
    moves = 0
    for _ in range(steps):
        what, before = choose.random(), set(naive.orphans)
        survivors = {name: known[1] for name, known in naive.skipped.items()}
        if what < 0.55:
            rows = [
                (choose.choice([*range(16), "a", "ü"]), drawn(choose), {"stars": choose.randrange(4)})
                for _ in range(size)
            ]
            ids, texts, metadata = map(list, zip(*rows, strict=True))
            found = store.check_and_add_many(ids, texts, metadata=metadata)
            for (name, text, values), answer in zip(rows, found, strict=True):
                before = set(naive.orphans) - {name}
                survivors = {other: known[1] for other, known in naive.skipped.items() if other != name}
                naive.add(name, text, values)
                moves += sum(survivors.get(other, known[1]) != known[1] for other, known in naive.skipped.items())
                assert named(answer.orphans) == expected(naive, before)
                assert not answer.orphans.count or answer.replaces
        elif what < 0.75:
            names = choose.sample([*range(16), "a", "ü"], 2)
            naive.remove(*names)
            assert named(store.remove(names).orphans) == expected(naive, before)
        elif what < 0.85:
            newest = len(naive.kept) // 2 + choose.randrange(2)
            naive.remove(*list(naive.kept)[: max(0, len(naive.kept) - newest)])
            assert named(store.expire(newest=newest).orphans) == expected(naive, before)
        elif what < 0.93:
            store.close()
            store = Store(place, threads=1, durable=durable)
        else:
            store.compact()
        if what >= 0.55:
            moves += sum(survivors[name] != known[1] for name, known in naive.skipped.items())
        listed = store.orphans()
        assert {each.id: each.compared for each in listed} == naive.orphans
        assert [each.number for each in listed] == sorted(each.number for each in listed)
        if naive.texts:  # the definition itself
            for text, *_ in naive.skipped.values():
                assert any(True for _ in naive._matches(text))
    assert store.verify().is_sound
    store.close()
    return moves


@pytest.mark.parametrize(
    ("keep", "texts"), [("first", False), ("first", True), ("longest", True), ("max:stars", False), ("always", True)]
)
@pytest.mark.parametrize(("method", "similarity", "least"), WAYS)
def test_orphans_are_those_of_the_definition(tmp_path, monkeypatch, method, similarity, least, keep, texts):
    set_sizes(monkeypatch, learned=3, growth=2, moved=6, texts=4)
    monkeypatch.setattr(orphans, "SURVIVORS_AT_ONCE", 2)
    options = {"method": method, "similarity": similarity, "min_similarity": least}
    naive = NaiveStore(tuple(options.items()), keep, texts=texts)
    moves = lives(tmp_path / "s", random.Random(5), naive, steps=60, size=4, **options)
    assert naive.orphans or keep in ("last", "always")
    assert moves or keep in ("last", "always") or not texts or method == "simhash"


@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.parametrize("keep", ["first", "longest"])
@pytest.mark.parametrize(("size", "durable", "seed"), [(1, "each", 1), (7, "batch", 2), (7, "each", 3)])
def test_orphans_are_the_same_on_every_back_end(any_place, monkeypatch, keep, texts, size, durable, seed):
    set_sizes(monkeypatch, texts=4, rows=3)
    options = {"similarity": nd.Similarity(word_shingle=1), "min_similarity": 0.6}
    naive = NaiveStore(tuple({**options, "method": "exact"}.items()), keep, texts=texts)
    moves = lives(
        any_place, random.Random(seed), naive, steps=60 if size > 1 else 300, size=size, durable=durable, **options
    )
    assert moves or not texts
    assert naive.orphans


def with_orphans(store):
    """A store with an orphan, and skipped documents: equal, near, and moved."""
    texts = [FERRY, BREAD, FERRY.upper(), LATER, BREAD + " Bring salt.", "x", "x"]
    store.check_and_add_many(["a", "b", "equal", "near", "other", "one", "lost"], texts)
    store.remove(["one"])
    return store


def left(store):
    """What is an orphan if all documents go."""
    found = store.orphans()
    store.expire(newest=0)
    return [(each.id, each.compared) for each in found], sorted((each.id, each.compared) for each in store.orphans())


@pytest.mark.parametrize("texts", [False, True])
def test_copies_of_a_store_know_what_it_has_skipped(back_end, tmp_path, texts):
    options = {"min_similarity": 0.6, "texts": texts}
    with Store(back_end.place(), **options) as store:
        with_orphans(store).export(tmp_path / "export")
        if back_end.name == "folder":
            store.backup(tmp_path / "backup")
    with Store(tmp_path / "expected", **options) as store:
        expected = left(with_orphans(store))
    assert expected[0] == [("lost", True)]
    assert dict(expected[1]) == {"lost": True, "equal": True, "near": texts, "other": texts}
    places = [tmp_path / "imported", back_end.place("imported"), *([tmp_path / "backup"] * (back_end.name == "folder"))]
    for place in places:
        with Store(place) if "backup" in str(place) else Store.from_export(place, tmp_path / "export") as store:
            assert store.info().skipped_since is None
            assert store.verify().is_sound
            assert left(store) == expected


def test_a_repaired_store_knows_what_it_has_skipped_and_that_some_is_lost(tmp_path):
    for damage in ("documents", "skipped", "orphans"):
        with Store(tmp_path / damage, min_similarity=0.6) as store:
            with_orphans(store)
        with closing(sqlite3.connect(tmp_path / damage / "record.sqlite")) as base, base:
            base.execute(f"UPDATE {damage} SET id = '\"changed\"' WHERE id = (SELECT min(id) FROM {damage})")
        with Store(tmp_path / damage, mode="r") as store:
            assert not store.verify().is_sound
        told = Store.repair(tmp_path / damage).problems
        assert any("skipped documents of it are lost" in each for each in told)
        with Store(tmp_path / damage) as store:
            assert store.verify().is_sound
            assert store.info().skipped_since is not None
            _, all_of_them = left(store)
            assert {"documents": 3, "skipped": 3, "orphans": 3}[damage] - len(all_of_them) <= 1


def test_a_store_of_a_finished_run_knows_what_the_run_has_removed(tmp_path):
    rows = [("a", FERRY), ("b", BREAD), ("equal", FERRY.upper()), ("near", LATER)]
    lines = "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in rows)
    (tmp_path / "in.jsonl").write_text(lines)
    nd.deduplicate_files(
        [tmp_path / "in.jsonl"],
        tmp_path / "out.jsonl",
        method="exact",
        min_similarity=0.6,
        cluster="star",
        keep="first",
    )
    for texts in (False, True):
        with Store.build(tmp_path / f"s{texts}", tmp_path / "out.jsonl", texts=texts) as store:
            found = store.remove(["a"]).orphans
            assert (found.count, found.not_compared, set(found.ids)) == (2, int(not texts), {"equal", "near"})


@pytest.mark.parametrize("is_compacted", [False, True])
def test_an_older_store_says_from_when_on_it_knows(tmp_path, is_compacted):
    """Of older versions, which do not write the table, and give documents other numbers when they compact."""
    with Store(tmp_path / "s", min_similarity=0.6) as store:
        with_orphans(store)
    with closing(sqlite3.connect(tmp_path / "s" / "record.sqlite")) as base, base:
        if is_compacted:
            [(value,)] = base.execute("SELECT value FROM facts WHERE name = 'skipped'")
            value = json.dumps(json.loads(value) | {"generation": 7}, sort_keys=True)
            base.execute("UPDATE facts SET value = ?, checksum = ? WHERE name = 'skipped'", (value, checksum(value)))
        else:
            base.execute("DELETE FROM facts WHERE name = 'skipped'")
            for table in ("skipped", "skipped_contents", "orphans"):
                base.execute(f"DROP TABLE {table}")
    before = time.time()
    with Store(tmp_path / "s", mode="r") as store:
        assert store.info().skipped_since >= before
    with Store(tmp_path / "s") as store:
        assert store.orphans() == [] or is_compacted
        store.check_and_add("new", FERRY)
        since = store.info().skipped_since
        assert since >= before
        assert store.remove(["a"]).orphans.ids == ("new",)
    with Store(tmp_path / "s") as store:
        assert store.info().skipped_since == since
        assert store.verify().is_sound


def checksum(value):
    return fact_checksum("skipped", value)


def test_many_orphans_are_counted_and_listed_in_pages(any_place, monkeypatch):
    monkeypatch.setattr(orphans, "MAX_LISTED_ORPHANS", 5)
    monkeypatch.setattr(answers, "MAX_LISTED_ORPHANS", 5)
    with Store(any_place) as store:
        store.check_and_add_many(range(9), [FERRY, *[FERRY.upper()] * 3, BREAD, *[BREAD.upper()] * 4])
        few = store.remove([0]).orphans
        assert (few.count, few.ids, few.after) == (3, (1, 2, 3), 0)
        many = store.check_and_add(4, "x").orphans
        assert (many.count, many.ids) == (4, (5, 6, 7, 8))
        store.check_and_add_many(range(10, 30), [FERRY] * 20)
        more = store.expire(newest=0).orphans
        assert (more.count, more.ids, more.not_compared) == (19, (), 0)
        pages, after = [], more.after
        while page := store.orphans(limit=4, after=after):
            pages.append([each.id for each in page])
            after = page[-1].number
        assert [len(page) for page in pages] == [4, 4, 4, 4, 3]
        assert sorted(each for page in pages for each in page) == list(range(11, 30))
        assert store.info().orphans == 26
        assert not store.remove([11, 1]).orphans.count  # they are given up
        assert store.info().orphans == 24
        with pytest.raises(nd.OptionError, match="`limit=0`: give a number of orphans, 1 or more"):
            store.orphans(limit=0)
        with pytest.raises(nd.OptionError, match="`after=-1`: give the `number` of an orphan"):
            store.orphans(after=-1)


def test_a_skipped_document_that_is_removed_or_kept_is_skipped_no_more(any_place):
    with Store(any_place, min_similarity=0.6) as store:
        store.check_and_add_many(["a", "b", "c", "d"], [FERRY, FERRY.upper(), LATER, FERRY])
        assert store.remove(["b"]) == 0
        store.check_and_add("c", BREAD)
        assert store.remove(["a"]).orphans.ids == ("d",)


def test_an_update_that_its_duplicates_match_leaves_no_orphans(any_place):
    with Store(any_place, min_similarity=0.6) as store:
        store.check_and_add_many(["a", "b"], [FERRY, FERRY.upper()])
        answer = store.check_and_add("a", LATER)
        assert (answer.status, answer.orphans.count) == ("updated", 0)
        assert store.check_and_add("a", BREAD).orphans.ids == ("b",)
