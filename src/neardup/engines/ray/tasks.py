"""TASKS: what runs on workers: readings of files, and stages of buckets. What they give is written to the folder of the job."""

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from neardup.engines.job.bucket_files import Segments, Written, contents, write
from neardup.engines.job.folder import Folder
from neardup.engines.job.plan import MOST_BYTES, TEXT_ROWS
from neardup.engines.packing import Packed, pack_all, unpack
from neardup.engines.reading.sorted_runs import Runs, numbered_part
from neardup.engines.reading.text_columns import as_strings
from neardup.engines.reading.unchanged_input import SEEN, Content, Watched
from neardup.engines.setting import Setting
from neardup.engines.stages import Found, Output, Part, Reading, Stage
from neardup.errors import InputError
from neardup.io.formats.columnar.parquet_values import value_tokens

DECODE = "Decode the input by its encoding before it is read, or leave such rows out."
"""What to do about strings that are no UTF-8."""


Batches = Callable[[], Iterator[pa.RecordBatch]]
"""What gives the rows of a file."""


@dataclass(frozen=True)
class Given:
    """A file that a task reads.

    Attributes:
        number: which of the dataset's files it is.
        first: the number of the first part of the dataset.
        is_reference: whether it is of a reference.
        batches: what gives its rows.
        numbers: those that the runs of files with rows have instead.
    """

    number: int
    first: int
    is_reference: bool
    batches: Batches
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


def checked(setting: Setting, work: Callable[..., Any], *arguments: Any) -> Any:
    """Run something in a task, which looks at the version first."""
    setting.check()
    return work(*arguments)


def tables_of(read: Callable[[], Iterable[Any]]) -> Iterator[pa.Table]:
    """The blocks of a file as tables."""
    from ray.data.block import BlockAccessor

    for block in read():
        yield BlockAccessor.for_block(block).to_arrow()


def texts_of(
    read: Callable[[], Iterable[Any]], columns: Mapping[str, str | None], path: str
) -> Iterator[pa.RecordBatch]:
    """Batches of text, id, within and value of a file, of bounded size.

    Raises:
        InputError: the file has not got one of the columns.
    """
    for table in tables_of(read):
        for batch in bounded(table.select([name for name in columns.values() if name in table.column_names])):
            yield texts_in(pa.Table.from_batches([batch]), columns, path)


def texts_in(table: pa.Table, columns: Mapping[str, str | None], path: str) -> pa.RecordBatch:
    """Text, id, within and value of the rows of a batch.

    Raises:
        InputError: it has not got one of the columns.
    """
    found = pa.table([_column(table, kind, name, path) for kind, name in columns.items()], names=list(columns))
    return as_strings(found.combine_chunks().to_batches()[0], DECODE)


def _column(table: pa.Table, kind: str, name: str | None, path: str) -> Any:
    if name is None or (name not in table.column_names and kind == "value"):
        return pa.nulls(len(table), pa.large_string())
    if name not in table.column_names:
        raise InputError(f"{path} has no column {name!r}; it has {', '.join(map(repr, table.column_names))}.")
    column = table.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if kind in ("text", "id"):
        return column.cast(pa.large_string())
    return value_tokens(column.combine_chunks())


def bounded(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """Batches of a table, none of them empty, of few rows, and of few bytes if rows are small."""
    for begin in range(0, len(table), TEXT_ROWS):
        yield from _halves(table.slice(begin, TEXT_ROWS))


def _halves(table: pa.Table) -> Iterator[pa.RecordBatch]:
    if len(table) > 1 and table.nbytes > MOST_BYTES:
        middle = len(table) // 2
        yield from _halves(table.slice(0, middle))
        yield from _halves(table.slice(middle))
    else:
        yield from table.combine_chunks().to_batches()[:1]


def read(
    folder: Folder,
    path: str,
    buckets: int,
    reading: Reading,
    seen: Mapping[int, Content] | None,
    files: Sequence[Given],
) -> Written:
    """Run a reading on some files. `seen`: what these held when they were read first; None for the first reading."""

    def found() -> Found:
        for file in files:
            watched = Watched(file.part)
            yield from reading.work(watched.part)
            if seen is not None:
                watched.check(seen)
            yield "seen", watched.rows()

    return _written(folder, path, pack_all(found(), {**reading.outputs, "seen": SEEN}, buckets))


def read_other(folder: Folder, path: str, buckets: int, reading: Reading, files: Sequence[Given]) -> Written:
    """Run a reading of other columns than texts and what belongs to them on some files."""
    found = (each for file in files for each in reading.work(file.part))
    return _written(folder, path, pack_all(found, reading.outputs, buckets))


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
    local: Sequence[tuple[int, bytes]]

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


def run(folder: Folder, path: str, buckets: int, stage: Stage, given: Sequence[Sent]) -> Written:
    """Run a stage on some buckets, one after another."""

    def found() -> Iterator[tuple[str, Packed]]:
        for bucket in sorted(set().union(*(each.buckets for each in given))):
            tables = (unpack(each.rows(folder, bucket), each.output) for each in given)
            yield from pack_all(stage.work(*tables), stage.outputs, buckets)

    return _written(folder, path, found())


def _written(folder: Folder, path: str, rows: Iterable[tuple[str, Packed]]) -> Written:
    """Write packed rows to a new file."""
    name = f"{path}/{secrets.token_hex(8)}"
    with folder.writing(name) as file:
        return Written(name, write(file, rows))
