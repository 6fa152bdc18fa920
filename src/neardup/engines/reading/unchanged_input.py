"""UNCHANGED INPUT: what a part of the input was when it was read first, so that later readings notice if it is another."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.schemas import INT
from neardup.engines.stages import Found, Output, Part, Reading
from neardup.errors import DataError
from neardup.kernels.digests import digest_documents

REMEDY = "It must have the same rows in the same parts each time it is read: write it to files, and read these."
COLUMN_BITS = 33
"""More than those of a row's number: a value in another column counts otherwise."""
SEEN = Output(pa.schema({"part": INT, "rows": INT, "sum": INT}))


class Content(NamedTuple):
    """What a part holds: its number of rows, and a sum over the values of their columns, in order."""

    rows: int
    sum: int


class Watched:
    """A part whose rows are added up while they are read."""

    def __init__(self, part: Part) -> None:
        self._part, self._rows, self._sum = part, 0, np.zeros(1, np.uint64)

    @property
    def part(self) -> Part:
        """The part, to be read once."""
        return replace(self._part, batches=self._batches())

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for batch in self._part.batches:
            odd = 2 * np.arange(self._rows, self._rows + len(batch), dtype=np.uint64) + np.uint64(1)
            for number, column in enumerate(batch.columns):
                self._sum += (digests_in(column) * (odd + np.uint64(2 * number << COLUMN_BITS))).sum(dtype=np.uint64)
            self._rows += len(batch)
            yield batch

    @property
    def content(self) -> Content:
        """What was read."""
        return Content(self._rows, int(self._sum.view(np.int64)[0]))

    def rows(self) -> pa.Table:
        """The content as a row of SEEN."""
        return pa.table([[self._part.number], [self.content.rows], [self.content.sum]], SEEN.schema)

    def check(self, seen: Mapping[int, Content]) -> None:
        """Refuse a part that is not what it was.

        Raises:
            DataError: it has changed.
        """
        if seen.get(self._part.number, Content(0, 0)) != self.content:
            raise DataError(
                f"Part {self._part.number} of the input has changed since it was first read: then "
                f"{_shown(seen.get(self._part.number))}, now {_shown(self.content)}. {REMEDY}"
            )


def watched_reading(reading: Reading, part: Part, seen: Mapping[int, Content] | None) -> Found:
    """What a reading gives of a part, and what the part held (`seen`). `seen`: what parts held first; None for the first reading.

    Raises:
        DataError: the part has changed.
    """
    watched = Watched(part)
    yield from reading.work(watched.part)
    if seen is not None:
        watched.check(seen)
    yield "seen", watched.rows()


def digests_in(column: Any) -> Array:
    """uint64[n]: of the values of a column of large_string; 0 for none, which is not an empty one."""
    if column.null_count == len(column):
        return np.zeros(len(column), np.uint64)
    found: Array = string_digests(column)[:, 1]
    found[~column.is_valid().to_numpy(zero_copy_only=False)] = 0
    return found


def string_digests(column: Any) -> Array:
    """uint64[n, 2]: of the values of a column of large_string; anything for none."""
    offsets = np.frombuffer(column.buffers()[1], np.int64)[column.offset : column.offset + len(column) + 1].copy()
    found = np.empty((len(column), 2), np.uint64)
    digest_documents(np.frombuffer(column.buffers()[2] or b"", np.uint8), offsets, found)
    return found


def demand_all(seen: Mapping[int, Content], read: Collection[int]) -> None:
    """Refuse an input that has lost parts.

    Raises:
        DataError: a part with rows was there and was not read again.
    """
    lost = next((part for part, content in sorted(seen.items()) if content.rows and part not in read), None)
    if lost is not None:
        raise DataError(
            f"Part {lost} of the input has changed since it was first read: then {_shown(seen[lost])}, now it is not there. "
            f"{REMEDY}"
        )


def _shown(content: Content | None) -> str:
    if content is None:
        return "it was not there"
    return f"{content.rows:,} rows with the sum {content.sum & (1 << 64) - 1:016x}"


def contents_in(collected: pa.Table) -> dict[int, Content]:
    """Of the rows that a first reading gave, by part."""
    columns = (collected.column(name).to_pylist() for name in SEEN.schema.names)
    return {part: Content(rows, total) for part, rows, total in zip(*columns, strict=True)}
