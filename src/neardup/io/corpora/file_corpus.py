"""Files as a corpus: shards one after another, with rows counted over all of them."""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeVar

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.display import counted, reasons_text
from neardup.errors import InputError, OptionError, RowError
from neardup.io.checks.column_checks import MAX_LISTED, demand_columns, demand_lists
from neardup.io.checks.number_files import Refine, refuse_lone_numbers
from neardup.io.checks.readable_rows import ReadableRows, general_reason, row_advice
from neardup.io.corpora.batch import BATCH_BYTES, Batch, Columns, Part
from neardup.io.corpora.protocol import Group, Piece
from neardup.io.corpora.reading import Reading
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import Inputs, find_shards
from neardup.io.formats.table import FILES, FORMATS, part_of_files
from neardup.progress import Progress
from neardup.recipe.tables.spellings import one_of
from neardup.resources.memory_use import give_back
from neardup.resources.resources import DEFAULTS, Resources
from neardup.resources.threads import in_order
from neardup.resources.unfinished import TemporaryFolder
from neardup.text.html import Extract, extractor

Result = TypeVar("Result")

_MAX_FILES_IN_GROUP = 1024

ON_ERROR = {
    "stop": "a row that cannot be read stops the run",
    "skip": "such rows are set aside, with the reason, and counted",
}


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that was set aside: the file's name, the row's number in that file from 0, and the reason."""

    file: str
    row: int
    reason: str


def by_reason(rejected: Iterable[Rejected]) -> dict[str, int]:
    """How many rows were set aside for each reason, the most frequent first."""
    found = Counter(general_reason(each.reason) for each in rejected)
    return dict(found.most_common())


def why(rejected: Iterable[Rejected]) -> str:
    """The reasons for which rows were set aside, in brackets, to end a sentence with."""
    return f" ({reasons_text(by_reason(rejected))})"


def check_on_error(on_error: str) -> None:
    """Raise OptionError unless `on_error` is a key of ON_ERROR."""
    if not isinstance(on_error, str) or on_error not in ON_ERROR:
        raise OptionError(f"{one_of('on_error', on_error, ON_ERROR)}.")


class FileCorpus:
    """The rows of some files; see `neardup.io.corpora.protocol.ShardedCorpus`.

    Attributes:
        shards: the files, in order.
        starts: first row of each shard, then the number of all rows; known once the corpus has been read.
        rejected: rows that were set aside.
    """

    def __init__(
        self,
        shards: Sequence[Shard],
        columns: Columns,
        *,
        on_error: str = "stop",
        progress: Progress | None = None,
        resources: Resources = DEFAULTS,
        refine: Refine | None = None,
        demands_text: bool = True,
    ) -> None:
        """`progress` counts the bytes that each pass reads from the files; `refine` is applied to each batch; `demands_text`:
        whether files without any row that can be read stop the run.
        """
        check_on_error(on_error)
        if columns.of_elements:
            demand_lists(shards, columns)
        self.shards = tuple(shards)
        self.starts: list[int] | None = None
        self.rejected: list[Rejected] = []
        self._columns, self._on_error, self._progress = columns, on_error, progress or Progress()
        self._resources, self._refine = resources, refine
        self._is_part = False
        self._readable = ReadableRows() if demands_text else None
        self._extract = None if columns.html is None else extractor(columns.html)

    @property
    def threads(self) -> int:
        """How many threads read."""
        return self._resources.thread_count

    def part(self, shards: Sequence[Shard]) -> "FileCorpus":
        """Some of the files, read in the same way; the caller reports the bytes of all such parts to the progress."""
        found = FileCorpus(
            shards,
            self._columns,
            on_error=self._on_error,
            progress=self._progress,
            resources=self._resources,
            refine=self._refine,
        )
        found._is_part, found._readable = True, self._readable
        return found

    def check(self, added: Sequence[str] = (), *, named_by: str = "") -> None:
        """Raise InputError, with every problem found, if a shard lacks a column to read, or already has one to be added.

        `named_by`: what the names of the options begin with that name the columns, if not those of the inputs.
        """
        demand_columns(self.shards, self._columns, added, named_by=named_by)

    def _parts(self, wanted: Array | None, groups: Iterable[Group]) -> Iterator[tuple[Group, Part]]:
        """Parts of some groups of shards, each with its group."""
        for first, last in groups:
            shards = self.shards[first:last]
            mask = None if wanted is None else wanted[self.rows_of(first).start : self.rows_of(last - 1).stop]
            if shards[0].format in FILES:
                yield (first, last), part_of_files(shards, self._columns, mask)
            else:
                for part in FORMATS[shards[0].format].parts(shards[0], self._columns, mask):
                    yield (first, last), part

    def groups(self) -> list[Group]:
        """See `ShardedCorpus`: files with one document each are read together, up to about 4 MB of them."""
        first, size = 0, 0
        found = []
        for last, shard in enumerate(self.shards):
            together = shard.format in FILES and shard.format == self.shards[first].format
            if last > first and not (
                together and size + shard.size <= BATCH_BYTES and last - first < _MAX_FILES_IN_GROUP
            ):
                found.append((first, last))
                first, size = last, 0
            size += shard.size
        return [*found, (first, len(self.shards))] if self.shards else []

    def map(self, work: Callable[[Batch], Result], *, wanted: Array | None = None) -> Iterator[tuple[int, Result]]:
        """See `neardup.io.corpora.protocol.Corpus`. The first complete pass records where shards start, and which rows are
        rejected.
        """
        return self.rows(self.pieces(work, self.groups(), wanted=wanted))

    def pieces(
        self, work: Callable[[Batch], Result], groups: Iterable[Group], *, wanted: Array | None = None
    ) -> Iterator[tuple[Group, Piece[Result]]]:

        def read(part: tuple[Group, Part]) -> tuple[Group, Piece[Result]]:
            batch, rejections = part[1]()
            if self._extract is not None:
                batch = text_of_pages(batch, self._extract)
            if self._refine is not None:
                batch, rejections = self._refine(batch, rejections, self.shards[part[0][0] : part[0][1]])
            result = work(dataclasses.replace(batch, shard=part[0][0], of_elements=self._columns.of_elements))
            return part[0], Piece(len(batch.texts), batch.position, rejections, result)

        return in_order(read, self._parts(wanted, groups), self._resources.thread_count)

    def rows(self, pieces: Iterable[tuple[Group, Piece[Result]]]) -> Iterator[tuple[int, Result]]:
        """See `ShardedCorpus`. Reports progress, sets aside or refuses unreadable rows, and records where shards start."""
        lengths = [0] * len(self.shards)
        row, before, passed = 0, [0, *itertools.accumulate(shard.size for shard in self.shards)], 0
        if not self._is_part:
            self._progress.expect(before[-1])
        for (first, last), piece in pieces:
            several = last - first
            come_to = before[last] if several > 1 else before[first] + min(piece.position, self.shards[first].size)
            self._progress.read(max(0, come_to - passed))
            passed = max(passed, come_to)
            self._reject(first, last, piece)
            yield row, piece.result
            row += piece.rows
            for number in range(first, last):
                lengths[number] += piece.rows // several
        self._progress.read(before[-1] - passed)
        give_back()  # what batches took, and allocators of threads keep: the next stage needs it for other things
        if not self._is_part:
            self.demand_readable()
        starts = [0, *itertools.accumulate(lengths)]
        if self.starts is not None and starts != self.starts:
            number = next(number for number, start in enumerate(starts[1:]) if start != self.starts[number + 1])
            raise self.shards[number].changed()
        self.starts = starts

    def _reject(self, first: int, last: int, piece: Piece[Result]) -> None:
        """Set aside or refuse the rows of a piece of these shards that cannot be read."""
        several = last - first > 1
        for found, reason in piece.rejections:
            number, row = (first + found, 0) if several else (first, found)
            if self._on_error == "stop":
                raise row_error(self.shards[number], row, reason)
            if self.starts is None:
                self.rejected.append(Rejected(self.shards[number].name, row, reason))
        if self._readable is not None and self.starts is None:
            self._readable.count(self.shards[first:last], piece.rows, piece.rejections)

    def demand_readable(self) -> None:
        """Raise DataError if rows were read, by this corpus or its parts, and none of them could be."""
        if self._readable is not None:
            self._readable.demand_one()

    def tell_rejected(self) -> None:
        """Report how many rows were left out, and why, if any were."""
        if self.rejected:
            count = counted(len(self.rejected), "row")
            self._progress.say(f"{count} could not be read, and were left out{why(self.rejected)}")

    @property
    def skips(self) -> bool | None:
        return self._on_error == "skip"

    def check_sources(self, sources: Sequence[str]) -> None:
        """See `neardup.io.corpora.protocol.SourcedCorpus`. A source is a file, a folder or a glob, matched against the
        shards' names.
        """
        for source in sources:
            if not any(is_within(shard.name, source) for shard in self.shards):
                names = ", ".join(shard.name for shard in self.shards[:MAX_LISTED])
                raise InputError(
                    f"`prefer_source={source!r}`: no input is of this source. Give a file, a folder or a glob, as the inputs are "
                    f"called: {names}{' …' if len(self.shards) > MAX_LISTED else ''}"
                )

    def source_ranks(self, sources: Sequence[str]) -> Array | None:
        if not sources:
            return None
        ranks = [rank_of_source(shard.name, sources) for shard in self.shards]
        sizes = [rows.stop - rows.start for rows in map(self.rows_of, range(len(self.shards)))]
        return np.repeat(np.array(ranks, np.int64), sizes)

    def locate(self, rows: Array) -> tuple[list[str], Array]:
        """The file names of some rows (int64[n]), and the rows' numbers in those files; the corpus must have been read."""
        starts = np.array(self.starts)
        numbers = np.searchsorted(starts, rows, "right") - 1
        return [self.shards[number].name for number in numbers.tolist()], rows - starts[numbers]

    def first_batches(self, number: int, parts: int) -> Iterator[Batch]:
        """The first `parts` parts of a shard; unreadable rows stop the run or are skipped, as in any pass."""
        found = itertools.islice((part for _, part in self._parts(None, [(number, number + 1)])), parts)
        for batch, rejections in in_order(lambda part: part(), found, self._resources.thread_count):
            if self._refine is not None:
                batch, rejections = self._refine(batch, rejections, self.shards[number : number + 1])
            if rejections and self._on_error == "stop":
                raise row_error(self.shards[number], *rejections[0])
            if self._readable is not None:
                self._readable.count(self.shards[number : number + 1], len(batch.texts), rejections)
            batch = dataclasses.replace(batch, of_elements=self._columns.of_elements)
            yield batch if self._extract is None else text_of_pages(batch, self._extract)

    def rows_of(self, number: int) -> slice:
        """The rows of a shard among all rows; the corpus must have been read."""
        if self.starts is None:
            raise RuntimeError("rows_of() needs a complete pass over the corpus first")
        return slice(self.starts[number], self.starts[number + 1])


def text_of_pages(batch: Batch, extract: Extract) -> Batch:
    """The batch with HTML converted to text; nulls stay."""
    pages = itertools.repeat(True) if batch.pages is None else batch.pages.tolist()
    texts = [
        extract(text) if is_page and text is not None else text
        for text, is_page in zip(batch.texts.to_pylist(), pages, strict=False)
    ]
    return dataclasses.replace(batch, texts=pa.array(texts, pa.large_string()))


def row_error(shard: Shard, row: int, reason: str) -> RowError:
    """The error of a row at which a run stops, with what to do if not the row is wrong but how it is read."""
    return RowError(shard.name, row, reason, row_advice(shard, reason))


def rank_of_source(name: str, sources: Sequence[str]) -> int:
    """The number of the first of some sources that a shard of this name is of; their number if it is of none."""
    return next((rank for rank, source in enumerate(sources) if is_within(name, source)), len(sources))


def is_within(name: str, source: str) -> bool:
    """Whether a name is `source`, in that folder, or matched by that glob."""
    return name == source or name.startswith(source.rstrip("/") + "/") or fnmatchcase(name, source)


def open_corpus(
    inputs: Inputs,
    reading: Reading,
    *,
    temporary: TemporaryFolder | None = None,
    values: Iterable[str] = (),
    asked_by: Mapping[str, str] | None = None,
    on_error: str = "stop",
    progress: Progress | None = None,
    resources: Resources = DEFAULTS,
) -> FileCorpus:
    """The files named by `inputs` as a corpus of texts.

    `temporary`: a folder that standard input may be written to; `values`, `asked_by`: see `Columns`.
    """
    shards = find_shards(inputs, temporary=temporary, reading=reading, progress=progress)
    return FileCorpus(
        shards,
        reading.columns(values, asked_by=asked_by),
        on_error=on_error,
        progress=progress,
        resources=resources,
        refine=refuse_lone_numbers(shards),
    )
