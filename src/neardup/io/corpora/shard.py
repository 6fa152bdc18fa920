"""One file of a corpus."""

import os
import sys
from dataclasses import dataclass
from typing import Any, BinaryIO

from neardup.errors import DataError, InputError
from neardup.io.corpora.batch import MAX_DOCUMENT_BYTES
from neardup.io.storage.places import Place, status_of
from neardup.io.storage.remote import RemotePath


def standard_input() -> BinaryIO:
    """The bytes of standard input.

    Raises:
        InputError: it is closed.
    """
    if sys.stdin is None:
        raise InputError("Standard input is closed. Open it, or name a file.")
    return sys.stdin.buffer


OF_COLUMNS = ("parquet", "arrow", "arrows")
"""The names of formats whose files have a schema."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One file of a corpus, in the state in which it was found.

    Attributes:
        path: the place of the file.
        name: its name in messages and ids: the path as given, `stdin` for standard input.
        relative: its path below the folder, or below the fixed part of the glob, that led to it; otherwise the file's name.
        format: a key of `neardup.io.formats.table.FORMATS`.
        compression: `plain`, or a name in `neardup.io.storage.compressions.COMPRESSIONS`.
        size: bytes on disk.
        modified: the time of the last change, in nanoseconds; for a remote file, the version that its store reports.
        encoding: of its text; Parquet declares its own.
        max_document_bytes: a row above this many bytes is not read.
        dialect: characters of delimited text, in the form that `neardup.io.dialect.Dialect.parse` takes; detected if None.
    """

    path: Place
    name: str
    relative: str
    format: str
    compression: str
    size: int
    modified: int | str
    encoding: str = "utf-8"
    max_document_bytes: int = MAX_DOCUMENT_BYTES
    dialect: str | None = None

    def check_unchanged(self) -> None:
        """Raise DataError if the file has changed since it was found: row numbers of an earlier pass would be wrong."""
        try:
            now = status_of(self.path)
        except OSError as error:
            raise DataError(f"{self.name} cannot be read any more: {error.strerror}. Run again.") from None
        if now != (self.size, self.modified):
            raise self.changed()

    def state(self) -> list[Any]:
        """What identifies the file in its present state, as plain values; restoring its size and times does not restore this."""
        state = [self.size, self.modified]
        return state if isinstance(self.path, RemotePath) else [*state, os.stat(self.path).st_ctime_ns]

    def changed(self) -> DataError:
        """The error for a file that another program is writing."""
        return DataError(f"{self.name} changed while it was in use. Run again when no other program writes to it.")
