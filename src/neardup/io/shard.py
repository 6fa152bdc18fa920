"""One file of a corpus."""

from dataclasses import dataclass

from neardup.errors import DataError
from neardup.io.batch import MAX_DOCUMENT_BYTES
from neardup.io.storage.places import Place, status_of


@dataclass(frozen=True, slots=True)
class Shard:
    """One file of a corpus, as it was when it was found.

    Attributes:
        path: where it is.
        name: how messages and ids call it: the path as given, `stdin` for standard input.
        relative: its path below the folder or the glob's fixed part that led to it; else the file's name.
        format: a key of `neardup.io.formats.table.FORMATS`.
        compression: `plain`, `gzip` or `zstd`.
        size: bytes on disk.
        modified: time of the last change, in nanoseconds; of a remote file what its store calls the version.
        encoding: of its text; Parquet says itself how it is stored.
        max_document_bytes: bytes of a row above which it is not read.
        dialect: characters of delimited text, as `neardup.io.dialect.Dialect.parse` takes them; found out if None.
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
        """Raise DataError if the file is not what was found: row numbers of an earlier pass would be wrong."""
        try:
            now = status_of(self.path)
        except OSError as error:
            raise DataError(f"{self.name} cannot be read any more: {error.strerror}. Run again.") from None
        if now != (self.size, self.modified):
            raise self.changed()

    def changed(self) -> DataError:
        """The error for a file that another program writes to."""
        return DataError(f"{self.name} changed while it was in use. Run again when no other program writes to it.")
