"""Classes of documents with equal elements: who leads, and what the others are to the leader."""

import pyarrow as pa
import pytest

import neardup as nd
from engine_runs import batch_of, work_of
from neardup.engines.pairing.equal_elements import find
from neardup.engines.reading.documents import ranked, read
from neardup.engines.schemas import BEFORE_ALL, DOCUMENTS, NONE, PLACES, ROW_BITS
from neardup.engines.stages import Part

REFERENCE = 9


def classes_of(work, texts, reference=(), *, within=None, batches=1):
    """What the stage yields of all documents, by name: lists of rows. Documents of the reference are ("ref", row)."""
    size = -(-len(texts) // batches)
    pieces = [batch_of(texts, within).slice(at, size) for at in range(0, len(texts), size)]
    parts = [Part(0, iter(pieces)), Part(REFERENCE, iter([batch_of(list(reference))]), is_reference=True)]
    documents = [table for part in parts for name, table in read(work, False, part) if name == "documents"]
    found = find(pa.concat_tables([DOCUMENTS.schema.empty_table(), *documents]))
    return {name: [named(row) for row in table.to_pylist()] for name, table in found}


def named(row):
    return {name: doc_name(value) if name in ("doc", "leader", "reference") else value for name, value in row.items()}


def doc_name(doc):
    part, row = doc >> ROW_BITS, doc & ((1 << ROW_BITS) - 1)
    return None if doc == NONE else ("ref", row) if part == REFERENCE else row


def leaders(found):
    return [row["doc"] for row in found["leaders"]]


def members(found):
    return {row["doc"]: row["leader"] for row in found["members"]}


def test_equal_texts_and_equal_elements_are_of_one_class():
    found = classes_of(work_of(), ["a b c", "A b C!", "a b c", "c b a", "x y"])
    assert leaders(found) == [0, 4]
    assert members(found) == {1: 0, 2: 0, 3: 0}
    assert {row["doc"]: (row["is_copy"], row["outcome_rank"]) for row in found["members"]} == {
        1: (False, 1), 2: (True, 0), 3: (False, 3),
    }  # fmt: skip
    assert [row["leader"] for row in found["heads"]] == [0]
    assert {row["doc"]: (row["has_others"], row["has_later"]) for row in found["leaders"]} == {
        0: (True, True), 4: (True, False),
    }  # fmt: skip
    [leader] = classes_of(work_of(), ["a b c", "a b c"])["leaders"]
    assert not leader["has_later"]


def test_the_most_preferred_leads():
    assert leaders(classes_of(work_of(keep="last"), ["a b", "b a", "a b", "c"])) == [2, 3]


def test_copies_of_another_member_share_its_outcome():
    found = classes_of(work_of(), ["a b", "b a", "b a", "b a"])
    assert [(row["doc"], row["outcome_rank"], row["is_copy"]) for row in found["members"]] == [
        (1, 1, False), (2, 1, False), (3, 1, False),
    ]  # fmt: skip


def test_groups_keep_texts_apart_in_any_batches():
    texts, within = ["a b"] * 6, ['"x"', None, None, '"y"', None, '"x"']
    for batches in (1, 2, 3, 6):
        found = classes_of(work_of(within="g"), texts, within=within, batches=batches)
        assert sorted(leaders(found)) == [0, 1, 3]
        assert members(found) == {2: 1, 4: 1, 5: 0}


def test_an_empty_value_is_a_group_and_numbers_are_their_texts():
    found = classes_of(work_of(within="g"), ["a b"] * 5, within=['""', None, '""', "1", '"1"'])
    assert sorted(leaders(found)) == [0, 1, 3]
    assert classes_of(work_of(within="g"), ["a b"], within=['""'])["leaders"]


def test_texts_of_the_order_alone_are_not_equal_for_edit():
    work = work_of(similarity="edit")
    assert leaders(classes_of(work, ["a b", "b a", "A B", "a b !"])) == [0, 1, 3]


def test_distance_alone_decides_by_fingerprints():
    words = "one two three four five six seven eight nine"
    work = work_of(method="simhash", min_similarity=0, max_distance=3)
    found = classes_of(work, [words, words + "!", "other words " + words, "a", "a", "b"])
    assert leaders(found) == [0, 2]
    assert members(found) == {1: 0, 4: 3}


def test_texts_without_elements_are_equal_to_equal_texts_alone():
    similarity = nd.Similarity(measure="weighted", word_shingle=1, stop_words=["en"])
    recipe = nd.Recipe(segmenter="characters", min_tokens=1)
    for method, distance in (("exact", None), ("simhash", 40)):
        work = work_of(recipe, method=method, max_distance=distance, similarity=similarity)
        assert members(classes_of(work, ["the", "the.", "THE", "of"])) == {2: 0}


def test_a_reference_leads_and_its_documents_are_no_members():
    found = classes_of(work_of(keep="last"), ["a b", "b a", "c d"], ["a b", "b a", "b a", "d c", "e f"])
    assert sorted(leaders(found), key=str) == [("ref", 0), ("ref", 3), ("ref", 4)]
    assert {row["doc"]: row["reference"] for row in found["members"]} == {0: None, 1: ("ref", 1), 2: None}
    assert {row["doc"]: row["is_copy"] for row in found["members"]} == {0: True, 1: False, 2: False}
    assert {row["doc"]: row["has_others"] for row in found["leaders"]} == {
        ("ref", 0): False,  # its members are copies of documents of the reference
        ("ref", 3): True,
        ("ref", 4): False,
    }
    assert all(row["rank"] < -BEFORE_ALL // 2 for row in found["leaders"])


def test_documents_that_were_not_there_when_the_input_was_put_in_order_are_refused():
    part = Part(0, iter([batch_of(["one text", "another text"])]))
    [(_, documents)] = [each for each in read(work_of(keep="longest"), False, part) if each[0] == "documents"]
    placed = pa.table([[0], [7], [8]], PLACES.schema)
    [(_, found)] = ranked(merges=False).work(documents.slice(0, 1), placed)
    assert found.column("rank").to_pylist() == [8]
    with pytest.raises(nd.DataError, match="1 documents were not there when the input was put in order"):
        list(ranked(merges=False).work(documents, placed))


def test_no_documents():
    assert list(find(DOCUMENTS.schema.empty_table())) == []
    assert classes_of(work_of(), [None, None]) == {}
