"""Write Parquet files that resemble the files that the rows come from."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from neardup.errors import InputError
from neardup.io.corpora.shard import Shard
from neardup.io.formats.columnar.parquet_files import check_columns
from neardup.io.storage.places import parquet_sink

_GROUP_BYTES = 128 << 20


class Sink:
    """Writes rows to a Parquet file; the first shard sets its schema, codecs and row group size."""

    format = "parquet"

    def __init__(self, path: Path, compression: str) -> None:
        if compression != "plain" or str(path) == "-":
            raise InputError(f"{path}: Parquet goes to files that end in .parquet; it is compressed inside.")
        self._path = path
        self._writer: Any = None
        self._first = ""
        self._schema: Any = None
        self._group_rows = 0
        self._waiting: list[Any] = []
        self._rows = 0

    def begin(self, shard: Shard, file: Any, schema: Any) -> None:
        """Prepare for rows of `shard`, to be written with `schema`."""
        if self._writer is None:
            import pyarrow.parquet as pq

            self._first, self._schema = shard.name, schema
            groups = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
            size = sum(group.total_byte_size for group in groups)
            fitting = _GROUP_BYTES * file.metadata.num_rows // max(size, 1)
            self._group_rows = max(1, min(fitting, max((group.num_rows for group in groups), default=0)))
            self._writer = pq.ParquetWriter(parquet_sink(self._path), schema, **_options(shard, file))
        else:
            demand_same_schema(self._first, self._schema, shard.name, schema)

    def write(self, batch: Any) -> None:
        """Write rows; they are held until they fill a row group."""
        self._waiting.append(batch)
        self._rows += batch.num_rows
        if self._rows >= self._group_rows:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            table = pa.Table.from_batches(self._waiting, self._schema)
            self._writer.write_table(table, row_group_size=self._rows)
        self._waiting, self._rows = [], 0

    def close(self) -> None:
        """Finish the file."""
        if self._writer is not None:
            try:
                self._flush()
            finally:
                self._writer.close()

    def __enter__(self) -> "Sink":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self._waiting = []  # the file is about to be removed
        self.close()


def _options(shard: Shard, file: Any) -> dict[str, Any]:
    """Writer options that match `file`, as far as a writer accepts them."""
    codecs: dict[str, str] = {}
    if file.num_row_groups:
        check_columns(shard, file)
        group = file.metadata.row_group(0)
        for column in map(group.column, range(group.num_columns)):
            codecs[column.path_in_schema] = "NONE" if column.compression == "UNCOMPRESSED" else column.compression
    codec = next(iter(codecs.values()), "SNAPPY")
    leaves = [file.schema.column(i) for i in range(len(file.schema))]
    return {
        "compression": codec if set(codecs.values()) <= {codec} else codecs,
        "use_compliant_nested_type": not any(".list.item" in leaf.path for leaf in leaves),
        "use_deprecated_int96_timestamps": any(leaf.physical_type == "INT96" for leaf in leaves),
    }


def demand_same_schema(first: str, schema: Any, name: str, other: Any) -> None:
    """Raise InputError, naming the difference, unless rows of both schemas can share a file; metadata may differ."""
    if schema.equals(other, check_metadata=False):
        return
    ours, theirs = ({field.name: field for field in fields} for fields in (schema, other))
    names = dict.fromkeys((*ours, *theirs))
    different = next(
        (name for name in names if not (name in ours and name in theirs and ours[name].equals(theirs[name]))), None
    )
    if different is None:
        what = f"the order of columns is {', '.join(schema.names)} in one, {', '.join(other.names)} in the other"
    else:
        here, there = _described(ours.get(different)), _described(theirs.get(different))
        what = f'column "{different}" is {here} in one, {there} in the other'
    raise InputError(
        f"{first} and {name} cannot be written to one Parquet file: {what}. "
        "Name a folder (OUT/) as the output, which keeps the files apart."
    )


def _described(field: Any) -> str:
    return "missing" if field is None else f"{field.type}{'' if field.nullable else ' not null'}"
