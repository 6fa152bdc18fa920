"""SORT COLUMNS: those by which documents are in order on Ray, as columns that can be sorted and compared."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.engines.job.plan import TEXTS_PER_BATCH
from neardup.engines.ray.tasks import tables_of
from neardup.engines.reading.documents import numbered
from neardup.engines.reading.sort import DOC_COLUMNS, Sort
from neardup.engines.reading.sorted_runs import FILE, runs_in
from neardup.engines.stages import Found, Part, Reading
from neardup.errors import InputError

COMPARED = (pa.int64(), pa.large_string())
"""Types, once normal, whose values have the same order in Python."""


def normal(kind: pa.DataType) -> pa.DataType | None:
    """The type as which values are compared; None if they have no order."""
    if pa.types.is_dictionary(kind):
        return normal(kind.value_type)
    if pa.types.is_boolean(kind) or pa.types.is_temporal(kind):
        return pa.int64()
    if pa.types.is_integer(kind):
        return pa.decimal128(20) if kind == pa.uint64() else pa.int64()
    if pa.types.is_floating(kind):
        return pa.float64()
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.large_string()
    return kind if pa.types.is_decimal(kind) else None


class Columns:
    """The columns by which documents are in order.

    Attributes:
        names: of the dataset.
        sort: how rows of them are sorted; NaN comes after all numbers.
    """

    def __init__(self, names: Sequence[str], schema: pa.Schema) -> None:
        """`schema`: that of the documents; a reference has the same types."""
        self.names, self._kinds = list(names), [schema.field(name).type for name in names]
        found: dict[str, pa.DataType] = {}
        for at, kind in enumerate(self._kinds):
            if pa.types.is_floating(kind):
                found[f"c{at}_nan"] = pa.int64()
            found[f"c{at}"] = normal(kind)
        self.sort = Sort(pa.schema(DOC_COLUMNS | found))

    @property
    def can_be_compared(self) -> bool:
        """Whether Python compares the values of all columns as Arrow sorts them."""
        return all(normal(kind) in COMPARED for kind in self._kinds)

    def of(self, table: pa.Table, path: str) -> pa.Table:
        """The columns of a table, as they are sorted.

        Raises:
            InputError: it has not got one.
        """
        found: dict[str, Any] = {}
        for at, (name, kind) in enumerate(zip(self.names, self._kinds, strict=True)):
            if name not in table.column_names:
                raise InputError(f"{path} has no column {name!r}; it has {', '.join(map(repr, table.column_names))}.")
            column = table.column(name)
            if pa.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            column = column.cast(kind.value_type if pa.types.is_dictionary(kind) else kind)
            if pa.types.is_floating(kind):
                is_nan = pc.fill_null(pc.is_nan(column), False)
                found[f"c{at}_nan"] = pc.cast(is_nan, pa.int64())
                column = pc.if_else(is_nan, pa.scalar(0, kind), column)
            found[f"c{at}"] = _as(column, normal(kind))
        return pa.table(found)


def _as(column: pa.ChunkedArray, kind: Any) -> pa.ChunkedArray:
    """A column as its normal type; times and dates as numbers of their units."""
    if pa.types.is_date32(column.type) or pa.types.is_time32(column.type):
        column = column.cast(pa.int32())
    return column.cast(kind)


def batches_in_order(read: Callable[[], Iterable[Any]], columns: Columns, path: str) -> Iterator[pa.RecordBatch]:
    """Batches of the columns of a file by which documents are in order."""
    for table in tables_of(read):
        if len(table):
            yield from columns.of(table, path).combine_chunks().to_batches(max_chunksize=64 * TEXTS_PER_BATCH)


def reading(columns: Columns) -> Reading:
    """The stage that reads them, with the documents that they are of."""
    return Reading("columns of order", partial(_keys, columns.sort), {"keys": columns.sort.output})


def _keys(sort: Sort, part: Part) -> Found:
    for batch, docs in numbered(part):
        flags = np.full(len(docs), part.is_reference)
        yield "keys", pa.table([docs, flags, *batch.columns], sort.schema)


def ascents(columns: Columns, most: int, number: int, read: Callable[[], Iterable[Any]], path: str) -> pa.Table:
    """The runs of a file, as a table of what `runs_in` tells."""
    batches = (
        batch.append_column(FILE, pa.array(np.zeros(len(batch), np.int64)))
        for batch in batches_in_order(read, columns, path)
    )
    found = list(runs_in(number, batches, is_strict=True, most=most))
    return pa.Table.from_batches(found) if found else pa.table({})
