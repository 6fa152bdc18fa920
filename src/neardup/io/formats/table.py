"""The file formats: a table from name to module, used by all code that reads or writes a corpus.

A new format is a module with the functions of `Format`, plus a row here. Modules are loaded when the first file of their format is
read, so that names of files can be checked before NumPy and Arrow are loaded.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from neardup.io.corpora.batch import Columns, Part
from neardup.io.corpora.shard import OF_COLUMNS, Shard

if TYPE_CHECKING:
    from neardup.arrays import Array
    from neardup.io.formats import delimited, jsonl, text_files, text_lines
    from neardup.io.formats.columnar import formats as columnar
    from neardup.io.formats.columnar.open_table import OpenTable
    from neardup.io.formats.warc import warc_files


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
        """The class of this format's sinks, called with a path, a compression and all shards whose rows may come."""

    def check(self, shard: Shard, columns: Columns, added: Sequence[str] = ()) -> None:
        """Raise InputError if, by its schema or first rows, the shard lacks a column to read, or already has one to be added.

        Cheap: called for all shards before any work.
        """

    def check_together(self, shards: Sequence[Shard]) -> None:
        """Raise InputError if the rows of these shards cannot share a file."""

    def parts(self, shard: Shard, columns: Columns, wanted: "Array | None" = None) -> Iterator[Part]:
        """All rows in order, in parts of about 4 MB; each row is in one part. Several threads may call parts.

        Where `wanted` (bool[rows]) is False, rows are skipped as cheaply as possible: they are not checked, and are null.
        """

    def copy(self, shard: Shard, keep: "Array", sink: Any) -> None:
        """Write the rows where `keep` (bool[rows]) is true, unchanged.

        Raises InputError if the sink holds rows of another format or schema.
        """

    def annotate(self, shard: Shard, added: Any, sink: Any, *, keep: "Array") -> None:
        """Write the rows where `keep` (bool[rows]) is true, unchanged except for further columns.

        `added` is an Arrow table with one row for each row of the shard; rejected rows must not be kept.
        Raises InputError if such a column exists.
        """


@runtime_checkable
class Rewritable(Protocol):
    """A format's module that can also replace texts in its rows, as lines and paragraphs require."""

    def replace(
        self, shard: Shard, columns: Columns, rewrite: Rewrite, sink: Any, *, keep: "Array", changed: "Array"
    ) -> None:
        """Like `copy`, but where `changed` (bool[rows], of rows that can be read) is true, `rewrite` supplies the texts.

        `rewrite` takes and returns one text for each of `columns.text`, and is called in order. The rest of the row stays the same.
        """


@runtime_checkable
class Cuttable(Protocol):
    """A format's module that can remove parts of texts faster than `Rewritable.replace` does."""

    def cut(
        self,
        shard: Shard,
        columns: Columns,
        spans: "Array",
        rewrite: Rewrite,
        sink: Any,
        *,
        keep: "Array",
        changed: "Array",
    ) -> None:
        """What `replace` writes, where `rewrite` removes these spans: int64[n, 5], row, number of the text column, first character
        and end, and whether a space is put there; ascending.
        """


class FilePerDocument(Protocol):
    """A format's module, for formats with one document per file: it reads several files as one part, for they may be small."""

    def part_of_files(self, shards: Sequence[Shard], columns: Columns, wanted: "Array | None" = None) -> Part:
        """The documents of some files, one row each; `wanted` as for `Format.parts`."""


class OfColumns(Protocol):
    """A format whose files have a schema: one of OF_COLUMNS."""

    def opened(self, shard: Shard) -> AbstractContextManager["OpenTable"]:
        """The context of an open file, or DataError if it is damaged."""


@dataclass(frozen=True, slots=True)
class Row:
    """The properties of a format.

    Attributes:
        name: the format's name in shards.
        module: the module of its functions, in this folder; after a colon, the object that has them.
        endings: endings of file names, in lowercase.
        said: the endings as messages list them.
        compressed: files may be compressed as a whole; Parquet compresses inside.
        named_only: endings of files that are read only when named, because in folders they are as often about the data as data.
        html: endings of HTML pages, which are read if the call says how they become text.
        file_per_document: its module is a `FilePerDocument`.
    """

    name: str
    module: str
    endings: tuple[str, ...] = ()
    said: str = ""
    compressed: bool = True
    named_only: tuple[str, ...] = ()
    html: tuple[str, ...] = ()
    file_per_document: bool = False


ROWS = (
    Row(
        "jsonl",
        "jsonl",
        (".jsonl", ".ndjson", ".json"),
        ".jsonl, .ndjson or .json (one object a line)",
        named_only=(".json",),
    ),
    Row("parquet", "columnar.formats:PARQUET", (".parquet",), ".parquet", compressed=False),
    Row("arrow", "columnar.formats:ARROW", (".arrow", ".feather", ".ipc"), ".arrow, .feather, .ipc", compressed=False),
    Row("arrows", "columnar.formats:ARROW_STREAM", (".arrows",), ".arrows (a stream)", compressed=False),
    Row("csv", "delimited:CSV", (".csv",), ".csv"),
    Row("tsv", "delimited:TSV", (".tsv",), ".tsv"),
    Row(
        "txt",
        "text_files",
        (".txt", ".text", ".md", ".html", ".htm"),
        ".txt, .text or .md (one document a file; with `lines`, one a line), .html or .htm (with `html`, one document a file)",
        named_only=(".md",),
        html=(".html", ".htm"),
        file_per_document=True,
    ),
    Row("warc", "warc.warc_files", (".warc", ".wet"), ".warc or .wet (one document a record)"),
    Row("lines", "text_lines"),  # for files with any ending, if the call asks for lines
)

FILES = frozenset(row.name for row in ROWS if row.file_per_document)
"""The names of formats with one document per file."""
CONVERTED = frozenset({"jsonl", "csv", "tsv", "warc", *FILES, *OF_COLUMNS})
"""The names of formats whose rows can be written as another."""
CONVERTED_TO = frozenset({"jsonl", *OF_COLUMNS})
"""The names of the formats that they can be written as."""
WITH_LISTS = frozenset({"jsonl", *OF_COLUMNS})
"""The names of formats whose columns may hold lists."""

if TYPE_CHECKING:
    _loaded: tuple[Format, ...] = (
        jsonl,
        columnar.PARQUET,
        columnar.ARROW,
        delimited.CSV,
        delimited.TSV,
        text_files,
        warc_files,
        text_lines,
    )
    _of_files: tuple[FilePerDocument, ...] = (text_files,)


def is_converted(kind: str, target: str) -> bool:
    """Whether rows of one format are written as another, which can be done."""
    return kind != target and kind in CONVERTED and target in CONVERTED_TO


class _Formats(dict[str, Format]):
    """Formats by their names; a module is loaded when its format is first asked for."""

    def __missing__(self, name: str) -> Format:
        if name not in _MODULES:
            raise KeyError(name)
        module, _, inside = _MODULES[name].partition(":")
        found = import_module(f"neardup.io.formats.{module}")
        self[name] = cast(Format, getattr(found, inside) if inside else found)
        return self[name]


_MODULES = {row.name: row.module for row in ROWS}
FORMATS = _Formats()


def part_of_files(shards: Sequence[Shard], columns: Columns, wanted: "Array | None" = None) -> Part:
    """The documents of some files of one format in FILES, one row each; `wanted` as for `Format.parts`."""
    return cast(FilePerDocument, FORMATS[shards[0].format]).part_of_files(shards, columns, wanted)


def opened_table(shard: Shard) -> AbstractContextManager["OpenTable"]:
    """A file of one of OF_COLUMNS, as a context, to be read by columns. Raises DataError if it is damaged."""
    return cast(OfColumns, FORMATS[shard.format]).opened(shard)


def open_sink(path: Path, format: str, compression: str = "plain", shards: Sequence[Shard] = ()) -> Sink:  # noqa: A002
    """Open an output file, to be passed to `copy` or `annotate` for one or more shards in turn.

    `shards`: these, if there are several: the first may lack what the schema of the file needs.
    """
    sink: Sink = FORMATS[format].Sink(path, compression, shards)
    return sink
