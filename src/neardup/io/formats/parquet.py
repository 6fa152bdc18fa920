"""Parquet: the output has the schema, the metadata, the column order and the codecs of the input.

`neardup.io.formats.table.Format` states the guarantees of the functions here.
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
from neardup.io.formats.columnar.parquet_columns import ColumnReader
from neardup.io.formats.columnar.parquet_files import batches, opened
from neardup.io.formats.columnar.parquet_sink import Sink, demand_same_schema
from neardup.io.formats.json.json_values import plain_column
from neardup.io.storage.encodings import UTF_8
from neardup.io.storage.refusals import demand_format, demand_new

__all__ = ["Sink", "annotate", "check", "check_together", "copy", "parts", "replace"]


_COPIED_BYTES = 16 << 20
_PANDAS = b"pandas"
"""The key of the record that pandas keeps in a file of the types of its columns."""
_SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"


def check(shard: Shard, columns: Columns, added: Sequence[str] = ()) -> None:
    """See `Format.check`; reads the schema."""
    if shard.encoding != UTF_8:
        raise InputError(
            f"{shard.name} is Parquet, which is always UTF-8, but `encoding={shard.encoding!r}` is given. "
            "Leave it out, or read such files separately."
        )
    with opened(shard) as file:
        ColumnReader(shard, file.schema_arrow, columns)
        demand_new(shard.name, added, file.schema_arrow.names)


def check_together(shards: Sequence[Shard]) -> None:
    """See `Format.check_together`; schemas must agree except in their metadata."""
    schemas = []
    for shard in shards:
        with opened(shard) as file:
            schemas.append(file.schema_arrow)
        demand_same_schema(shards[0].name, schemas[0], shard.name, schemas[-1])


def parts(shard: Shard, columns: Columns, wanted: Array | None = None) -> Iterator[Part]:
    """See `Format.parts`; row groups without a wanted row are not read."""
    with opened(shard) as file:
        reader = ColumnReader(shard, file.schema_arrow, columns)
        mask = None if wanted is None else _mask(shard, file, wanted)
        row, rows = 0, max(1, file.metadata.num_rows)
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            if mask is not None and not mask[row : row + size].any():
                yield partial(_nothing, row, size, len(columns.values))
                row += size
                continue
            for batch in batches(shard, file, [group], reader.names, BATCH_BYTES):
                part = None if mask is None else mask[row : row + batch.num_rows]
                # columns lie side by side: by rows is near enough
                position = shard.size * (row + batch.num_rows) // rows
                yield partial(_at, position, partial(reader.read, batch, row, part))
                row += batch.num_rows


def _at(position: int, part: Part) -> tuple[Batch, Rejections]:
    batch, rejections = part()
    return dataclasses.replace(batch, position=position), rejections


def _nothing(row: int, size: int, values: int) -> tuple[Batch, Rejections]:
    nulls = pa.nulls(size, pa.large_string())
    return Batch(row, nulls, nulls, (nulls,) * values), []


def copy(shard: Shard, keep: Array, sink: Any) -> None:
    """See `Format.copy`."""
    demand_format(shard, sink)
    with opened(shard) as file:
        sink.begin(shard, file, file.schema_arrow)
        for batch, _ in _kept(shard, file, _mask(shard, file, keep)):
            sink.write(batch)


def replace(
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
    with opened(shard) as file:
        sink.begin(shard, file, file.schema_arrow)
        reader = ColumnReader(shard, file.schema_arrow, columns)
        new = _mask(shard, file, changed)
        for batch, rows in _kept(shard, file, _mask(shard, file, keep)):
            sink.write(reader.rewritten(batch, rows, np.flatnonzero(new[rows]), rewrite))


def annotate(shard: Shard, added: Any, sink: Any, *, keep: Array) -> None:
    """See `Format.annotate`; JSON tokens become strings, because a Parquet column has one type."""
    demand_format(shard, sink)
    with opened(shard) as file:
        demand_new(shard.name, added.column_names, file.schema_arrow.names)
        more = [plain_column(field, column) for field, column in zip(added.schema, added.columns, strict=True)]
        metadata = _with_pandas_types(file.schema_arrow.metadata or {}, added.schema.metadata or {})
        schema = pa.schema(
            [*file.schema_arrow, *(field for field, _ in more)],
            {key: value for key, value in metadata.items() if key != _SPARK_SCHEMA},  # Spark would see no other columns
        )
        sink.begin(shard, file, schema)
        for batch, rows in _kept(shard, file, _mask(shard, file, keep)):
            columns = [column.take(pa.array(rows)).combine_chunks() for _, column in more]
            sink.write(pa.RecordBatch.from_arrays([*batch.columns, *columns], schema=schema))


def _with_pandas_types(metadata: dict[bytes, bytes], added: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """Metadata of a file, with the pandas types that added columns bring; a file's own record that is damaged stays as it is."""
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


def _kept(shard: Shard, file: Any, keep: Array) -> Iterator[tuple[Any, Array]]:
    """The rows to keep, batch by batch, with their numbers; row groups without any are not read."""
    row = 0
    for group in range(file.num_row_groups):
        size = file.metadata.row_group(group).num_rows
        if not keep[row : row + size].any():
            row += size
            continue
        for batch in batches(shard, file, [group], None, _COPIED_BYTES):
            part = keep[row : row + batch.num_rows]
            for rows in _filtered(batch, part):
                yield rows[0], row + rows[1]
            row += batch.num_rows


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


def _mask(shard: Shard, file: Any, mask: Array) -> Array:
    if len(mask) != file.metadata.num_rows:
        raise shard.changed()
    return mask
