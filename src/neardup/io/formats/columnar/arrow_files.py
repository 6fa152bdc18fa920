"""Read Arrow IPC files and streams, and Feather files of version 2, which are IPC files; damage raises DataError.

The format is "Arrow Columnar Format 1.5, Serialization and Interprocess Communication". What a file is is seen by its first bytes,
since `.arrow` is the name of both. Local files are mapped: a batch that holds a whole file takes no memory of its own, unless it is
compressed inside.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import pyarrow as pa

from neardup.arrays import Array
from neardup.errors import DataError
from neardup.io.corpora.shard import Shard
from neardup.io.formats.columnar.open_table import ARROW_ERRORS, Block
from neardup.io.storage.places import arrow_source
from neardup.io.storage.refusals import damaged

MAGIC = b"ARROW1"
"""A file begins with it; a stream does not."""
_FILE_HEAD = 8
"""Of a file, the bytes before its first message."""
_OLD_FEATHER = b"FEA1"
_ERRORS = (pa.ArrowMemoryError, *ARROW_ERRORS)
"""Compressed buffers begin with their sizes, so that damage asks for more memory than there is."""
_BLOCK_ROWS = 1 << 14
_VIEWS = (
    (pa.types.is_string, pa.binary()),
    (pa.types.is_large_string, pa.large_binary()),
    (pa.types.is_string_view, pa.binary_view()),
)
"""How to look at strings that are not UTF-8, which are of single rows."""


@contextmanager
def opened(shard: Shard) -> Iterator["ArrowTable"]:
    """See `neardup.io.formats.columnar.open_table.OpenTable`."""
    shard.check_unchanged()
    try:
        with arrow_source(shard.path) as source:
            head = bytes(source.read(len(MAGIC)))
            if head.startswith(_OLD_FEATHER):
                raise DataError(
                    f"{shard.name} is Feather of version 1, which is not read. Write it again as version 2, the default of "
                    "pyarrow.feather.write_feather and of pandas."
                )
            table = ArrowTable(shard, source, pa.ipc.open_file if head == MAGIC else pa.ipc.open_stream)
            assert table.schema is not None
            yield table
    except _ERRORS as error:
        raise damaged(shard.name, "Arrow", str(error)) from None
    shard.check_unchanged()


class ArrowTable:
    """An open file or stream, which is read a record batch at a time; see `OpenTable`.

    Attributes:
        is_stream: it is a stream, not a file.
    """

    def __init__(self, shard: Shard, source: Any, reader: Callable[..., Any]) -> None:
        self._shard, self._source, self._new = shard, source, reader
        self.is_stream = reader is pa.ipc.open_stream

    def _reader(self, fields: list[int] | None = None) -> Any:
        self._source.seek(0)
        return self._new(self._source, options=pa.ipc.IpcReadOptions(included_fields=fields or []))

    @cached_property
    def schema(self) -> Any:
        """Of Arrow."""
        return self._reader().schema

    def is_compressed(self) -> bool:
        """Whether the buffers of the first batch are compressed: they are larger than what is stored of it."""
        first = next((batch for batch, _ in self._batches(self._reader())), None)
        if first is None:
            return False
        self._source.seek(0 if self.is_stream else _FILE_HEAD)
        messages = pa.ipc.MessageReader.open_stream(self._source)
        stored = next(message.body.size for message in messages if message.type == "record batch")
        columns = [each.indices if pa.types.is_dictionary(each.type) else each for each in first.columns]
        return bool(
            sum(each.get_total_buffer_size() for each in columns) > stored
        )  # dictionaries are messages of their own

    def _batches(self, reader: Any) -> Iterator[tuple[Any, float]]:
        """Record batches, each with the share of the file that was read with it."""
        if self.is_stream:
            for batch in reader:
                yield batch, min(1.0, self._source.tell() / max(1, self._shard.size))
        else:
            for number in range(reader.num_record_batches):
                yield reader.get_batch(number), (number + 1) / reader.num_record_batches

    def blocks(self, names: Sequence[str] | None, size: int, wanted: Array | None) -> Iterator[Block]:
        """See `OpenTable.blocks`."""
        fields = [] if names is None else [self._field(name) for name in names]
        row, before = 0, 0.0
        try:
            for batch, share in self._batches(self._reader(list(dict.fromkeys(fields)))):
                rows = batch.num_rows
                if wanted is not None and not wanted[row : row + rows].any():
                    row += rows
                    yield Block(rows, None, share)
                    continue
                step = max(1, min(_BLOCK_ROWS, size * rows // max(1, batch.get_total_buffer_size())))
                for start in range(0, rows, step):
                    part = batch.slice(start, step)
                    _validate(part)
                    row += part.num_rows
                    yield Block(part.num_rows, part, before + (share - before) * (start + part.num_rows) / rows)
                before = share
        except _ERRORS as error:
            raise damaged(self._shard.name, "Arrow", str(error)) from None

    def _field(self, name: str) -> int:
        number: int = self.schema.get_field_index(name)
        return number if number >= 0 else self.schema.get_field_index(name.partition(".")[0])


def _validate(batch: Any) -> None:
    """Look at every offset and length, which come from the file. Strings that are not UTF-8 pass.

    Raises:
        pyarrow.ArrowException: one points elsewhere.
    """
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid:
        for column in batch.columns:
            view = next((kind for test, kind in _VIEWS if test(column.type)), None)
            (column if view is None else column.view(view)).validate(full=True)
