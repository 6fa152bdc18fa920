"""Read thousands of JSON lines at once into texts, ids and values with Arrow's JSON reader, which releases the interpreter lock.

Arrow reads a block as a stream of objects, and strictly: it refuses malformed JSON, lone surrogates, values of types
other than those requested, and repeated keys among the requested ones. Two things that it does not see are checked here: UTF-8 in
the columns that it skips, and that each line is one object. If every line starts and ends with a brace, no object can continue in
the next line; as many objects as lines then means one object per line. The rows of a refused block are read one by one, by
`neardup.io.formats.json.json_structs` and, where that cannot decide, by `neardup.io.formats.json.json_rows`.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from neardup.arrays import Array
from neardup.io.corpora.batch import Batch, Columns, Rejections
from neardup.io.formats.json.json_rows import BadJson, BadRow, Row, kinds_of_values, read_row
from neardup.io.formats.json.json_structs import StructReader
from neardup.io.formats.json.json_values import (
    EXACT_INTEGERS,
    default_ids,
    is_utf8,
    joined,
    number_tokens,
    quote,
    quoted,
    spread,
)
from neardup.io.formats.lines import Lines
from neardup.text.given_elements import texts_of_lists
from neardup.text.lists.columns import texts_in_column
from neardup.text.lists.paths import Step, column_of, list_path

_TEXT = pa.large_string()
_MAX_BLOCK_BYTES = 1 << 30  # Arrow counts the bytes of a block in 32 bits
_MAX_DEPTH = 100  # levels of nested columns for which types of Arrow are made; Python reads deeper ones
_LISTS = (pa.list_(_TEXT), pa.list_(pa.int64()))
_KINDS = {int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
_OPEN, _CLOSE, _RETURN = b"{}\r"
_ITEM = "\0item"
"""Stands for the elements of a list among the names of its fields."""


class BlockReader:
    """Reads texts, ids and values from a shard's lines; several threads may use it.

    The result for a row does not depend on its neighbors: all readers agree on rows that they can read.
    """

    def __init__(self, columns: Columns, shard_name: str) -> None:
        self._has_stored, self._shard_name = columns.stored is not None, shard_name
        if columns.stored is not None:
            columns = dataclasses.replace(columns, text=(), values=(columns.stored, *columns.values), stored=None)
        self._columns = columns
        self._structs = StructReader(columns)
        self._plain_options = self._options(()) if not columns.values else []

    def _options(self, kinds: tuple[Any, ...]) -> list[Any]:
        """Arrow options that request the columns with these types of values."""
        text_kinds = _LISTS if self._columns.of_elements else (_TEXT,)
        schemas = (
            _schema(self._columns, text_kind, id_kind, kinds)
            for text_kind in text_kinds
            for id_kind in (_TEXT, pa.int64())
        )
        return [
            pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore") for schema in schemas if schema
        ]

    def _options_like(self, lines: Lines, row: int) -> list[Any]:
        """Arrow options that request the columns, if all rows resemble this one; several, if its values may be of several types."""
        if not self._columns.values:
            return self._plain_options
        try:
            kinds = tuple(_KINDS.get(kind, _TEXT) for kind in kinds_of_values(lines.line(row), self._columns.values))
        except BadRow:
            return []
        others = [
            tuple(other if kind == pa.int64() else kind for kind in kinds) for other in (pa.uint64(), pa.float64())
        ]
        return [options for found in dict.fromkeys([kinds, *others]) for options in self._options(found)]

    def read(self, lines: Lines, wanted: Array | None = None) -> tuple[Batch, Rejections]:
        """The rows where `wanted` (bool[rows]) is true, nulls for the others, and the rows that cannot be read."""
        rows = np.arange(len(lines)) if wanted is None else np.flatnonzero(wanted)
        rejections: Rejections = []
        found = (None if lines.bad else self._read_together(lines, rows)) or self._read_one_by_one(
            lines, rows, rejections
        )
        texts, ids, *values = spread(found, rows, len(lines))
        if self._has_stored:
            texts, *values = values
        return Batch(lines.row, texts, ids, tuple(values), lines.position), rejections

    def _read_together(self, lines: Lines, rows: Array) -> list[Any] | None:
        """Texts, ids and values of some rows, or None unless all of them can be read."""
        last = lines.ends[rows] - 1
        last -= lines.data[last] == _RETURN
        if (lines.data[lines.starts[rows]] != _OPEN).any() or (lines.data[last] != _CLOSE).any():
            return None
        runs = list(lines.utf8_runs(rows))
        block = pa.py_buffer(runs[0] if len(runs) == 1 else b"".join(runs))
        if not 0 < block.size <= _MAX_BLOCK_BYTES or not _is_utf8(block):
            return None
        settings = pj.ReadOptions(use_threads=False, block_size=block.size + 1)
        for options in self._options_like(lines, int(rows[0])):
            try:
                table = pj.read_json(pa.BufferReader(block), settings, options)
            except pa.ArrowInvalid:
                continue
            return self._columns_of(table, lines.row + rows) if len(table) == len(rows) else None
        return None

    def _columns_of(self, table: Any, rows: Array) -> list[Any] | None:
        texts = [_texts(table, name) for name in self._columns.text]
        if self._columns.of_elements:
            found = [texts_of_lists(lists) for lists in texts]
            if any(problems for _, problems in found):
                return None
            texts = [text for text, _ in found]
        ids = _column(table, self._columns.id_or_default)
        if any(text.null_count for text in texts):
            return None
        text = joined(texts, self._columns.separator, len(table))
        ids = quoted(ids) if ids.type == _TEXT else ids.cast(_TEXT)
        ids = pc.coalesce(ids, default_ids(self._shard_name, rows)) if ids.null_count else ids
        values = [_tokens(_column(table, name)) for name in self._columns.values]
        return None if any(value is None for value in values) else [text, ids, *values]

    def _read_one_by_one(self, lines: Lines, rows: Array, rejections: Rejections) -> list[Any]:
        nothing = (None,) * (2 + len(self._columns.values))
        found: list[tuple[str | None, ...]] = []
        read_line = self._structs.reader()
        for row in rows.tolist():
            try:
                if row in lines.bad:
                    raise BadRow(lines.bad[row])
                line = lines.line(row)
                text, token, values = (read_line and read_line(line)) or self._read_row(line, lines, row)
                token = token or quote(f"{self._shard_name}:{lines.row + row}")
                found.append((text, token, *values))
            except BadRow as reason:
                rejections.append((lines.row + row, str(reason)))
                found.append(nothing)
        return [pa.array(column, _TEXT) for column in (zip(*found, strict=True) if found else [()] * len(nothing))]

    def _read_row(self, line: bytes, lines: Lines, row: int) -> Row:
        try:
            return read_row(line, self._columns)
        except BadJson:  # or nested too deeply for Python
            alone = self._read_together(lines, np.array([row]))
            if alone is None:
                raise
            text, token, *values = (column[0].as_py() for column in alone)
            return text, token, values


def _is_utf8(data: Any) -> bool:
    return is_utf8(pa.LargeStringArray.from_buffers(1, pa.py_buffer(np.array([0, data.size])), data))


def _tokens(column: Any) -> Any:
    """Values as JSON values; None if floating-point numbers cannot hold them."""
    if column.type == _TEXT:
        return quoted(column)
    if column.type != pa.float64():
        return column.cast(_TEXT)
    largest = pc.max(pc.abs(column)).as_py() or 0
    return number_tokens(column) if largest < EXACT_INTEGERS else None


def _schema(columns: Columns, text_kind: Any, id_kind: Any, value_kinds: tuple[Any, ...]) -> Any:
    """The schema to request from Arrow.

    None if a value would be needed both as a string and as an object or integer, or columns are nested deeply.
    """
    if any(name.count(".") > _MAX_DEPTH for name in (*columns.text, columns.id_or_default, *columns.values)):
        return None
    tree: dict[str, Any] = {}
    values = zip(columns.values, value_kinds, strict=True)
    for name in columns.text:
        if (steps := list_path(name)) and not _add_lists(tree, steps):
            return None
    for name, kind in [*((name, text_kind) for name in columns.text), (columns.id_or_default, id_kind), *values]:
        for keys in [[name], [name] if "[" in name and kind is text_kind and list_path(name) else name.split(".")]:
            node = tree
            for key in keys[:-1]:
                node = node.setdefault(key, {})
                if not isinstance(node, dict):
                    return None
            if node.setdefault(keys[-1], kind) != kind:
                return None
    return pa.schema(_fields(tree))


def _add_lists(tree: dict[str, Any], steps: Sequence[Step]) -> bool:
    """Request what a path into lists leads to; whether nothing else is requested there."""
    node, place = tree, ""
    for step in steps:
        if place:
            node = node.setdefault(place, {})
            if not isinstance(node, dict):
                return False
        place = step.key
        if step.is_list:
            node = node.setdefault(place, {})
            if not isinstance(node, dict):
                return False
            place = _ITEM
            if step.field is not None and node.setdefault(_ITEM, {}).setdefault(step.field, _TEXT) != _TEXT:
                return False
    return bool(node.setdefault(place, _TEXT) == _TEXT)


def _fields(tree: dict[str, Any]) -> list[Any]:
    return [pa.field(name, _kind(kind)) for name, kind in tree.items()]


def _kind(kind: Any) -> Any:
    if not isinstance(kind, dict):
        return kind
    return pa.list_(_kind(kind[_ITEM])) if _ITEM in kind else pa.struct(_fields(kind))


def _texts(table: Any, name: str) -> Any:
    """A column of texts, or those of a path into lists; null in rows without any."""
    steps = list_path(name)
    if steps is None:
        return _column(table, name)
    first, *keys = column_of(steps)
    lists = table.column(first).combine_chunks()
    lists = pc.struct_field(lists, keys) if keys else lists
    return pc.coalesce(table.column(name).combine_chunks(), texts_in_column(lists, steps[len(keys) :]))


def _column(table: Any, name: str) -> Any:
    """A column by its name and, where that is null, by its dotted path."""
    value = table.column(name).combine_chunks()
    if "." in name and value.null_count:
        first, *keys = name.split(".")
        value = pc.coalesce(value, pc.struct_field(table.column(first).combine_chunks(), keys))
    return value
