"""Documents are put in order by stages as a sort of all rows would, in ranges that no task has all of."""

import contextlib
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from engine_runs import batch_of, parts_of, work_of
from neardup.engines.job.local_engine import SerialEngine
from neardup.engines.reading.sort import DOC_COLUMNS, Sort, in_place, ranked_places, sorted_rows
from neardup.engines.reading.unique_ids import demand_ids
from neardup.engines.schemas import REFERENCE, ROW_BITS, UNORDERED

ROWS = st.lists(
    st.tuples(st.booleans(), st.one_of(st.none(), st.integers(-3, 3)), st.sampled_from(["", "a", "b", "é"])),
    max_size=40,
)
SORT = Sort(pa.schema(DOC_COLUMNS | {"c0": pa.int64(), "c1": pa.large_string()}))


def held(engine, output, columns):
    """Rows in the buckets of an engine."""
    table = pa.table(columns, output.schema)
    return engine._run("given", {"rows": output}, [[("rows", table)]])["rows"]


def places(engine, rows):
    found = engine.collect(rows)
    return dict(zip(found.column("doc").to_pylist(), found.column("place").to_pylist(), strict=True))


@given(rows=ROWS, ranges=st.integers(1, 9), descending=st.booleans(), nulls=st.sampled_from(["at_start", "at_end"]))
def test_places_are_those_of_a_sort_of_all_rows(rows, ranges, descending, nulls):
    sort = SORT._replace(is_descending=descending, nulls=nulls)
    with tempfile.TemporaryDirectory() as folder:
        engine = SerialEngine(Path(folder), list)
        docs = np.random.default_rng(1).permutation(len(rows))
        columns = [docs, [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]]
        given_rows = held(engine, sort.output, columns)
        found = places(engine, sorted_rows(engine, given_rows, sort, ranges=ranges))

    def key(at):
        of_reference, number, text = rows[at]
        is_null = number is None
        before = is_null if nulls == "at_end" else not is_null
        return of_reference, before, 0 if is_null else (-number if descending else number), text.encode(), docs[at]

    expected = sorted(range(len(rows)), key=key)
    assert found == {int(docs[at]): place for place, at in enumerate(expected)}


def documents(engine, rows):
    """Rows of documents with costs and values, and of a reference."""
    n = len(rows)
    docs = [at + (REFERENCE << ROW_BITS) * row[0] for at, row in enumerate(rows)]
    columns = {name: [0] * n for name in UNORDERED.schema.names}
    columns |= {
        "doc": docs,
        "is_reference": [row[0] for row in rows],
        "cost": [row[1] if isinstance(row[1], int) else 0 for row in rows],
    }
    columns |= {"value": [None if row[1] is None else str(row[1]) for row in rows]}
    for name, kind in zip(UNORDERED.schema.names, UNORDERED.schema.types, strict=True):
        columns[name] = [b""] * n if kind == pa.large_binary() else columns[name]
        columns[name] = [False] * n if kind == pa.bool_() and name != "is_reference" else columns[name]
    return docs, held(engine, UNORDERED, [columns[name] for name in UNORDERED.schema.names])


@given(rows=ROWS, keep=st.sampled_from(["first", "last", "longest", "max:n", "min:n"]))
def test_ranks_are_those_of_preference_and_then_of_places(rows, keep):
    work = work_of(keep=keep)
    with tempfile.TemporaryDirectory() as folder:
        engine = SerialEngine(Path(folder), list)
        docs, held_rows = documents(engine, rows)
        placed = in_place(held_rows, engine)
        found = engine.collect(ranked_places(engine, work, held_rows, placed, ranges=3))
        ranks = dict(zip(found.column("doc").to_pylist(), found.column("rank").to_pylist(), strict=True))

    def key(at):
        of_reference, number, _ = rows[at]
        if keep in ("first", "last"):
            preferred = 0
        elif keep == "longest":
            preferred = number or 0
        else:
            preferred = (number is None, 0 if number is None else (-number if keep == "max:n" else number))
        place = -docs[at] if keep == "last" and not of_reference else docs[at]
        return (False, 0, place) if of_reference else (True, preferred, place)

    expected = [docs[at] for at in sorted(range(len(rows)), key=key)]
    assert sorted(ranks, key=ranks.get) == expected


@pytest.mark.parametrize("of_reference", [True, False])
def test_one_odd_value_is_refused_with_its_id_unless_it_is_of_a_reference(tmp_path, of_reference):
    rows = [(False, 9, ""), (False, 10, ""), (of_reference, '"n/a"', "")]
    batch = batch_of(["a", "b", "c"]).set_column(3, "value", pa.array(["9", "10", '"n/a"'], pa.large_string()))
    engine = SerialEngine(tmp_path, parts_of(batch))
    demand_ids(engine, "id")  # reads all a first time
    docs, held_rows = documents(engine, rows)
    expected = contextlib.nullcontext()
    if not of_reference:
        expected = pytest.raises(
            nd.DataError, match=r"text, such as 'n/a' \(id \"2\"\), among numbers, such as 9 \(id \"0\"\)"
        )
    with expected:
        found = engine.collect(
            ranked_places(engine, work_of(keep="max:n"), held_rows, in_place(held_rows, engine), ranges=3)
        )
        assert [docs.index(doc) for doc in found.sort_by("rank").column("doc").to_pylist()] == [2, 1, 0]
