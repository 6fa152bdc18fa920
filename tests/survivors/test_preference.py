"""Values of columns as an order and as groups."""

import datetime
import functools
import json
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.options import DedupOptions
from neardup.text.preference import Kinds, groups_of, kinds_in, ranks_of, sort_keys, token_of


def ranked(*values):
    tokens = [None if value is None else json.dumps(value, ensure_ascii=False) for value in values]
    found = ranks_of(pa.array(tokens, pa.large_string()), "score")
    return found.ranks.tolist(), found.compared_as


@given(st.lists(st.none() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)))
def test_numbers_are_compared_exactly_whatever_their_size(values):
    ranks, _ = ranked(*values)
    order = sorted({value for value in values if value is not None})
    assert ranks == [-1 if value is None else order.index(value) for value in values]


@given(st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs", "N"]), min_size=1).map("_".__add__)))
def test_text_is_compared_by_code_points(values):
    ranks, _ = ranked(*values)
    order = sorted({value for value in values if value is not None})
    assert ranks == [-1 if value is None else order.index(value) for value in values]


NUMBERS = st.integers() | st.integers(-(2**90), 2**90) | st.floats()


@given(
    st.lists(st.none() | st.booleans() | NUMBERS | NUMBERS.map(str))
    | st.lists(st.none() | st.datetimes(timezones=st.none() | st.timezones()).map(lambda each: each.isoformat()))
    | st.lists(st.none() | st.text().map("_".__add__))
    | st.lists(NUMBERS.map(str) | st.dates().map(str) | st.sampled_from(["20240131", "n/a", "nan"]))
)
def test_sort_keys_have_the_order_of_ranks_and_parts_the_kinds_of_all(values):
    tokens = pa.array([token_of(value, "score") for value in values], pa.large_string())
    parts = functools.reduce(
        lambda a, b: a | b, (kinds_in(tokens.slice(at, 3)) for at in range(0, len(tokens), 3)), Kinds()
    )
    try:
        expected = ranks_of(tokens, "score")
    except nd.DataError:
        with pytest.raises(nd.DataError):
            parts.compared_as("score")
        return
    compared_as = parts.compared_as("score")
    assert compared_as == expected.compared_as
    keys = [None if key is None else key.encode() for key in sort_keys(tokens, compared_as).to_pylist()]
    order = sorted({key for key in keys if key is not None})
    assert [-1 if key is None else order.index(key) for key in keys] == expected.ranks.tolist()


def test_strings_of_numbers_and_of_dates_are_compared_as_what_they_mean():
    assert ranked("10", "9", "-1.5e3") == ([2, 1, 0], "numbers")
    assert ranked("10", 9) == ([1, 0], "numbers")
    assert ranked("2024-01-02", "2023-12-31T23:00:00-05:00", "2024-01-01T04:00:00Z") == ([1, 0, 0], "dates")
    assert ranked("10%", "9%", "n/a") == ([0, 1, 2], "text")
    assert ranked("20240102", "2023-12-31") == ([1, 0], "dates")
    assert ranked("nan", "n/a") == ([1, 0], "text")
    assert ranked(True, False, None) == ([1, 0, -1], "numbers")
    assert ranked("NaN", "1") == ([-1, 0], "numbers")


def test_numbers_among_text_are_refused_with_an_example_of_each_and_its_row():
    with pytest.raises(nd.DataError) as problem:
        ranks_of(pa.array(["5", None, "6", '"good"'], pa.large_string()), "score", pa.nulls(4))
    assert str(problem.value) == (
        "Column \"score\" has text, such as 'good' (row 3), among numbers, such as 5 (row 0): these have no common order. "
        "Values must be all numbers, all dates and times in ISO 8601, or all text. Correct them or make them null, name "
        "another column, or say with `keep_as` how they are compared."
    )


def test_ids_and_numbers_as_long_as_a_text_are_shown_by_their_first_characters():
    values, ids = ["5" * 4000, '"good"'], ["7" * 4000, f'"{"é" * 10**5}"']
    with pytest.raises(nd.DataError) as problem:
        ranks_of(pa.array(values, pa.large_string()), "score", pa.array(ids, pa.large_string()))
    assert f"such as {'5' * 60}… (row 0, id {'7' * 60}…)" in str(problem.value)
    assert f'(row 1, id "{"é" * 59}…)' in str(problem.value)


def test_groups_are_of_equal_values_and_of_those_without_any():
    groups = groups_of(pa.array(['"1"', "1", None, '"x"', None, '"X"'], pa.large_string())).tolist()
    assert groups[0] == groups[1]
    assert groups[2] == groups[4]
    assert len(set(groups)) == 4


def test_what_a_function_may_return():
    assert token_of(np.float32(0.5), "keep") == "0.5"
    assert token_of(math.nan, "keep") is None
    assert token_of(datetime.date(2024, 1, 2), "keep") == '"2024-01-02"'
    assert token_of(datetime.datetime(2024, 1, 2, 3, tzinfo=datetime.UTC), "keep") == '"2024-01-02T03:00:00+00:00"'
    for value in ([1], {}, object()):
        with pytest.raises(nd.DataError, match="It must return a number, a string, a date or None"):
            token_of(value, "keep")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": "max:"}, "`keep='max:'`: give one of first, last, longest, shortest, max:COLUMN, min:COLUMN."),
        ({"keep": "best:score"}, "`keep='best:score'`: give one of"),
        ({"keep": None}, "`keep=None`: give one of"),
        ({"prefer_source": ("a", "a")}, "`prefer_source=('a', 'a')`: give each source once, by its name."),
        ({"prefer_source": ("a", "")}, "`prefer_source=('a', '')`: give each source once, by its name."),
        ({"within": ""}, "`within=''`: give the name of a column."),
        ({"within": 3}, "`within=3`: give the name of a column."),
    ],
)
def test_rules_that_cannot_be_are_refused(options, message):
    with pytest.raises(nd.OptionError) as problem:
        DedupOptions(**options)
    assert message in str(problem.value)


def test_options_name_what_they_need():
    assert DedupOptions(keep="max:meta.score", within="lang").columns == ("meta.score", "lang")
    assert DedupOptions(keep="min:lang", within="lang").columns == ("lang",)
    both = DedupOptions(keep=len, within=str.lower)
    assert (both.columns, both.functions) == ((), {"keep()": len, "within()": str.lower})
    assert (both.as_dict()["keep"], both.as_dict()["within"]) == ("len()", "str.lower()")


def test_without_a_value_nothing_is_said_of_the_comparison():
    for values, compared_as in (([None, 3], "numbers"), ([None, None], None)):
        table = pa.table({"text": ["one", "two"], "score": pa.array(values, pa.int64())})
        assert nd.deduplicate(table, keep="max:score").summary.compared_as == compared_as
