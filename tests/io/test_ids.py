"""Ids, and the values of other columns, of every type that Arrow has: what a type becomes, or how it is refused."""

import contextlib
import uuid
from datetime import date
from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from neardup.io.corpora.table_corpus import TableCorpus
from neardup.text.nested import is_string

TEXTS = ["a rose is a rose is a rose", "a tulip grows in the garden", "a rose is a rose is a rose"]
UUIDS = pa.array([bytes([i]) * 16 for i in range(3)], pa.binary(16))

STRINGS = {
    **{str(kind): pa.array(["a", "b", "c"], kind) for kind in (pa.string(), pa.large_string(), pa.string_view())},
    "dictionary of strings": pa.array(["a", "b", "c"]).dictionary_encode(),
    "dictionary of views": pa.DictionaryArray.from_arrays([0, 1, 2], pa.array(["a", "b", "c"], pa.string_view())),
    "run ends of strings": pa.RunEndEncodedArray.from_arrays([1, 2, 3], ["a", "b", "c"]),
    "run ends of a dictionary": pa.RunEndEncodedArray.from_arrays(
        [1, 2, 3], pa.array(["a", "b", "c"]).dictionary_encode()
    ),
    "json": pa.ExtensionArray.from_storage(pa.json_(), pa.array(["1", "2", "3"])),
}
INTEGERS = {
    **{
        str(kind): pa.array([1, 2, 3], kind)
        for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
    },
    "beyond int64": pa.array([2**63, 2**64 - 1, 0], pa.uint64()),
    "dictionary of integers": pa.array([1, 2, 3]).dictionary_encode(),
    "run ends of integers": pa.RunEndEncodedArray.from_arrays([1, 2, 3], [1, 2, 3]),
}
OTHERS = {
    **{str(kind): pa.array([0.5, 1, None], kind) for kind in (pa.float16(), pa.float32(), pa.float64())},
    **{
        str(kind): pa.array([b"a", b"\xff", None], kind)
        for kind in (pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(1))
    },
    **{
        str(kind): pa.array([Decimal("1.5"), Decimal(2), None], kind)
        for kind in (pa.decimal32(5, 2), pa.decimal64(5, 2), pa.decimal128(20, 2), pa.decimal256(50, 2))
    },
    **{
        str(kind): pa.array([1, 2, None], pa.int32()).cast(kind)
        for kind in (pa.date32(), pa.time32("s"), pa.time32("ms"))
    },
    **{
        str(kind): pa.array([1, 2, None]).cast(kind)
        for unit in ("s", "ms", "us", "ns")
        for kind in (pa.timestamp(unit), pa.timestamp(unit, "Asia/Tokyo"), pa.duration(unit))
    },
    **{
        str(kind): pa.array([0, 86_400_000, None]).cast(kind)
        for kind in (pa.date64(), pa.time64("us"), pa.time64("ns"))
        if kind != pa.date64()
    },
    "date64": pa.array([date(2024, 1, 1), date(2024, 1, 2), None], pa.date64()),
    "bool": pa.array([True, False, None]),
    "months": pa.array([(1, 2, 3), (1, 2, 4), None], pa.month_day_nano_interval()),
    **{
        str(kind): pa.array([["a"], [], None], kind)
        for kind in (
            pa.list_(pa.string()),
            pa.large_list(pa.string()),
            pa.list_view(pa.string()),
            pa.large_list_view(pa.string()),
        )
    },
    "lists of one": pa.array([[1], [2], None], pa.list_(pa.int64(), 1)),
    "struct": pa.array([{"a": 1}, {"a": 2}, None]),
    "struct of nothing": pa.array([{}, {}, None], pa.struct([])),
    "map": pa.array([[("a", 1)], [], None], pa.map_(pa.string(), pa.int64())),
    "sparse union": pa.UnionArray.from_sparse(
        pa.array([0, 1, 0], pa.int8()), [pa.array([1, 2, 3]), pa.array(["a", "b", "c"])]
    ),
    "dense union": pa.UnionArray.from_dense(
        pa.array([0, 1, 0], pa.int8()), pa.array([0, 0, 1], pa.int32()), [pa.array([1, 2]), pa.array(["a"])]
    ),
    "uuid": pa.ExtensionArray.from_storage(pa.uuid(), UUIDS),
    "bool8": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0, 1], pa.int8())),
    "opaque": pa.ExtensionArray.from_storage(pa.opaque(pa.null(), "x", "y"), pa.nulls(3)),
    "tensor": pa.ExtensionArray.from_storage(
        pa.fixed_shape_tensor(pa.int64(), [1]), pa.array([[1], [2], [3]], pa.list_(pa.int64(), 1))
    ),
    "dictionary of binary": pa.array([b"a", b"b", b"c"]).dictionary_encode(),
    "dictionary of floats": pa.array([0.5, 1.5, 2.5]).dictionary_encode(),
    "run ends of floats": pa.RunEndEncodedArray.from_arrays([1, 2, 3], [0.5, 1.5, 2.5]),
    "run ends of lists": pa.RunEndEncodedArray.from_arrays([1, 2, 3], pa.array([["a"], [], ["b"]])),
    "period": pa.array(pd.Series(pd.period_range("2024", periods=3, freq="M"))),
    "interval": pa.array(pd.Series(pd.interval_range(0, 3))),
}
NULLS = {"null": pa.nulls(3)}
EVERY = STRINGS | INTEGERS | OTHERS | NULLS
JSON_VALUES = [
    "1",
    "-1",
    str(2**63),
    str(2**64),
    "1" * 10_000,
    "1.5",
    "1e999",
    "true",
    "null",
    '"a"',
    '"\\ud800"',
    "[]",
    "{}",
    '[["a"]]',
    "NaN",
    "[" * 2000 + "]" * 2000,
]


def tabled(column, name):
    return pa.table([pa.array(TEXTS), column], names=["text", name])


def python_rows(column, name):
    return [{"text": text, name: value} for text, value in zip(TEXTS, column.to_pylist(), strict=True)]


USES = {
    "id": {"id": "id"},
    "id that nobody named": {},
    "within": {"values": ["v"]},
    "source": {"source": "v"},
}
FILE_USES = {
    "id": {"id": "id"},
    "id that nobody named": {},
    "within": {"within": "v"},
    "keep": {"keep": "max:v"},
}


def name_of(use):
    return "id" if use.startswith("id") else "v"


def refusals(use):
    """What a use may raise: nothing if nobody named the column."""
    return () if use == "id that nobody named" else (nd.NeardupError,)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", EVERY)
def test_every_type_is_taken_or_refused_in_words(kind, use):
    column, name = EVERY[kind], name_of(use)
    rows = python_rows(column, name)
    for data in (
        tabled(column, name),
        rows,
        pd.DataFrame({"text": TEXTS, name: pd.Series([row[name] for row in rows])}),
    ):
        with contextlib.suppress(*refusals(use)):
            ids = TableCorpus(data, **USES[use]).ids
            assert is_string(ids.type) or pa.types.is_integer(ids.type)
            assert ids.null_count == 0


@pytest.mark.parametrize("kind", EVERY)
def test_every_type_may_be_beside_the_texts_of_data_and_reference(kind):
    data = tabled(EVERY[kind], "id")
    assert nd.deduplicate(data, against=pa.table({"text": TEXTS, "id": ["a", "b", "c"]})).summary.duplicates == 3
    assert nd.deduplicate(pa.table({"text": TEXTS}), against=data).duplicates["survivor_id"].null_count == 0
    with contextlib.suppress(nd.NeardupError):
        nd.deduplicate(data, keep="max:id", within="id", source="id", prefer_source=["a"])


@pytest.mark.parametrize("use", FILE_USES)
@pytest.mark.parametrize("kind", EVERY)
def test_every_type_in_a_parquet_file_is_taken_or_refused_in_words(kind, use, tmp_path):
    try:
        pq.write_table(tabled(EVERY[kind], name_of(use)), tmp_path / "x.parquet")
    except pa.ArrowNotImplementedError:
        pytest.skip("Parquet has no such type")
    with contextlib.suppress(*refusals(use)):
        nd.deduplicate_files([tmp_path / "x.parquet"], tmp_path / "out.parquet", **FILE_USES[use])


@pytest.mark.parametrize("use", FILE_USES)
@pytest.mark.parametrize("value", JSON_VALUES, ids=range(len(JSON_VALUES)))
def test_every_value_in_json_lines_is_taken_or_refused_in_words(value, use, tmp_path):
    lines = [f'{{"text": "{text}", "{name_of(use)}": {value}}}\n' for text in TEXTS]
    (tmp_path / "x.jsonl").write_text("".join(lines))
    run = partial(
        nd.deduplicate_files, [tmp_path / "x.jsonl"], tmp_path / "out.jsonl", overwrite=True, **FILE_USES[use]
    )
    for options in ({}, {"on_error": "skip"}):  # where no row can be read, skipping fails, too
        with contextlib.suppress(nd.DataError):
            run(**options)


@pytest.mark.parametrize("kind", EVERY)
def test_every_type_of_ids_is_taken_or_refused_by_a_store_and_an_index(kind, tmp_path):
    for ids in (EVERY[kind], EVERY[kind].to_pylist()):
        with nd.Store(tmp_path / "store") as store, contextlib.suppress(nd.NeardupError):
            store.check_and_add_many(ids, TEXTS)
        with contextlib.suppress(nd.NeardupError):
            nd.Index(max_distance=3).add(ids, np.arange(3, dtype=np.uint64))


@pytest.mark.parametrize("kind", STRINGS | INTEGERS)
def test_encodings_are_read_as_the_strings_or_integers_that_they_hold(kind):
    column = (STRINGS | INTEGERS)[kind]
    found = nd.deduplicate(tabled(column, "key"), id="key").duplicates.to_pylist()
    values = column.to_pylist()
    values = [str(value) for value in values] if kind == "json" else values
    assert [(row["id"], row["survivor_id"]) for row in found] == [(values[2], values[0])]


def test_slices_of_run_ends_are_read_from_their_first_row():
    column = pa.RunEndEncodedArray.from_arrays([2, 4, 6], ["x", "a", "b"])[3:]
    assert nd.deduplicate(tabled(column, "key"), id="key").clusters["id"].to_pylist() == ["a", "b"]


@pytest.mark.parametrize("kind", OTHERS)
def test_a_column_id_of_another_type_is_not_used_and_a_note_says_so(kind):
    said = []
    found = nd.deduplicate(tabled(OTHERS[kind], "id"), progress=lambda event: said.append(event.message))
    assert found.clusters["id"].to_pylist() == [0, 2]
    if OTHERS[kind].null_count < 3:
        assert "Documents are identified by row. The column 'id' of the ids is" in " ".join(filter(None, said))
        with pytest.raises(nd.InputError, match="but strings or integers are needed"):
            nd.deduplicate(tabled(OTHERS[kind], "id"), id="id")


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ([1, "a", 2], "row 1 has a string, and row 0 an integer"),
        ([1, True, 2], "row 1, has an id that is a bool"),
        ([1, 2.5, 2], "row 1, has an id that is a float"),
        (["a", uuid.UUID(int=1), "b"], "row 1, has an id that is a UUID"),
        ([uuid.UUID(int=1)] * 3, "row 0, has an id that is a UUID"),
        (["a", "b", "\ud800"], r"row 2, has an id that contains a lone surrogate, '\\ud800'"),
        ([1, 2, 2**64], "row 2, has an id that has more than 64 bits"),
        ([1, -1, 2**63], "neither all strings nor all integers of 64 bits"),
        ([[1], {"a": 1}, object()], "row 0, has an id that is a list"),
    ],
)
def test_a_value_that_is_no_id_is_named_by_its_row_and_type(ids, said):
    rows = [{"text": text, "id": value} for text, value in zip(TEXTS, ids, strict=True)]
    for data in (
        rows,
        pl.DataFrame({"text": TEXTS, "id": pl.Series(ids, dtype=pl.Object)}),
        pd.DataFrame(rows, dtype=object),
    ):
        with pytest.raises(nd.NeardupError, match="ids|id that" if hasattr(data, "iloc") else said):
            nd.deduplicate(data, id="id")
        assert nd.deduplicate(data).clusters["id"].to_pylist() == [0, 2]


def test_polars_columns_that_arrow_does_not_have_are_read_as_pythons_values():
    data = pl.DataFrame({"text": TEXTS, "id": pl.Series([5, 6, 7], dtype=pl.Int128)})
    assert nd.deduplicate(data, within="id").summary.survivors == 3
    assert nd.deduplicate(data).clusters["id"].to_pylist() == [5, 7]


@pytest.mark.parametrize(
    ("ids", "named"),
    [
        ([1, None, 5], [1, 3, 5]),
        ([None, 0, None], [3, 0, 2]),
        (["1", None, "x"], ["1", "3", "x"]),
        (pa.array([200, None, 3], pa.uint8()), [200, 1, 3]),
        (pa.array([2**64 - 1, None, 3], pa.uint64()), [2**64 - 1, 1, 3]),
        ([None, None, None], [0, 1, 2]),
    ],
)
def test_a_row_without_an_id_gets_a_number_that_is_no_other_rows_id(ids, named):
    data = pa.table(
        [pa.array(["a b c d"] * 3), ids if isinstance(ids, pa.Array) else pa.array(ids)], names=["text", "id"]
    )
    assert nd.deduplicate(data).clusters["id"].to_pylist() == named


@pytest.mark.parametrize("option", [{"within": "v"}, {"keep": "max:v"}, {"source": "v", "prefer_source": ["a"]}])
@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["a", "\ud800", "b"], "row 1, contains a lone surrogate"),
        ([1, "a", 10**5000], "row 2, has too many digits"),
        ([1, "a", {"b": 1}], "row 2, is a dict among others"),
    ],
)
def test_a_value_that_cannot_be_compared_is_named_by_its_row(option, values, said):
    with pytest.raises(nd.DataError, match=said):
        nd.deduplicate([{"text": text, "v": value} for text, value in zip(TEXTS, values, strict=True)], **option)


@pytest.mark.parametrize(
    "wrap", [list, partial(pd.Series, dtype=object), lambda texts: [{"text": text} for text in texts]]
)
def test_a_text_with_a_lone_surrogate_is_named_by_its_row(wrap):
    with pytest.raises(nd.DataError, match=r"Text 1.* contains a lone surrogate, which is not a character: '\\udc80'"):
        nd.deduplicate(wrap(["a", "b \udc80", "c"]))


def test_bytes_that_are_not_utf_8_are_named_by_their_row():
    broken = pa.Array.from_buffers(pa.string(), 3, pa.array([b"a", b"\xff", b"c"]).buffers())
    good = pa.array(TEXTS)
    for columns, options, said in (
        ([broken, good], {}, "Text 1 of the column 'text' is not valid"),
        ([good, broken], {"id": "v"}, "The id of row 1 is not valid UTF-8"),
        ([good, broken], {"within": "v"}, "row 1, is not valid UTF-8"),
        ([good, broken], {"source": "v", "prefer_source": ["a"]}, "row 1, is not valid UTF-8"),
    ):
        with pytest.raises(nd.DataError, match=said):
            nd.deduplicate(pa.table(columns, names=["text", "v"]), **options)


@pytest.mark.parametrize("named", [{}, {"id": "id"}])
def test_rows_without_an_id_are_counted_in_a_note(named):
    said = []
    rows = [{"id": 1, "text": "a b c"}, {"id": None, "text": "d e f"}, {"id": 2, "text": "g h i"}]
    for given in (rows, pa.Table.from_pylist(rows)):
        said.clear()
        found = nd.deduplicate(given, **named, progress=lambda event: said.append(event.message))
        assert found.clusters["id"].to_pylist() == []
        assert "1 document without an id: the number of the row" in " ".join(filter(None, said))
