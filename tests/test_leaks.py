"""`leaks`: what of a test set is in the training set, at three strengths and with its place, as defined."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import neardup as nd

words = st.sampled_from("ferry clock bread bridge stone".split())
texts = st.lists(st.lists(words, max_size=12).map(" ".join), min_size=1, max_size=6)
SALT = "How many grams of salt go into the plain loaf?"
TRAIN = [
    f"A quiz for bakers. {SALT} Ten, as ever, and not a gram more.",
    "An oak stood in the yard.",
    "Tulips are sold on Monday.",
]
TEST = [
    "an OAK stood in the yard.",
    "Tulips are sold on Mondays",
    SALT,
    "How many?",
    "The bridge is closed to all in winter.",
]


def strongest(item, train, *, least=0.7, share=0.7, run=6, tokens=5):
    """The strength of a test document and the row of the training document, by the definition."""
    equal = [row for row, text in enumerate(train) if naive.normalize(text) == naive.normalize(item)]
    if equal:
        return "exact", equal[0]
    near = [(-naive.similarity(item, text), row) for row, text in enumerate(train)]
    if min(near)[0] <= -least:
        return "near", min(near)[1]
    mine = naive.tokens(item)
    if len(mine) < tokens:
        return None, None
    held = []
    for row, text in enumerate(train):
        part, longest = naive.item_share(mine, naive.tokens(text)), naive.longest_run(mine, naive.tokens(text))
        if part >= share or longest >= run:
            held.append((-part, -longest if longest >= 5 else 0, row))
    return ("contained", min(held)[2]) if held else (None, None)


@given(texts, texts)
def test_leaks_are_those_of_the_definition(train, test):
    found = nd.leaks(train, test, min_similarity=0.7, min_share=0.7, min_run=6, min_tokens=5)
    expected = [strongest(item, train) for item in test]
    listed = {row["row"]: (row["strength"], row["train_row"]) for row in found.items.to_pylist()}
    assert [listed.get(row, (None, None)) for row in range(len(test))] == expected
    assert found.leaked.tolist() == [strength is not None for strength, _ in expected]
    for row in found.items.to_pylist():
        text = train[row["train_row"]]
        if row["strength"] == "contained":
            assert row["passage"] == text[row["start"] : row["end"]]
            mine, passage = naive.tokens(test[row["row"]]), naive.tokens(row["passage"])
            part, longest = naive.item_share(mine, passage), naive.longest_run(mine, passage)
            assert part == pytest.approx(row["item_share"]) or longest == row["item_run"]
        elif row["strength"] == "exact":
            assert (row["start"], row["end"], row["similarity"]) == (0, len(text), 1.0)


@given(texts, texts)
def test_each_test_document_is_looked_for_by_itself(train, test):
    whole = nd.leaks(train, test, min_tokens=5).leaked.tolist()
    assert whole == [bool(nd.leaks(train, [item], min_tokens=5).leaked[0]) for item in test]


def test_three_strengths_in_one_table():
    found = nd.leaks(TRAIN, TEST, min_similarity=0.5)
    columns = ["row", "strength", "train_row", "start", "end", "item_share", "item_run"]
    assert found.items.select(columns).to_pylist() == [
        dict(zip(columns, values, strict=True))
        for values in [
            (0, "exact", 1, 0, 25, None, None),
            (1, "near", 2, None, None, None, None),
            (2, "contained", 0, 19, 65, 1.0, 10),
        ]
    ]
    assert found.items["passage"].to_pylist() == [None, None, SALT]
    counts = found.summary
    assert [(each.strength, each.documents, each.share) for each in counts.strengths] == [
        ("exact", 1, 0.2), ("near", 1, 0.2), ("contained", 1, 0.2),
    ]  # fmt: skip
    assert [each.found for each in counts.strengths] == [1, 2, 1]
    assert (counts.leaked, counts.share, counts.checked, counts.short) == (3, 0.6, 2, 3)
    assert "3 of 5 test documents are in the training set: 1 exact, 1 near, 1 contained" in repr(found)
    assert "<table>" in found._repr_html_()
    assert found.items.to_pandas()["start"].dtype == "Int64"


def test_data_of_every_kind_and_columns_with_other_names():
    frame = pd.DataFrame({"text": TRAIN, "id": list("abc")})
    tests = pl.DataFrame({"question": TEST, "key": [f"q{row}" for row in range(5)]})
    found = nd.leaks(frame, tests, test_text="question", test_id="key", min_similarity=0.5)
    assert found.items.select(["id", "train_id"]).to_pylist() == [
        {"id": "q0", "train_id": "b"},
        {"id": "q1", "train_id": "c"},
        {"id": "q2", "train_id": "a"},
    ]
    assert nd.leaks(iter(TRAIN), np.array(TEST), min_similarity=0.5).leaked.tolist() == found.leaked.tolist()
    assert nd.leaks([], TEST).summary.leaked == nd.leaks(TRAIN, []).summary.leaked == 0


def test_markup_does_not_hide_a_passage_and_its_place_is_that_of_the_page():
    page = f"Questions:<p>{SALT.replace(' ', '&nbsp;')}</p> And here is what else the bakers were asked on that day."
    [row] = nd.leaks([page], [SALT]).items.to_pylist()
    assert row["passage"] == page[row["start"] : row["end"]] == SALT.replace(" ", "&nbsp;")


REFUSED = [
    (lambda: nd.leaks(TRAIN, TEST, min_similarity=0), "every test document would match. Give a number above 0"),
    (lambda: nd.leaks(TRAIN, TEST, min_run=2), "`min_run=2`: give an integer from 5"),
    (lambda: nd.leaks(TRAIN, TEST, method="minhash"), "`method`: leaks() has no such option"),
    (lambda: nd.leaks(TRAIN, [{"a"}]), "`test` has sets or lists, and only texts can be searched for passages"),
    (lambda: nd.leaks(TRAIN, "test.jsonl"), "test is one str; give"),
]


@pytest.mark.parametrize(("call", "said"), REFUSED)
def test_what_cannot_be_searched_is_refused_in_words(call, said):
    with pytest.raises(nd.OptionError) as problem:
        call()
    assert said in str(problem.value)
