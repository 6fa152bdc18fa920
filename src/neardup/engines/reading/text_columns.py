"""TEXT COLUMNS: a batch of texts and what belongs to them, as strings; strings are checked, and fingerprints become columns.

All engines hand their own columns over as Arrow has them: here alone, values of `within` and `keep` become comparable.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import DataError, InputError
from neardup.io.formats.columnar.column_values import value_tokens
from neardup.text.columns import decoded
from neardup.text.nested import is_string


def demand_utf8(column: pa.Array, role: str, remedy: str) -> None:
    """Refuse strings that are no UTF-8, which engines let columns have.

    Args:
        column: the strings.
        role: what the column is for: text, id, within or value.
        remedy: what to do about them.

    Raises:
        DataError: there is one.
    """
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        values = column.cast(pa.binary()).drop_null().to_pylist()
        value = next(each for each in values if each.decode(errors="ignore").encode() != each)
        raise DataError(f"A value in the column of the {role} is no valid UTF-8: {value[:60]!r}. {remedy}") from None


def as_column(values: Any) -> pa.Array:
    """Fingerprints (uint64[n, words]) as signed integers with the same bits; wider ones as bytes, the highest first."""
    if values.shape[1] == 1:
        return pa.array(np.ascontiguousarray(values[:, 0]).view(np.int64))
    content = np.ascontiguousarray(values).astype(">u8").tobytes()
    size = 8 * values.shape[1]
    return pa.array([content[at : at + size] for at in range(0, len(content), size)], pa.binary())


def strings_in(table: pa.Table, columns: Mapping[str, str | None], path: str, remedy: str) -> pa.RecordBatch:
    """Text, id, within and value of the rows of a batch, as large strings. `columns`: of these; `remedy`: see `demand_utf8`.

    Raises:
        InputError: it has not got one of the columns.
        DataError: a string is no UTF-8.
    """
    found = [_column(table, role, name, path, remedy) for role, name in columns.items()]
    return pa.record_batch(found, names=list(columns))


def texts_in(table: pa.Table, columns: Mapping[str, str | None], path: str, remedy: str) -> pa.RecordBatch:
    """What `strings_in` gives, if each row has a text.

    Raises:
        DataError: a text is null, or a string is no UTF-8.
    """
    found = strings_in(table, columns, path, remedy)
    texts = found.column("text")
    if texts.null_count:
        name = found.column("id")[texts.is_null().to_pylist().index(True)].as_py()
        raise DataError(f"The text of document {name!r} is null. Drop or fill nulls first.")
    return found


def demand_texts(texts: pa.Array, name: str) -> None:
    """Refuse a column of texts with a null, of rows without ids.

    Raises:
        DataError: it has one.
    """
    if texts.null_count:
        raise DataError(f"A text of the column {name!r} is null. Drop or fill nulls first.")


def tokens_in(column: pa.Array, role: str, remedy: str) -> pa.Array:
    """Values of a column as JSON values, see `value_tokens`.

    Raises:
        DataError: a string is no UTF-8.
    """
    column = decoded(column)
    if is_string(column.type):
        demand_utf8(column, role, remedy)
    return value_tokens(column)


def _column(table: pa.Table, role: str, name: str | None, path: str, remedy: str) -> pa.Array:
    if name is None or (name not in table.column_names and role == "value"):
        return pa.nulls(len(table), pa.large_string())
    if name not in table.column_names:
        raise InputError(f"{path} has no column {name!r}; it has {', '.join(map(repr, table.column_names))}.")
    column = table.column(name).combine_chunks()
    if role in ("within", "value"):
        return tokens_in(column, role, remedy)
    found = pc.cast(decoded(column), pa.large_string())
    demand_utf8(found, role, remedy)
    return found
