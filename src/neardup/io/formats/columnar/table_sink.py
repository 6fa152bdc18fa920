"""Write files of columns that resemble the files that the rows come from."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pyarrow as pa

from neardup.io.corpora.shard import Shard
from neardup.io.formats.columnar.common_schema import common_schema
from neardup.io.formats.columnar.open_table import OpenTable

Opened = Callable[[Shard], AbstractContextManager[OpenTable]]


class TableSink:
    """Writes rows to a file; the first shard sets how it is laid out, and all shards set its schema.

    A format has a subclass with `_opened`, `_open`, `_is_enough` and `_put`.
    """

    format = ""

    def __init__(self, path: Path, compression: str, shards: Sequence[Shard] = ()) -> None:
        """See `neardup.io.formats.table.Format.Sink`; `compression` is plain, as these formats compress inside.

        The path `-` is standard output, which stays open.
        """
        assert compression == "plain"
        self._path, self._shards = path, shards
        self._writer: Any = None
        self._first = ""
        self._schema: Any = None
        self._waiting: list[Any] = []
        self._rows = 0

    def _open(self, file: Any) -> Any:
        """A writer of `self._schema`, for a file that resembles `file`, or any if that is None."""
        raise NotImplementedError

    def _is_enough(self) -> bool:
        """Whether what waits is written now."""
        raise NotImplementedError

    def _put(self, batches: list[Any]) -> None:
        """Write what has waited."""
        raise NotImplementedError

    def _opened(self, shard: Shard) -> AbstractContextManager[OpenTable]:
        """A file of this format."""
        raise NotImplementedError

    def begin(self, shard: Shard, file: Any, schema: Any) -> None:
        """Prepare for rows of `shard`, to be written with `schema`."""
        if self._writer is None:
            self._first, self._schema = shard.name, self._common(schema)
            self._writer = self._open(file)
        else:
            common = common_schema([(self._first, self._schema), (shard.name, schema)])
            if not common.equals(self._schema):
                raise shard.changed()

    def begin_new(self, shard: Shard, schema: Any) -> None:
        """Prepare for rows of `schema` that come from files of another format; does nothing if it was called before."""
        if self._writer is None:
            self._first, self._schema = shard.name, schema
            self._writer = self._open(None)

    def _common(self, schema: Any) -> Any:
        """The schema of the rows of all shards, to each of which the first one's may add columns."""
        may_change = any("null" in str(field.type) or not field.nullable for field in schema)
        if len(self._shards) < 2 or not may_change:
            return schema
        common = schema_of_all(self._shards, self._opened)
        return pa.schema([*common, *list(schema)[len(common) :]], schema.metadata)

    def write(self, batch: Any) -> None:
        """Write rows; they are held until they fill a block of the file."""
        self._waiting.append(_cast(batch, self._schema))
        self._rows += batch.num_rows
        if self._is_enough():
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            self._put(self._waiting)
        self._waiting, self._rows = [], 0

    def close(self) -> None:
        """Finish the file."""
        if self._writer is not None:
            try:
                self._flush()
            finally:
                self._writer.close()

    def __enter__(self) -> "TableSink":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self._waiting = []  # the file is about to be removed
        self.close()


def _cast(batch: Any, schema: Any) -> Any:
    """A batch in which what has the type null has the one of a schema."""
    if batch.schema.equals(schema):
        return batch
    columns = [
        column if column.type.equals(field.type) else column.cast(field.type)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def schema_of_all(shards: Sequence[Shard], opened: Opened) -> Any:
    """See `common_schema`."""

    def schemas() -> Iterator[tuple[str, Any]]:
        for shard in shards:
            with opened(shard) as file:
                yield shard.name, file.schema

    return common_schema(schemas())
