"""WARC and WET: one document a record. The output keeps every byte of the records that are kept.

`neardup.io.formats.warc.records` says which records are rows, and `neardup.io.formats.table.Format` states the guarantees of the
functions here.
"""

import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.errors import InputError
from neardup.io.checks.missing_columns import MissingColumnError
from neardup.io.corpora.batch import BATCH_BYTES, Batch, Columns, Part, Rejections
from neardup.io.corpora.shard import Shard
from neardup.io.formats.json.json_values import default_ids, value_token
from neardup.io.formats.warc.bodies import NotTextError, body_of, text_of
from neardup.io.formats.warc.records import Record, read_records
from neardup.io.formats.warc.warc_sink import WarcSink, kept_records
from neardup.io.storage.encodings import UTF_8
from neardup.io.storage.refusals import demand_format

Sink = WarcSink
_TEXT = pa.large_string()
_CHECKED_RECORDS = 20
_HEADERS = {
    "date": "warc-date",
    "record_id": "warc-record-id",
    "warc_type": "warc-type",
    "digest": "warc-payload-digest",
    "language": "warc-identified-content-language",
}
COLUMNS = ("url", "host", "content_type", "status", *_HEADERS)
"""What may be asked of a record, besides its text."""


def check(shard: Shard, columns: Columns, added: Sequence[str] = ()) -> None:
    """See `Format.check`; reads the first records."""
    if shard.encoding != UTF_8:
        raise InputError(
            f"{shard.name} is WARC, where each record declares its encoding, but `encoding={shard.encoding!r}` is given. "
            "Leave it out, or read such files separately."
        )
    if added:
        raise InputError(
            f"{shard.name} is WARC: its records have no columns, so none can be added ({', '.join(added)}). "
            "Leave out `annotate`: the audit says the same."
        )
    texts = () if columns.stored is not None or columns.vector is not None else columns.text
    asked = [name for name in (columns.stored, columns.vector, columns.id) if name]
    for name in (*(name for name in texts if name != "text"), *asked, *columns.values):
        if name not in COLUMNS or name in columns.text or name in (columns.stored, columns.vector):
            raise MissingColumnError(shard.name, name, ("text", *COLUMNS), there=", ".join(("text", *COLUMNS)))
    if columns.html is None and texts:
        for record in itertools.islice(read_records(shard), _CHECKED_RECORDS):
            if record.row is not None and _is_page(record, shard.max_document_bytes):
                raise InputError(
                    f"{shard.name} has pages of HTML: pass `html='main'` or `html='whole'` to extract their text."
                )


def _is_page(record: Record, limit: int) -> bool:
    try:
        return record.problem is None and text_of(body_of(record, limit))[1]
    except NotTextError:
        return False


def check_together(shards: Sequence[Shard]) -> None:
    """See `Format.check_together`; any records can share a file."""


def parts(shard: Shard, columns: Columns, wanted: Array | None = None) -> Iterator[Part]:
    """See `Format.parts`; records that are not wanted are not decoded."""

    def is_wanted(row: int | None) -> bool:
        return row is not None and (wanted is None or (row < len(wanted) and bool(wanted[row])))

    first, size, position = 0, 0, 0
    waiting: list[Record] = []
    for record in read_records(shard, is_wanted):
        position = record.position
        if record.row is None:
            continue
        waiting.append(record)
        size += len(record.block) + len(record.head)
        if size > BATCH_BYTES:
            yield partial(_read, shard, columns, first, waiting, wanted, position)
            first, size, waiting = first + len(waiting), 0, []
    if waiting:
        yield partial(_read, shard, columns, first, waiting, wanted, position)
    if wanted is not None and first + len(waiting) != len(wanted):
        raise shard.changed()
    shard.check_unchanged()


def _read(
    shard: Shard, columns: Columns, first: int, records: Sequence[Record], wanted: Array | None, position: int
) -> tuple[Batch, Rejections]:
    found: list[list[str | None]] = [[] for _ in range(2 + len(columns.values))]
    pages = np.zeros(len(records), np.bool_)
    rejections: Rejections = []
    has_text = bool(columns.text)
    for i, record in enumerate(records):
        row = first + i
        cells: list[str | None] = [None] * len(found)
        if wanted is None or wanted[row]:
            try:
                cells, pages[i] = _cells(shard, columns, record, row, has_text=has_text)
            except NotTextError as reason:
                rejections.append((row, str(reason)))
        for column, cell in zip(found, cells, strict=True):
            column.append(cell)
    texts, ids, *values = (pa.array(column, _TEXT) for column in found)
    return Batch(first, texts, ids, tuple(values), position, pages=pages), rejections


def _cells(
    shard: Shard, columns: Columns, record: Record, row: int, *, has_text: bool
) -> tuple[list[str | None], bool]:
    """Text, id and values of a record, and whether the text is a page of HTML."""
    if record.problem is not None:
        raise NotTextError(record.problem)
    body = body_of(record, shard.max_document_bytes)
    text, is_page = text_of(body)
    if is_page and has_text and columns.html is None:
        raise NotTextError("it is HTML: pass `html='main'` or `html='whole'`")
    known: dict[str, Any] = {name: record.get(header) for name, header in _HEADERS.items()}
    known |= {"url": record.uri, "host": _host(record.uri), "content_type": body.kind, "status": body.status}
    name = known[columns.id or "url"]
    key = default_ids(shard.name, [row])[0].as_py() if name is None else value_token(name)
    return [text if has_text else "", key, *(value_token(known[value]) for value in columns.values)], is_page


def _host(uri: str | None) -> str | None:
    try:
        return urlsplit(uri or "").hostname
    except ValueError:
        return None


def copy(shard: Shard, keep: Array, sink: Any) -> None:
    """See `Format.copy`; records that are no rows stay, except those that belong to a row that does not."""
    demand_format(shard, sink)
    with sink.reading(shard) as write:
        for record in kept_records(read_records(shard, sink.holds(shard)), keep, shard):
            write(record)
    shard.check_unchanged()


def annotate(shard: Shard, added: Any, sink: Any, *, keep: Array) -> None:  # noqa: ARG001
    """See `Format.annotate`; refused, because records have no columns."""
    check(shard, Columns(()), added.column_names)
