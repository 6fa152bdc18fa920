"""Write Parquet files with the codecs and the sizes of row groups of the files that the rows come from."""

from contextlib import AbstractContextManager
from typing import Any

import pyarrow as pa

from neardup.io.corpora.shard import Shard
from neardup.io.formats.columnar.open_table import OpenTable
from neardup.io.formats.columnar.parquet_files import ParquetTable, opened
from neardup.io.formats.columnar.table_sink import TableSink
from neardup.io.storage.places import parquet_sink

_GROUP_BYTES = 128 << 20
_NEW_GROUP_ROWS = 1 << 16
"""Rows of a group in files that are no copies of other ones; groups of larger rows end at some 128 MB."""


class ParquetSink(TableSink):
    """Writes rows to a Parquet file; the first shard sets its codecs and row group size."""

    format = "parquet"
    _group_rows = _bytes = 0
    _is_new = False

    def _opened(self, shard: Shard) -> AbstractContextManager[OpenTable]:
        return opened(shard)

    def _open(self, file: ParquetTable | None) -> Any:
        import pyarrow.parquet as pq

        if file is None:
            self._group_rows, self._is_new = _NEW_GROUP_ROWS, True
            return pq.ParquetWriter(parquet_sink(self._path), self._schema, compression="zstd")
        metadata = file.file.metadata
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        size = sum(group.total_byte_size for group in groups)
        fitting = _GROUP_BYTES * metadata.num_rows // max(size, 1)
        self._group_rows = max(1, min(fitting, max((group.num_rows for group in groups), default=0)))
        return pq.ParquetWriter(parquet_sink(self._path), self._schema, **_options(file))

    def _is_enough(self) -> bool:
        return self._rows >= self._group_rows or self._bytes >= _GROUP_BYTES

    def write(self, batch: Any) -> None:
        """See `TableSink.write`."""
        self._bytes += batch.nbytes if self._is_new else 0
        super().write(batch)

    def _put(self, batches: list[Any]) -> None:
        self._bytes = 0
        table = pa.Table.from_batches(batches, self._schema)
        self._writer.write_table(table, row_group_size=self._rows)


def _options(table: ParquetTable) -> dict[str, Any]:
    """Writer options that match a file, as far as a writer accepts them."""
    codecs: dict[str, str] = {}
    file = table.file
    if file.num_row_groups:
        table.check_columns()
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
