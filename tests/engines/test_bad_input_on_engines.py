"""The table of bad input on the page of reliability: each cell of the clusters is what happens there."""

import itertools
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import neardup as nd
from bad_input import COLUMNS, HUGE, INTEGERS, TABLE
from engines.engine_errors import LISTS, NAMED, STRUCTS

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]  # of the clusters


def strings(*contents):
    """A column of strings that are not looked at."""
    offsets = np.cumsum([0, *map(len, contents)]).astype(np.int32)
    return pa.StringArray.from_buffers(len(contents), pa.py_buffer(offsets), pa.py_buffer(b"".join(contents)))


HALF = strings(b"a \xed\xa0\x80", b"b")
GIVEN = {
    "a null id, or none": [({"id": pa.array(["a", None])}, {})],
    "an id that occurs twice": [({"id": pa.array(["a", "a"])}, {})],
    "an id that is a float, a list or an object, in the named column": [
        ({"id": column}, {}) for column in (pa.array([1.5, 2.5]), LISTS, STRUCTS)
    ],
    "an id of more than 64 bits": [({"id": pa.array([Decimal(2**80), Decimal(1)], pa.decimal128(30))}, {})],
    "half of a surrogate pair in an id": [({"id": HALF}, {})],
    "a null text": [({"text": pa.array(["a b c", None])}, {})],
    "a text that is a number": [({"text": pa.array([3, 4])}, {})],
    "half of a surrogate pair in a text": [({"text": HALF}, {})],
    "numbers and text in the column of `--keep max:COLUMN`": [({"v": pa.array(["1", "n/a"])}, {"keep": "max:v"})],
    "a list in the column of `--within`": [({"v": LISTS}, {"within": "v"})],
    "bytes that are not UTF-8": [({"text": strings(b"\xff", b"a")}, {}), ({"text": pa.array([b"\xff", b"a"])}, {})],
    "a name that is not an option": [({}, {"qwertz": 1})],
    "an integer of 2^31, 2^53 or 2^63 where a small number is meant": [
        ({}, {name: number}) for name, number in itertools.product(("threads", "max_distance"), INTEGERS)
    ],
    "an integer of thousands of digits in an option": [
        ({}, {name: HUGE})
        for name in ("keep", "method", "threads", "min_similarity", "similarity", "text", "id", "order", "work")
    ],
}
"""Columns, and options of the run."""


@pytest.mark.parametrize("name", COLUMNS[5:7])
def test_every_cell_of_a_cluster_is_tried(name):
    cells = {row: cells[COLUMNS.index(name)] for row, cells in TABLE.items()}
    assert {row for row, cell in cells.items() if cell != "–"} == {*GIVEN}


@pytest.mark.parametrize("row", GIVEN)
def test_what_the_table_says_happens_on_a_cluster(engine, tmp_path, row):
    cell = TABLE[row][COLUMNS.index(engine.name)]
    for number, (columns, options) in enumerate(GIVEN[row]):
        rows = engine.of_table(pa.table(NAMED | columns))
        work = str(tmp_path / f"work{number}")
        try:
            found = engine.functions.deduplicate(rows, **({"order": "n", "work": work} | options))
            outcome = f"taken: {engine.rows(found.survivors)}"
        except nd.NeardupError as problem:
            outcome = "refused in lines" if "\n" in str(problem) else "refused"
        assert cell == outcome, (row, options)


def test_rows_in_order_are_taken(engine, tmp_path):
    done = engine.functions.deduplicate(engine.of_table(pa.table(NAMED)), work=str(tmp_path / "work"), order="n")
    assert len(engine.rows(done.survivors)) + len(engine.rows(done.duplicates)) == 2
