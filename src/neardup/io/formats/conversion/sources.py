"""Rows of every format as dicts, a block at a time: what JSON lines and columns are made of."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.errors import DECODER_ERRORS, DataError
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.shard import OF_COLUMNS, Shard
from neardup.io.formats.columnar.table_format import kept_batches
from neardup.io.formats.delimited_rows import fields_of, read_header, read_rows
from neardup.io.formats.lines import mask_of, read_lines
from neardup.io.formats.table import FILES, FORMATS, opened_table, part_of_files
from neardup.text.html import Extract, extractor

Dicts = list[dict[str, Any]]
Block = tuple[Array, Dicts]
"""The numbers of some rows in their shard, and the rows."""
_DECODE = msgspec.json.Decoder().decode


def dict_rows(shard: Shard, keep: Array, html: str | None) -> Iterator[Block]:
    """The rows of a shard where `keep` (bool[rows]) is true. `html`: how pages become text, of WARC and of
    files with one document each.

    Raises:
        DataError: the shard has changed since it was found, or is damaged.
    """
    extract: Extract = str if html is None else extractor(html)
    if shard.format == "jsonl":
        yield from _of_json(shard, keep)
    elif shard.format in OF_COLUMNS:
        yield from _of_columns(shard, keep)
    elif shard.format == "warc":
        yield from _of_archive(shard, keep, html, extract)
    elif shard.format in FILES:
        yield from _of_file(shard, keep, extract)
    else:
        yield from _of_table(shard, keep)


def samples(shard: Shard) -> dict[str, Any] | None:
    """A value of each column, for formats whose columns have the same types in every file; None for others."""
    if shard.format == "warc":
        names = FORMATS["warc"].COLUMNS  # type: ignore[attr-defined]
        return dict.fromkeys(("id", "text", *names), "") | {"status": 200}
    if shard.format in FILES:
        return {"id": "", "text": ""}
    return None if shard.format == "jsonl" else dict.fromkeys(read_header(shard).names, "")


def _of_json(shard: Shard, keep: Array) -> Iterator[Block]:
    for block in read_lines(shard, expected=len(keep)):
        rows = np.flatnonzero(mask_of(shard, keep, block))
        yield block.row + rows, [_decoded(shard, block.row + row, block.line(row)) for row in rows.tolist()]


def _decoded(shard: Shard, row: int, line: bytes) -> dict[str, Any]:
    try:
        return _DECODE(line)  # type: ignore[no-any-return]
    except (msgspec.DecodeError, RecursionError):  # NaN, which many programs write
        try:
            found: dict[str, Any] = json.loads(line)
            json.dumps(found, ensure_ascii=False).encode()
        except DECODER_ERRORS as problem:  # in a column that was not read
            raise DataError(
                f"{shard.name}, row {row}, cannot be converted: {problem}. Mend the row, or name an output of JSON lines."
            ) from None
        return found


def _of_columns(shard: Shard, keep: Array) -> Iterator[Block]:
    with opened_table(shard) as file:
        for batch, rows in kept_batches(shard, file, keep):
            columns = [_plain(column).to_pylist() for column in batch.columns]
            names = batch.schema.names
            yield rows, [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _plain(column: Any) -> Any:
    """A column whose values in Python say all that they hold."""
    if not pa.types.is_timestamp(column.type) or column.type.unit != "ns":
        return column
    zone = "" if column.type.tz is None else "Z"
    return pc.replace_substring(
        pc.binary_join_element_wise(column.cast(pa.timestamp("ns")).cast(pa.string()), zone, ""), " ", "T"
    )


def _of_archive(shard: Shard, keep: Array, html: str | None, extract: Extract) -> Iterator[Block]:
    names = FORMATS["warc"].COLUMNS  # type: ignore[attr-defined]
    for part in FORMATS["warc"].parts(shard, Columns(html=html, values=names), keep):
        batch, _ = part()
        rows = np.flatnonzero(keep[batch.row : batch.row + len(batch.texts)])
        texts, ids, pages = batch.texts.to_pylist(), batch.ids.to_pylist(), batch.pages
        values = [column.to_pylist() for column in batch.values]
        found = []
        for i in rows.tolist():
            text = extract(texts[i]) if pages[i] else texts[i]
            more = {name: _value(column[i]) for name, column in zip(names, values, strict=True)}
            found.append({"id": _value(ids[i]), "text": text} | more)
        yield batch.row + rows, found


def _value(token: str | None) -> Any:
    return None if token is None else json.loads(token)


def _of_file(shard: Shard, keep: Array, extract: Extract) -> Iterator[Block]:
    batch, _ = part_of_files([shard], Columns(), keep)()
    rows = np.flatnonzero(keep)
    yield rows, [{"id": _value(batch.ids[i].as_py()), "text": extract(batch.texts[i].as_py())} for i in rows.tolist()]


def _of_table(shard: Shard, keep: Array) -> Iterator[Block]:
    header = read_header(shard)
    if not header.names:
        return
    for block in read_rows(shard, header, expected=len(keep)):
        rows = np.flatnonzero(mask_of(shard, keep, block))
        places = list(range(len(header.names)))
        fields = fields_of(block.data, block.starts[rows], block.ends[rows], header.dialect, places)
        columns = [column.to_pylist() for column in fields.columns]
        yield block.row + rows, [dict(zip(header.names, values, strict=True)) for values in zip(*columns, strict=True)]


def with_added(rows: Array, found: Dicts, added: Any) -> Sequence[dict[str, Any]]:
    """The rows with further columns: those of an Arrow table with one row for each row of the shard; None for none."""
    if added is None:
        return found
    more = added.take(pa.array(rows)).to_pylist()
    return [row | each for row, each in zip(found, more, strict=True)]
