"""Damage is named: by opening a store, by reading what is damaged, or by verifying it; and what can be made anew is repaired."""

import contextlib
import functools
import json
import random
import re
import shutil

import numpy as np
import pytest
from damage import changed, flip
from sizes import set_sizes
from streams import near_copies

import neardup as nd
from neardup.hamming.index.files.folder import MANIFEST
from neardup.hamming.index.files.segment_file import write_segment_file
from neardup.store.formats.segments import Segment, Table
from neardup.store.record.schema import FACTS

METHODS = {
    "exact": {"min_similarity": 0.7},
    "cosine": {"similarity": "cosine", "min_similarity": 0.8},
    "minhash": {"method": "minhash", "min_similarity": 0.7},
    "simhash": {"method": "simhash", "min_similarity": 0, "max_distance": 20},
}
TEXTS = list(near_copies(40, 3))


@pytest.fixture(params=METHODS)
def folder(request, tmp_path, monkeypatch):
    """The folder of a store with documents that were removed, and texts that were not kept."""
    set_sizes(monkeypatch, learned=8)
    fill(tmp_path / "s", **METHODS[request.param])
    return tmp_path / "s"


def fill(path, **options):
    with nd.Store(path, threads=1, **options) as store:
        store.check_and_add_many(range(len(TEXTS)), TEXTS)
        store.remove([0, 3])


def answers(path):
    with nd.Store(path, mode="r") as store:
        return store.check_many(TEXTS)


@pytest.mark.parametrize("name", sorted(FACTS - {"format"}))
def test_a_fact_that_changed_or_is_missing_is_named(tmp_path, name):
    fill(tmp_path / "s")
    shutil.copytree(tmp_path / "s", tmp_path / "t")
    changed(tmp_path / "s", "UPDATE facts SET value = value || ' ' WHERE name = ?", name)
    changed(tmp_path / "t", "UPDATE facts SET name = 'another' WHERE name = ?", name)
    for mode in "rw":
        with pytest.raises(nd.DataError, match=f"record.sqlite is damaged: the fact `{name}` is not what was written"):
            nd.Store(tmp_path / "s", mode=mode)
        with pytest.raises(nd.NeardupError, match="is no store" if name == "recipe" else "the fact `another`"):
            nd.Store(tmp_path / "t", mode=mode)
    changed(tmp_path / "t", "DELETE FROM facts WHERE name = 'another'")
    with pytest.raises(nd.NeardupError, match="is no store" if name == "recipe" else f"the fact `{name}` is missing"):
        nd.Store(tmp_path / "t")


def test_a_record_without_a_version_is_named(tmp_path):
    fill(tmp_path / "s")
    changed(tmp_path / "s", "DELETE FROM facts WHERE name = 'format'")
    with pytest.raises(nd.DataError, match="record.sqlite is damaged: the fact `format` is missing"):
        nd.Store(tmp_path / "s", mode="r")


def test_marks_of_removed_documents_that_changed_are_named(tmp_path):
    fill(tmp_path / "s")
    changed(tmp_path / "s", "UPDATE gone SET bits = zeroblob(8192)")
    for mode in "rw":
        with pytest.raises(nd.DataError, match="record.sqlite is damaged: row 0 of `gone` is not what was written"):
            nd.Store(tmp_path / "s", mode=mode)


CHANGES = {
    "documents": ["id = '\"x\"'", "first_seen = 5", "last_seen = 5", "expires = 5", "metadata = '1'", "rank = 5"],
    "removed": [
        *("digest = zeroblob(16)", "digest = zeroblob(1)", "survivor = 9"),
        *("similarity = 0.5", "distance = 63", "last_seen = 5"),
    ],
}


@pytest.mark.parametrize(("table", "change"), [(table, change) for table in CHANGES for change in CHANGES[table]])
def test_a_row_that_changed_is_named(tmp_path, table, change):
    fill(tmp_path / "s")
    with nd.Store(tmp_path / "s", mode="r") as store:
        expected = [store.get(number) is not None for number in range(len(TEXTS))]
    changed(tmp_path / "s", f"UPDATE {table} SET {change} WHERE number = (SELECT min(number) FROM {table})")
    with nd.Store(tmp_path / "s", mode="r") as store:
        found = store.verify()
        assert f"of `{table}` is not what was written" in found.problems[0]
        with pytest.raises(
            nd.DataError, match=rf"record.sqlite is damaged: row \d+ of `{table}` is not what was written"
        ):
            store.export(tmp_path / "e")
    what = "document" if table == "documents" else "remembered text"
    problems = nd.Store.repair(tmp_path / "s").problems
    assert "record.sqlite was damaged: it is made anew of what can be read of it, and kept as" in problems[0]
    assert re.fullmatch(rf"\d+ {what}s? of it (is|are) lost.", problems[1])
    with nd.Store(tmp_path / "s") as store:
        assert store.verify().is_sound
        assert (tmp_path / "s/record.sqlite.damaged").exists()
        lost = [number for number in range(len(TEXTS)) if expected[number] and store.get(number) is None]
        assert len(lost) == (table == "documents")
        for number, text in enumerate(TEXTS):
            if expected[number] and number not in lost:
                assert store.check(text).duplicate_of == number
        assert store.check_and_add_many(range(len(TEXTS)), TEXTS)
        assert store.verify().is_sound


def test_what_can_be_read_of_a_damaged_record_is_saved(tmp_path):
    rng, outcomes = random.Random(4), set()
    fill(tmp_path / "s")
    content = (tmp_path / "s/record.sqlite").read_bytes()
    for trial in range(40):
        shutil.rmtree(tmp_path / "t", ignore_errors=True)
        shutil.copytree(tmp_path / "s", tmp_path / "t")
        at = rng.randrange(0, len(content) - 200)
        (tmp_path / "t/record.sqlite").write_bytes(content[:at] + rng.randbytes(200) + content[at + 200 :])
        try:
            nd.Store.repair(tmp_path / "t")
        except nd.NeardupError as problem:
            assert "record.sqlite" in str(problem)  # noqa: PT017 - either is right
            outcomes.add("refused")
            continue
        outcomes.add("repaired")
        with nd.Store(tmp_path / "t") as store:
            assert store.verify().is_sound, trial
            kept = [number for number in range(len(TEXTS)) if store.get(number) is not None]
            assert all(store.check(TEXTS[number]).duplicate_of == number for number in kept)
    assert outcomes == {"refused", "repaired"}


def test_a_record_that_sqlite_calls_damaged_in_bytes_that_are_no_text_is_refused(tmp_path):
    fill(tmp_path / "s")
    file = tmp_path / "s/record.sqlite"
    content = file.read_bytes()
    assert content.count(b"tablefactsfacts") == content.count(b"CREATE TABLE facts") == 1
    content = content.replace(b"tablefactsfacts", b"table\xf1\xf1\xf1\xf1\xf1facts")
    file.write_bytes(content.replace(b"CREATE TABLE facts", b"create nothing    "))
    for ask in (
        nd.Store,
        nd.Store.repair,
        functools.partial(nd.Store, create=False),
        functools.partial(nd.Store, mode="r"),
    ):
        with pytest.raises(nd.DataError, match="record.sqlite is damaged"):
            ask(tmp_path / "s")


@pytest.mark.parametrize("table", ["documents", "removed"])
def test_a_row_that_got_a_number_beyond_all_is_refused(tmp_path, table):
    fill(tmp_path / "s")
    changed(tmp_path / "s", f"UPDATE {table} SET number = 9999 WHERE number = (SELECT min(number) FROM {table})")
    for mode in "rw":
        with pytest.raises(
            nd.DataError, match=f"record.sqlite is damaged: row 9999 of `{table}` is not what was written"
        ):
            nd.Store(tmp_path / "s", mode=mode)


def test_a_row_stays_damaged_when_it_is_seen_or_renumbered(tmp_path):
    fill(tmp_path / "s")
    changed(tmp_path / "s", "UPDATE documents SET expires = 5 WHERE number = 4")
    with nd.Store(tmp_path / "s") as store:
        store._files.record.saw({4}, 7.0)
        store._files.record.renumber(store._files.kept())
        store._files.acknowledge({})
        assert "row 2 of `documents`" in store.verify().problems[0]


@pytest.mark.parametrize("keep", ["first", "always"])
def test_questions_name_a_row_that_is_missing(tmp_path, keep):
    fill(tmp_path / "s", keep=keep)
    with nd.Store(tmp_path / "s", mode="r") as store:
        name = max(number for number in range(len(TEXTS)) if store.get(number) is not None)
        number = store._files.known.of_ids([str(name)])[str(name)].number
    changed(tmp_path / "s", "DELETE FROM documents WHERE number = ?", number)
    with nd.Store(tmp_path / "s") as store:
        for question in (
            lambda: store.get(name),
            lambda: store.check(TEXTS[name]),
            lambda: store.check_and_add(name, TEXTS[name]),
            lambda: store.remove([name]),
            lambda: store.export(tmp_path / "e"),
        ):
            with pytest.raises(nd.DataError, match=f"record.sqlite is damaged: row {number} of `documents` is missing"):
                question()
        with pytest.raises(nd.DataError, match=r"record.sqlite is damaged: `documents` has \d+ rows, of \d+"):
            store.compact()
    assert "1 document of it is lost." in nd.Store.repair(tmp_path / "s").problems
    with nd.Store(tmp_path / "s") as store:
        assert store.verify().is_sound
        assert store.get(name) is None
        assert store.compact()
        assert store.verify().is_sound


def test_a_text_that_is_missing_is_told_and_repaired(tmp_path):
    fill(tmp_path / "s")
    changed(tmp_path / "s", "DELETE FROM removed WHERE number = 0")
    with nd.Store(tmp_path / "s") as store:
        [problem] = store.verify().problems
        assert "texts that were not kept, of" in problem
        with pytest.raises(nd.DataError, match="`removed` has"):
            store.compact()
    assert "1 remembered text of it is lost." in nd.Store.repair(tmp_path / "s").problems
    with nd.Store(tmp_path / "s") as store:
        assert store.verify().is_sound
        assert store.compact()


def test_rows_of_the_record_have_checksums_of_any_values(tmp_path):
    with nd.Store(tmp_path / "s", keep="min:rank", min_similarity=0.7) as store:
        store.check_and_add_many(
            ["a", "ü", 3], TEXTS[:3], metadata=[{"rank": 0}, {"rank": 1 << 62}, None], expires=2.5e11
        )
        store.check_and_add("again", TEXTS[0])
        assert store.verify().is_sound
        assert store.get("ü").expires == 2.5e11


# -------------------------------------------------------------------------------------------------------- the contents


def test_rows_that_changed_places_are_named(tmp_path):
    fill(tmp_path / "s")
    with nd.Store(tmp_path / "s", mode="r") as store:
        width = 8 * store._files.layout.width
    content = (tmp_path / "s/rows-0").read_bytes()
    head, first, second, rest = (
        content[:64],
        content[64 : 64 + width],
        content[64 + width : 64 + 2 * width],
        content[64 + 2 * width :],
    )
    (tmp_path / "s/rows-0").write_bytes(head + second + first + rest)
    with nd.Store(tmp_path / "s", mode="r") as store:
        assert store.verify().damaged == (1,)  # the other one was removed
        with pytest.raises(nd.DataError, match="rows-0 is damaged: document 1 is not what was written"):
            store.get(1)


def test_signatures_that_changed_are_named(tmp_path):
    fill(tmp_path / "s", **METHODS["minhash"])
    content = bytearray((tmp_path / "s/signatures-0").read_bytes())
    content[64:] = bytes(len(content) - 64)
    (tmp_path / "s/signatures-0").write_bytes(content)
    with nd.Store(tmp_path / "s", mode="r") as store:
        assert len(store.verify().damaged) == len(store)
        with pytest.raises(nd.DataError, match="signatures-0 is damaged: document 1 is not what was written"):
            store.check(TEXTS[1] + " again")
    assert len(nd.Store.repair(tmp_path / "s").damaged) > 0
    with nd.Store(tmp_path / "s") as store:
        assert (len(store), store.verify().is_sound) == (0, True)


def test_weights_that_changed_are_named(tmp_path):
    fill(tmp_path / "s", **METHODS["cosine"])
    flip(tmp_path / "s/compared_weights-0", -1)
    with (
        nd.Store(tmp_path / "s", mode="r") as store,
        pytest.raises(nd.DataError, match="compared-0 or compared_weights-0 is damaged"),
    ):
        store.export(tmp_path / "e")


def test_another_file_in_place_of_contents_is_named(tmp_path):
    for name in "st":
        fill(tmp_path / name)
    rows, elements = tmp_path / "s/rows-0", tmp_path / "s/compared-0"
    whole = rows.read_bytes()

    def refused(content, message):
        rows.write_bytes(content)
        for mode in "rw":
            with pytest.raises(nd.DataError, match=message):
                nd.Store(tmp_path / "s", mode=mode)

    of_store = "of the store [0-9a-f]{16}"
    refused(
        elements.read_bytes(), rf"rows-0 is another file: compared-0 \(<u8\) {of_store}, not rows-0 \(<u8\) {of_store}"
    )
    refused((tmp_path / "t/rows-0").read_bytes(), rf"rows-0 is another file: rows-0 \(<u8\) {of_store}, not rows-0 ")
    refused(b"text " * 100, "rows-0 is no file of a store: it begins with other bytes")
    refused(b"", "rows-0 is no file of a store: it begins with other bytes")
    refused(whole[:20] + b"x" + whole[21:], "rows-0 is damaged: its header is not what was written")
    rows.write_bytes(whole)
    assert answers(tmp_path / "s") == answers(tmp_path / "t")


# ------------------------------------------------------------------------------------------------- what is made of others


def test_damage_of_the_index_of_distances_is_found_and_repaired(tmp_path):
    fill(tmp_path / "s", **METHODS["simhash"])
    expected = answers(tmp_path / "s")
    names = sorted(path.name for path in (tmp_path / "s/distances").iterdir() if path.stat().st_size)
    assert len(names) >= 2
    for name in names:
        for damage in ("flip", "cut", "remove"):
            shutil.rmtree(tmp_path / "t", ignore_errors=True)
            shutil.copytree(tmp_path / "s", tmp_path / "t")
            path = tmp_path / "t/distances" / name
            if damage == "flip":
                flip(path, path.stat().st_size // 2)
            elif damage == "cut":
                path.write_bytes(path.read_bytes()[:-10])
            else:
                path.unlink()
            is_gone = (name, damage) == (
                MANIFEST,
                "remove",
            )  # as if there was no index: that is made again, and no damage
            with contextlib.suppress(nd.DataError), nd.Store(tmp_path / "t", mode="r") as store:
                assert ["distances" in each for each in store.verify().problems[:1]] == [True] * (not is_gone)
            assert ["distances" in each for each in nd.Store.repair(tmp_path / "t").problems[:1]] == [True] * (
                not is_gone
            )
            assert answers(tmp_path / "t") == expected
            with nd.Store(tmp_path / "t") as store:
                assert store.verify().is_sound


def test_questions_name_damage_of_the_index_of_distances(tmp_path):
    fill(tmp_path / "s", **METHODS["simhash"])
    path = next((tmp_path / "s/distances").glob("segment-*"))
    flip(path, path.stat().st_size // 2)
    with nd.Store(tmp_path / "s", mode="r") as store, pytest.raises(nd.DataError, match="distances.* repair the store"):
        store.check(TEXTS[1] + " again")


def test_an_index_of_distances_that_is_missing_is_made_again(tmp_path):
    fill(tmp_path / "s", **METHODS["simhash"])
    expected = answers(tmp_path / "s")
    shutil.rmtree(tmp_path / "s/distances")
    with nd.Store(tmp_path / "s", mode="r") as store:
        assert store.check_many(TEXTS) == expected
        assert store.verify().is_sound
    with nd.Store(tmp_path / "s"):
        pass
    with nd.Store(tmp_path / "s", mode="r") as store:
        assert (store.check_many(TEXTS), store.verify().is_sound) == (expected, True)


def test_the_index_of_another_store_is_refused(tmp_path):
    for name in "st":
        fill(tmp_path / name, **METHODS["simhash"])
    expected = answers(tmp_path / "s")
    shutil.rmtree(tmp_path / "s/distances")
    shutil.copytree(tmp_path / "t/distances", tmp_path / "s/distances")
    with pytest.raises(nd.DataError, match="distances is not the index of this store. .* repair the store"):
        nd.Store(tmp_path / "s", mode="r")
    nd.Store.repair(tmp_path / "s")
    assert answers(tmp_path / "s") == expected


def test_damaged_segments_do_not_become_whole_ones(folder, monkeypatch):
    """Of removed documents, segments are made anew; without them, they are merged."""
    set_sizes(monkeypatch, merged=0)
    with nd.Store(folder) as store:
        store.compact()
        store.check_and_add_many(["x", "y"], [" ".join(f"{name}{i}" for i in range(20)) for name in "xy"])
    expected = answers(folder)
    for path in folder.glob("segment-*"):
        flip(path, path.stat().st_size // 3)
    with contextlib.suppress(nd.DataError):
        store = nd.Store(folder)
        with pytest.raises(
            nd.DataError, match=r"segment-\d+ is damaged. It is made of the other files: repair the store"
        ):
            store.compact()
        with contextlib.suppress(nd.DataError):
            store.close()
    with nd.Store(folder, mode="r") as store:
        assert not store.verify().is_sound
    found = nd.Store.repair(folder)
    with nd.Store(folder) as store:
        assert (found.documents, found.damaged, store.verify().is_sound) == (len(store), (), True)
    assert answers(folder) == expected


def told(store, texts):
    """The answers of a store, or its refusal."""
    try:
        return store.check_many(texts)
    except nd.DataError as refusal:
        return str(refusal)


def test_questions_name_a_damaged_segment(tmp_path):
    """However small the flip: what answers was checked."""
    words = [f"w{i}" for i in range(20_000)]
    texts = [" ".join(words[i : i + 10]) for i in range(0, len(words), 10)]
    with nd.Store(tmp_path / "s", durable="batch") as store:
        store.check_and_add_many(range(len(texts)), texts)
        expected = store.check_many(texts)
    paths = sorted((tmp_path / "s").glob("segment-*"))
    assert max(path.stat().st_size for path in paths) > 12 * 4096
    for path in paths:
        whole = path.read_bytes()
        for place in range(4096, len(whole) - 4096, len(whole) // 7):
            flip(path, place)
            with nd.Store(tmp_path / "s", mode="r") as store:
                found = told(store, texts)
                assert found == expected or f"{path.name} is damaged. It is made of the other files" in found
                assert path.name in store.verify().problems[0]
            path.write_bytes(whole)


def test_a_segment_with_other_pages_is_refused(tmp_path):
    arrays = Table().entries()._asdict() | {"directory": np.zeros(3, np.uint32)}
    write_segment_file(tmp_path / "segment-1", arrays, {"shift": 31, "documents": 0})
    with pytest.raises(
        nd.DataError, match="segment-1 has pages of 1,048,576 bytes, not 4,096. It is made of the other files"
    ):
        Segment.read(tmp_path / "segment-1")


def test_a_damaged_order_is_refused(tmp_path, monkeypatch):
    set_sizes(monkeypatch, learned=8)
    fill(tmp_path / "s")
    [path] = (tmp_path / "s").glob("order-*")
    flip(path, 4096)
    with pytest.raises(nd.DataError, match=r"order-\d+ is damaged. It is made of the other files: repair the store"):
        nd.Store(tmp_path / "s", mode="r")
    nd.Store.repair(tmp_path / "s")
    assert len(answers(tmp_path / "s")) == len(TEXTS)


# ---------------------------------------------------------------------------------------------------------- the export


def test_damage_of_an_export_is_named(folder, tmp_path):
    with nd.Store(folder, mode="r") as store:
        store.export(tmp_path / "e")
    for name in ("documents.parquet", "removed.parquet", "store.json"):
        path = tmp_path / "e" / name
        whole = path.read_bytes()
        refusals = []
        for place in range(7, len(whole), len(whole) // 9):
            flip(path, place)
            try:
                nd.Store.from_export(tmp_path / "again", tmp_path / "e").close()
                assert answers(tmp_path / "again") == answers(folder)
                shutil.rmtree(tmp_path / "again")
            except nd.DataError as refusal:
                refusals.append(str(refusal))
                assert not (tmp_path / "again").exists()
            path.write_bytes(whole)
        assert len(refusals) >= 5
        assert all(name in refusal for refusal in refusals)
        path.unlink()
        with pytest.raises(nd.NeardupError, match=name):
            nd.Store.from_export(tmp_path / "again", tmp_path / "e")
        path.write_bytes(whole)
    nd.Store.from_export(tmp_path / "again", tmp_path / "e").close()
    assert answers(tmp_path / "again") == answers(folder)


def test_a_file_of_another_export_is_refused(tmp_path):
    fill(tmp_path / "s")
    with nd.Store(tmp_path / "s") as store:
        store.export(tmp_path / "e")
        store.remove([1])
        store.export(tmp_path / "f")
    shutil.copy(tmp_path / "f/documents.parquet", tmp_path / "e")
    with pytest.raises(
        nd.DataError, match="documents.parquet is damaged: it is of another export. Export the store again"
    ):
        nd.Store.from_export(tmp_path / "again", tmp_path / "e")
    facts = tmp_path / "f/store.json"
    facts.write_text(json.dumps(json.loads(facts.read_text("utf-8")) | {"documents": 1}))
    with pytest.raises(nd.DataError, match="store.json is damaged: its checksum is another"):
        nd.Store.from_export(tmp_path / "again", tmp_path / "f")
