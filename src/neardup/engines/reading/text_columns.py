"""STRINGS: what an engine reads of rows, as batches of large strings that are UTF-8."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import DataError


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
