"""Marks: one bit for each row of each part."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from engine_runs import batch_of
from neardup.engines.reading.row_selection import Marks, find, marked_rows, marks_in
from neardup.engines.schemas import MARKS, ROW_BITS, marked
from neardup.engines.stages import Part

DOCS = st.sets(st.tuples(st.sampled_from([0, 1, 5, 1 << 27]), st.integers(0, 70)), max_size=60)


def marks_of(docs):
    """The marks of (part, row), as the stage gives them of the parts of some buckets."""
    tables = []
    for odd in (0, 1):
        numbers = np.array([(part << ROW_BITS) + row for part, row in docs if part % 2 == odd], np.int64)
        tables += [table for _, table in find(marked(np.sort(numbers)))]
    return marks_in(pa.concat_tables([MARKS.schema.empty_table(), *tables]))


@given(DOCS, st.lists(st.integers(0, 100), max_size=20))
def test_what_is_marked_is_found_and_nothing_else(docs, rows):
    marks = marks_of(docs)
    for part in (0, 1, 2, 5, 1 << 27):
        assert marks.of(part, np.array(rows, np.int64)).tolist() == [(part, row) in docs for row in rows]


def test_rows_that_come_in_no_order_and_twice():
    [(_, found)] = find(pa.table({"part": [3, 3, 3, 3], "row": [9, 0, 9, 4]}))
    assert marks_in(found).of(3, np.arange(12)).nonzero()[0].tolist() == [0, 4, 9]


def test_no_marks():
    assert list(find(marked(np.empty(0, np.int64)))) == []
    nothing = marks_in(MARKS.schema.empty_table())
    assert nothing.bytes == 0
    assert not nothing.of(0, np.arange(9)).any()
    assert list(marked_rows(Part(0, iter([batch_of(["a text"])])), nothing)) == []


def test_marks_travel_in_few_bytes():
    marks = marks_of({(0, row) for row in range(100_000)})
    assert 0 < marks.bytes < 1000


def test_texts_with_any_of_the_marks_are_read_with_their_flags():
    batches = [batch_of(["a b", None, "c d"]), batch_of([]), batch_of(["e f", "g h"])]
    first, second = marks_of({(1, 0), (1, 3)}), marks_of({(1, 3), (1, 4), (2, 2)})
    found = list(marked_rows(Part(1, iter(batches)), first, second))
    assert [(docs - (1 << ROW_BITS)).tolist() for docs, _, _ in found] == [[0], [3, 4]]
    assert [rows.column("text").to_pylist() for _, rows, _ in found] == [["a b"], ["e f", "g h"]]
    assert [[each.tolist() for each in flags] for _, _, flags in found] == [
        [[True], [False]],
        [[True, False], [True, True]],
    ]


def test_marks_of_no_part():
    assert Marks({}).of(7, np.arange(3)).tolist() == [False] * 3
