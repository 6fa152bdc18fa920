"""Arrow columns as JSON values."""

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.io.formats.json.json_values import default_ids, json_values, quote, quoted

TEXT = pa.large_string()


@given(texts=st.lists(st.none() | st.text(), max_size=10), first=st.integers(0, 5))
def test_strings_are_quoted_as_json_wherever_the_array_begins(texts: list[str | None], first: int) -> None:
    array = pa.array(texts, TEXT)[first:]
    found = quoted(array).to_pylist()
    assert [value and json.loads(value) for value in found] == texts[first:]
    assert found == [value if value is None else quote(value) for value in texts[first:]]


def test_nothing_is_quoted_to_nothing() -> None:
    for array in (pa.array([], TEXT), pa.nulls(2, TEXT), pa.array([""], TEXT)):
        assert quoted(array).to_pylist() == [value if value is None else '""' for value in array.to_pylist()]


def test_rows_without_an_id_are_named_by_shard_and_row() -> None:
    assert default_ids('a"b.jsonl', [0, 17]).to_pylist() == ['"a\\"b.jsonl:0"', '"a\\"b.jsonl:17"']


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1.0, 0.25, -3.0, 1e22, 1e-7, None], pa.float64(), ["1.0", "0.25", "-3.0", "1e+22", "1e-7", "null"]),
        ([float("nan"), float("inf"), -float("inf")], pa.float32(), ["null"] * 3),
        ([0, -5, None], pa.int8(), ["0", "-5", "null"]),
        ([True, False, None], pa.bool_(), ["true", "false", "null"]),
        (['a"', None, "中"], pa.string(), ['"a\\""', "null", '"中"']),
    ],
)
def test_columns_become_json_values(values: list[Any], kind: Any, expected: list[str]) -> None:
    found = json_values(pa.array(values, kind), pa.field("x", kind)).to_pylist()
    assert found == expected
    assert all(json.loads(value) == given for value, given in zip(found, values, strict=True) if value != "null")
