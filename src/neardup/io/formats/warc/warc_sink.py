"""Write records of WARC files as they were stored: members of gzip are copied, if records have members of their own."""

import contextlib
import dataclasses
import gzip
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from neardup.arrays import Array
from neardup.errors import DataError
from neardup.io.corpora.shard import Shard
from neardup.io.formats.text_sink import StandardOutput
from neardup.io.formats.warc.records import Record, Wanted
from neardup.io.storage.compression import open_for_writing

_COPIED_BYTES = 1 << 20
_MAX_WAITING = 16
"""Records between two rows that are looked at together."""


class WarcSink:
    """Writes records to a file or, for the path `-`, to standard output."""

    format = "warc"

    def __init__(self, path: Path, compression: str, _: Sequence[Shard] = ()) -> None:
        self._compression = compression
        self._by_member = compression == "gzip"
        stored = "plain" if self._by_member else compression
        self._file: Any = StandardOutput() if str(path) == "-" else open_for_writing(path, stored)

    def holds(self, shard: Shard) -> Wanted:
        """For `read_records`: whether records of this shard are written from memory."""
        copied = shard.compression == self._compression == "plain"
        return lambda _: not copied

    @contextlib.contextmanager
    def reading(self, shard: Shard) -> Iterator[Callable[[Record], None]]:
        """A function that writes a record of this shard."""
        if shard.compression != self._compression or self._compression not in ("plain", "gzip"):
            yield lambda record: self._write_again(shard, record)
            return
        with shard.path.open("rb") as file:
            yield lambda record: self._copy(file, shard, record)

    def _copy(self, file: Any, shard: Shard, record: Record) -> None:
        if record.span is None:
            self._write_again(shard, record)
            return
        begin, end = record.span
        file.seek(begin)
        while begin < end:
            data = file.read(min(_COPIED_BYTES, end - begin))
            if not data:
                raise shard.changed()
            self._file.write(data)
            begin += len(data)

    def _write_again(self, shard: Shard, record: Record) -> None:
        if record.problem is not None:
            raise DataError(
                f"{shard.name} has a record of type {record.kind} that is longer than `max_document_bytes`, "
                f"{shard.max_document_bytes:,} bytes: raise that, or name an output with the compression of the input."
            )
        data = record.head + record.block + record.tail
        self._file.write(gzip.compress(data, 6, mtime=0) if self._by_member else data)

    def close(self) -> None:
        """Finish the file."""
        self._file.close()

    def __enter__(self) -> "WarcSink":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def kept_records(records: Iterator[Record], keep: Array, shard: Shard) -> Iterator[Record]:
    """The rows where `keep` (bool[rows]) is true, and the records that belong to them or to no row.

    A record belongs to the row before or after it: to the one that it names or is named by (WARC-Concurrent-To), or else to one of
    its URI.
    """
    before: Record | None = None
    waiting: list[Record] = []
    rows = 0

    def stays(record: Record, after: Record | None) -> bool:
        near = [row for row in (before, after) if row is not None]
        owner = next((row for row in near if _names(record, row)), None)
        owner = owner or next((row for row in near if record.uri is not None and record.uri == row.uri), None)
        return owner is None or bool(keep[owner.row])

    for record in records:
        if record.row is None:
            waiting.append(record)
            if len(waiting) > _MAX_WAITING and stays(first := waiting.pop(0), None):
                yield first
            continue
        rows += 1
        if rows > len(keep):
            raise shard.changed()
        yield from (each for each in waiting if stays(each, record))
        before, waiting = dataclasses.replace(record, block=b""), []
        if keep[record.row]:
            yield record
    yield from (each for each in waiting if stays(each, None))
    if rows != len(keep):
        raise shard.changed()


def _names(one: Record, other: Record) -> bool:
    """Whether one of two records names the other."""
    ids = (each.get("warc-record-id") for each in (one, other))
    named = (each.get("warc-concurrent-to") for each in (other, one))
    return any(name is not None and name == given for name, given in zip(named, ids, strict=True))
