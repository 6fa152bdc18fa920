"""A file that grows under a temporary name, is known to be on disk up to a length, and finally gets its own name."""

import fcntl
import os
from pathlib import Path
from typing import Any

from neardup.errors import DataError, InputError
from neardup.io.storage.places import partial_name

MARK = "filter"


def partial_of(final: Path) -> Path:
    """The name of a file while it grows."""
    return partial_name(Path(os.path.realpath(final)), MARK)


class GrowingFile:
    """A growing file, kept open; a context manager.

    Raises:
        InputError: another process is writing it.
        DataError: it is shorter than the length known to be on disk.
    """

    def __init__(self, final: Path, length: int) -> None:
        """`length`: bytes known to be valid; bytes after them are removed."""
        self._final, self._partial = final, partial_of(final)
        self._file: Any = open(self._partial, "ab+")  # noqa: SIM115 - closed by __exit__
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            there = self._file.seek(0, os.SEEK_END)
            if there < length:
                raise DataError(
                    f"{self._partial} has {there:,} bytes, but had {length:,} when the run was interrupted. Restore it, or end the "
                    "run with `give_up=True`: what it wrote after that is lost."
                )
            self._file.truncate(length)
            to_disk(self._partial.parent)
        except BlockingIOError:
            self._file.close()
            raise InputError(f"Another process writes to {self._partial}. Wait until it has ended.") from None
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> "GrowingFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes to the file."""
        self._file.write(data)

    def sync(self) -> int:
        """Flush the whole file to disk, and return its length."""
        self._file.flush()
        os.fsync(self._file.fileno())
        length: int = self._file.seek(0, os.SEEK_END)
        return length

    def remove(self) -> None:
        """Remove the file: nothing of it is needed."""
        self._partial.unlink(missing_ok=True)

    def publish(self) -> None:
        """Give the file its final name."""
        self._partial.replace(os.path.realpath(self._final))
        to_disk(self._partial.parent)


def to_disk(path: Path) -> None:
    """Flush the names in a folder to disk, or a file's contents."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
