"""The file formats: a table from name to module, used by all code that reads or writes a corpus.

A new format is a module with the functions of `Format`, plus a row here.
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
    """An output file that rows are written to; a context manager that closes the file at its end."""

    format: str

    def close(self) -> None: ...

    def __enter__(self) -> Any: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


Rewrite = Callable[[int, list[str]], list[str]]
"""Takes a row's number in its shard and the texts of its text columns, and returns the texts to put there."""


class Format(Protocol):
    """The functions of a format's module. All of them number rows in their shard from 0.

    A damaged file always raises DataError. Only single rows can be set aside, because no one knows how many rows are lost with
    the rest of a file. A file that has changed since the shard was found raises DataError as well.
    """

    @property
    def Sink(self) -> Any:  # noqa: N802
        """The class of this format's sinks, called with a path and a compression."""

    def check(self, shard: Shard, columns: Columns, added: Sequence[str] = ()) -> None:
        """Raise InputError if, by its schema or first rows, the shard lacks a column to read, or already has one to be added.

        Cheap: called for all shards before any work.
        """

    def check_together(self, shards: Sequence[Shard]) -> None:
        """Raise InputError if the rows of these shards cannot share a file."""

    def parts(self, shard: Shard, columns: Columns, wanted: Array | None = None) -> Iterator[Part]:
        """All rows in order, in parts of about 4 MB; each row is in one part. Several threads may call parts.

        Where `wanted` (bool[rows]) is False, rows are skipped as cheaply as possible: they are not checked, and are null.
        """

    def read(self, shard: Shard, columns: Columns, *, reject: Reject, wanted: Array | None = None) -> Iterator[Batch]:
        """The batches of `parts`, one after another; `reject` is called for each row that cannot be read, in order."""

    def copy(self, shard: Shard, keep: Array, sink: Any) -> None:
        """Write the rows where `keep` (bool[rows]) is true, unchanged.

        Raises InputError if the sink holds rows of another format or schema.
        """

    def annotate(self, shard: Shard, added: Any, sink: Any, *, keep: Array) -> None:
        """Write the rows where `keep` (bool[rows]) is true, unchanged except for further columns.

        `added` is an Arrow table with one row for each row of the shard; rejected rows must not be kept.
        Raises InputError if such a column exists.
        """


@runtime_checkable
class Rewritable(Protocol):
    """A format's module that can also replace texts in its rows, as lines and paragraphs require."""

    def replace(
        self, shard: Shard, columns: Columns, rewrite: Rewrite, sink: Any, *, keep: Array, changed: Array
    ) -> None:
        """Like `copy`, but where `changed` (bool[rows], of rows that can be read) is true, `rewrite` supplies the texts.

        `rewrite` takes and returns one text for each of `columns.text`, and is called in order. The rest of the row stays the same.
        """


PartOfFiles = Callable[[Sequence[Shard], Columns, Array | None], Part]


@dataclass(frozen=True, slots=True)
class Row:
    """The properties of a format.

    Attributes:
        name: the format's name in shards.
        module: its functions.
        endings: endings of file names, in lowercase.
        said: the endings as messages list them.
        compressed: files may be compressed as a whole; Parquet compresses inside.
        named_only: endings of files that are read only when named, because in folders they are as often about the data as data.
        html: endings of HTML pages, which are read if the call says how they become text.
        part_of_files: reads several files as one part, for formats with one document per file: the files may be small.
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
    Row("parquet", parquet, (".parquet",), ".parquet", compressed=False),
    Row("csv", Delimited("csv"), (".csv",), ".csv"),
    Row("tsv", Delimited("tsv"), (".tsv",), ".tsv"),
    Row(
        "txt",
        text_files,
        (".txt", ".text", ".md", ".html", ".htm"),
        ".txt, .text or .md (one document a file; with `lines`, one a line), .html or .htm (with `html`, one document a file)",
        named_only=(".md",),
        html=(".html", ".htm"),
        part_of_files=text_files.part_of_files,
    ),
    Row("lines", text_lines),  # for files with any ending, if the call asks for lines
)

FORMATS = {row.name: row.module for row in ROWS}
FILES = {row.name: row.part_of_files for row in ROWS if row.part_of_files is not None}
"""Formats with one document per file."""


def open_sink(path: Path, format: str, compression: str = "plain") -> Sink:  # noqa: A002
    """Open an output file, to be passed to `copy` or `annotate` for one or more shards in turn."""
    sink: Sink = FORMATS[format].Sink(path, compression)
    return sink
