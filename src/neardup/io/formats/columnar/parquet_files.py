"""Open Parquet files and read them in batches; damage raises DataError."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from neardup.errors import DECODER_ERRORS
from neardup.io.corpora.shard import Shard
from neardup.io.storage.places import parquet_source
from neardup.io.storage.refusals import damaged

_STREAM_BYTES = 1 << 20  # otherwise Arrow holds whole columns of a row group
_BATCH_ROWS = 1 << 14  # dictionary pages can make long texts look short
_ARROW_ERRORS = (pa.ArrowNotImplementedError, OSError, *DECODER_ERRORS)
"""ArrowInvalid is a ValueError, and so is the error of names that are not UTF-8. Memory that is exhausted is no damage."""


@contextmanager
def opened(shard: Shard) -> Iterator[Any]:
    import pyarrow.parquet as pq

    shard.check_unchanged()
    try:
        file = pq.ParquetFile(parquet_source(shard.path), buffer_size=_STREAM_BYTES, page_checksum_verification=True)
    except _ARROW_ERRORS as error:
        raise damaged(shard.name, "Parquet", str(error)) from None
    with file:
        yield file
    shard.check_unchanged()


def batches(shard: Shard, file: Any, groups: Sequence[int], names: Sequence[str] | None, size: int) -> Iterator[Any]:
    """Batches of at most about `size` bytes from the columns with these names."""
    metadata = [file.metadata.row_group(group) for group in groups]
    rows = sum(group.num_rows for group in metadata)
    stored = sum(group.total_byte_size for group in metadata)  # of all columns; see `check_columns`
    batch_rows = min(max(1, size * rows // max(stored, 1)), _BATCH_ROWS)
    batches = file.iter_batches(batch_rows, row_groups=groups, columns=names, use_threads=False)
    while True:
        try:
            batch = next(batches, None)
        except _ARROW_ERRORS as error:
            raise damaged(shard.name, "Parquet", str(error)) from None
        if batch is None:
            return
        yield batch


def check_columns(shard: Shard, file: Any) -> None:
    """Read a row of the first row group. Arrow ends the process at damaged metadata of a column chunk, where reading it raises."""
    try:
        next(file.iter_batches(1, row_groups=[0], use_threads=False), None)
    except _ARROW_ERRORS as error:
        raise damaged(shard.name, "Parquet", str(error)) from None
