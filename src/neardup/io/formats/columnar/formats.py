"""The formats of columns, each a `TableFormat`."""

from neardup.io.formats.columnar import arrow_files, parquet_files
from neardup.io.formats.columnar.arrow_sink import ArrowSink, ArrowStreamSink
from neardup.io.formats.columnar.parquet_sink import ParquetSink
from neardup.io.formats.columnar.table_format import TableFormat

PARQUET: TableFormat = TableFormat("Parquet", parquet_files.opened, ParquetSink)
ARROW: TableFormat = TableFormat("Arrow", arrow_files.opened, ArrowSink)
ARROW_STREAM: TableFormat = TableFormat("Arrow", arrow_files.opened, ArrowStreamSink)
