"""The gate in front of an index, and the documents of parsers that it is given."""

import json

import pytest

import neardup as nd
from neardup.integrations.gate import Gate
from neardup.integrations.parsed import of_docling, of_unstructured

FERRY = "The night ferry to the islands leaves at ten past nine from the old customs pier."
LATER = FERRY.replace("night", "evening")
BREAD = "Flour, water, salt and a day of patience make bread."
STORM = "The ferry does not run until the storm has passed."


@pytest.fixture(params=[True, False], ids=["texts", "no-texts"])
def gate(tmp_path, request):
    return Gate(str(tmp_path / "seen.store"), min_similarity=0.7, texts=request.param)


def reasons(found):
    return {each.id: each.reason for each in found.dropped}


def test_the_second_day_changes_nothing(gate):
    first = gate.decide(["a", "b", "c", 17], [FERRY, LATER, BREAD, FERRY.upper()], gone=True)
    assert first.passed == (0, 2)
    assert reasons(first) == {"b": "a near-duplicate of 'a' (similarity 0.7500)", 17: "the same text as 'a'"}
    assert gate.decide(["a", "b", "c", 17], [FERRY, LATER, BREAD, FERRY.upper()], gone=True) == first
    assert (first.removed, first.orphans, gate.kept()) == ((), (), ["a", "c"])


def test_the_duplicate_of_a_document_that_is_gone_passes(gate):
    gate.decide(["a", "b", "c"], [FERRY, LATER, BREAD])
    found = gate.decide(["b", "c"], [LATER, BREAD], gone=True)
    assert (found.passed, found.removed, found.orphans) == ((0, 1), ("a",), ())


def test_orphans_are_named_until_they_come_again(gate):
    gate.decide(["a", "b", "c"], [FERRY, LATER, BREAD])
    assert gate.forget(["a", "nobody"]).removed == ("a",)
    assert gate.decide(["c"], [BREAD]).orphans == ("b",)
    found = gate.decide(["b"], [LATER])
    assert (found.passed, found.orphans) == ((0,), ())


def test_an_update_replaces_and_lets_its_duplicates_pass(gate):
    ids = ["b", "a", "c"]
    gate.decide(["a", "b", "c"], [FERRY, LATER, BREAD])
    found = gate.decide(
        ids, [LATER, STORM, BREAD], gone=True
    )  # the duplicate comes first, when its document is still kept
    assert (found.passed, found.dropped, found.removed, found.orphans) == ((0, 1, 2), (), (), ())
    again = gate.decide(ids, [LATER, LATER, BREAD], gone=True)
    assert (again.passed, again.removed) == ((0, 2), ("a",))
    assert reasons(again) == {"a": "the same text as 'b'"}


def test_the_last_text_of_a_repeated_id_counts(gate):
    found = gate.decide(["a", "a", "b"], [FERRY, BREAD, FERRY])
    assert (found.passed, found.removed) == ((1, 2), ())
    assert reasons(found) == {"a": "a later text of 'a' took its place"}


def test_a_better_document_takes_the_place_of_others(tmp_path):
    gate = Gate(str(tmp_path / "seen.store"), min_similarity=0.7, keep="longest")
    first = gate.decide(["a", "b"], [FERRY, LATER])
    assert (first.passed, first.removed) == ((1,), ())
    assert reasons(first) == {"a": "a near-duplicate of 'b' (similarity 0.7500)"}
    better = gate.decide(["a", "b", "c"], [FERRY, LATER, LATER + "!!"], gone=True)
    assert (better.passed, better.removed) == ((2,), ("b",))
    assert gate.decide(["a", "b", "c"], [FERRY, LATER, LATER + "!!"], gone=True) == nd_same(better)


def nd_same(found):
    """The same decisions of a second day, which removes nothing more."""
    return type(found)(passed=found.passed, dropped=found.dropped, removed=(), orphans=found.orphans)


def test_nothing_and_empty_texts_are_decided(gate):
    assert gate.decide([], []).passed == ()
    found = gate.decide(["a", "b"], ["", " "])
    assert (found.passed, reasons(found)) == ((0,), {"b": "the same text as 'a'"})


@pytest.mark.parametrize(
    ("ids", "texts", "message"),
    [
        (["a"], [None], "null|None|string"),
        (["a"], [17], "string"),
        (["a"], [], "1 ids, 0 texts. Give a text for each id."),
        ([None], [FERRY], "id"),
        ([1.5], [FERRY], "1.5"),
    ],
)
def test_what_is_no_document_is_refused_and_nothing_is_changed(gate, ids, texts, message):
    gate.decide(["kept"], [BREAD])
    with pytest.raises(nd.NeardupError, match=message):
        gate.decide(ids, texts, gone=True)
    assert gate.kept() == ["kept"]


def test_a_store_that_drops_nothing_is_refused(tmp_path):
    place = str(tmp_path / "seen.store")
    with pytest.raises(nd.OptionError, match="such a store drops nothing"):
        Gate(place, keep="always")
    nd.Store(place, keep="always").close()
    with pytest.raises(nd.OptionError, match="drops nothing. Give another store."):
        Gate(place).decide(["a"], [FERRY])
    nd.Store(place).close()  # it was closed


def test_other_options_than_those_of_the_store_are_refused(gate):
    gate.decide(["a"], [FERRY])
    with pytest.raises(nd.OptionError, match="min_similarity"):
        Gate(gate.place, min_similarity=0.9).decide(["a"], [FERRY])


# ------------------------------------------------------------------------------------------------------------- parsers


def element(text, kind="NarrativeText", **metadata):
    return {
        "type": kind,
        "element_id": "0f",
        "text": text,
        "metadata": {"filename": "a.pdf", "page_number": 1} | metadata,
    }


def test_elements_of_unstructured_are_joined_by_document():
    elements = [
        element("Ferries", "Title"),
        element("ACME", "Header"),
        element(FERRY),
        element("7", "PageNumber"),
        element("", "PageBreak"),
        element(BREAD, file_directory="/data"),
        {"type": "Text", "text": STORM, "metadata": {"url": "https://example.org/"}},
        element("Seen on board", "Image"),
    ]
    elements = json.loads(json.dumps(elements))
    assert of_unstructured(elements) == [
        ("a.pdf", f"Ferries\n\n{FERRY}\n\nSeen on board"),
        ("/data/a.pdf", BREAD),
        ("https://example.org/", STORM),
    ]
    assert of_unstructured([element("7", "PageNumber")]) == [("a.pdf", "")]
    with pytest.raises(nd.DataError, match="Element 0: `metadata` has no `filename` and no `url`"):
        of_unstructured([{"type": "Text", "text": FERRY, "metadata": {}}])
    with pytest.raises(nd.DataError, match="Element 0: `text` is a NoneType"):
        of_unstructured([element(None)])


def test_a_document_of_docling_is_read_in_order_without_its_furniture():
    document = {
        "schema_name": "DoclingDocument",
        "version": "1.3.0",
        "name": "a",
        "origin": {"mimetype": "application/pdf", "binary_hash": 1, "filename": "a.pdf"},
        "furniture": {"self_ref": "#/furniture", "children": [], "label": "unspecified"},
        "body": {
            "self_ref": "#/body",
            "children": [{"$ref": "#/texts/1"}, {"$ref": "#/groups/0"}, {"$ref": "#/tables/0"}, {"$ref": "#/texts/0"}],
        },
        "groups": [
            {"self_ref": "#/groups/0", "label": "list", "children": [{"$ref": "#/texts/2"}, {"$ref": "#/texts/3"}]}
        ],
        "texts": [
            {"self_ref": "#/texts/0", "label": "text", "text": BREAD, "children": []},
            {"self_ref": "#/texts/1", "label": "section_header", "text": "Ferries"},
            {"self_ref": "#/texts/2", "label": "list_item", "text": FERRY},
            {"self_ref": "#/texts/3", "label": "page_footer", "content_layer": "furniture", "text": "7"},
        ],
        "tables": [
            {
                "self_ref": "#/tables/0",
                "label": "table",
                "data": {"grid": [[{"text": "ten"}, {"text": "past"}], [{"text": "nine"}]]},
            }
        ],
    }
    document = json.loads(json.dumps(document))
    assert of_docling(document) == ("a.pdf", f"Ferries\n\n{FERRY}\n\nten\tpast\n\nnine\n\n{BREAD}")
    document["body"]["children"].append({"$ref": "#/texts/9"})
    with pytest.raises(nd.DataError, match="The document names '#/texts/9', and does not have it."):
        of_docling(document)
    with pytest.raises(nd.DataError, match="This is no DoclingDocument"):
        of_docling({"texts": []})
