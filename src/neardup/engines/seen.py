"""SEEN: what a part of the input was when it was read first, so that later readings notice if it is another."""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from neardup.engines.schemas import INT
from neardup.engines.stage import Output, Part
from neardup.errors import DataError
from neardup.kernels.digests import digest_documents

REMEDY = "It must have the same rows in the same parts each time it is read: write it to files, and read these."
SEEN = Output(pa.schema({"part": INT, "rows": INT, "sum": INT}))


class Content(NamedTuple):
    """What a part holds: its number of rows, and a sum over their texts, in order."""

    rows: int
    sum: int


class Watched:
    """A part whose texts are added up while they are read."""

    def __init__(self, part: Part) -> None:
        self._part, self._rows, self._sum = part, 0, np.zeros(1, np.uint64)

    @property
    def part(self) -> Part:
        """The part, to be read once."""
        return Part(self._part.number, self._batches(), self._part.is_reference)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for batch in self._part.batches:
            texts = batch.column("text")
            offsets = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1].copy()
            content = texts.buffers()[2]
            digests = np.empty((len(texts), 2), np.uint64)
            digest_documents(np.frombuffer(content or b"", np.uint8), offsets, digests)
            digests[~texts.is_valid().to_numpy(zero_copy_only=False)] = 0  # no text is not an empty one
            odd = 2 * np.arange(self._rows, self._rows + len(texts), dtype=np.uint64) + np.uint64(1)
            self._sum += (digests[:, 1] * odd).sum(dtype=np.uint64)
            self._rows += len(texts)
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
                f"{_told(seen.get(self._part.number))}, now {_told(self.content)}. {REMEDY}"
            )


def demand_all(seen: Mapping[int, Content], read: Collection[int]) -> None:
    """Refuse an input that has lost parts.

    Raises:
        DataError: a part with rows was there and was not read again.
    """
    lost = next((part for part, content in sorted(seen.items()) if content.rows and part not in read), None)
    if lost is not None:
        raise DataError(
            f"Part {lost} of the input has changed since it was first read: then {_told(seen[lost])}, now it is not there. {REMEDY}"
        )


def _told(content: Content | None) -> str:
    return (
        "it was not there"
        if content is None
        else f"{content.rows:,} rows with the sum {content.sum & (1 << 64) - 1:016x}"
    )


def contents_in(collected: pa.Table) -> dict[int, Content]:
    """Of the rows that a first reading gave, by part."""
    columns = (collected.column(name).to_pylist() for name in SEEN.schema.names)
    return {part: Content(rows, total) for part, rows, total in zip(*columns, strict=True)}
