"""Formats of columns: the output has the schema, the metadata and the column order of the input.

`neardup.io.formats.table.Format` states the guarantees of the methods here.
"""

import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.errors import DECODER_ERRORS, InputError
from neardup.io.corpora.batch import BATCH_BYTES, Batch, Columns, Part, Rejections
from neardup.io.corpora.shard import Shard
from neardup.io.formats.columnar.open_table import Block, OpenTable
from neardup.io.formats.columnar.table_columns import ColumnReader
from neardup.io.formats.columnar.table_sink import Opened, TableSink, schema_of_all
from neardup.io.formats.json.json_values import plain_column
from neardup.io.storage.encodings import UTF_8
from neardup.io.storage.refusals import demand_format, demand_new

_COPIED_BYTES = 16 << 20
_PANDAS = b"pandas"
"""The key of the record that pandas keeps in a file of the types of its columns."""
_SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"


class TableFormat:
    """A format of files with columns.

    Args:
        name: as messages have it.
        opened: the context of an open file.
        sink: the class of its sinks.
    """

    def __init__(self, name: str, opened: Opened, sink: type[TableSink]) -> None:
        self._name, self.opened, self._sink = name, opened, sink

    @property
    def Sink(self) -> type[TableSink]:  # noqa: N802
        return self._sink

    def check(self, shard: Shard, columns: Columns, added: Sequence[str] = ()) -> None:
        """See `Format.check`; reads the schema."""
        if shard.encoding != UTF_8:
            raise InputError(
                f"{shard.name} is {self._name}, which is always UTF-8, but `encoding={shard.encoding!r}` is given. "
                "Leave it out, or read such files separately."
            )
        with self.opened(shard) as file:
            ColumnReader(shard, file.schema, columns)
            demand_new(shard.name, added, file.schema.names)

    def check_together(self, shards: Sequence[Shard]) -> None:
        """See `Format.check_together`; schemas must agree except for metadata, and for columns without any value."""
        schema_of_all(shards, self.opened)

    def parts(self, shard: Shard, columns: Columns, wanted: Array | None = None) -> Iterator[Part]:
        """See `Format.parts`."""
        with self.opened(shard) as file:
            reader = ColumnReader(shard, file.schema, columns)
            for row, block, part in _masked(shard, file, reader.names, BATCH_BYTES, wanted):
                if block.batch is None:
                    yield partial(_nothing, row, block.rows, len(columns.values))
                else:
                    # columns lie side by side: by rows is near enough
                    yield partial(_at, int(shard.size * block.share), partial(reader.read, block.batch, row, part))

    def copy(self, shard: Shard, keep: Array, sink: Any) -> None:
        """See `Format.copy`."""
        demand_format(shard, sink)
        with self.opened(shard) as file:
            sink.begin(shard, file, file.schema)
            for batch, _ in kept_batches(shard, file, keep):
                sink.write(batch)

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
        """See `Rewritable.replace`."""
        demand_format(shard, sink)
        with self.opened(shard) as file:
            sink.begin(shard, file, file.schema)
            reader = ColumnReader(shard, file.schema, columns)
            for batch, rows in kept_batches(shard, file, keep):
                sink.write(reader.rewritten(batch, rows, np.flatnonzero(changed[rows]), rewrite))

    def annotate(self, shard: Shard, added: Any, sink: Any, *, keep: Array) -> None:
        """See `Format.annotate`; JSON tokens become strings, because a column has one type."""
        demand_format(shard, sink)
        with self.opened(shard) as file:
            demand_new(shard.name, added.column_names, file.schema.names)
            more = [plain_column(field, column) for field, column in zip(added.schema, added.columns, strict=True)]
            metadata = _with_pandas_types(file.schema.metadata or {}, added.schema.metadata or {})
            schema = pa.schema(
                [*file.schema, *(field for field, _ in more)],
                {
                    key: value for key, value in metadata.items() if key != _SPARK_SCHEMA
                },  # Spark would see no other columns
            )
            sink.begin(shard, file, schema)
            for batch, rows in kept_batches(shard, file, keep):
                columns = [column.take(pa.array(rows)).combine_chunks() for _, column in more]
                sink.write(pa.RecordBatch.from_arrays([*batch.columns, *columns], schema=schema))


def _masked(
    shard: Shard, file: OpenTable, names: Sequence[str] | None, size: int, wanted: Array | None
) -> Iterator[tuple[int, Block, Array | None]]:
    """The blocks of a file, each with its first row and its part of `wanted`."""
    row = 0
    for block in file.blocks(names, size, wanted):
        part = None if wanted is None else wanted[row : row + block.rows]
        if part is not None and len(part) < block.rows:
            raise shard.changed()
        yield row, block, part
        row += block.rows
    if wanted is not None and row != len(wanted):
        raise shard.changed()


def _at(position: int, part: Part) -> tuple[Batch, Rejections]:
    batch, rejections = part()
    return dataclasses.replace(batch, position=position), rejections


def _nothing(row: int, size: int, values: int) -> tuple[Batch, Rejections]:
    nulls = pa.nulls(size, pa.large_string())
    return Batch(row, nulls, nulls, (nulls,) * values), []


def kept_batches(shard: Shard, file: OpenTable, keep: Array) -> Iterator[tuple[Any, Array]]:
    """The rows to keep, batch by batch, with their numbers."""
    for row, block, part in _masked(shard, file, None, _COPIED_BYTES, keep):
        if block.batch is not None and part is not None:
            for batch, rows in _filtered(block.batch, part):
                yield batch, row + rows


def _with_pandas_types(metadata: dict[bytes, bytes], added: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """Metadata of a file, with the pandas types that added columns bring; a damaged record of the file is left alone."""
    if _PANDAS not in added:
        return metadata
    note = json.loads(added[_PANDAS])
    if _PANDAS in metadata:
        try:
            own = json.loads(metadata[_PANDAS])
            note = own | {"columns": [*own["columns"], *note["columns"]]}
        except DECODER_ERRORS:
            return metadata
    return metadata | {_PANDAS: json.dumps(note).encode()}


def _filtered(batch: Any, part: Array) -> Iterator[tuple[Any, Array]]:
    """The rows of a batch where `part` is true, with their numbers."""
    rows = np.flatnonzero(part)
    if len(rows) == len(part):
        yield batch, rows
        return
    try:
        kept = batch.filter(pa.array(part))
    except pa.ArrowNotImplementedError:  # views of strings and lists; slices work for any type
        for run in np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1):
            if len(run):
                yield batch.slice(run[0], len(run)), run
    else:
        if len(rows):
            yield kept, rows
