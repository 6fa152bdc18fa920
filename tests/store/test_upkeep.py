"""Stores expire, tell neighbors and pairs, are compacted, verified, repaired, copied, and read while they are written."""

import contextlib
import random
import shutil
import threading

import pytest
from damage import flip
from sizes import set_sizes
from streams import WAYS, near_copies, streamed

import neardup as nd
from neardup.store.formats import segments as postings
from neardup.store.record.record import Record
from neardup.store.session.writer import Files
from neardup.store.store import Store

METHODS = [
    ("exact", "jaccard", 0.7),
    ("exact", "edit", 0.7),
    ("exact", "cosine", 0.8),
    ("minhash", "jaccard", 0.7),
    ("simhash", "jaccard", 0.0),
]


def filled(path, count=60, **options):
    """A store of near copies, and their texts."""
    texts = list(near_copies(count, 3))
    with Store(path, **options) as store:
        store.check_and_add_many(range(count), texts)
    return texts


def answers(path, texts):
    with Store(path, mode="r") as store:
        return store.check_many(texts)


def test_copies_below_a_file_are_refused(tmp_path):
    filled(tmp_path / "s")
    with Store(tmp_path / "s") as store:
        store.export(tmp_path / "export")
        (tmp_path / "file").touch()
        for copy in (store.backup, store.export, lambda path: Store.from_export(path, tmp_path / "export")):
            with pytest.raises(nd.InputError, match="cannot be made: Not a directory. Name another folder"):
                copy(tmp_path / "file" / "new")


def test_an_import_that_fails_leaves_no_store(tmp_path, monkeypatch):
    filled(tmp_path / "s")
    with Store(tmp_path / "s") as store:
        store.export(tmp_path / "export")
    files, keep = [], Files.keep

    def fail(self, *arguments):
        files.append(self)
        keep(self, *arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(Files, "keep", fail)
    with pytest.raises(KeyboardInterrupt):
        Store.from_export(tmp_path / "again", tmp_path / "export")
    assert len(files) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["export", "s"]


def test_a_repair_waits_for_another_writer(tmp_path):
    filled(tmp_path / "s")
    store = Store(tmp_path / "s")
    with pytest.raises(nd.InputError, match="Another process writes"):
        Store.repair(tmp_path / "s", wait=0.1)
    closing = threading.Timer(0.2, store.close)
    closing.start()
    assert Store.repair(tmp_path / "s", wait=30).is_sound
    closing.join()


def test_copies_go_to_free_folders(tmp_path):
    filled(tmp_path / "s")
    with Store(tmp_path / "s") as store:
        for copy in (store.backup, store.export):
            with pytest.raises(nd.InputError, match="is there. Name a folder that is empty"):
                copy(tmp_path)
        store.export(tmp_path / "export")
    with pytest.raises(nd.InputError, match="is no export of a store"):
        Store.from_export(tmp_path / "new", tmp_path)
    with pytest.raises(nd.InputError, match="is there. Name a folder that is empty"):
        Store.from_export(tmp_path / "s", tmp_path / "export")
    facts = tmp_path / "export" / "store.json"
    facts.write_text("{")
    with pytest.raises(nd.DataError, match="store.json is damaged"):
        Store.from_export(tmp_path / "new", tmp_path / "export")


def test_documents_expire(tmp_path):
    words = [f"w{i}" for i in range(30)]
    texts = [" ".join(words[i : i + 9]) for i in range(0, 27, 9)]
    with Store(tmp_path / "s") as store:
        before = store.check_and_add("a", texts[0], expires=1e10)
        assert before.is_new
        store.check_and_add("b", texts[1])
        store.check_and_add("c", texts[2])
        now = store.get("c").last_seen
        assert store.expire(now=1e10 - 1) == 0
        assert store.expire(now=1e10) == 1
        assert store.get("a") is None
        assert store.expire(older_than=100, now=now) == 0
        assert store.expire(newest=1) == 1
        assert store.get("b") is None
        assert store.expire(older_than=0, now=now + 1) == 1
        assert len(store) == 0
        for bad in ({"older_than": -1}, {"newest": -1}, {"newest": 1.5}, {"by": "seen"}):
            with pytest.raises(nd.OptionError, match=next(iter(bad))):
                store.expire(**bad)


def test_what_is_seen_again_does_not_expire(tmp_path, monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr("time.time", lambda: clock[0])
    text = "the ferry crosses the river at noon and the bell of the old church rings twice"
    with Store(tmp_path / "s") as store:
        store.check_and_add("a", text)
        clock[0] = 2000.0
        assert store.check_and_add("b", text + " today").duplicate_of == "a"
        clock[0] = 3000.0
        assert (store.get("a").first_seen, store.get("a").last_seen) == (1000.0, 2000.0)
        assert store.expire(older_than=1500) == 0
        assert store.expire(older_than=1500, by="first_seen") == 1
        assert store.check_and_add("b", text + " today").is_new


@pytest.mark.parametrize(
    ("similarity", "floor"), [("jaccard", 0.3), ("containment", 0.4), ("edit", 0.3), ("cosine", 0.4), ("weighted", 0.3)]
)
def test_neighbors_pairs_and_clusters_are_all_there_are(tmp_path, similarity, floor):
    texts = [text for text in near_copies(50, 9) if text]
    with Store(tmp_path / "s", similarity=similarity, min_similarity=0.9, floor=floor) as store:
        kept = [row for row, answer in enumerate(store.check_and_add_many(range(len(texts)), texts)) if answer.is_new]
        store.remove(kept[::5])
        kept = [row for row in kept if row not in kept[::5]]
        alike = {(a, b): nd.similarity(texts[a], texts[b], kind=similarity) for a in kept for b in kept if a < b}
        for least in (floor, 0.5, None):
            expected = [pair for pair, value in alike.items() if value >= (least or 0.9)]
            found = store.pairs(min_similarity=least)
            assert [(pair.a, pair.b) for pair in found] == sorted(expected, key=lambda pair: (pair[1], pair[0]))
            assert [pair.similarity for pair in found] == [alike[pair.a, pair.b] for pair in found]
            for row in kept[:10]:
                near = {match.id: match.similarity for match in store.neighbors(id=row, min_similarity=least)}
                assert near == {a + b - row: alike[a, b] for a, b in expected if row in (a, b)}
                assert store.neighbors(texts[row], min_similarity=least)[0].id == row
            assert store.clusters(min_similarity=least) == components(expected)


def components(pairs):
    """The ids that pairs connect."""
    groups = []
    for pair in pairs:
        touched = [group for group in groups if group & set(pair)]
        groups = [group for group in groups if not group & set(pair)] + [set(pair).union(*touched)]
    return sorted(tuple(sorted(group)) for group in groups)


def test_neighbors_that_cannot_be_told_are_refused(tmp_path):
    filled(tmp_path / "s")
    with Store(tmp_path / "s") as store:
        for arguments, options, message in (
            ([], {}, "Give a text, or the `id`"),
            (["a"], {"id": 1}, "Give a text, or the `id`"),
            ([], {"id": "nobody"}, 'no document with the id "nobody"'),
            (["a"], {"min_similarity": 0.3}, "finds what is similar from 0.8 to 1"),
        ):
            with pytest.raises(nd.OptionError, match=message):
                store.neighbors(*arguments, **options)
    for options, message in (
        ({"floor": 0.9}, "`floor=0.9`: give a number above 0, and up to `min_similarity`"),
        ({"floor": 0.5, "method": "minhash"}, "only `method='exact'` finds everything below"),
        ({"keep": "newest"}, "`keep='newest'`: give one of first, always"),
    ):
        with pytest.raises(nd.OptionError, match=message):
            Store(tmp_path / "new", **options)
    filled(tmp_path / "d", min_similarity=0, method="simhash")
    with Store(tmp_path / "d") as store, pytest.raises(nd.OptionError, match="tells distances only"):
        store.neighbors("a", min_similarity=0.5)


def test_a_reader_sees_what_was_acknowledged(tmp_path, monkeypatch):
    set_sizes(monkeypatch, in_memory=64)
    texts = list(near_copies(80, 5))
    with Store(tmp_path / "s") as store, Store(tmp_path / "s", mode="r") as reader:
        for first in range(0, 80, 8):
            store.check_and_add_many(range(first, first + 8), texts[first : first + 8])
            assert reader.check_many(texts) == store.check_many(texts)
            assert len(reader) == len(store)
        store.remove(range(5))
        store.compact()
        assert reader.check_many(texts) == store.check_many(texts)
        for change in (
            lambda: reader.check_and_add("x", "y"),
            lambda: reader.remove(["x"]),
            reader.expire,
            reader.compact,
        ):
            with pytest.raises(nd.OptionError, match='was opened with `mode="r"`'):
                change()


def test_damage_is_found_and_repaired(tmp_path):
    texts = filled(tmp_path / "s")
    with Store(tmp_path / "s") as store:
        kept = [row for row in range(60) if store.get(row) is not None]
        expected = store.check_many(texts)
    shutil.copytree(tmp_path / "s", tmp_path / "t")
    segment = next((tmp_path / "s").glob("segment-*"))
    flip(segment, 8192)
    with Store(tmp_path / "s") as store:
        found = store.verify()
        assert not found.is_sound
        assert segment.name in found.problems[0]
    assert segment.name in Store.repair(tmp_path / "s").problems[0]
    with Store(tmp_path / "s") as store:
        assert store.verify().is_sound
        assert store.check_many(texts) == expected
    segment = next((tmp_path / "s").glob("segment-*"))
    segment.unlink()
    with pytest.raises(
        nd.DataError, match=f"{segment.name} is missing. It is made of the other files: repair the store"
    ):
        Store(tmp_path / "s")
    Store.repair(tmp_path / "s")
    assert answers(tmp_path / "s", texts) == expected

    with contextlib.closing(Record(tmp_path / "s" / "record.sqlite")) as record, record.changing():
        listed = record.facts()["derived"]
        names = [name for name in listed["segments"] if name.startswith("prefixes")]
        record.set_facts(
            {"derived": listed | {"segments": {n: s for n, s in listed["segments"].items() if n not in names}}}
        )
    with Store(tmp_path / "s", mode="r") as store:
        assert store.verify().problems == (
            f"Questions do not find {len(kept)} documents: derived files are incomplete.",
        )
    assert Store.repair(tmp_path / "s").problems == (
        f"Questions do not find {len(kept)} documents: derived files are incomplete.",
    )
    assert answers(tmp_path / "s", texts) == expected

    flip(tmp_path / "t" / "compared-0", 104)
    with Store(tmp_path / "t") as store:
        assert len(store.verify().damaged) == 1
    found = Store.repair(tmp_path / "t")
    assert len(found.damaged) == 1
    with Store(tmp_path / "t") as store:
        assert store.verify().is_sound
        assert len(store) == len(kept) - 1
        assert store.get(found.damaged[0]) is None
    with pytest.raises(nd.InputError, match="is no store"):
        Store.repair(tmp_path / "nothing")


def test_many_segments_answer_as_one(tmp_path, monkeypatch):
    set_sizes(monkeypatch, in_memory=8, merged=1)
    for number, (method, similarity, least) in enumerate(WAYS):
        options = {"method": method, "similarity": similarity, "min_similarity": least}
        texts = list(near_copies(60, 11))
        expected = nd.deduplicate(texts, **options).duplicates.to_pylist()
        with Store(tmp_path / f"{number}", **options) as store:
            found = streamed(store, texts, 4)
            assert sorted(found) == [row["row"] for row in expected]
            assert any((tmp_path / f"{number}").glob("segment-*"))


@pytest.mark.parametrize(("method", "similarity", "least"), METHODS)
@pytest.mark.parametrize("limits", [(4, 3, 60), (30, 2, 1000), (10**9, 2, 40)])
def test_a_crash_after_any_batch_loses_no_postings(tmp_path, monkeypatch, method, similarity, least, limits):
    set_sizes(monkeypatch, **dict(zip(("learned", "growth", "in_memory"), limits, strict=True)))
    texts = list(near_copies(90, 7))
    options = {"method": method, "similarity": similarity, "min_similarity": least}
    copies = iter(tmp_path / f"copy{number}" for number in range(100))
    for begin in (0, 40):
        with Store(tmp_path / "s", **options) as store:
            for first in range(begin, begin + 50, 5):
                store.check_and_add_many(range(first, first + 5), texts[first : first + 5])
                copy = next(copies)
                shutil.copytree(tmp_path / "s", copy)  # what a kill leaves
                with Store(copy, mode="r") as reader:
                    assert reader.verify().is_sound
                with Store(copy) as again:
                    assert again.verify().is_sound
                    assert again.check_many(texts) == store.check_many(texts)
                shutil.rmtree(copy)


@pytest.mark.parametrize("gone", [[], [3, 4, 11]])
@pytest.mark.parametrize(("method", "similarity", "least"), METHODS)
def test_compaction_keeps_little_in_memory_and_one_order(tmp_path, monkeypatch, method, similarity, least, gone):
    options = {"method": method, "similarity": similarity, "min_similarity": least}
    set_sizes(monkeypatch, learned=8, growth=2, moved=8, replayed=4, in_memory=50)
    texts = list(near_copies(120, 9))
    with Store(tmp_path / "s", **options) as store:
        for first in range(0, 120, 6):
            store.check_and_add_many(range(first, first + 6), texts[first : first + 6])
        store.remove(gone)
        expected = store.check_many(texts)
        assert len(store._files.derived.orders) > 1 or method != "exact"
        held = []
        monkeypatch.setattr(
            postings.Postings,
            "freeze",
            lambda self, real=postings.Postings.freeze: held.append(len(self._table)) or real(self),
        )
        store.compact()
        assert store.check_many(texts) == expected
        assert len(store._files.derived.orders) == (method == "exact")
        assert held or not gone  # without removals there may be nothing to do
        assert max(held, default=0) < 50 + 4 * 100
        assert store.verify().is_sound
    with Store(tmp_path / "s", mode="r") as store:
        assert store.check_many(texts) == expected


def test_documents_are_as_durable_as_was_asked(tmp_path):
    texts = [f"{word} " * 3 + " ".join(random.Random(word).choices("abcdefgh", k=9)) for word in "abcdefgh"]
    store = Store(tmp_path / "s", durable="batch")
    for number, text in enumerate(texts[:4]):
        store.check_and_add(number, text)
    with Store(tmp_path / "s", mode="r") as reader:
        assert len(reader) == 0
        store.flush()
        assert len(reader) == len(store) > 0
        store.check_and_add(5, texts[5])
        store.close()
        assert len(reader) == len(reader.check_many(texts)) - 3
    with pytest.raises(nd.OptionError, match="`durable='never'`: give one of each, batch"):
        Store(tmp_path / "s", durable="never")
    with pytest.raises(nd.OptionError, match="`mode='x'`: give one of r, w"):
        Store(tmp_path / "s", mode="x")


@pytest.mark.parametrize("size", [3, 9000])
def test_a_store_keeps_the_files_of_its_recipe(back_end, tmp_path, monkeypatch, size):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stop.txt").write_text("".join(f"stop{number}\n" for number in range(size)))
    (tmp_path / "mine.toml").write_text('stop_words = ["stop.txt"]\nmin_tokens = 1\nmax_distance = 3\n')
    text = "the ferry crosses the river at noon and the bell of the old church rings twice"
    places = [back_end.place(), back_end.place("again")]
    with Store(places[0], recipe="mine.toml", method="simhash", min_similarity=0) as store:
        store.check_and_add("a", text)
        if back_end.name == "folder":
            places.append("b")
            store.backup("b")
        store.export("e")
        digest = store.recipe.digest()
    (tmp_path / "stop.txt").unlink()
    Store.from_export(places[1], "e").close()
    for place in places:
        with Store(place) as store:
            assert store.check(text + " stop1").duplicate_of == "a"
            store.compact()
            assert store.check("stop2 " + text).duplicate_of == "a"
            assert (store.recipe.digest(), store.recipe.max_distance) == (digest, 3)


def test_a_store_has_no_more_numbers_than_postings_hold(tmp_path, monkeypatch):
    set_sizes(monkeypatch, numbers=2)
    words = [f"w{i}" for i in range(30)]
    with Store(tmp_path / "s") as store:
        store.check_and_add_many(["a", "b"], [" ".join(words[:9]), " ".join(words[9:18])])
        with pytest.raises(nd.InputError, match="has 2 documents and 0 other texts. Compact it, or make another"):
            store.check_and_add("c", " ".join(words[18:]))
        assert len(store) == 2
