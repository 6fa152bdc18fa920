"""FOLDER ENGINE: an engine whose tasks write packed rows to files of a folder that all machines share, and read them there."""

import math
import secrets
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.engines.job.bucket_files import Segments, Written, as_table, contents, in_table, of_buckets, write
from neardup.engines.job.checkpoint import Kept
from neardup.engines.job.cluster_engine import ClusterEngine, Contents, HeldRows
from neardup.engines.job.folder import Folder
from neardup.engines.packing import Packed, pack_all, unpack
from neardup.engines.reading.sorted_runs import Runs, numbered_part
from neardup.engines.reading.unchanged_input import SEEN, Content, watched_reading
from neardup.engines.stages import Measured, Output, Part, Reading, Stage

TASK_BYTES = 1 << 25
"""Packed rows that a task gets, about, if all processors have one."""
INDEX = "index.arrow"
"""The file that tells where the rows of a stage are."""


@dataclass(frozen=True)
class Held(HeldRows):
    """The rows of an output: in files, or with the driver if they are few.

    Attributes:
        segments: where they lie.
        local: the buckets and packed rows that the driver has.
    """

    segments: Segments = ()
    local: Contents = ()

    def sent(self, first: int, last: int) -> "Sent":
        """What a task gets that has the buckets from `first` up to, and without, `last`."""
        local = [(bucket, content) for bucket, content in self.local if first <= bucket < last]
        return Sent(self.output, of_buckets(self.segments, first, last), local)


@dataclass(frozen=True)
class Sent:
    """The rows of an input that a task gets.

    Attributes:
        output: their columns and key.
        segments: where they lie.
        local: those that the driver has, by bucket.
    """

    output: Output
    segments: Segments
    local: Contents

    @property
    def buckets(self) -> set[int]:
        """Those that have rows."""
        return {bucket for bucket, _ in self.local} | {
            bucket for _, each in self.segments for bucket in each["bucket"].tolist()
        }

    def rows(self, folder: Folder, bucket: int) -> list[bytes]:
        """Packed rows of a bucket."""
        here = [(name, each[each["bucket"] == bucket]) for name, each in self.segments]
        found = contents(folder, [(name, each) for name, each in here if len(each)])
        return found + [content for of, content in self.local if of == bucket]


@dataclass(frozen=True)
class Given:
    """A file that a task reads.

    Attributes:
        number: which of the source's files it is.
        first: the number of the first part of the source.
        is_reference: whether it is of a reference.
        batches: what gives its rows.
        numbers: those that the runs of files with rows have instead.
    """

    number: int
    first: int
    is_reference: bool
    batches: Callable[[], Iterator[pa.RecordBatch]]
    numbers: Runs | None = None

    @property
    def number_of_part(self) -> tuple[int, list[tuple[int, int]]]:
        """Its number as a part, and where its runs begin, with theirs."""
        return numbered_part(self.number, self.first, self.numbers)

    @property
    def part(self) -> Part:
        """The part, to be read once."""
        number, runs = self.number_of_part
        return Part(number, self.batches(), self.is_reference, runs)


class FolderEngine(ClusterEngine[Held]):
    """Runs stages as tasks that share a folder.

    Attributes:
        folder: of the job.
    """

    def __init__(self, kept: Kept, folder: Folder, before: Sequence[Measured] = ()) -> None:
        super().__init__(kept, before)
        self.folder = folder

    @property
    @abstractmethod
    def slots(self) -> int:
        """Tasks that run at a time."""

    @abstractmethod
    def _tasks(self, name: str, work: Any, calls: Iterable[tuple[Any, ...]], *shared: Any) -> Iterator[Written]:
        """Run tasks of a function of this module; in no order.

        Args:
            name: shown to users.
            work: the function.
            calls: its last arguments, for each task.
            shared: its first ones.
        """

    @abstractmethod
    def _files(self) -> Iterator[Sequence[Given]]:
        """The files that each task reads."""

    def _read(self, reading: Reading, path: str) -> tuple[Any, Measured]:
        calls = ((self._seen_in(files), files) for files in self._files())
        return self._in_tasks(reading.name, path, read_files, calls, reading)

    def _seen_in(self, files: Sequence[Given]) -> dict[int, Content] | None:
        """What some files held."""
        if self.seen is None:
            return None
        return {part: self.seen[part] for part in (file.number_of_part[0] for file in files) if part in self.seen}

    def _run(self, stage: Stage, inputs: Sequence[Held], path: str) -> tuple[Any, Measured]:
        buckets = self.buckets if inputs[0].output.key else 1
        many = min(buckets, max(2 * self.slots, math.ceil(sum(each.size for each in inputs) / TASK_BYTES)))
        spans = pairwise(np.unique(np.linspace(0, buckets, many + 1).astype(int)).tolist())
        calls = (([each.sent(*span) for each in inputs],) for span in spans)
        return self._in_tasks(stage.name, path, run_buckets, calls, stage)

    def _in_tasks(
        self, name: str, path: str, work: Any, calls: Iterable[tuple[Any, ...]], stage: Reading | Stage
    ) -> tuple[Any, Measured]:
        """Run something as tasks, whose rows come to the folder."""
        below = self._below(path)
        self.folder.make(below)
        found = list(self._tasks(name, work, calls, self.folder, below, self.buckets, stage))
        table = as_table(found)
        with self.folder.writing(f"{below}/{INDEX}") as file, pa.ipc.new_file(file, table.schema) as to:
            to.write_table(table)
        return found, _measured(found)

    def _written(self, path: str) -> tuple[Any, Measured]:
        found = in_table(pa.ipc.open_file(self.folder.read(f"{self._below(path)}/{INDEX}")).read_all())
        return found, _measured(found)

    def _below(self, path: str) -> str:
        """A path in the folder, as its names are."""
        return path[len(self.kept.folder) + 1 :]

    def _held(self, output: Output, name: str, written: Any, measured: Measured) -> Held:
        segments = [(some.file, some.segments[name]) for some in written if name in some.segments]
        return Held(output, measured.rows.get(name, 0), measured.bytes.get(name, 0), segments)

    def _here(self, output: Output, rows: Contents, count: int) -> Held:
        return Held(output, count, sum(len(content) for _, content in rows), local=rows)

    def _contents(self, held: Held) -> Contents:
        buckets = (bucket for _, each in held.segments for bucket in each["bucket"].tolist())
        return [*zip(buckets, contents(self.folder, held.segments), strict=True), *held.local]

    def together(self, *rows: Held) -> Held:
        segments = [some for each in rows for some in each.segments]
        local = [some for each in rows for some in each.local]
        count, size = sum(each.count for each in rows), sum(each.size for each in rows)
        return Held(rows[0].output, count, size, segments, local)


def read_files(
    folder: Folder,
    path: str,
    buckets: int,
    reading: Reading,
    seen: Mapping[int, Content] | None,
    files: Sequence[Given],
) -> Written:
    """A task that runs a reading on some files. `seen`: what these held when they were read first; None for the first reading."""
    found = (each for file in files for each in watched_reading(reading, file.part, seen))
    return write_packed(folder, path, pack_all(found, {**reading.outputs, "seen": SEEN}, buckets))


def read_other(folder: Folder, path: str, buckets: int, reading: Reading, files: Sequence[Given]) -> Written:
    """A task that runs a reading of other columns than texts and what belongs to them on some files."""
    found = (each for file in files for each in reading.work(file.part))
    return write_packed(folder, path, pack_all(found, reading.outputs, buckets))


def run_buckets(folder: Folder, path: str, buckets: int, stage: Stage, given: Sequence[Sent]) -> Written:
    """A task that runs a stage on some buckets, one after another."""

    def found() -> Iterator[tuple[str, Packed]]:
        for bucket in sorted(set().union(*(each.buckets for each in given))):
            tables = (unpack(each.rows(folder, bucket), each.output) for each in given)
            yield from pack_all(stage.work(*tables), stage.outputs, buckets)

    return write_packed(folder, path, found())


def write_packed(folder: Folder, path: str, rows: Iterable[tuple[str, Packed]]) -> Written:
    """Write packed rows to a new file."""
    name = f"{path}/{secrets.token_hex(8)}"
    with folder.writing(name) as file:
        return Written(name, write(file, rows))


def _measured(written: Sequence[Written]) -> Measured:
    measured = Measured("")
    for each in written:
        for name, segments in each.segments.items():
            measured.rows[name] = measured.rows.get(name, 0) + int(segments["rows"].sum())
            measured.bytes[name] = measured.bytes.get(name, 0) + int(segments["size"].sum())
    return measured
