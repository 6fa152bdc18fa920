"""JSON lines: what is a row, reading in blocks, copying byte for byte, adding columns."""

import gzip
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

import neardup.io.formats.lines
from neardup.errors import DataError, InputError
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import find_shards
from neardup.io.formats import jsonl
from neardup.io.formats.json.json_values import JSON_TOKEN
from neardup.io.formats.lines import read_lines
from neardup.io.formats.table import open_sink

Make = Callable[..., Shard]


def line(text: str, **more: Any) -> bytes:
    """A row with its newline."""
    return json.dumps({"text": text, **more}, ensure_ascii=False).encode() + b"\n"


FIVE = b"".join(line(f"text {i}", id=i) for i in range(5))


def rows_of(shard: Shard, size: int = 1 << 20) -> list[bytes]:
    """The rows of a shard."""
    rows = []
    for block in read_lines(shard, size):
        assert block.row == len(rows)
        rows += [block.line(i) for i in range(len(block))]
    return rows


def test_a_row_is_a_line_that_is_not_blank(shard: Make) -> None:
    content = b"\n{1}\n\n \t \r\n{2}\r\n{3}  \n  {4}\n\r\n\n{5}"
    assert rows_of(shard(content)) == [b"{1}", b"{2}\r", b"{3}  ", b"  {4}", b"{5}"]
    assert rows_of(shard(content + b"\n")) == [b"{1}", b"{2}\r", b"{3}  ", b"  {4}", b"{5}"]
    assert rows_of(shard(b"\x0b\n\xc2\xa0\n")) == [b"\x0b", b"\xc2\xa0"]  # white space, but not of JSON


@pytest.mark.parametrize("content", [b"", b"\n", b" \r\n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_a_file_without_rows_is_no_error(shard: Make, reading: Any, copied: Any, content: bytes) -> None:
    empty = shard(content)
    assert reading(empty).texts == []
    assert copied((empty, [])).read_bytes() == b""
    jsonl.check(empty, Columns())


def test_a_byte_order_mark_is_no_part_of_the_first_row(shard: Make, reading: Any, copied: Any) -> None:
    marked = shard(b"\xef\xbb\xbf" + FIVE)
    assert reading(marked).texts[0] == "text 0"
    assert copied((marked, [True] * 5), (marked, [True] * 5)).read_bytes() == FIVE + FIVE


def test_utf_16_is_refused_with_the_remedy(shard: Make, reading: Any) -> None:
    with pytest.raises(DataError, match=r"corpus\.jsonl begins .* UTF-16, .*Pass `encoding='utf-16'`\."):
        reading(shard('{"text": "a"}\n'.encode("utf-16")))


@given(
    st.lists(st.sampled_from([b"{}", b"\n", b" ", b"\r", b'{"text": "ab"}', b"x" * 30]), max_size=30),
    st.integers(1, 40),
)
def test_rows_do_not_depend_on_how_much_is_read_at_a_time(
    tmp_path_factory: Any, pieces: list[bytes], size: int
) -> None:
    content = b"".join(pieces)
    path = tmp_path_factory.mktemp("lines") / "corpus.jsonl"
    path.write_bytes(content)
    found = find_shards([path])[0]
    assert rows_of(found, size) == [row for row in content.split(b"\n") if row.strip(b" \t\r")]


def test_a_line_longer_than_a_block_comes_alone(shard: Make, reading: Any) -> None:
    long = "x" * (9 << 20)
    found = shard(line("a") + line(long) + line("b"))
    assert reading(found).texts == ["a", long, "b"]


@pytest.mark.parametrize("compression", ["plain", "gzip", "zstd"])
def test_all_compressions_are_read_and_written(shard: Make, reading: Any, copied: Any, compression: str) -> None:
    content = b"".join(line(f"text {i} " * 50) for i in range(30_000))
    stored = {"plain": bytes, "gzip": gzip.compress, "zstd": zstandard.compress}[compression](content)
    found = shard(stored, "corpus.jsonl" + {"plain": "", "gzip": ".gz", "zstd": ".zst"}[compression])
    result = reading(found)
    assert len(result.texts) == 30_000
    assert result.ids[29_999] == json.dumps(f"{found.path}:29999")
    written = copied((found, [True, False] * 15_000), name="out" + found.path.suffix, compression=compression)
    assert (
        rows_of(
            find_shards(
                [
                    written.rename(
                        f"{written}.jsonl{found.path.suffix}" if compression != "plain" else f"{written}.jsonl"
                    )
                ],
            )[0]
        )
        == (content.split(b"\n")[:-1:2])
    )


def test_bad_rows_are_reported_and_the_others_read(shard: Make, reading: Any) -> None:
    content = b"".join(line(f"text {i}", id=i) if i % 100 else b'{"text": \n' for i in range(1000))
    result = reading(shard(content))
    assert sorted(result.reasons) == list(range(0, 1000, 100))
    assert set(result.reasons.values()) == {"malformed JSON: Expecting value (character 9)"}
    assert result.texts[1:100] == [f"text {i}" for i in range(1, 100)]
    assert result.ids[999] == "999"


def test_rows_that_are_not_wanted_are_null_and_not_checked(shard: Make, reading: Any) -> None:
    content = FIVE + b"malformed\n" + line("last") + b"\xff\n"
    result = reading(shard(content), wanted=[False, True, True, False, True, False, True, False])
    assert result.texts == [None, "text 1", "text 2", None, "text 4", None, "last", None]
    assert result.reasons == {}
    assert reading(shard(content), wanted=[False] * 8).texts == [None] * 8
    assert reading(shard(content), wanted=[True] * 8).reasons.keys() == {5, 7}


def test_parts_can_be_read_in_any_order(shard: Make) -> None:
    content = b"".join(line("x" * 1000, id=i) for i in range(10_000))
    parts = list(jsonl.parts(shard(content), Columns()))
    assert len(parts) > 1
    batches = [part()[0] for part in reversed(parts)][::-1]
    assert [batch.row for batch in batches] == list(np.cumsum([0] + [len(batch.ids) for batch in batches[:-1]]))
    assert [token for batch in batches for token in batch.ids.to_pylist()] == [str(i) for i in range(10_000)]


def test_ids_of_several_kinds_stay_what_they_are(shard: Make, reading: Any) -> None:
    ids = ["1", 1, -(10**25), "中", 'a"b', "tab\t"] * 50
    result = reading(shard(b"".join(line("x", id=value) for value in ids)))
    assert [json.loads(token) for token in result.ids] == ids


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        ([True] * 5, [0, 1, 2, 3, 4]),
        ([False] * 5, []),
        ([True, False, True, True, False], [0, 2, 3]),
        ([False, True, False, False, True], [1, 4]),
    ],
)
def test_rows_are_copied_byte_for_byte(shard: Make, copied: Any, keep: list[bool], expected: list[int]) -> None:
    rows = [b'{ "text" : "\\u4e2d" }\r\n', b'  {"text":1e5}\t\n', b"not json\n", b"\xff\xfe\n", b'{"text": "b"}\n']
    found = shard(b"\n" + rows[0] + b" \r\n" + b"".join(rows[1:]) + b"\n")
    assert copied((found, keep)).read_bytes() == b"".join(rows[i] for i in expected)


def test_a_last_line_without_newline_gets_one_only_if_something_follows(shard: Make, copied: Any) -> None:
    first, second = shard(FIVE[:-1], "a.jsonl"), shard(b"{}\n{}", "b.jsonl")
    assert copied((first, [True] * 5)).read_bytes() == FIVE[:-1]
    assert copied((first, [True] * 5), (second, [True, False])).read_bytes() == FIVE + b"{}\n"
    assert copied((first, [True] * 5), (second, [False, False])).read_bytes() == FIVE[:-1]
    assert copied((second, [False, True]), (second, [False, True])).read_bytes() == b"{}\n{}"


def test_rows_go_to_standard_output(shard: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    output = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", output)
    with open_sink(Path("-"), "jsonl") as sink:
        jsonl.copy(shard(FIVE), np.ones(5, np.bool_), sink)
    assert output.buffer.getvalue() == FIVE  # type: ignore[attr-defined]


def added(size: int) -> Any:
    """Columns to be added, of every kind."""
    fields = [
        ("cluster_id", pa.int64()),
        ("is_duplicate", pa.bool_()),
        ("note", pa.string()),
        ("similarity", pa.float64()),
    ]
    schema = pa.schema([*fields, pa.field("duplicate_of", pa.string(), metadata=JSON_TOKEN)])
    columns = [
        [None if i % 2 else i for i in range(size)],
        [i % 2 == 0 for i in range(size)],
        [None if i == 3 else f'say "{i}"' for i in range(size)],
        [1.0, 0.25, float("nan"), None, 1e-7][:size],
        ['"a"', "17", None, '"\\n"', "0"][:size],
    ]
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )


ADDED = [
    b'"cluster_id":0,"is_duplicate":true,"note":"say \\"0\\"","similarity":1.0,"duplicate_of":"a"',
    b'"cluster_id":null,"is_duplicate":false,"note":"say \\"1\\"","similarity":0.25,"duplicate_of":17',
    b'"cluster_id":2,"is_duplicate":true,"note":"say \\"2\\"","similarity":null,"duplicate_of":null',
    b'"cluster_id":null,"is_duplicate":false,"note":null,"similarity":null,"duplicate_of":"\\n"',
    b'"cluster_id":4,"is_duplicate":true,"note":"say \\"4\\"","similarity":1e-7,"duplicate_of":0',
]


def annotated(shard: Shard, table: Any, keep: list[bool]) -> bytes:
    """The file with added columns."""
    path = shard.path.with_name("annotated")
    with open_sink(path, "jsonl") as sink:
        jsonl.annotate(shard, table, sink, keep=np.array(keep))
    return path.read_bytes()


def test_columns_are_added_at_the_end_and_the_rest_stays(shard: Make) -> None:
    rows = [
        b'{ "text" : "}" } \r\n',
        b"{}\n",
        b' {"a": {"cluster_id": 1}, "b": "cluster_id"}\n',
        b"{ \t}\n",
        b'{"z":"{"}',
    ]
    expected = [
        b'{ "text" : "}" ,' + ADDED[0] + b"} \r\n",
        b"{" + ADDED[1] + b"}\n",
        b' {"a": {"cluster_id": 1}, "b": "cluster_id",' + ADDED[2] + b"}\n",
        b"{ \t" + ADDED[3] + b"}\n",
        b'{"z":"{",' + ADDED[4] + b"}",
    ]
    found = shard(b"".join(rows))
    assert annotated(found, added(5), [True] * 5) == b"".join(expected)
    assert annotated(found, added(5), [False, True, False, False, True]) == expected[1] + expected[4]
    for row in annotated(found, added(5), [True] * 5).splitlines():
        assert json.loads(row).keys() >= {"cluster_id", "duplicate_of"}


def test_blocks_without_a_row_to_keep_add_nothing(shard: Make) -> None:
    found = shard(line("x" * (5 << 20)) + b"{}\n")
    assert annotated(found, pa.table({"n": [1, 2]}), [False, True]) == b'{"n":2}\n'
    assert annotated(found, pa.table({"n": [1, 2]}), [False, False]) == b""


def test_rejected_rows_are_left_out_of_annotated_files(shard: Make) -> None:
    assert annotated(shard(b"{}\nmalformed\n{}\n"), pa.table({"n": [1, 2, 3]}), [True, False, True]) == (
        b'{"n":1}\n{"n":3}\n'
    )


def test_a_column_that_is_there_is_not_added_again(shard: Make) -> None:
    found = shard(FIVE + b'{"text": "a", "note" : null}\n')
    with pytest.raises(InputError) as caught:
        annotated(found, pa.table({"cluster_id": [1] * 6, "note": [2] * 6}), [True] * 6)
    assert str(caught.value) == (
        f'{found.name} has a column "note" already; it looks as if it had been annotated before. '
        "Remove or rename that column, or start from the original file."
    )
    with pytest.raises(InputError, match='has a column "note" already'):
        jsonl.check(found, Columns(), ["cluster_id", "note"])
    jsonl.check(found, Columns(), ["cluster_id"])


def test_a_row_that_is_no_object_cannot_be_annotated(shard: Make) -> None:
    found = shard(b'["note"]\n')
    with pytest.raises(DataError, match="row 0: columns cannot be added: it is not a JSON object, but an array"):
        annotated(found, pa.table({"note": [1]}), [True])
    with pytest.raises(DataError, match="row 0: columns cannot be added: malformed JSON"):
        annotated(shard(b'{"a": 1\n'), pa.table({"note": [1]}), [True])


def test_a_missing_column_is_seen_before_any_work(shard: Make) -> None:
    found = shard(b"malformed\n" + FIVE)
    jsonl.check(found, Columns(("text",), "id"))
    with pytest.raises(InputError, match=r'corpus\.jsonl has no column "body" in its first rows\. It has: text, id\.'):
        jsonl.check(found, Columns(("body",)))
    with pytest.raises(InputError, match='has no column "key" in its first rows'):
        jsonl.check(found, Columns(id="key"))
    with pytest.raises(InputError, match=r'has no column "text\.body" in its first rows'):
        jsonl.check(found, Columns(("text.body",)))
    jsonl.check(shard(b'{"a": 1}\n{"text": "b"}\n'), Columns())
    jsonl.check(shard(b'{"text": "a", "text": "b"}\n'), Columns())
    jsonl.check(shard(b"malformed\n"), Columns())


def test_a_json_array_is_refused_with_the_remedy(shard: Make) -> None:
    with pytest.raises(InputError, match=r"is a JSON array, not one object a line\. Convert it: jq -c '\.\[\]'"):
        jsonl.check(shard(b'[\n{"text": "a"},\n'), Columns())


def test_a_file_that_changed_since_it_was_found_is_refused(shard: Make, reading: Any, copied: Any) -> None:
    found = shard(FIVE)
    found.path.write_bytes(FIVE + FIVE)
    for use in (lambda: reading(found), lambda: copied((found, [True] * 5))):
        with pytest.raises(DataError, match=r"corpus\.jsonl changed while it was in use\. Run again"):
            use()
    found.path.unlink()
    with pytest.raises(DataError, match="cannot be read any more: No such file or directory"):
        reading(found)


def test_a_change_while_reading_is_noticed(shard: Make) -> None:
    found = shard(FIVE)
    batches = jsonl.parts(found, Columns())
    next(batches)
    os.utime(found.path, ns=(1, 1))
    with pytest.raises(DataError, match="changed while it was in use"):
        next(batches)


def test_masks_shorter_than_the_file_mean_that_it_grew(shard: Make, copied: Any) -> None:
    with pytest.raises(DataError, match="changed while it was in use"):
        copied((shard(FIVE), [True] * 4))


def test_other_formats_are_not_mixed_in(shard: Make, tmp_path: Path) -> None:
    found = shard(FIVE)
    with open_sink(tmp_path / "out.parquet", "parquet") as sink:
        for use in (jsonl.copy, lambda *a: jsonl.annotate(*a[:1], pa.table({}), a[2], keep=a[1])):
            with pytest.raises(
                InputError, match=r"corpus\.jsonl is jsonl, but the output is parquet\. Rows are written"
            ):
                use(found, np.ones(5, np.bool_), sink)


def test_blocks_are_a_few_megabytes() -> None:
    assert neardup.io.formats.lines.BATCH_BYTES == 4 << 20
