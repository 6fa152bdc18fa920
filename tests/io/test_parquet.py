"""Parquet: every kind of text column, and copies that keep schema, metadata, codecs and nested types."""

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import DataError, InputError
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import find_shards
from neardup.io.formats.columnar.formats import PARQUET
from neardup.io.formats.json.json_values import JSON_TOKEN
from neardup.io.formats.table import open_sink

Make = Callable[..., Shard]
TEXTS = ["one", "", "三", "four\n", "one"]


def kinds_of_strings() -> dict[str, Any]:
    """The same texts in every type that can hold them."""
    plain = pa.array(TEXTS)
    return {
        "string": plain,
        "large_string": plain.cast(pa.large_string()),
        "string_view": plain.cast(pa.string_view()),
        "dictionary": plain.dictionary_encode(),
        "large_dictionary": plain.cast(pa.large_string()).dictionary_encode(),
        "json": pa.ExtensionArray.from_storage(pa.json_(), plain),
    }


def broken(*values: bytes) -> Any:
    """Strings that may not be UTF-8; Arrow does not look."""
    return pa.array(values, pa.binary()).view(pa.string())


@pytest.mark.parametrize("kind", kinds_of_strings())
def test_texts_and_ids_of_every_kind_of_string_are_read(shard: Make, reading: Any, kind: str) -> None:
    column = kinds_of_strings()[kind]
    found = shard(pa.table({"text": column, "key": column}), "a.parquet")
    assert reading(found).texts == TEXTS
    assert reading(found, id="key").ids == ['"one"', '""', '"三"', '"four\\n"', '"one"']
    assert reading(found, wanted=[True, False, False, True, False]).texts == ["one", None, None, "four\n", None]


def test_null_texts_are_rejected_and_null_ids_are_not(shard: Make, reading: Any) -> None:
    found = shard(pa.table({"text": ["a", None, "c"], "body": [None, None, "d"], "id": [1, 2, None]}), "a.parquet")
    result = reading(found)
    assert result.texts == ["a", None, "c"]
    assert result.ids == ["1", None, f'"{found.name}:2"']
    assert result.reasons == {1: 'its column "text" is null, not a string'}
    assert reading(found, "text", "body").texts == [None, None, "c\nd"]
    result = reading(found, id="id")
    assert result.texts == ["a", None, "c"]
    assert result.ids == ["1", None, f'"{found.name}:2"']
    assert result.reasons == {1: 'its column "text" is null, not a string'}
    assert reading(found, wanted=[True, False, True]).reasons == {}


def test_a_column_of_nulls_only_may_have_the_ids(shard: Make, reading: Any) -> None:
    found = shard(pa.table({"text": ["a", "b"], "key": pa.nulls(2)}), "a.parquet")
    assert reading(found, id="key").ids == [f'"{found.name}:0"', f'"{found.name}:1"']


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_strings_that_are_not_utf_8_are_rejected(shard: Make, reading: Any, kind: Any) -> None:
    column = broken(b"good", b"\xff\xfe", b"\xe4\xb8\xad").cast(kind, safe=False)
    found = shard(pa.table({"text": column, "key": ["a", "b", "c"]}), "a.parquet")
    result = reading(found)
    assert result.texts == ["good", None, "中"]
    assert result.reasons == {1: 'its column "text" is not UTF-8'}
    result = reading(found, "key", id="text")
    assert result.ids == ['"good"', None, '"中"']
    assert result.reasons == {1: 'its column "text" is not UTF-8'}


def test_a_dictionary_that_is_not_utf_8_is_damage(shard: Make, reading: Any) -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 0, 1]), broken(b"good", b"\xff"))
    with pytest.raises(DataError, match=r"a\.parquet is damaged, .*: Invalid UTF8 payload\."):
        reading(shard(pa.table({"text": column}), "a.parquet"))


def test_ids_stay_what_they_are(shard: Make, reading: Any) -> None:
    for kind in (pa.int8(), pa.uint64(), pa.int32()):
        table = pa.table({"text": ["a", "b"], "id": pa.array([1, 100], kind)})
        assert reading(shard(table, "a.parquet")).ids == ["1", "100"]
    found = shard(pa.table({"text": ["a", "b"], "id": ['say "1"', "\t"]}), "a.parquet")
    assert reading(found).ids == ['"say \\"1\\""', '"\\t"']
    found = shard(pa.table({"text": ["a", "b"], "id": [1.0, 2.0]}), "a.parquet")
    assert reading(found).ids == [f'"{found.name}:0"', f'"{found.name}:1"']


def test_nested_fields_are_read_through_their_dots(shard: Make, reading: Any) -> None:
    meta = pa.array([{"body": "a", "deep": {"x": "p", "n": [1]}}, None, {"body": None, "deep": None}])
    found = shard(pa.table({"meta": meta, "n": [1, 2, 3]}), "a.parquet")
    assert reading(found, "meta.body").texts == ["a", None, None]
    assert reading(found, "meta.body", "meta.deep.x").texts == ["a\np", None, None]
    assert set(reading(found, "meta.deep.x").reasons) == {1, 2}


def test_a_column_whose_name_has_dots_comes_before_a_nested_field(shard: Make, reading: Any) -> None:
    table = pa.table({"meta": [{"body": "nested"}], "meta.body": ["exact"]})
    assert reading(shard(table, "a.parquet"), "meta.body").texts == ["exact"]


def test_many_batches_are_read_in_order(shard: Make, reading: Any) -> None:
    texts = [f"{i} " * 300 for i in range(20_000)]
    found = shard(pa.table({"text": texts, "id": range(20_000)}), "a.parquet", row_group_size=7_000)
    assert reading(found).texts == texts
    wanted = np.zeros(20_000, np.bool_)
    wanted[[3, 16_000, 19_999]] = True
    result = reading(found, wanted=wanted)
    assert [i for i, text in enumerate(result.texts) if text is not None] == [3, 16_000, 19_999]
    assert result.ids[16_000] == "16000"
    parts = list(PARQUET.parts(found, Columns()))
    assert [part()[0].row for part in reversed(parts)][-1] == 0
    assert max(part()[0].texts.nbytes for part in parts) < 8 << 20


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            Columns(("body",)),
            'a.parquet has no column "body". It has: text: string, raw: binary, n: double, meta: struct<b:',
        ),
        (Columns(("meta.x",)), 'a.parquet has no column "meta.x". It has: '),
        (Columns(("text.x",)), 'a.parquet has no column "text.x". It has: '),
        (Columns(("n",)), 'a.parquet: column "n" is double, but a column of strings is needed.'),
        (Columns(("meta",)), 'a.parquet: column "meta" is struct<b: string>, but a column of strings is needed.'),
        (
            Columns(("raw",)),
            'a.parquet: column "raw" is binary, but a column of strings is needed. '
            "If its bytes are UTF-8, cast it to string first (in DuckDB: decode(column)).",
        ),
        (Columns(id="n"), 'a.parquet: column "n" is double, but a column of strings or integers is needed.'),
        (Columns(id="key"), 'a.parquet has no column "key". It has: '),
    ],
)
def test_columns_that_cannot_serve_are_seen_before_any_work(shard: Make, columns: Columns, message: str) -> None:
    table = pa.table({"text": ["a"], "raw": [b"a"], "n": [1.5], "meta": [{"b": "c"}]})
    found = shard(table, "a.parquet")
    with pytest.raises(InputError) as caught:
        PARQUET.check(found, columns)
    assert str(caught.value).removeprefix(f"{found.path.parent}/").startswith(message)
    with pytest.raises(InputError):
        list(PARQUET.parts(found, columns))


def test_a_column_that_is_there_twice_is_refused(shard: Make) -> None:
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["text", "text"])
    with pytest.raises(InputError, match=r'has 2 columns "text"\. Rename all but one of them\.'):
        PARQUET.check(shard(table, "a.parquet"), Columns())


@pytest.mark.parametrize("size", [0, 1, 100, 1000, -1, -9])
def test_truncated_files_are_refused(shard: Make, reading: Any, size: int) -> None:
    found = shard(pa.table({"text": [f"text {i}" for i in range(1000)]}), "a.parquet")
    damaged = shard(found.path.read_bytes()[:size], "b.parquet")
    for use in (lambda: reading(damaged), lambda: PARQUET.check(damaged, Columns())):
        with pytest.raises(
            DataError, match=r"b\.parquet is damaged, or is not Parquet data: .* make or fetch the file again"
        ):
            use()


def test_damage_inside_is_refused_when_it_is_read(shard: Make, reading: Any, copied: Any) -> None:
    found = shard(pa.table({"text": [f"text {i}" for i in range(50_000)]}), "a.parquet", compression="zstd")
    content = bytearray(found.path.read_bytes())
    content[1000:1100] = bytes(100)
    damaged = shard(bytes(content), "b.parquet")
    for use in (lambda: reading(damaged), lambda: copied((damaged, [True] * 50_000))):
        with pytest.raises(DataError, match=r"b\.parquet is damaged, or is not Parquet data: "):
            use()


def test_page_checksums_are_verified(shard: Make, reading: Any) -> None:
    table = pa.table({"text": ["a" * 10_000]})
    found = shard(table, "a.parquet", compression="none", use_dictionary=False, write_page_checksum=True)
    content = bytearray(found.path.read_bytes())
    content[5_000] ^= 1
    with pytest.raises(DataError, match="CRC checksum"):
        reading(shard(bytes(content), "b.parquet"))


def rich_table() -> Any:
    """All kinds of columns, some with metadata."""
    schema = pa.schema(
        [
            pa.field("text", pa.string(), nullable=False, metadata={"note": "of a field"}),
            pa.field("d", pa.dictionary(pa.int8(), pa.string())),
            pa.field("large", pa.large_string()),
            pa.field("view", pa.string_view()),
            pa.field("list", pa.list_(pa.field("item", pa.int32()))),
            pa.field("meta", pa.struct([pa.field("a", pa.list_(pa.string())), pa.field("b", pa.bool_())])),
            pa.field("map", pa.map_(pa.string(), pa.float32())),
            pa.field("when", pa.timestamp("ns", "UTC")),
            pa.field("money", pa.decimal128(20, 3)),
            pa.field("raw", pa.binary(2)),
            pa.field("nothing", pa.null()),
        ],
        metadata={"huggingface": "{}", "pandas": "{}"},
    )
    row = {
        "text": "a", "d": "x", "large": "l", "view": "v", "list": [1, None], "meta": {"a": ["p", None], "b": True},
        "map": [("k", 1.5)], "when": 1_700_000_000_123_456_789, "money": None, "raw": b"ab", "nothing": None,
    }  # fmt: skip
    other = dict.fromkeys(row) | {"text": "b", "meta": {"a": None, "b": None}, "list": []}
    return pa.Table.from_pylist([row, other] * 500, schema=schema)


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "brotli", "lz4", "zstd"])
@pytest.mark.parametrize("views", [True, False], ids=["views", "no views"])  # which Arrow cannot filter
def test_rows_are_copied_with_schema_metadata_and_codec(shard: Make, copied: Any, codec: str, views: bool) -> None:
    table = rich_table() if views else rich_table().drop_columns(["view"])
    found = shard(table, "a.parquet", compression=codec, row_group_size=300)
    keep = np.arange(1000) % 3 == 0
    copy = pq.ParquetFile(copied((found, keep.tolist())))
    assert copy.schema_arrow.equals(pq.read_schema(found.path), check_metadata=True)
    assert copy.schema_arrow.metadata == table.schema.metadata
    assert copy.read().to_pylist() == table.to_pylist()[::3]
    group = copy.metadata.row_group(0)
    assert {group.column(i).compression for i in range(group.num_columns)} == {
        "UNCOMPRESSED" if codec == "none" else codec.upper()
    }
    assert [copy.metadata.row_group(i).num_rows for i in range(copy.num_row_groups)] == [300, 34]


def test_each_column_keeps_its_codec_and_physical_names(shard: Make, copied: Any) -> None:
    table = rich_table().select(["text", "list", "meta"])
    for compliant in (True, False):
        codecs = {"text": "zstd", f"list.list.{'element' if compliant else 'item'}": "gzip"}
        found = shard(table, "a.parquet", compression=codecs, use_compliant_nested_type=compliant)
        before, after = (
            [(leaf.path_in_schema, leaf.compression) for leaf in map(group.column, range(group.num_columns))]
            for group in (
                pq.ParquetFile(path).metadata.row_group(0) for path in (found.path, copied((found, [True] * 1000)))
            )
        )
        assert before == after


def test_old_spark_timestamps_keep_their_type(shard: Make, copied: Any) -> None:
    table = rich_table().select(["text", "when"])
    found = shard(table, "a.parquet", use_deprecated_int96_timestamps=True)
    copy = pq.ParquetFile(copied((found, [True] * 1000)))
    assert copy.schema.column(1).physical_type == "INT96"


def test_nothing_kept_is_a_file_with_the_schema(shard: Make, copied: Any) -> None:
    found = shard(rich_table(), "a.parquet")
    copy = pq.ParquetFile(copied((found, [False] * 1000)))
    assert copy.metadata.num_rows == 0
    assert copy.schema_arrow.equals(pq.read_schema(found.path), check_metadata=True)
    empty = shard(rich_table().slice(0, 0), "b.parquet")
    assert pq.read_table(copied((empty, []))).num_rows == 0


def test_several_files_go_into_one(shard: Make, copied: Any) -> None:
    first = shard(pa.table({"text": ["a", "b"], "n": [1, 2]}), "a.parquet")
    second = shard(pa.table({"text": ["c", "d"], "n": [3, 4]}).replace_schema_metadata({"x": "y"}), "b.parquet")
    PARQUET.check_together([first, second])
    copy = copied((first, [True, False]), (second, [True, True]), name="out")
    assert pq.read_table(copy).to_pydict() == {"text": ["a", "c", "d"], "n": [1, 3, 4]}


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        ({"text": ["a"], "n": [1.5]}, 'column "n" is int64 in one, double in the other'),
        ({"text": ["a"]}, 'column "n" is int64 in one, missing in the other'),
        ({"text": ["a"], "n": [1], "m": [1]}, 'column "m" is missing in one, int64 in the other'),
        ({"n": [1], "text": ["a"]}, "the order of columns is text, n in one, n, text in the other"),
    ],
)
def test_files_of_different_schemas_do_not_go_into_one(
    shard: Make, copied: Any, other: dict[str, Any], difference: str
) -> None:
    first, second = shard(pa.table({"text": ["a"], "n": [1]}), "a.parquet"), shard(pa.table(other), "b.parquet")
    for use in (lambda: PARQUET.check_together([first, second]), lambda: copied((first, [True]), (second, [True]))):
        with pytest.raises(InputError) as caught:
            use()
        assert str(caught.value) == (
            f"{first.name} and {second.name} cannot be written to one file: {difference}. "
            "Name a folder (OUT/) as the output, which keeps the files apart."
        )


def test_a_column_that_must_not_be_null_and_one_that_may_go_into_one(shard: Make, tmp_path: Path) -> None:
    strict = pa.table({"text": ["a"]}, schema=pa.schema([pa.field("text", pa.string(), nullable=False)]))
    shards = [shard(strict, "a.parquet"), shard(pa.table({"text": ["b", None]}), "b.parquet")]
    PARQUET.check_together(shards)
    with open_sink(tmp_path / "out", "parquet", "plain", shards) as sink:
        for found, rows in zip(shards, (1, 2), strict=True):
            PARQUET.copy(found, np.ones(rows, np.bool_), sink)
    assert pq.read_table(tmp_path / "out").to_pydict() == {"text": ["a", "b", None]}


KINDS_OF_VALUES = {
    "string": (pa.string(), "b"),
    "string_view": (pa.string_view(), "b"),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), "b"),
    "integer": (pa.int8(), 7),
    "decimal": (pa.decimal128(5, 2), Decimal("1.50")),
    "time": (pa.timestamp("us", "UTC"), datetime(2026, 1, 1, tzinfo=UTC)),
    "binary": (pa.binary(3), b"abc"),
    "list": (pa.list_(pa.string()), ["b"]),
    "fixed_list": (pa.list_(pa.float32(), 2), [1.0, 2.0]),
    "struct": (pa.struct([("a", pa.int64()), ("b", pa.list_(pa.string()))]), {"a": 1, "b": ["c"]}),
    "map": (pa.map_(pa.string(), pa.int64()), [("a", 1)]),
    "json": (pa.json_(), '{"a": 1}'),
}


@pytest.mark.parametrize("order", ["null first", "null last", "null between"])
@pytest.mark.parametrize("kind", KINDS_OF_VALUES)
def test_a_column_without_any_value_has_the_type_of_other_files(
    shard: Make, tmp_path: Path, kind: str, order: str
) -> None:
    form, value = KINDS_OF_VALUES[kind]
    schema = pa.schema([pa.field("text", pa.string()), pa.field("more", form, nullable=False), ("last", pa.int64())])
    typed = pa.table({"text": ["c"], "more": pa.array([value], form), "last": [1]}, schema=schema)
    untyped = pa.table({"text": ["a", "b"], "more": pa.nulls(2), "last": [2, 3]})
    tables = {"null first": [untyped, typed], "null last": [typed, untyped], "null between": [typed, untyped, typed]}
    shards = [shard(table, f"{number}.parquet") for number, table in enumerate(tables[order])]
    PARQUET.check_together(shards)
    added = [pa.table({"cluster_id": [9] * table.num_rows}) for table in tables[order]]
    for name in ("copied", "annotated"):
        with open_sink(tmp_path / name, "parquet", "plain", shards) as sink:
            for found, more in zip(shards, added, strict=True):
                keep = np.ones(more.num_rows, np.bool_)
                if name == "annotated":
                    PARQUET.annotate(found, more, sink, keep=keep)
                else:
                    PARQUET.copy(found, keep, sink)
        result = pq.read_table(tmp_path / name)
        assert result.schema.field("more") == schema.field("more").with_nullable(True)
        assert result.drop_columns(["cluster_id"] if name == "annotated" else []).to_pylist() == [
            row for table in tables[order] for row in table.to_pylist()
        ]
    assert result["cluster_id"].to_pylist() == [9] * result.num_rows


@pytest.mark.parametrize(
    ("kind", "other"),
    [
        (pa.list_(pa.null()), pa.list_(pa.string())),
        (pa.struct([("a", pa.null())]), pa.struct([("a", pa.int64())])),
        (
            pa.list_(pa.struct([("a", pa.null()), ("b", pa.int8())])),
            pa.list_(pa.struct([("a", pa.int8()), ("b", pa.int8())])),
        ),
        (pa.struct([("a", pa.null()), ("b", pa.int8())]), pa.struct([("a", pa.int8()), ("b", pa.null())])),
    ],
)
def test_parts_of_a_column_without_any_value_have_the_types_of_other_files(
    shard: Make, tmp_path: Path, kind: Any, other: Any
) -> None:
    tables = [pa.table({"text": ["a"], "more": pa.array([None], each)}) for each in (kind, other)]
    for turn, pair in enumerate((tables, tables[::-1])):
        shards = [shard(table, f"{turn} {number}.parquet") for number, table in enumerate(pair)]
        with open_sink(tmp_path / "out", "parquet", "plain", shards) as sink:
            for found in shards:
                PARQUET.copy(found, np.ones(1, np.bool_), sink)
        result = pq.read_table(tmp_path / "out")
        assert "null" not in str(result.schema.field("more").type)
        assert result["more"].to_pylist() == [None, None]


def test_columns_that_differ_beside_one_without_values_are_refused_with_the_files_that_differ(shard: Make) -> None:
    first = shard(pa.table({"text": pa.nulls(1), "n": pa.nulls(1)}), "a.parquet")
    second = shard(pa.table({"text": ["a"], "n": [1]}), "b.parquet")
    third = shard(pa.table({"text": ["a"], "n": ["x"]}), "c.parquet")
    with pytest.raises(InputError) as caught:
        PARQUET.check_together([first, second, third])
    assert f'{second.name} and {third.name} cannot be written to one file: column "n" is int64' in str(caught.value)
    wider = shard(pa.table({"text": ["a"], "n": [{"a": 1, "b": 2}]}), "d.parquet")
    narrow = shard(pa.table({"text": ["a"], "n": [{"a": 1}]}), "e.parquet")
    with pytest.raises(InputError, match='column "n" is struct'):
        PARQUET.check_together([first, wider, narrow])


def annotated(shard: Shard, table: Any, keep: list[bool]) -> Any:
    """The file with added columns."""
    path = shard.path.with_name("annotated")
    with open_sink(path, "parquet") as sink:
        PARQUET.annotate(shard, table, sink, keep=np.array(keep))
    return pq.ParquetFile(path).read()


def test_columns_are_added_at_the_end(shard: Make) -> None:
    table = rich_table()
    metadata = {**table.schema.metadata, b"org.apache.spark.sql.parquet.row.metadata": b"would hide new columns"}
    found = shard(table.replace_schema_metadata(metadata), "a.parquet", row_group_size=300)
    tokens = ['"a"', "17", None, '"say \\"1\\""'] * 250
    added = pa.table({"cluster_id": range(1000), "duplicate_of": tokens})
    added = added.cast(pa.schema([added.schema.field(0), pa.field("duplicate_of", pa.string(), metadata=JSON_TOKEN)]))
    keep = np.arange(1000) % 5 > 1
    result = annotated(found, added, keep.tolist())
    rows = table.to_pylist()
    assert result.select(table.column_names).to_pylist() == [rows[i] for i in np.flatnonzero(keep)]
    assert result.schema.metadata == table.schema.metadata
    assert result.column_names[-2:] == ["cluster_id", "duplicate_of"]
    assert result["cluster_id"].to_pylist() == np.flatnonzero(keep).tolist()
    plain = ["a", "17", None, 'say "1"'] * 250
    assert result["duplicate_of"].to_pylist() == [text for text, kept in zip(plain, keep, strict=True) if kept]
    assert result.schema.field("duplicate_of") == pa.field("duplicate_of", pa.string())


def test_a_column_that_is_there_is_not_added_again(shard: Make) -> None:
    found = shard(pa.table({"text": ["a"], "note": ["b"]}), "a.parquet")
    message = r'a\.parquet has a column "note" already; it looks as if it had been annotated before\.'
    with pytest.raises(InputError, match=message):
        annotated(found, pa.table({"note": [1]}), [True])
    with pytest.raises(InputError, match=message):
        PARQUET.check(found, Columns(), ["cluster_id", "note"])


def test_parquet_goes_only_to_parquet_files(shard: Make, tmp_path: Path) -> None:
    found = shard(pa.table({"text": ["a"]}), "a.parquet")
    with (
        open_sink(tmp_path / "out", "jsonl") as sink,
        pytest.raises(InputError, match="parquet, but the output is jsonl"),
    ):
        PARQUET.copy(found, np.ones(1, np.bool_), sink)
    with open_sink(tmp_path / "out", "jsonl") as sink, pytest.raises(InputError, match="but the output is jsonl"):
        PARQUET.annotate(found, pa.table({"n": [1]}), sink, keep=np.ones(1, np.bool_))


def test_an_interrupted_file_is_closed(shard: Make, tmp_path: Path) -> None:
    found = shard(pa.table({"text": ["a", "b"]}), "a.parquet")
    with pytest.raises(KeyboardInterrupt), open_sink(tmp_path / "out", "parquet") as sink:  # noqa: PT012
        PARQUET.copy(found, np.array([True, False]), sink)
        raise KeyboardInterrupt
    assert pq.ParquetFile(tmp_path / "out").metadata.num_rows == 0


def test_a_file_that_changed_since_it_was_found_is_refused(shard: Make, reading: Any, copied: Any) -> None:
    found = shard(pa.table({"text": ["a"]}), "a.parquet")
    pq.write_table(pa.table({"text": ["a", "b"]}), found.path)
    for use in (lambda: reading(found), lambda: copied((found, [True]))):
        with pytest.raises(DataError, match=r"a\.parquet changed while it was in use"):
            use()
    (grown,) = find_shards([found.path])
    with pytest.raises(DataError, match="changed while it was in use"):
        copied((grown, [True]))
