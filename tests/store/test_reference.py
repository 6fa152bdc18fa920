"""`dedup --against STORE` decides as with the texts of the kept documents as the reference."""

import json
import random
from pathlib import Path

import pytest
from test_building import allowed
from test_decisions import WAYS, near_copies

import neardup as nd
from neardup.store import reference
from neardup.store.store import Store


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reference, "AT_ONCE", 13)


def write(name, rows):
    Path(name).write_text("".join(json.dumps({"id": id_, "text": text}) + "\n" for id_, text in rows))


def lines(name):
    return [json.loads(line) for line in Path(name).read_text().splitlines()]


def filled(texts, gone=(), **options):
    """A store of these texts, and files of what it keeps and of others that are near."""
    with Store("seen", **options) as store:
        answers = store.check_and_add_many([f"k{i}" for i in range(len(texts))], texts)
        kept = [i for i, answer in enumerate(answers) if answer.is_new and i not in gone]
        store.remove([f"k{i}" for i in gone])
    write("kept.jsonl", [(f"k{i}", texts[i]) for i in kept])
    others = list(near_copies(30, 12)) + random.Random(1).sample(texts, 10)
    write("in.jsonl", [(f"d{i}", text) for i, text in enumerate(others)])


def decided(against, **options):
    nd.deduplicate_files("in.jsonl", "out.jsonl", against=against, overwrite=True, **options)
    audit = lines("out.duplicates.jsonl")
    for line in audit:
        line.pop("reference"), line.pop("reference_row")
    return lines("out.jsonl"), audit


@pytest.mark.parametrize("keep_elements", [True, False])
@pytest.mark.parametrize(
    ("method", "similarity", "least"), [way for way in WAYS if allowed(*way[:2]) and way[:2] != ("simhash", "edit")]
)
def test_a_store_decides_as_the_texts_that_it_keeps(monkeypatch, method, similarity, least, keep_elements):
    if not keep_elements:
        monkeypatch.setattr("neardup.dedup.room_for_elements", lambda _: 0)
    options = {"method": method, "similarity": similarity, "min_similarity": least}
    texts = list(near_copies(40, 12))
    filled(texts, gone=(0, 1), **options)
    content = {path: path.read_bytes() for path in Path("seen").glob("rows*")}
    expected = decided("kept.jsonl", **options)
    assert any(line["survivor_row"] is None for line in expected[1])
    assert decided("seen", **options) == expected
    assert {path: path.read_bytes() for path in Path("seen").glob("rows*")} == content


def test_the_method_is_that_of_the_store_and_the_audit_names_documents():
    filled(list(near_copies(40, 12)), method="minhash")
    done = nd.deduplicate_files("in.jsonl", "out.jsonl", against="seen", report="page.html")
    assert (done.summary.method, done.summary.reference_documents) == ("minhash", len(lines("kept.jsonl")))
    line = next(line for line in lines("out.duplicates.jsonl") if line["survivor_row"] is None)
    assert line["reference"] == "seen"
    with Store("seen", mode="r") as store:
        assert store.get(line["survivor_id"]) is not None


def test_very_many_that_are_alike_and_an_empty_store():
    words = [f"w{i}" for i in range(60)]
    Store("seen").close()
    choose = random.Random(3)
    texts = [" ".join(choose.choice("ab") if choose.random() < 0.04 else word for word in words) for _ in range(900)]
    write("in.jsonl", enumerate(texts))
    write("kept.jsonl", [])
    one = nd.deduplicate_files("in.jsonl", "one.jsonl", against="seen")
    with Store("seen") as store:
        store.check_and_add_many([f"k{i}" for i in range(300)], texts[:300])
        kept = [i for i in range(300) if store.get(f"k{i}")]
    assert one.summary.duplicates > 0
    write("kept.jsonl", [(f"k{i}", texts[i]) for i in kept])
    for method in ("auto", "exact"):
        assert decided("seen", method=method) == decided("kept.jsonl", method="exact")


@pytest.mark.parametrize(
    ("store", "options", "message"),
    [
        ({}, {"min_similarity": 0.7}, "seen decides with `min_similarity=0.8`. Give the same"),
        ({}, {"similarity": "edit", "method": "minhash"}, "seen decides|promises nothing"),
        ({"method": "minhash"}, {"method": "exact"}, "decides with `method='minhash'`"),
        ({}, {"within": "id"}, "`within='id'`: the documents of seen have no columns"),
        ({}, {"elements": "tags"}, "seen is a store, and has texts"),
        ({}, {"resume": True}, "`resume=True`: a store may change"),
        ({}, {"against": ["seen", "kept.jsonl"]}, "a store is a reference only by itself"),
        ({}, {"recipe": "default-64"}, "recipe"),
        ({"method": "simhash", "similarity": "edit"}, {"similarity": "edit"}, "no elements to find candidates by"),
    ],
)
def test_what_does_not_go_together_is_refused(store, options, message):
    filled(list(near_copies(10, 1)), **store)
    Path("in.jsonl").write_text('{"id": 1, "text": "x", "tags": ["a"]}\n')
    with pytest.raises(nd.NeardupError, match=message):
        nd.deduplicate_files("in.jsonl", "out.jsonl", **{"against": "seen", **options})
    assert not Path("out.jsonl").exists()


def test_a_run_against_a_store_is_not_verified_by_texts():
    filled(list(near_copies(20, 1)))
    nd.deduplicate_files("in.jsonl", "out.jsonl", against="seen")
    with pytest.raises(nd.InputError, match="seen is a store. This takes files of texts"):
        nd.verify_files("out.jsonl")
