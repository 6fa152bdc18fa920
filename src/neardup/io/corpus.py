"""Files as a corpus: shards one after another, rows counted over all of them."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from neardup.errors import InputError, OptionError, RowError
from neardup.io.batch import BATCH_BYTES, Batch, Columns, Part, Rejections
from neardup.io.formats import FILES, FORMATS
from neardup.io.reading import Reading
from neardup.io.shards import Shard, find_shards
from neardup.threads import in_order
from neardup.wording import counted

Array = np.ndarray[Any, np.dtype[Any]]
Result = TypeVar("Result")

LISTED = 5
"""Problems that are told one by one."""

_GROUPED = 1024

ON_ERROR = {
    "stop": "a row that cannot be read stops the run",
    "skip": "such rows are set aside, with the reason, and counted",
}


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that was set aside: the file's name, the row's number in that file from 0, and why."""

    file: str
    row: int
    reason: str


class FileCorpus:
    """The rows of some files; see `neardup.documents.Corpus`.

    Attributes:
        shards: the files, in order.
        starts: first row of each shard and, last, the number of all rows; known once the corpus has been read.
        rejected: rows that were set aside.
    """

    def __init__(self, shards: Sequence[Shard], columns: Columns, *, on_error: str = "stop") -> None:
        if on_error not in ON_ERROR:
            raise OptionError(f"on_error={on_error!r}: give one of {', '.join(ON_ERROR)}.")
        self.shards = tuple(shards)
        self.starts: list[int] | None = None
        self.rejected: list[Rejected] = []
        self._columns, self._on_error = columns, on_error

    def part(self, shards: Sequence[Shard]) -> "FileCorpus":
        """Some of the files, read likewise."""
        return FileCorpus(shards, self._columns, on_error=self._on_error)

    def check(self, added: Sequence[str] = ()) -> None:
        """Raise InputError, with every problem found, if a shard lacks a column to read or has one to be added."""
        problems = []
        for shard in self.shards:
            try:
                FORMATS[shard.format].check(shard, self._columns, added)
            except InputError as problem:
                problems.append(str(problem))
        if problems:
            more = len(problems) - LISTED
            raise InputError(
                "\n".join(
                    problems[:LISTED] + ([f"… and {counted(more, 'more shard')} like these."] if more > 0 else [])
                )
            )

    def _parts(self, wanted: Array | None) -> Iterator[tuple[int, int, Part]]:
        """Parts, each with its first shard and the number of its shards."""
        for first, last in self._groups():
            shards = self.shards[first:last]
            mask = None if wanted is None else wanted[self.rows_of(first).start : self.rows_of(last - 1).stop]
            if shards[0].format in FILES:
                yield first, len(shards), FILES[shards[0].format](shards, self._columns, mask)
            else:
                for part in FORMATS[shards[0].format].parts(shards[0], self._columns, mask):
                    yield first, 1, part

    def _groups(self) -> Iterator[tuple[int, int]]:
        """Shards that are read together, [first, last): files of one document each, up to about 4 MB of them."""
        first, size = 0, 0
        for last, shard in enumerate(self.shards):
            together = shard.format in FILES and shard.format == self.shards[first].format
            if last > first and not (together and size + shard.size <= BATCH_BYTES and last - first < _GROUPED):
                yield first, last
                first, size = last, 0
            size += shard.size
        if self.shards:
            yield first, len(self.shards)

    def map(
        self, work: Callable[[Batch], Result], *, threads: int, wanted: Array | None = None
    ) -> Iterator[tuple[int, Result]]:
        """See `neardup.documents.Corpus`. The first complete pass learns where shards start, and which rows are rejected."""

        def read(part: tuple[int, int, Part]) -> tuple[int, int, int, Rejections, Result]:
            batch, rejections = part[2]()
            return part[0], part[1], len(batch.texts), rejections, work(batch)

        lengths = [0] * len(self.shards)
        row = 0
        for first, several, size, rejections, result in in_order(read, self._parts(wanted), threads):
            for found, reason in rejections:
                number, rejected_row = (first + found, 0) if several > 1 else (first, found)
                if self._on_error == "stop":
                    raise RowError(self.shards[number].name, rejected_row, reason)
                if self.starts is None:
                    self.rejected.append(Rejected(self.shards[number].name, rejected_row, reason))
            yield row, result
            row += size
            for number in range(first, first + several):
                lengths[number] += size // several
        starts = [0, *itertools.accumulate(lengths)]
        if self.starts is not None and starts != self.starts:
            number = next(number for number, start in enumerate(starts[1:]) if start != self.starts[number + 1])
            raise self.shards[number].changed()
        self.starts = starts

    def rows_of(self, number: int) -> slice:
        """The rows of a shard among all rows; the corpus must have been read."""
        if self.starts is None:
            raise RuntimeError("rows_of() needs a complete pass over the corpus first")
        return slice(self.starts[number], self.starts[number + 1])


def open_corpus(
    inputs: str | Path | Iterable[str | Path],
    reading: Reading,
    *,
    temporary: Path,
    values: Iterable[str] = (),
    on_error: str = "stop",
) -> FileCorpus:
    """The files meant by `inputs` as a corpus; `temporary`: a folder that standard input may go to."""
    return FileCorpus(
        find_shards(inputs, temporary=temporary, reading=reading), reading.columns(values), on_error=on_error
    )
