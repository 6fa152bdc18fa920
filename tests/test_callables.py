"""Functions that the caller brings and that raise: the error names them and the document, and has the cause."""

import json

import pytest

import neardup as nd
from neardup.recipe.tables.hashes import HashFunction

TEXTS = [
    f"the {number} ferry leaves the harbour at nine and comes back at noon" for number in ("first", "second", "third")
]
ROWS = [{"id": f"d{i}", "text": text} for i, text in enumerate(TEXTS)]


def fails_at(what):
    """A function that gives what it takes, but for what has `what` in it."""

    def function(given):
        if what in given:
            raise ZeroDivisionError("of mine")
        return [given] if isinstance(given, str) else len(given)

    return function


def longest_first(text):
    if "third" in text:
        raise ZeroDivisionError("of mine")
    return len(text)


OPTIONS = {
    "`keep=longest_first`": {"keep": longest_first},
    "`within=longest_first`": {"within": longest_first},
    "The segmenter 'mine'": {
        "recipe": nd.Recipe(segmenter=nd.Segmenter(fails_at("third"), name="mine", version="1"), min_tokens=1)
    },
    "The hash 'mine'": {
        "recipe": nd.Recipe(
            hash=HashFunction(fails_at(b"third"), name="mine", version="1", bits=64), bits=64, min_tokens=1
        )
    },
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("function", OPTIONS)
def test_the_document_of_a_file_is_named(function, threads, tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    with pytest.raises(nd.CallableError) as told:
        nd.deduplicate_files(path, str(tmp_path / "out.jsonl"), threads=threads, **OPTIONS[function])
    assert str(told.value).startswith(
        f'{function} raised ZeroDivisionError: of mine, in document "d2" (row 2 of its input), where'
    )
    assert str(told.value).endswith(". Mend the function.")
    assert isinstance(told.value.__cause__, ZeroDivisionError)
    assert (told.value.id, told.value.row) == ('"d2"', 2)
    assert [found.name for found in tmp_path.iterdir()] == ["in.jsonl"]


@pytest.mark.parametrize("function", OPTIONS)
def test_the_row_of_a_list_is_named(function):
    with pytest.raises(nd.CallableError) as told:
        nd.deduplicate(TEXTS, **OPTIONS[function])
    assert told.value.row == 2
    assert isinstance(told.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("at_once", [1, 2, 1000])
def test_of_a_line_its_document_is_named(tmp_path, monkeypatch, at_once):
    monkeypatch.setattr("neardup.fingerprints.unit_corpus.UNITS_AT_ONCE", at_once)
    path = tmp_path / "in.jsonl"
    rows = [{"id": 1, "text": "a\nb\nc"}, {"id": 2, "text": "\n".join(TEXTS)}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(
        nd.CallableError,
        match="of mine, in document 2 .row 1 of its input., where it was given 'the third ferry .*noon'",
    ) as told:
        nd.deduplicate_units(path, str(tmp_path / "out.jsonl"), unit="line", keep=longest_first)
    assert (told.value.id, told.value.row) == ("2", 1)


def test_a_long_text_is_shown_from_its_beginning():
    with pytest.raises(nd.CallableError, match="was given 'third third third .*' …. Mend"):
        nd.deduplicate(["third " * 1000], keep=longest_first)
    assert len(nd.CallableError("f", "x" * 1000, ValueError()).given) < 100
