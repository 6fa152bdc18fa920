"""The file formats: a table from name to module, read by all that reads or writes a corpus.

A new format is a module with the functions of `Format`, and a row here.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, runtime_checkable

from neardup.arrays import Array
from neardup.io.batch import Batch, Columns, Part, Reject
from neardup.io.formats import jsonl, parquet, text_files, text_lines
from neardup.io.formats.delimited import Delimited
from neardup.io.shard import Shard


class Sink(Protocol):
    """An output file that rows are written to; a context manager, closed at its end."""

    format: str

    def close(self) -> None: ...

    def __enter__(self) -> Any: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


Rewrite = Callable[[int, list[str]], list[str]]
"""From a row's number in its shard and the texts of its text columns to the texts that are to stand there."""


class Format(Protocol):
    """What each format's module offers. Rows are numbered in their shard from 0, by every function alike.

    A damaged file always raises DataError: only single rows can be set aside, since nobody knows how many rows are lost
    with the rest of a file. So does a file that changed since the shard was found.
    """

    @property
    def Sink(self) -> Any:  # noqa: N802
        """Class of this format's sinks, called with a path and a compression."""

    def check(self, shard: Shard, columns: Columns, added: Sequence[str] = ()) -> None:
        """Raise InputError if, by its schema or first rows, the shard lacks a column to read or has one to be added.

        Costs little: for all shards, before any work.
        """

    def check_together(self, shards: Sequence[Shard]) -> None:
        """Raise InputError if the rows of these shards cannot be in one file."""

    def parts(self, shard: Shard, columns: Columns, wanted: Array | None = None) -> Iterator[Part]:
        """All rows in order, in parts of about 4 MB; each row is in one. Parts may be called by several threads.

        Where `wanted` (bool[rows]) is False, rows are skipped as cheaply as possible, are not checked, and are null.
        """

    def read(self, shard: Shard, columns: Columns, *, reject: Reject, wanted: Array | None = None) -> Iterator[Batch]:
        """The batches of `parts`, one after another; `reject` is called for each row that cannot be read, in order."""

    def copy(self, shard: Shard, keep: Array, sink: Any) -> None:
        """Write the rows where `keep` (bool[rows]) is True as they are.

        Raises InputError if the sink holds rows of another format or schema.
        """

    def annotate(self, shard: Shard, added: Any, sink: Any, *, keep: Array) -> None:
        """Write the rows where `keep` (bool[rows]) is True as they are, but with more columns.

        `added` is an Arrow table with one row for each row of the shard; rows that were rejected must not be kept.
        Raises InputError if such a column exists.
        """


@runtime_checkable
class Rewritable(Protocol):
    """What a format's module offers besides, if texts can be replaced in its rows; needed for lines and paragraphs."""

    def replace(
        self, shard: Shard, columns: Columns, rewrite: Rewrite, sink: Any, *, keep: Array, changed: Array
    ) -> None:
        """As `copy`; but where `changed` (bool[rows], of rows that can be read) is True, the texts are what `rewrite` says.

        `rewrite` gets and gives one text for each of `columns.text`, and is called in order. All else in the row stays as it is.
        """


PartOfFiles = Callable[[Sequence[Shard], Columns, Array | None], Part]


@dataclass(frozen=True, slots=True)
class Row:
    """All that is known of a format.

    Attributes:
        name: what shards call it.
        module: its functions.
        endings: of files' names, in lower case.
        said: the endings as messages have them.
        compressed: files may be compressed as a whole; Parquet compresses what is inside.
        named_only: endings of files that are read only if they are named: in folders as often about the data as data.
        html: endings of pages, which are read if the call says how they become text.
        part_of_files: how several files are read as one part, if each has one document: they may be small.
    """

    name: str
    module: Format
    endings: tuple[str, ...] = ()
    said: str = ""
    compressed: bool = True
    named_only: tuple[str, ...] = ()
    html: tuple[str, ...] = ()
    part_of_files: PartOfFiles | None = None


ROWS = (
    Row(
        "jsonl",
        jsonl,
        (".jsonl", ".ndjson", ".json"),
        ".jsonl, .ndjson or .json (one object a line)",
        named_only=(".json",),
    ),
    Row("csv", Delimited("csv"), (".csv",), ".csv"),
    Row("tsv", Delimited("tsv"), (".tsv",), ".tsv"),
    Row(
        "txt",
        text_files,
        (".txt", ".text", ".md", ".html", ".htm"),
        ".txt, .text or .md (one document a file; a line with --lines), .html or .htm (with --html, one document a file)",
        named_only=(".md",),
        html=(".html", ".htm"),
        part_of_files=text_files.part_of_files,
    ),
    Row("parquet", parquet, (".parquet",), ".parquet", compressed=False),
    Row("lines", text_lines),  # of files with any ending, if the call says so
)

FORMATS = {row.name: row.module for row in ROWS}
FILES = {row.name: row.part_of_files for row in ROWS if row.part_of_files is not None}
"""Formats with one document a file."""


def open_sink(path: Path, format: str, compression: str = "plain") -> Sink:  # noqa: A002
    """Open an output file, to be given to `copy` or `annotate` for one or several shards in turn."""
    sink: Sink = FORMATS[format].Sink(path, compression)
    return sink
