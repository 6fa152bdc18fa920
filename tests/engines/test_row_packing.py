"""Rows on their way to buckets: all arrive, those with equal keys in one bucket, in the order of their keys."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.engines import packing
from neardup.engines.packing import pack, pack_all, unpack, unsorted
from neardup.engines.stages import Output

SCHEMA = pa.schema({"x": pa.int64(), "y": pa.int64(), "what": pa.large_string(), "some": pa.large_list(pa.int64())})
KEYED, LOOSE = Output(SCHEMA, ("x", "y")), Output(SCHEMA)
INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 2)
ROWS = st.lists(
    st.tuples(INTEGERS, INTEGERS, st.none() | st.text(max_size=3), st.lists(st.integers(0, 9), max_size=3)), max_size=40
)


def table_of(rows):
    return pa.table([list(column) for column in zip(*rows, strict=True)] if rows else [[]] * 4, SCHEMA)


def buckets_of(packed):
    found = {}
    for each in packed:
        found.setdefault(each.bucket, []).append(each.content)
    return found


def rows_in(table):
    return [tuple(row.values()) for row in table.to_pylist()]


def ordered(rows):
    return sorted(rows, key=repr)


@given(ROWS, st.integers(0, 40), st.sampled_from([1, 2, 16, 61]))
def test_rows_arrive_by_key_and_in_its_order(rows, cut, buckets):
    packed = [each for some in (rows[:cut], rows[cut:]) for each in pack(table_of(some), KEYED, buckets)]
    assert sum(each.rows for each in packed) == len(rows)
    arrived, keys = [], []
    for bucket, contents in buckets_of(packed).items():
        assert 0 <= bucket < buckets
        of_bucket = rows_in(unpack(contents, KEYED))
        assert ordered(of_bucket) == ordered(rows_in(unsorted(contents, KEYED)))
        assert [row[:2] for row in of_bucket] == sorted(row[:2] for row in of_bucket)
        arrived += of_bucket
        keys += {row[:2] for row in of_bucket}
    assert ordered(arrived) == ordered(rows)
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("output", [KEYED, LOOSE])
def test_no_rows_have_their_columns(output):
    assert list(pack(table_of([]), output, 16)) == []
    assert unpack([], output).schema == unsorted([], output).schema == SCHEMA


def test_what_a_stage_yields_is_packed_in_pieces():
    rows = [(at % 5, at, "é" * (at % 7), list(range(at % 3))) for at in range(300)]
    found = [(name, table_of(rows[at : at + 10])) for at in range(0, 300, 10) for name in ("keyed", "loose")]
    packed = list(pack_all(found, {"keyed": KEYED, "loose": LOOSE}, 3, piece_bytes=2000))
    of = {name: [each for other, each in packed if other == name] for name in ("keyed", "loose")}
    assert {each.bucket for each in of["loose"]} == {0}
    assert 3 < len(of["loose"]) < 30
    assert rows_in(unsorted([each.content for each in of["loose"]], LOOSE)) == rows
    keyed = [unpack(contents, KEYED) for contents in buckets_of(of["keyed"]).values()]
    assert ordered(rows_in(pa.concat_tables(keyed))) == ordered(rows)


def test_a_piece_that_is_larger_than_all_at_once_is_whole():
    table = table_of([(at, 0, "x" * 1000, [at] * 100) for at in range(100)]).slice(3, 50)
    [(_, packed)] = pack_all([("all", table)], {"all": LOOSE}, 16, piece_bytes=1)
    assert unsorted([packed.content], LOOSE).equals(table)


@pytest.mark.parametrize("shift", [0, 7, 32, 40, 50])
def test_keys_spread_over_buckets(shift):
    of = packing.buckets_of(pa.table({"x": np.arange(1000) << shift}), ("x",), 16)
    assert np.bincount(of, minlength=16).min() > 30
