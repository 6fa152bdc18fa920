"""CSV and TSV: a header, then one row per document. The output keeps every byte of the rows that are kept.

`neardup.io.formats.delimited_rows` defines rows, `neardup.io.dialect` defines how they are written, and
`neardup.io.formats.table.Format` states the guarantees of the functions here.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.errors import DataError
from neardup.io.checks.missing_columns import MissingColumnError
from neardup.io.corpora.batch import Batch, Columns, Part, Rejections
from neardup.io.corpora.shard import Shard
from neardup.io.formats.delimited_rows import Header, fields_of, read_header, read_rows
from neardup.io.formats.json.json_values import default_ids, is_utf8, joined, json_values, only, quoted, spread
from neardup.io.formats.lines import Lines, mask_of
from neardup.io.formats.text_sink import TextSink, demand_same_kind, with_parts, write_changed
from neardup.io.storage.refusals import demand_format, demand_new
from neardup.kernels.io.delimited import FINE

_TEXT = pa.large_string()
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last are wide forms
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


class Delimited:
    """One of the formats of delimited text; see `neardup.io.formats.table.Format`."""

    def __init__(self, name: str) -> None:
        self.Sink = partial(TextSink, name)

    def check(self, shard: Shard, columns: Columns, added: Sequence[str] = ()) -> None:
        """See `Format.check`; checks the header."""
        header = read_header(shard)
        if not header.names:
            return
        for name in _needed(columns):
            _place(shard, header, name)
        demand_new(shard.name, added, header.names)

    def check_together(self, shards: Sequence[Shard]) -> None:
        """See `Format.check_together`; columns, dialect and encoding must agree."""
        kinds = [(shard.name, _kind(header)) for shard in shards if (header := read_header(shard)).names]
        for name, kind in kinds[1:]:
            demand_same_kind(*kinds[0], name, kind)

    def parts(self, shard: Shard, columns: Columns, wanted: Array | None = None) -> Iterator[Part]:
        """See `Format.parts`."""
        header = read_header(shard)
        if not header.names:
            return
        reader = _FieldReader(shard, header, columns)
        for block in read_rows(shard, header):
            yield partial(reader.read, block, None if wanted is None else mask_of(shard, wanted, block))

    def copy(self, shard: Shard, keep: Array, sink: Any) -> None:
        """See `Format.copy`; the header is written once."""
        header = self._begin(shard, sink, ())
        if header is None:
            return
        for block in read_rows(shard, header, expected=len(keep)):
            for run in block.runs(np.flatnonzero(mask_of(shard, keep, block))):
                sink.write(run, header.encoding.newline)

    def replace(
        self,
        shard: Shard,
        columns: Columns,
        rewrite: Callable[[int, list[str]], list[str]],
        sink: Any,
        *,
        keep: Array,
        changed: Array,
    ) -> None:
        """See `Rewritable.replace`; a changed field is rewritten in the file's dialect, quoted if it was quoted."""
        header = self._begin(shard, sink, ())
        if header is None:
            return
        places = [_place(shard, header, name) for name in columns.text]
        for block in read_rows(shard, header):
            kept, new = mask_of(shard, keep, block), mask_of(shard, changed, block)
            write_changed(block, sink, kept, new, partial(_with_texts, header, places, block, rewrite))

    def annotate(self, shard: Shard, added: Any, sink: Any, *, keep: Array) -> None:
        """See `Format.annotate`; the columns are added at the end, null is an empty field, and no text is a formula."""
        header = self._begin(shard, sink, added.column_names)
        if header is None:
            return
        for block in read_rows(shard, header, expected=len(keep)):
            rows = np.flatnonzero(mask_of(shard, keep, block))
            table = added.take(pa.array(block.row + rows))
            cells = [_cells(field, column) for field, column in zip(table.schema, table.columns, strict=True)]
            written = [
                _with_cells(shard, header, block.stored(row), block.line(row), more)
                for row, more in zip(rows.tolist(), zip(*cells, strict=True), strict=True)
            ]
            if written:
                sink.write(b"".join(written), header.encoding.newline)

    def _begin(self, shard: Shard, sink: Any, added: Sequence[str]) -> Header | None:
        demand_format(shard, sink)
        header = read_header(shard)
        if not header.names:
            return None
        demand_new(shard.name, added, header.names)
        first, encoding = header.stored, header.encoding
        if added:
            line = first.decode(encoding.name).removesuffix("\n").encode()
            first = _with_cells(shard, header, first, line, added)
        sink.begin(shard, _kind(header), mark=encoding.mark, header=first, newline=encoding.newline)
        return header


def _needed(columns: Columns) -> list[str]:
    return list(dict.fromkeys((*_texts(columns), *([columns.id] if columns.id else []), *columns.values)))


def _texts(columns: Columns) -> tuple[str, ...]:
    return columns.text if columns.stored is None else (columns.stored,)


def _place(shard: Shard, header: Header, name: str) -> int:
    if name not in header.names:
        there, how = ", ".join(header.names), f" (read with {header.dialect})"
        raise MissingColumnError(shard.name, name, header.names, there=there, read_with=how)
    return header.names.index(name)


def _kind(header: Header) -> tuple[str, ...]:
    return f"columns {', '.join(header.names)}", str(header.dialect), header.encoding.name


class _FieldReader:
    """Reads texts, ids and values from rows; several threads may use it."""

    def __init__(self, shard: Shard, header: Header, columns: Columns) -> None:
        self._shard, self._header, self._columns = shard, header, columns
        names = _needed(columns)
        if columns.id is None and "id" in header.names and "id" not in names:
            names.append("id")
        self._places = {name: _place(shard, header, name) for name in names}
        line = header.stored.decode(header.encoding.name).rstrip("\r\n").encode()
        self._header_lines = (line, line + b"\r") if len(header.names) > 1 else ()

    def read(self, lines: Lines, wanted: Array | None = None) -> tuple[Batch, Rejections]:
        """The rows where `wanted` (bool[rows]) is true, nulls for the others, and the rows that cannot be read."""
        rows = np.arange(len(lines)) if wanted is None else np.flatnonzero(wanted)
        fields = fields_of(
            lines.data, lines.starts[rows], lines.ends[rows], self._header.dialect, list(self._places.values())
        )
        reasons = self._reasons(lines, rows, fields.counts, fields.odd)
        found = dict(zip(self._places, fields.columns, strict=True))
        if reasons:  # before any code touches strings that may not be UTF-8
            usable = np.ones(len(rows), np.bool_)
            usable[list(reasons)] = False
            found = {name: only(column, usable) for name, column in found.items()}
        texts = [found[name] for name in _texts(self._columns)]
        ids = self._ids(found, lines.row + rows)
        usable = np.ones(len(rows), np.bool_)
        usable[list(reasons)] = False
        text = joined(texts, self._columns.separator, len(rows))
        values = [quoted(_without_empty(found[name])) for name in self._columns.values]
        columns = spread([only(column, usable) for column in (text, ids, *values)], rows, len(lines))
        rejections = [(lines.row + int(rows[i]), reasons[i]) for i in sorted(reasons)]
        return Batch(lines.row, columns[0], columns[1], tuple(columns[2:]), lines.position), rejections

    def _reasons(self, lines: Lines, rows: Array, counts: Array, odd: Array) -> dict[int, str]:
        reasons: dict[int, str] = {}
        expected = len(self._header.names)
        if lines.bad:
            reasons = {i: lines.bad[row] for i, row in enumerate(rows.tolist()) if row in lines.bad}
        sizes = lines.ends[rows] - lines.starts[rows]
        for line in self._header_lines:
            for i in np.flatnonzero(sizes == len(line)).tolist():
                if lines.line(rows[i]) == line:
                    reasons.setdefault(i, "it repeats the header, as where files were joined")
        for i in np.flatnonzero((counts != expected) | (odd != FINE)).tolist():
            if odd[i] != FINE:
                reason = (
                    "a quote in a quoted field is neither doubled nor escaped, or the quote before it is not closed "
                    f"(read with {self._header.dialect})"
                )
            else:
                reason = f"it has {counts[i]} fields, but the header has {expected}"
            reasons.setdefault(i, reason)
        if not is_utf8(
            pa.LargeStringArray.from_buffers(1, pa.py_buffer(np.array([0, len(lines.data)])), pa.py_buffer(lines.data))
        ):
            for i, reason in lines.not_utf8(rows):
                reasons.setdefault(i, reason)
        return reasons

    def _ids(self, found: dict[str, Any], rows: Array) -> Any:
        name = self._columns.id_or_default
        if name not in found:
            return default_ids(self._shard.name, rows)
        ids = quoted(_without_empty(found[name]))
        return pc.coalesce(ids, default_ids(self._shard.name, rows)) if ids.null_count else ids


def _without_empty(texts: Any) -> Any:
    return pc.if_else(pc.equal(texts, pa.scalar("", _TEXT)), pa.scalar(None, _TEXT), texts)


def _cells(field: Any, column: Any) -> list[str]:
    tokens = json_values(column.combine_chunks(), field).to_pylist()
    return [
        "" if token == "null" else _no_formula(json.loads(token)) if token.startswith('"') else token
        for token in tokens
    ]


def _no_formula(text: str) -> str:
    """The text in a form that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULAS) and not _NUMBER.fullmatch(text) else text


def _with_texts(
    header: Header, places: list[int], block: Lines, rewrite: Callable[[int, list[str]], list[str]], i: int
) -> bytes:
    """Row i as stored, but with new texts from `rewrite` in the columns at `places`."""
    fields = fields_of(block.data, block.starts[i : i + 1], block.ends[i : i + 1], header.dialect, places)
    in_quotes = fields.quoted[0].tolist()
    spans = (fields.spans[0] - block.starts[i] + np.array([-1, 1]) * fields.quoted[0][:, None]).tolist()
    before = [column[0].as_py() for column in fields.columns]
    del fields  # a text may be nearly the whole row, and large
    parts = [
        (start, end, header.dialect.cell(new, quoted=quotes).encode())
        for (start, end), quotes, old, new in zip(spans, in_quotes, before, rewrite(block.row + i, before), strict=True)
        if new != old
    ]
    return with_parts(block, i, parts)


def _with_cells(shard: Shard, header: Header, stored: bytes, line: bytes, cells: Sequence[str]) -> bytes:
    """A row with further fields before its line ending; `line` is the row in UTF-8 without its newline."""
    name, dialect = header.encoding.name, header.dialect
    body = line.removesuffix(b"\r")
    escape = (dialect.escape or "").encode()
    escapes = len(body) - len(body.rstrip(escape)) if escape else 0
    returns = "\r" if len(body) < len(line) and escapes % 2 == 0 else ""
    newline = header.encoding.newline
    ending = returns.encode(name) + newline
    kept = stored.removesuffix(newline).removesuffix(returns.encode(name))
    try:
        more = "".join(dialect.delimiter + dialect.cell(cell) for cell in cells).encode(name)
    except ValueError as problem:  # includes UnicodeEncodeError
        raise DataError(
            f"{shard.name}: columns cannot be added, since {dialect} in {name} cannot hold {', '.join(cells)!r}: {problem}. "
            "Convert the file to a dialect with quotes, in UTF-8."
        ) from None
    return kept + more + ending


CSV: Delimited = Delimited("csv")
TSV: Delimited = Delimited("tsv")
