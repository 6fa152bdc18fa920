"""Columns of lists in JSON lines and Parquet are read alike: by blocks, by rows, and as the definition writes them."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from neardup.errors import InputError
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.reading import Reading, stored_reading
from neardup.io.corpora.shards import find_shards
from neardup.text.given_elements import text_of

strings = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
lists = [st.lists(strings, max_size=4), st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4)]
others = st.one_of(st.none(), st.booleans(), st.floats(allow_nan=False), st.text("ab"), st.lists(st.one_of(st.none(), st.floats(0, 1), st.just(10**25), strings), max_size=3))  # fmt: skip


def read(path):
    """The texts of all rows, None where a row was rejected."""
    reading = Reading(elements="tags")
    corpus = FileCorpus(find_shards(str(path), reading=reading), reading.columns(), on_error="skip")
    found = []
    for _, batch in corpus.map(lambda batch: batch):
        assert batch.of_elements
        found += batch.texts.to_pylist()
    assert [each is None for each in found] == [
        row in {each.row for each in corpus.rejected} for row in range(len(found))
    ]
    return found


def expected(row):
    is_list = isinstance(row, list) and all(type(each) in (str, int) for each in row)
    return text_of(row) if is_list else None


@given(rows=st.one_of(*(st.lists(each, min_size=1, max_size=5) for each in lists), st.lists(st.one_of(*lists, others), min_size=1, max_size=6)))  # fmt: skip
@example([["a"], ["b", 1]])
@example([[], []])
@example([["2020-01-01"], ["1.0"]])
@example([[2**63]])
@settings(max_examples=80)
def test_arrays_of_json_lines_are_read_by_block_and_by_row(tmp_path_factory, rows):
    assume(any(expected(row) is not None for row in rows))  # a file without any is refused
    path = tmp_path_factory.mktemp("lists") / "in.jsonl"
    path.write_text("".join(json.dumps({"tags": row}, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    assert read(path) == [expected(row) for row in rows]


@given(
    rows=st.one_of(*(st.lists(st.one_of(st.none(), each), min_size=1, max_size=6) for each in lists)),
    large=st.booleans(),
)
@settings(max_examples=40)
def test_list_columns_of_parquet_are_read(tmp_path_factory, rows, large):
    assume(any(row is not None for row in rows))  # a file without any is refused
    path = tmp_path_factory.mktemp("lists") / "in.parquet"
    is_text = all(isinstance(each, str) for row in rows for each in row or ())
    item = pa.string() if is_text else pa.int64()
    pq.write_table(pa.table({"tags": pa.array(rows, pa.large_list(item) if large else pa.list_(item))}), path)
    assert read(path) == [None if row is None else text_of(row) for row in rows]


def test_strings_that_are_not_utf8_are_set_aside(tmp_path):
    content = pa.array([b"a", b"\xff", b"b"], pa.binary())
    broken = pa.Array.from_buffers(pa.string(), 3, content.buffers())
    table = pa.table({"tags": pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), broken)})
    pq.write_table(table, tmp_path / "in.parquet")
    assert read(tmp_path / "in.parquet") == ["s:a", None, "s:b"]


def test_nested_columns_and_keys_that_repeat(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text('{"tags": ["a"], "tags": ["b"]}\n{"tags": ["c"]}\n')
    assert read(path) == [None, "s:c"]


@pytest.mark.parametrize("name", ["in.csv", "in.tsv", "in.txt"])
def test_formats_without_lists_are_refused(tmp_path, name):
    path = tmp_path / name
    path.write_text("tags\na\n")
    with pytest.raises(InputError, match="`elements='tags'` is a column of lists, and a file of this format has none"):
        read(path)


def test_what_older_runs_recorded_of_reading_has_no_elements():
    recorded = {name: getattr(Reading(), name) for name in Reading.__slots__ if name != "elements"}
    assert stored_reading(recorded) == Reading()
    with pytest.raises(KeyError):
        stored_reading({})
