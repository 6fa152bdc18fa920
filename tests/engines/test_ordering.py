"""Documents are put in order by stages as a sort of all rows would, in ranges that no task has all of."""

import json
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from engine_runs import batch_of, parts_of, work_of
from neardup.engines.flow import deduplicate
from neardup.engines.job.local_engine import SerialEngine
from neardup.engines.reading.sort import DOC_COLUMNS, Sort, in_place, ranked_places, sorted_rows
from neardup.engines.schemas import REFERENCE, ROW_BITS, UNORDERED
from neardup.engines.stages import Part

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
        found = engine.collect(ranked_places(engine, work, held_rows, placed, "numbers", ranges=3))
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
    def part(number, values, *, is_reference=False):
        texts = ["a b c d", "a b c d 1", "a b c d 2"][: len(values)]
        return Part(number, iter([with_values(texts, values)]), is_reference)

    def parts():
        yield part(0, ["9", "10", None])
        yield part(REFERENCE if of_reference else 1, ['"n/a"'], is_reference=of_reference)

    work = work_of(keep="max:n", min_similarity=1)
    if of_reference:
        assert deduplicate(SerialEngine(tmp_path, parts), work).compared_as == "numbers"
        return
    with pytest.raises(nd.DataError, match=r"text, such as 'n/a' \(id \"0\"\), among numbers, such as 9 \(id \"0\"\)"):
        deduplicate(SerialEngine(tmp_path, parts), work)


def with_values(texts, values):
    return batch_of(texts).set_column(3, "value", pa.array(values, pa.large_string()))


VALUES = st.lists(
    st.sampled_from([None, "9", "10", '"nan"', '"12"', '"2024-01-31"', '"20240131"', "20240131", '"word"']), max_size=4
)


@given(parts=st.lists(VALUES, min_size=1, max_size=3), keep_as=st.sampled_from([None, "number", "time", "text"]))
def test_how_values_are_compared_is_what_one_process_says(parts, keep_as):
    found = []
    for number, values in enumerate(parts):
        texts = [f"{number} {row} ferry clock" for row in range(len(values))]
        found.append(with_values(texts, values))
    options = {"keep": "max:n", "keep_as": keep_as}
    rows = [{"text": text, "n": None if value is None else json.loads(value)}
            for batch in found for text, value in zip(*(batch.column(name).to_pylist() for name in ("text", "value")), strict=True)]  # fmt: skip
    try:
        expected = nd.deduplicate(rows, **options).summary.compared_as
    except nd.DataError:
        expected = "refused"
    with tempfile.TemporaryDirectory() as folder:
        engine = SerialEngine(Path(folder), parts_of(*found, size=1))
        try:
            assert deduplicate(engine, work_of(**options)).compared_as == expected
        except nd.DataError:
            assert expected == "refused"
