"""Append-only files of a store: runs of bytes with checksums, written and synced before the record names them.

The record says where each run begins, how many bytes it has, and its CRC-32. What lies behind the last run that the record knows
was left by a crash, and is overwritten.
"""

import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from neardup.errors import DataError


@dataclass(frozen=True, slots=True)
class Run:
    """Where some bytes are: the first byte, their number, their CRC-32."""

    at: int
    size: int
    checksum: int


class RunFile:
    """Runs of bytes.

    Attributes:
        path: the file.
        end: the first byte behind all that was appended.
    """

    def __init__(self, path: Path, end: int) -> None:
        """Open the file, or create it; `end`: behind the last run that the record knows.

        Raises:
            DataError: the file is shorter than the record says.
        """
        self.path, self.end = path, end
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        size = os.fstat(self._file).st_size
        if size < end:
            os.close(self._file)
            raise DataError(f"{path} has {size:,} bytes, but the store knows of {end:,}. Restore it from a backup.")

    def append(self, contents: Sequence[bytes]) -> list[Run]:
        """Write runs; they are durable after `sync`."""
        runs, at = [], self.end
        for content in contents:
            runs.append(Run(at, len(content), zlib.crc32(content)))
            at += len(content)
        whole, place = memoryview(b"".join(contents)), self.end
        while whole:
            written = os.pwrite(self._file, whole, place)
            whole, place = whole[written:], place + written
        self.end = at
        return runs

    def sync(self) -> None:
        """Make all runs durable."""
        os.fdatasync(self._file)

    def read(self, runs: Sequence[Run]) -> list[bytes]:
        """The bytes of some runs.

        Raises:
            DataError: a run is not what was written.
        """
        found = []
        for run in runs:
            content = os.pread(self._file, run.size, run.at)
            if len(content) < run.size or zlib.crc32(content) != run.checksum:
                raise DataError(f"{self.path} is damaged at byte {run.at:,}. Restore it from a backup.")
            found.append(content)
        return found

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
