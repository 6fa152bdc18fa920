"""Runs of ascending rows: found whatever batches they come in, and documents numbered by them."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_runs import batch_of
from neardup.engines.reading import sorted_runs as ascents
from neardup.engines.reading.documents import numbered
from neardup.engines.reading.row_selection import find, marked_rows, marks_in
from neardup.engines.schemas import ROW_BITS, marked
from neardup.engines.spark import scans, tasks
from neardup.engines.stages import Part

ROWS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["", "a", "b"]), st.integers(0, 1)), max_size=24)
"""Two columns of the order, and the file."""


@pytest.fixture
def partition(monkeypatch):
    monkeypatch.setattr(tasks, "partition", lambda: 7)


def runs_of(rows, cuts, *, is_strict):
    """What `runs_in` tells of rows that come in batches between some cuts."""
    edges = [0, *sorted(cut for cut in cuts if cut < len(rows)), len(rows)]
    schema = pa.schema({"c0": pa.int64(), "c1": pa.string(), ascents.FILE: pa.int64()})
    batches = [
        pa.record_batch([[row[at] for row in some] for at in range(3)], schema=schema)
        for some in (rows[begin:end] for begin, end in pairwise(edges))
    ]
    given = iter(batches)
    found = list(scans._runs(given, is_strict=is_strict, most=ascents.RUNS_PER_PART))
    assert next(given, None) is None  # or Spark ends the worker
    return [row for batch in found for row in batch.to_pylist()]


def naive_runs(rows, *, is_strict):
    def goes_on(before, row):
        ascends = before[:2] < row[:2] or (not is_strict and before[:2] == row[:2])
        return ascends and before[2] == row[2]

    begins = [at for at in range(len(rows)) if at == 0 or not goes_on(rows[at - 1], rows[at])]
    return [(begin, rows[begin][:2], rows[end - 1][:2]) for begin, end in pairwise([*begins, len(rows)])]


@given(rows=ROWS, cuts=st.lists(st.integers(0, 24), max_size=5), is_strict=st.booleans())
def test_runs_are_those_of_ascending_rows_in_whatever_batches(rows, cuts, is_strict):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tasks, "partition", lambda: 7)
        found = runs_of(rows, cuts, is_strict=is_strict)
    assert [run["part"] for run in found] == [7] * len(found)
    told = [(run["row"], (run["c0_first"], run["c1_first"]), (run["c0_last"], run["c1_last"])) for run in found]
    assert told == naive_runs(rows, is_strict=is_strict)


@pytest.mark.usefixtures("partition")
@pytest.mark.parametrize(
    "rows", [[(1, "a", 5), (None, "b", 5)], [(1, None, 5)], [(-n, "a", 5) for n in range(ascents.RUNS_PER_PART + 1)]]
)
def test_nulls_and_many_runs_have_no_order(rows):
    assert [(run["part"], run["row"]) for run in runs_of(rows, [], is_strict=True)] == [(7, None)]


@pytest.mark.usefixtures("partition")
def test_as_many_runs_as_can_be_are_told():
    assert (
        len(runs_of([(-n, "a", 5) for n in range(ascents.RUNS_PER_PART)], [9, 40], is_strict=True))
        == ascents.RUNS_PER_PART
    )


@pytest.mark.usefixtures("partition")
@pytest.mark.parametrize(
    ("numbers", "begins", "number"),
    [(None, (), 1007), ({7: [(0, 2), (5, 0)], 1: [(0, 1)]}, ((0, 1002), (5, 1000)), 1002), ({1: [(0, 0)]}, (), 1008)],
)
def test_a_part_has_the_number_of_its_first_run_or_one_that_none_has(numbers, begins, number):
    part = tasks.part_of(iter([]), is_reference=False, first=1000, before=0, numbers=numbers)
    assert (part.number, tuple(part.runs)) == (number, begins)


def part_with_runs():
    """Rows 0 to 2 are those of number 9, 3 to 5 those of 4, and 6 that of 5."""
    batches = [batch_of(["a b", "c d"]), batch_of([]), batch_of(["e f", "g h", "i j", "k l"]), batch_of(["m n"])]
    return Part(9, iter(batches), runs=((0, 9), (3, 4), (6, 5)))


def test_documents_are_numbered_by_runs():
    docs = np.concatenate([docs for _, docs in numbered(part_with_runs())])
    assert (docs >> ROW_BITS).tolist() == [9, 9, 9, 4, 4, 4, 5]
    assert (docs & ((1 << ROW_BITS) - 1)).tolist() == [0, 1, 2, 0, 1, 2, 0]


def test_texts_of_runs_are_found_by_their_marks():
    docs = [(4 << ROW_BITS) + 1, (5 << ROW_BITS) + 0, (9 << ROW_BITS) + 0, (9 << ROW_BITS) + 2, (6 << ROW_BITS) + 0]
    marks = marks_in(pa.concat_tables([table for _, table in find(marked(np.sort(docs)))]))
    found = list(marked_rows(part_with_runs(), marks))
    texts = [text for _, rows, _ in found for text in rows.column("text").to_pylist()]
    assert texts == ["a b", "e f", "i j", "m n"]
    assert [doc for some, _, _ in found for doc in some.tolist()] == [docs[2], docs[3], docs[0], docs[1]]
