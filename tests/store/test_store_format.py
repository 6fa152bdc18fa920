"""The format of a store: folders of every version are read by the package, and by a reader that has only the page."""

import contextlib
import json
import shutil
import sqlite3
import struct

import pytest
from sizes import set_sizes

import neardup as nd
from naive_stage_files import SealedFile
from naive_store_folder import StoreFolder, read_export, recipe_digest, set_fact
from neardup.matching.band_plan import Bands
from neardup.store.reference import options_of_store
from places import GOLDEN

FOLDERS = sorted(path.with_suffix("") for path in (GOLDEN / "formats/store").glob("*/*.json"))
EXPORTS = sorted(path.with_suffix("") for path in (GOLDEN / "formats/export").glob("*/*.json"))
FACTS = ("id", "first_seen", "last_seen", "expires", "metadata")
TEXTS = [
    f"The {a} ferry leaves {b} at ten past nine, and returns {c}." for a in ("old", "new") for b in "abc" for c in "xyz"
]
TEXTS += ["twice twice twice twice twice twice", "", "one two", "甲乙丙丁戊己庚辛", " ".join(map(str, range(400)))]


def named(folder):
    return f"{folder.name} {folder.parent.name}"


def expected_of(folder):
    return json.loads(folder.with_name(f"{folder.name}.json").read_text(encoding="utf-8"))


@pytest.fixture(params=FOLDERS, ids=named)
def vector(request, tmp_path):
    """A copy of the folder of a store, and what it holds: SQLite writes beside what it reads."""
    shutil.copytree(request.param, tmp_path / "store")
    return tmp_path / "store", expected_of(request.param)


def answer(found):
    matches = [[match.id, match.similarity, match.distance] for match in found.matches]
    return {"is_new": found.is_new, "exact": found.exact, "matches": matches}


def hexadecimal(values, digits):
    return " ".join(f"{value:0{digits}x}" for value in values)


def answers_as_expected(store, expected):
    return [[text, answer(store.check(text))] for text, _ in expected["questions"]] == expected["questions"]


def holds_as_expected(store, expected):
    kept = [store.get(row["id"]) for row in expected["documents"]]
    facts = [{name: getattr(each, name) for name in FACTS} for each in kept]
    return facts == [{name: row[name] for name in FACTS} for row in expected["documents"]]


def of_document(row):
    """What the files have of a document, as the vectors expect it."""
    listed = {name: hexadecimal(row[name], 16) for name in ("compared", "joined") if name in row}
    listed |= {"signature": hexadecimal(row["signature"], 8)} if "signature" in row else {}
    return {name: value for name, value in row.items() if name not in ("number", "rank")} | listed


# ------------------------------------------------------------------------------------------------------------ the package


def test_every_method_has_a_vector():
    assert {expected_of(folder)["options"].get("method", "exact") for folder in FOLDERS} == {
        "exact",
        "minhash",
        "simhash",
    }


@pytest.mark.parametrize("mode", ["r", "w"])
def test_the_package_answers_from_every_store_as_when_it_was_made(vector, mode):
    folder, expected = vector
    with nd.Store(folder, mode=mode) as store:
        assert len(store) == len(expected["documents"])
        assert store.state == expected["state"]
        assert store.recipe.digest() == expected["recipe"]
        assert holds_as_expected(store, expected)
        assert answers_as_expected(store, expected)
        for row in expected["documents"]:
            found = store.get(row["id"])
            assert (found.tokens, found.fingerprint.hex()) == (row["tokens"], row["fingerprint"])
        assert store.verify().is_sound


def test_a_store_of_a_vector_can_be_changed(vector):
    folder, _ = vector
    text = "None of the documents of the vectors has anything in common with these words, whatever the method."
    with nd.Store(folder) as store:
        assert store.check_and_add("new", text).is_new
    with nd.Store(folder) as store:
        assert store.check(text).duplicate_of == "new"
        store.compact()
        assert store.check(text).duplicate_of == "new"
    assert StoreFolder(folder).gone == set()


def test_what_a_crash_may_leave_changes_nothing(vector):
    folder, expected = vector
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.suffix != ".sqlite"}
    for name in before:
        if not name.startswith(("order", "segment", "lock", "words")):
            with (folder / name).open("ab") as file:
                file.write(b"what the record does not know")
    for name in ("segment-99", "order-99", "rows-9", "compared-9", "joined-9", "compared_weights-9", "signatures-9"):
        (folder / name).write_bytes(b"left")
    with nd.Store(folder, mode="r") as store:
        assert answers_as_expected(store, expected)
    with nd.Store(folder) as store:
        assert answers_as_expected(store, expected)
    after = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.suffix != ".sqlite"}
    del before["lock"], after["lock"]  # which says who has removed what was left
    assert after == before
    StoreFolder(folder)


def drop_as_the_page_says(folder):
    serial = StoreFolder(folder).facts["derived"]["serial"]
    set_fact(folder, "derived", {"serial": serial, "documents": 0, "removed": 0, "orders": [], "segments": {}})


@pytest.mark.parametrize("way", ["repair", "by hand"])
def test_derived_files_are_made_again_from_the_record_and_the_contents(vector, way):
    folder, expected = vector
    if way == "by hand":
        drop_as_the_page_says(folder)
    for path in [*folder.glob("segment-*"), *folder.glob("order-*")]:
        path.unlink()
    shutil.rmtree(folder / "distances", ignore_errors=True)
    if way == "repair":
        assert nd.Store.repair(folder).damaged == ()
    with nd.Store(folder) as store:
        assert answers_as_expected(store, expected)
    made = StoreFolder(folder)
    assert holds_all_postings(made, 1)


def test_a_store_has_the_distance_of_its_recipe(tmp_path):
    with nd.Store(tmp_path / "store", method="simhash", recipe=nd.Recipe(max_distance=40)) as store:
        store.check_and_add("a", TEXTS[0])
    assert StoreFolder(tmp_path / "store").facts["max_distance"] == 40


NEWER = (
    r"has version 2 of the format of {}; this version of neardup reads 1. Install a version of neardup that reads it"
)
OLDER = (
    "has version 0 of the format of stores; this version of neardup reads 1. Export it with the version of neardup that "
    "wrote it: `neardup store export`. Then make a store of the export with this one: `neardup store import`"
)


@pytest.mark.parametrize(("version", "message"), [(2, NEWER.format("stores")), (0, OLDER)])
@pytest.mark.parametrize("mode", ["r", "w"])
def test_a_store_of_another_version_is_refused(tmp_path, version, message, mode):
    shutil.copytree(FOLDERS[0], tmp_path / "store")
    set_fact(tmp_path / "store", "format", version)
    for use in (lambda: nd.Store(tmp_path / "store", mode=mode), lambda: nd.Store.repair(tmp_path / "store")):
        with pytest.raises(nd.DataError, match="record.sqlite " + message):
            use()


def test_a_record_of_another_version_may_have_other_tables(tmp_path):
    shutil.copytree(FOLDERS[0], tmp_path / "store")
    with contextlib.closing(sqlite3.connect(tmp_path / "store/record.sqlite")) as base, base:
        base.execute("ALTER TABLE facts DROP COLUMN checksum")
        base.execute("DROP TABLE gone")
        base.execute("UPDATE facts SET value = '2' WHERE name = 'format'")
    with pytest.raises(nd.DataError, match="record.sqlite " + NEWER.format("stores")):
        nd.Store(tmp_path / "store")


@pytest.mark.parametrize(("version", "message"), [(2, NEWER.format("stores")), (0, OLDER)])
def test_contents_of_another_version_are_refused(tmp_path, version, message):
    shutil.copytree(FOLDERS[0], tmp_path / "store")
    with (tmp_path / "store/rows-0").open("r+b") as file:
        file.seek(8)
        file.write(struct.pack("<I", version))
    with pytest.raises(nd.DataError, match="rows-0 " + message):
        nd.Store(tmp_path / "store")


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (2, NEWER.format("exports")),
        (
            0,
            "has version 0 of the format of exports; this version of neardup reads 1. Make a store of it with the version of neardup "
            "that wrote it: `neardup store import`. Then export that with a later version: `neardup store export`",
        ),
        (True, "has version True of the format of exports"),
    ],
)
def test_an_export_of_another_version_is_refused(tmp_path, version, message):
    shutil.copytree(EXPORTS[0], tmp_path / "export")
    facts = tmp_path / "export/store.json"
    facts.write_text(json.dumps(json.loads(facts.read_text("utf-8")) | {"format": version}))
    with pytest.raises(nd.DataError, match="store.json " + message):
        nd.Store.from_export(tmp_path / "store", tmp_path / "export")
    assert not (tmp_path / "store").exists()


def test_the_plan_of_the_record_decides(tmp_path, monkeypatch):
    """A later version may cut signatures otherwise, take other texts, and sieve at another distance."""
    [folder] = [folder for folder in FOLDERS if folder.name == "minhash"]
    shutil.copytree(folder, tmp_path / "store")
    expected = expected_of(folder)
    monkeypatch.setattr("neardup.store.candidates.minhash.minhash_bands", lambda least: Bands(3, 7))
    monkeypatch.setattr("neardup.store.candidates.minhash.minhash_agreement", lambda least, bands: 20)
    monkeypatch.setattr("neardup.matching.resolved_options.distance_limit", lambda recipe, options: 1)
    monkeypatch.setattr("neardup.matching.resolved_options.min_tokens_of", lambda *given: 99)
    with nd.Store(tmp_path / "store") as store:
        assert answers_as_expected(store, expected)
        store.check_and_add("more", TEXTS[0])
        store.compact()
        assert answers_as_expected(store, expected)
        store.export(tmp_path / "export")
    with nd.Store.from_export(tmp_path / "again", tmp_path / "export") as store:
        assert answers_as_expected(store, expected)
    with (
        nd.Store(tmp_path / "store", mode="r") as store,
        pytest.raises(nd.OptionError, match="finds candidates otherwise. Use that version, or name files of texts"),
    ):
        options_of_store(store, store.recipe, store.options)
    plans = [StoreFolder(tmp_path / name).facts["plan"] for name in ("store", "again")]
    assert plans[0] == plans[1] == StoreFolder(folder).facts["plan"]
    with nd.Store(tmp_path / "new", method="minhash") as store:
        store.check_and_add("a", TEXTS[0])
    with contextlib.closing(sqlite3.connect(tmp_path / "new/record.sqlite")) as base:
        [[plan]] = base.execute("SELECT value FROM facts WHERE name = 'plan'")
    assert json.loads(plan) == {"agreement": 20, "bands": 3, "max_distance": 1, "min_tokens": 99, "rows": 7}


@pytest.mark.parametrize("folder", EXPORTS, ids=named)
def test_an_export_of_a_vector_becomes_a_store_with_its_documents(folder, tmp_path):
    expected = expected_of(folder)
    with nd.Store.from_export(tmp_path / "store", folder) as store:
        assert holds_as_expected(store, expected)
        assert answers_as_expected(store, expected)
        assert store.state == expected["state"]


# ----------------------------------------------------------------------------------------- a reader that has only the page


def holds_all_postings(store, min_tokens):
    for name, entries in store.expected_postings(min_tokens).items():
        held = [entry for entry in store.postings.get(name, []) if name == "removed" or entry[1] not in store.gone]
        assert sorted(held) == entries, name
    if store.rules["method"] == "exact":
        store.check_orders(min_tokens)
    return True


def test_the_page_is_enough_to_read_every_field_of_a_store(vector):
    folder, expected = vector
    store = StoreFolder(folder)
    assert recipe_digest(store.recipe) == expected["recipe"]
    assert store.facts["state"] == expected["state"]
    assert {name: store.rules[name] for name in expected["options"]} == expected["options"]
    made = [{name: value for name, value in row.items() if name != "text"} for row in expected["documents"]]
    assert [of_document(row) for row in store.documents.values()] == made
    assert all(row["survivor"] in {*store.documents} | store.gone for row in store.removed)


def judgement_of(row):
    """A judgement of the file as the vectors expect it; its texts are null where the export has none."""
    names = {side: row[f"{side}_id"] and json.loads(row[f"{side}_id"]) for side in ("left", "right")}
    kept = {name: row[name] for name in ("kind", "judged", "similarity", "distance")}
    return kept | names | {"same": bool(row["same"]), "texts": [row["left_text"], row["right_text"]]}


def test_the_page_is_enough_to_read_texts_and_judgements(vector):
    folder, expected = vector
    store = StoreFolder(folder)
    if "removed" not in expected:
        assert (store.texts, store.removed_texts, store.judgements) == ({}, {}, [])
        return
    texts = {row["id"]: row["text"] for row in expected["documents"]}
    assert {store.documents[number]["id"]: text for number, text in store.texts.items()} == texts
    removed = {
        number: [*found[:1], store.documents[store.removed[number]["survivor"]]["id"], found[1]]
        for number, found in store.removed_texts.items()
    }
    assert [removed[number] for number in sorted(removed)] == expected["removed"]
    assert [judgement_of(row) for row in store.judgements] == expected["judgements"]
    with nd.Store(folder, mode="r") as read:
        assert {row["id"]: read.get(row["id"]).text for row in expected["documents"]} == texts
        recent = [[each.id, each.duplicate_of, each.text] for each in reversed(read.recent())]
        assert recent == expected["removed"]
        assert [each.same for each in read.judgements()] == [row["same"] for row in expected["judgements"]]


def test_the_page_is_enough_to_make_every_posting_of_a_store(vector):
    folder, _ = vector
    store = StoreFolder(folder)
    assert holds_all_postings(store, 1)
    if store.rules["method"] == "simhash":
        near = {number: row["fingerprint"] for number, row in store.documents.items() if row["tokens"] >= 8}
        assert {number: value for number, value in store.distances.items() if number not in store.gone} == near


def test_a_vector_has_documents_under_two_orders():
    versions = [
        {*StoreFolder(folder).check_orders(1).values()} for folder in FOLDERS if folder.name.startswith("exact")
    ]
    assert versions == [{0, 1}, {1}, {0, 1}, {0, 1}]  # the one of cosines was compacted


@pytest.mark.parametrize(
    ("options", "min_tokens"),
    [
        ({"similarity": "weighted"}, 1),
        ({"similarity": "containment"}, 1),
        ({"similarity": "cosine", "floor": 0.1}, 1),
        ({"similarity": "edit"}, 1),
        ({"method": "minhash", "min_similarity": 1.0}, 1),
        ({"method": "minhash", "min_similarity": 0.3}, 1),
        ({"method": "minhash", "recipe": nd.Recipe(bits=100)}, 1),
        ({"similarity": nd.Similarity(measure="jaccard", word_shingle=2)}, 0),
        ({"method": "simhash", "max_distance": 40, "similarity": "edit"}, 1),
    ],
    ids=str,
)
def test_the_page_is_enough_for_every_similarity(tmp_path, monkeypatch, options, min_tokens):
    set_sizes(monkeypatch, learned=4)
    with nd.Store(tmp_path / "store", keep="always", threads=1, **options) as store:
        store.check_and_add_many(range(len(TEXTS)), TEXTS)
        store.check_and_add_many(["more", "3"], [TEXTS[3] + " More.", TEXTS[0]])
        store.remove([0, 5])
    read = StoreFolder(tmp_path / "store")
    assert len(read.documents) == len(TEXTS)
    assert holds_all_postings(read, min_tokens)


@pytest.mark.parametrize("folder", EXPORTS, ids=named)
def test_the_page_is_enough_to_read_an_export(folder):
    expected, (facts, documents, removed) = expected_of(folder), read_export(folder)
    assert recipe_digest(facts["recipe"]) == expected["recipe"]
    assert {name: facts["rules"][name] for name in expected["options"]} == expected["options"]
    assert facts["state"] == expected["state"]
    for row, made in zip(documents, expected["documents"], strict=True):
        coded = {name: None if row[name] is None else json.loads(row[name]) for name in ("id", "metadata")}
        coded |= {name: row[name].hex() for name in ("digest", "fingerprint")}
        found = of_document(row | coded)
        assert found == {name: made[name] for name in made if name != "text" or "text" in found}
    assert all(0 <= row["survivor"] < len(documents) for row in removed)
    if "removed" in expected:
        names = [json.loads(row["id"]) for row in documents]
        found = [[json.loads(row["id"]), names[row["survivor"]], row["text"]] for row in removed]
        assert found == expected["removed"]
        file = SealedFile(folder / "judgements.parquet")
        assert file.seal == facts["seals"]["judgements.parquet"]
        assert [judgement_of(row) for row in file.rows] == expected["judgements"]
