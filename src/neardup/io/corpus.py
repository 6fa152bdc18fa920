"""Files as a corpus: shards one after another, rows counted over all of them."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from neardup.errors import InputError, OptionError, RowError
from neardup.io.batch import Batch, Columns, Part, Rejections
from neardup.io.formats import FORMATS
from neardup.io.reading import Reading
from neardup.io.shards import Shard, find_shards
from neardup.progress import Progress
from neardup.threads import in_order
from neardup.wording import counted

Array = np.ndarray[Any, np.dtype[Any]]
Result = TypeVar("Result")

LISTED = 5
"""Problems that are told one by one."""

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

    def __init__(
        self,
        shards: Sequence[Shard],
        columns: Columns,
        *,
        on_error: str = "stop",
        progress: Progress | None = None,
    ) -> None:
        """`progress` is told how many bytes of the files each pass has gone through."""
        if on_error not in ON_ERROR:
            raise OptionError(f"on_error={on_error!r}: give one of {', '.join(ON_ERROR)}.")
        self.shards = tuple(shards)
        self.starts: list[int] | None = None
        self.rejected: list[Rejected] = []
        self._columns, self._on_error, self._progress = columns, on_error, progress or Progress()
        self._is_part = False

    def part(self, shards: Sequence[Shard]) -> "FileCorpus":
        """Some of the files, read likewise; how many bytes all such parts have is for the caller to tell the progress."""
        found = FileCorpus(shards, self._columns, on_error=self._on_error, progress=self._progress)
        found._is_part = True
        return found

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

    def _parts(self, wanted: Array | None) -> Iterator[tuple[int, Part]]:
        for number, shard in enumerate(self.shards):
            mask = None if wanted is None else wanted[self.rows_of(number)]
            for part in FORMATS[shard.format].parts(shard, self._columns, mask):
                yield number, part

    def map(
        self, work: Callable[[Batch], Result], *, threads: int, wanted: Array | None = None
    ) -> Iterator[tuple[int, Result]]:
        """See `neardup.documents.Corpus`. The first complete pass learns where shards start, and which rows are rejected."""

        def read(part: tuple[int, Part]) -> tuple[int, int, int, Rejections, Result]:
            batch, rejections = part[1]()
            return part[0], len(batch.texts), batch.position, rejections, work(batch)

        lengths = [0] * len(self.shards)
        row, before, passed = 0, [0, *itertools.accumulate(shard.size for shard in self.shards)], 0
        if not self._is_part:
            self._progress.expect(before[-1])
        for number, size, position, rejections, result in in_order(read, self._parts(wanted), threads):
            come_to = before[number] + min(position, self.shards[number].size)
            self._progress.read(max(0, come_to - passed))
            passed = max(passed, come_to)
            for rejected_row, reason in rejections:
                if self._on_error == "stop":
                    raise RowError(self.shards[number].name, rejected_row, reason)
                if self.starts is None:
                    self.rejected.append(Rejected(self.shards[number].name, rejected_row, reason))
            yield row, result
            row += size
            lengths[number] += size
        self._progress.read(before[-1] - passed)
        starts = [0, *itertools.accumulate(lengths)]
        if self.starts is not None and starts != self.starts:
            number = next(number for number, start in enumerate(starts[1:]) if start != self.starts[number + 1])
            raise self.shards[number].changed()
        self.starts = starts

    def first_batches(self, number: int, parts: int, *, threads: int) -> Iterator[Batch]:
        """The first so many parts of a shard; a row that cannot be read stops it or is passed over, as everywhere."""
        shard = self.shards[number]
        found = itertools.islice(FORMATS[shard.format].parts(shard, self._columns), parts)
        for batch, rejections in in_order(lambda part: part(), found, threads):
            if rejections and self._on_error == "stop":
                raise RowError(shard.name, *rejections[0])
            yield batch

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
    progress: Progress | None = None,
) -> FileCorpus:
    """The files meant by `inputs` as a corpus; `temporary`: a folder that standard input may go to."""
    shards = find_shards(inputs, temporary=temporary)
    return FileCorpus(shards, reading.columns(values), on_error=on_error, progress=progress)
