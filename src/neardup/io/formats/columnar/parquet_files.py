"""Open Parquet files and read them in batches; damage raises DataError."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from neardup.arrays import Array
from neardup.io.corpora.shard import Shard
from neardup.io.formats.columnar.open_table import ARROW_ERRORS, Block
from neardup.io.storage.places import parquet_source
from neardup.io.storage.refusals import damaged

_STREAM_BYTES = 1 << 20  # otherwise Arrow holds whole columns of a row group
_BATCH_ROWS = 1 << 14  # dictionary pages can make long texts look short


@contextmanager
def opened(shard: Shard) -> Iterator["ParquetTable"]:
    """See `neardup.io.formats.columnar.open_table.OpenTable`."""
    import pyarrow.parquet as pq

    shard.check_unchanged()
    try:
        file = pq.ParquetFile(parquet_source(shard.path), buffer_size=_STREAM_BYTES, page_checksum_verification=True)
    except ARROW_ERRORS as error:
        raise damaged(shard.name, "Parquet", str(error)) from None
    with file:
        yield ParquetTable(shard, file)
    shard.check_unchanged()


class ParquetTable:
    """An open file, which is read group by group; see `OpenTable`."""

    def __init__(self, shard: Shard, file: Any) -> None:
        self._shard, self.file = shard, file
        self.schema: Any = file.schema_arrow

    def blocks(self, names: Sequence[str] | None, size: int, wanted: Array | None) -> Iterator[Block]:
        """See `OpenTable.blocks`; groups without a wanted row are not read."""
        row, rows = 0, max(1, self.file.metadata.num_rows)
        for group in range(self.file.num_row_groups):
            inside = self.file.metadata.row_group(group).num_rows
            if wanted is not None and not wanted[row : row + inside].any():
                row += inside
                yield Block(inside, None, row / rows)
                continue
            for batch in self._batches(group, names, size):
                row += batch.num_rows
                yield Block(batch.num_rows, batch, row / rows)

    def _batches(self, group: int, names: Sequence[str] | None, size: int) -> Iterator[Any]:
        """Batches of at most about `size` bytes from the columns with these names."""
        metadata = self.file.metadata.row_group(group)
        stored = max(metadata.total_byte_size, 1)  # of all columns; see `check_columns`
        rows = min(max(1, size * metadata.num_rows // stored), _BATCH_ROWS)
        batches = self.file.iter_batches(rows, row_groups=[group], columns=names, use_threads=False)
        while True:
            try:
                batch = next(batches, None)
            except ARROW_ERRORS as error:
                raise damaged(self._shard.name, "Parquet", str(error)) from None
            if batch is None:
                return
            yield batch

    def check_columns(self) -> None:
        """Read a row of the first group. Arrow ends the process at damaged metadata of a column chunk, where reading it raises."""
        try:
            next(self.file.iter_batches(1, row_groups=[0], use_threads=False), None)
        except ARROW_ERRORS as error:
            raise damaged(self._shard.name, "Parquet", str(error)) from None
