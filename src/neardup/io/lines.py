"""The rows of a JSON-lines file, found but not parsed: the one place that says what a row is.

A row is a line that is not blank, without its newline. Blank lines (nothing but spaces, tabs and carriage returns) and
a byte order mark at the beginning of the file are no rows: they are not counted and not copied.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.errors import DataError
from neardup.io.batch import BATCH_BYTES
from neardup.io.compression import open_for_reading, position
from neardup.io.shards import Shard

Array = np.ndarray[Any, np.dtype[Any]]

BLANK = b" \t\r"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Lines:
    """Consecutive rows; row i is `data[starts[i]:ends[i]]`, after which comes a newline or the end of the file.

    Attributes:
        row: number of the first row, counted in the shard from 0.
        data: uint8[bytes], whole lines.
        starts: int64[rows].
        ends: int64[rows].
        position: bytes of the file that had been read when these were found.
    """

    row: int
    data: Array
    starts: Array
    ends: Array
    position: int = 0

    def __len__(self) -> int:
        return len(self.starts)

    def line(self, i: int) -> bytes:
        """Row i of these."""
        return self.data[self.starts[i] : self.ends[i]].tobytes()

    def runs(self, rows: Array) -> Iterator[memoryview]:
        """The bytes of some rows (int64[≤ rows], ascending) with their newlines; rows that touch come as one."""
        if not len(rows):
            return
        starts, ends = self.starts[rows], np.minimum(self.ends[rows] + 1, len(self.data))
        gaps = np.flatnonzero(starts[1:] != ends[:-1]) + 1
        firsts, lasts = np.append(0, gaps), np.append(gaps, len(rows)) - 1
        data = self.data.data
        for start, end in zip(starts[firsts].tolist(), ends[lasts].tolist(), strict=True):
            yield data[start:end]


def read_lines(shard: Shard, size: int = BATCH_BYTES) -> Generator[Lines, None, None]:
    """All rows of a shard, about `size` bytes at a time, or one line if that is longer.

    Raises:
        InputError: the file cannot be opened.
        DataError: it is damaged, it is UTF-16, or it changed since the shard was found.
    """
    shard.check_unchanged()
    row = 0
    for data, newlines, read in _whole_lines(shard, size):
        starts, ends = _rows(data, newlines)
        if len(starts):
            yield Lines(row, data, starts, ends, read)
            row += len(starts)
    shard.check_unchanged()


def _whole_lines(shard: Shard, size: int) -> Generator[tuple[Array, Array, int], None, None]:
    """Pieces of the file that end with a newline (but for the last), where the newlines are, and how far the file was read."""
    with open_for_reading(shard.path, shard.compression, name=shard.name) as file:
        rest = _beginning(shard, file)
        while True:
            room = max(size, len(rest))  # a line longer than `size` is looked for in steps that double
            data = np.empty(len(rest) + room, np.uint8)
            data[: len(rest)] = rest
            filled = file.readinto(data.data[len(rest) :])
            data = data[: len(rest) + filled]
            newlines = np.flatnonzero(data == ord("\n"))
            if filled < room:
                yield data, newlines, position(file)
                return
            end = int(newlines[-1]) + 1 if len(newlines) else 0
            if end:
                yield data[:end], newlines, position(file)
            rest = data[end:]


def _beginning(shard: Shard, file: Any) -> Array:
    head = file.read(3)
    if head.startswith(_UTF_16):
        raise DataError(f"{shard.name} is UTF-16; JSON lines must be UTF-8. Convert it: iconv -f UTF-16 -t UTF-8")
    return np.frombuffer(head.removeprefix(_BYTE_ORDER_MARK), np.uint8)


def _rows(data: Array, newlines: Array) -> tuple[Array, Array]:
    ends = newlines
    if len(data) and data[-1] != ord("\n"):
        ends = np.append(newlines, len(data))
    starts = np.empty_like(ends)
    starts[:1] = 0
    starts[1:] = ends[:-1] + 1
    maybe = np.flatnonzero(data[starts] <= ord(" "))  # the first character of an empty line is its newline
    blank = [i for i in maybe.tolist() if not data[starts[i] : ends[i]].tobytes().strip(BLANK)]
    return (np.delete(starts, blank), np.delete(ends, blank)) if blank else (starts, ends)
