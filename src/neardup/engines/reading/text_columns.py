"""TEXT COLUMNS: what an engine reads of rows, as batches of large strings that are UTF-8; and fingerprints as columns."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import DataError, InputError
from neardup.io.formats.columnar.parquet_values import value_tokens


def as_strings(batch: pa.RecordBatch, remedy: str) -> pa.RecordBatch:
    """A batch of texts and what belongs to them as large strings. `remedy`: what to do about strings that are no UTF-8.

    Raises:
        DataError: a text is null, or a string is no UTF-8.
    """
    demand_utf8(batch, batch.schema.names, remedy)
    columns = [pc.cast(column, pa.large_string()) for column in batch.columns]
    found = pa.record_batch(columns, names=batch.schema.names)
    missing = found.column("text").null_count if "text" in found.schema.names else 0
    if missing:
        at = found.column("text").is_null().to_pylist().index(True)
        name = found.column("id")[at].as_py()
        raise DataError(f"The text of document {name!r} is null. Give each row a text, or leave such rows out.")
    return found


def demand_utf8(batch: pa.RecordBatch, names: Sequence[str], remedy: str) -> None:
    """Refuse strings in some columns that are no UTF-8, which engines let columns have. `remedy`: see `as_strings`.

    Raises:
        DataError: there is one.
    """
    for name in names:
        column = batch.column(name)
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            values = column.cast(pa.binary()).drop_null().to_pylist()
            value = next(each for each in values if each.decode(errors="ignore").encode() != each)
            raise DataError(
                f"A value in the column of the {name} is no valid UTF-8: {value[:60]!r}. {remedy}"
            ) from None


def as_column(values: Any) -> pa.Array:
    """Fingerprints (uint64[n, words]) as signed integers with the same bits; wider ones as bytes, the highest first."""
    if values.shape[1] == 1:
        return pa.array(np.ascontiguousarray(values[:, 0]).view(np.int64))
    content = np.ascontiguousarray(values).astype(">u8").tobytes()
    size = 8 * values.shape[1]
    return pa.array([content[at : at + size] for at in range(0, len(content), size)], pa.binary())


def texts_in(table: pa.Table, columns: Mapping[str, str | None], path: str, remedy: str) -> pa.RecordBatch:
    """Text, id, within and value of the rows of a batch. `columns`: of these; `remedy`: see `as_strings`.

    Raises:
        InputError: it has not got one of the columns.
    """
    found = pa.table([_column(table, kind, name, path) for kind, name in columns.items()], names=list(columns))
    return as_strings(found.combine_chunks().to_batches()[0], remedy)


def _column(table: pa.Table, kind: str, name: str | None, path: str) -> Any:
    if name is None or (name not in table.column_names and kind == "value"):
        return pa.nulls(len(table), pa.large_string())
    if name not in table.column_names:
        raise InputError(f"{path} has no column {name!r}; it has {', '.join(map(repr, table.column_names))}.")
    column = table.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if kind in ("text", "id"):
        return column.cast(pa.large_string())
    return value_tokens(column.combine_chunks())
