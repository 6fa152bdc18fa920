"""The audit as a sealed Parquet file: the rows of its JSON lines, and the values by which documents were preferred.

Ids are strings beside a column that says whether they are strings or integers: `id`, and `id_is_string`. Where `keep` compares
values, `value` and `survivor_value` have those of both documents, as text. docs/files.md describes the columns.
"""

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from neardup.errors import DECODER_ERRORS, DataError
from neardup.io.outputs.sealed_parquet import SealedWriter, batches_of, metadata_of, opened_sealed
from neardup.io.storage.places import Place
from neardup.survivors.records.audit_schema import BOOLEAN, ID, INTEGER, MAYBE, NUMBER, Column

ENDING = ".parquet"
FORMAT, VERSION = "neardup.audit", "1"
"""The key of the format in the metadata, and its value."""
IS_STRING, VALUES = "_is_string", ("value", "survivor_value")
ROWS_AT_ONCE = 1 << 14
_TYPES = {INTEGER: pa.int64(), NUMBER: pa.float64(), BOOLEAN: pa.bool_(), MAYBE: pa.bool_()}
_decode = msgspec.json.Decoder().decode


class LogValues(NamedTuple):
    """What `keep` compares of documents, and which documents stay.

    Attributes:
        values: Arrow large_string of JSON values, of the rows of the inputs, and of a reference if its documents were compared.
        survivors: int64[rows of the inputs], the row of each document's survivor; negative where none stays.
    """

    values: Any
    survivors: Any

    def of(self, rows: Sequence[int]) -> list[list[str | None]]:
        """The values of some rows of the inputs, and those of their survivors, as text; None for those that were not compared."""
        own = np.array(rows, np.int64)
        survivors = self.survivors[own]
        outside = (survivors < 0) | (survivors >= len(self.values))
        found = (self.values.take(pa.array(own)), self.values.take(pa.array(survivors, mask=outside)))
        return [[_decode(each) if each and each[0] == '"' else each for each in column.to_pylist()] for column in found]


def is_parquet_log(place: Place) -> bool:
    """Whether a file has the name of an audit in Parquet."""
    return place.name.endswith(ENDING)


def write_parquet_log(
    path: Path, lines: Iterable[str], columns: Sequence[Column[Any]], values: LogValues | None = None
) -> None:
    """Write the lines of an audit that has these columns. `values`: None if `keep` compares none."""
    schema = _schema(columns, with_values=values is not None)
    writer, every = SealedWriter(path, schema, {FORMAT: VERSION}), iter(lines)
    while some := [_decode(line) for line in itertools.islice(every, ROWS_AT_ONCE)]:
        writer.write(_batch(some, columns, schema, values))
    writer.close()


def _schema(columns: Sequence[Column[Any]], *, with_values: bool) -> Any:
    fields: list[Any] = []
    for column in columns:
        fields.append(pa.field(column.name, _TYPES.get(column.type, pa.large_string())))
        if column.type is ID:
            fields.append(pa.field(column.name + IS_STRING, pa.bool_()))
    return pa.schema(fields + [pa.field(name, pa.large_string()) for name in VALUES if with_values])


def _batch(lines: Sequence[Any], columns: Sequence[Column[Any]], schema: Any, values: LogValues | None) -> Any:
    found: dict[str, list[Any]] = {column.name: [line[column.name] for line in lines] for column in columns}
    for column in columns:
        if column.type is ID:
            given = found[column.name]
            found[column.name + IS_STRING] = [None if each is None else isinstance(each, str) for each in given]
            found[column.name] = [None if each is None else str(each) for each in given]
    if values is not None:
        found |= zip(VALUES, values.of(found["row"]), strict=True)
    return pa.record_batch([pa.array(found[field.name], field.type) for field in schema], schema=schema)


def lines_of_parquet_log(place: Place) -> Iterator[bytes]:
    """The JSON lines of an audit in Parquet, without the values.

    Raises:
        DataError: it is damaged, or another Parquet file.
    """
    try:
        with opened_sealed(place) as file:
            if metadata_of(file).get(FORMAT) != VERSION:
                raise ValueError("it is another file")
            for batch in batches_of(file):
                yield from _lines(batch)
    except (OSError, pa.ArrowException, *DECODER_ERRORS) as problem:
        raise DataError(
            f"{place} cannot be read as an audit: {problem}. Give the file that `neardup dedup --audit` wrote."
        ) from None


def _lines(batch: Any) -> Iterator[bytes]:
    columns = batch.to_pydict()
    for name in [name for name in columns if name.endswith(IS_STRING)]:
        of = name.removesuffix(IS_STRING)
        columns[of] = [
            each if is_string is not False else int(each)
            for each, is_string in zip(columns[of], columns.pop(name), strict=True)
        ]
    names = [name for name in columns if name not in VALUES]
    for row in zip(*(columns[name] for name in names), strict=True):
        yield json.dumps(dict(zip(names, row, strict=True))).encode()
