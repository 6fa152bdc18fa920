"""`dedup --against STORE` decides as with the texts of the kept documents as the reference."""

import json
import random
import shutil
from pathlib import Path

import pytest
from sizes import set_sizes
from streams import WAYS, allowed, near_copies

import neardup as nd
from neardup.store.store import Store


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    set_sizes(monkeypatch, texts=13)


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
        for name in ("reference", "reference_row", "only_digits"):  # a store without texts does not know the last
            line.pop(name)
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


IN_BOTH = [
    ({}, {"within": "id"}, "`within='id'`: the documents of seen have no columns"),
    ({}, {"elements": "tags"}, "seen is a store, and has texts"),
    ({}, {"against": ["seen", "kept.jsonl"]}, "a store is a reference only by itself"),
    ({}, {"recipe": "default-64"}, "recipe"),
    ({"method": "simhash", "similarity": "edit"}, {"similarity": "edit"}, "no elements to find candidates by"),
]
REFUSED = {
    "run": [
        *IN_BOTH,
        ({}, {"min_similarity": 0.7}, "seen decides with `min_similarity=0.8`. Give the same"),
        ({}, {"similarity": "edit", "method": "minhash"}, "seen decides|promises nothing"),
        ({"method": "minhash"}, {"method": "exact"}, "decides with `method='minhash'`"),
        ({}, {"resume": True}, "`resume=True`: a store may change"),
    ],
    "verify": [
        *IN_BOTH,
        ({}, {"similarity": "edit"}, "seen decides with `similarity='jaccard'`"),
        ({"method": "simhash", "min_similarity": 0}, {}, "seen decides by distance alone"),
    ],
}


@pytest.mark.parametrize(
    ("what", "store", "options", "message"), [(what, *each) for what in REFUSED for each in REFUSED[what]]
)
def test_what_does_not_go_together_is_refused(what, store, options, message):
    filled(list(near_copies(10, 1)), **store)
    for name in ("in.jsonl", "made.jsonl"):
        Path(name).write_text('{"id": 1, "text": "x", "tags": ["a"]}\n')
    call, output = (nd.deduplicate_files, "out.jsonl") if what == "run" else (nd.verify_files, "made.jsonl")
    inputs = ("in.jsonl", output) if what == "run" else (output, "in.jsonl")
    with pytest.raises(nd.NeardupError, match=message):
        call(*inputs, **{"against": "seen", **options})
    assert not Path("out.jsonl").exists()


@pytest.mark.parametrize(
    ("method", "similarity", "least"), [way for way in WAYS if allowed(*way[:2]) and way[:2] != ("simhash", "edit")]
)
def test_a_run_against_a_store_is_verified(method, similarity, least):
    options = {"method": method, "similarity": similarity, "min_similarity": least}
    filled(list(near_copies(40, 12)), gone=(0, 1), **options)
    nd.deduplicate_files("in.jsonl", "out.jsonl", against="seen", **options)
    with Store("seen") as store:  # the run did not compare with these
        store.check_and_add_many(["later"], [lines("in.jsonl")[0]["text"]])
    found = nd.verify_files("out.jsonl")
    assert (found.failures, found.removed) == (0, len(lines("out.duplicates.jsonl")))
    assert any(line["survivor_row"] is None for line in lines("out.duplicates.jsonl"))


def test_a_run_of_another_tool_against_a_store_is_verified():
    filled(list(near_copies(40, 12)))
    nd.deduplicate_files("in.jsonl", "out.jsonl", against="seen")
    Path("alone").mkdir()
    Path("out.jsonl").rename("alone/out.jsonl")
    assert nd.verify_files("alone/out.jsonl", "in.jsonl", against="seen").failures == 0
    with Store("seen") as store:
        store.check_and_add_many(["later"], [lines("alone/out.jsonl")[0]["text"]])
    found = nd.verify_files("alone/out.jsonl", "in.jsonl", against="seen")
    assert [check.name for check in found.checks if check.failures] == ["apart"]


@pytest.mark.parametrize("change", ["a survivor of the store", "a similarity", "a duplicate of the store"])
def test_what_is_wrong_with_a_run_against_a_store_is_found(change):
    texts = list(near_copies(40, 12))
    filled(texts)
    nd.deduplicate_files("in.jsonl", "out.jsonl", against="seen")
    audit = lines("out.duplicates.jsonl")
    at = next(i for i, line in enumerate(audit) if line["survivor_row"] is None)
    if change == "a survivor of the store":
        audit[at]["reference_row"] += 1
    elif change == "a similarity":
        audit[at]["similarity"] = 0.123
    else:
        gone = audit.pop(at)
        removed = lines("in.jsonl")[gone["row"]]
        Path("out.jsonl").write_text(Path("out.jsonl").read_text() + json.dumps(removed) + "\n")
    Path("out.duplicates.jsonl").write_text("".join(json.dumps(line) + "\n" for line in audit))
    found = nd.verify_files("out.jsonl")
    failing = {check.name for check in found.checks if check.failures}
    assert failing & {"survivors", "stated", "apart"}


def test_runs_against_a_store_are_reported_and_explained():
    filled(list(near_copies(40, 12)))
    nd.deduplicate_files("in.jsonl", "out.jsonl", against="seen")
    assert "shows no texts" not in str(nd.report("out.duplicates.jsonl", "page.html"))
    line = next(line for line in lines("out.duplicates.jsonl") if line["survivor_row"] is None)
    assert nd.explain("out.duplicates.jsonl", line["id"]).removed[0]["reference"] == "seen"
    kept = lines("out.jsonl")[0]["id"]
    assert nd.explain("out.duplicates.jsonl", kept).removed == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: Store("seen").remove(["k5"]), "seen is not what it was when the run was made"),
        (lambda: shutil.rmtree("seen"), "seen"),
        (lambda: _forget("store"), "does not say what seen held"),
    ],
)
def test_a_store_that_has_changed_since_is_refused(change, message):
    filled(list(near_copies(20, 1)))
    nd.deduplicate_files("in.jsonl", "out.jsonl", against="seen")
    change()
    with pytest.raises(nd.InputError, match=message):
        nd.verify_files("out.jsonl")


def _forget(name):
    """Take what the run recorded of the store out of its summary."""
    summary = json.loads(Path("out.summary.json").read_text())
    del summary["files"]["content"][name]
    Path("out.summary.json").write_text(json.dumps(summary))


def test_a_summary_that_was_changed_is_told():
    filled(list(near_copies(20, 1)))
    nd.deduplicate_files("in.jsonl", "out.jsonl", against="seen")
    summary = json.loads(Path("out.summary.json").read_text())
    summary["files"]["content"]["store"] = "many"
    Path("out.summary.json").write_text(json.dumps(summary))
    with pytest.raises(nd.DataError, match="not the summary of a run"):
        nd.verify_files("out.jsonl")
