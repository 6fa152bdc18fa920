"""Write rows of text to a file as they were stored."""

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.errors import InputError
from neardup.io.corpora.shard import Shard
from neardup.io.formats.lines import Lines
from neardup.io.storage.compression import open_for_writing


class StandardOutput:
    """Standard output, which stays open."""

    def write(self, data: bytes | memoryview) -> None:
        """Write all of the data; an unbuffered stream may take a part of it at a time."""
        rest = memoryview(data)
        while rest:
            rest = rest[sys.stdout.buffer.write(rest) :]

    def flush(self) -> None:
        """Hand everything over."""
        sys.stdout.buffer.flush()

    close = flush


class TextSink:
    """Writes rows to a file or, for the path `-`, to standard output."""

    def __init__(self, format: str, path: Path, compression: str, _: Sequence[Shard] = ()) -> None:  # noqa: A002
        self.format = format
        self._file: Any = StandardOutput() if str(path) == "-" else open_for_writing(path, compression)
        self._unfinished = b""
        self._first: tuple[str, Any] | None = None

    def begin(self, shard: Shard, kind: Any, *, mark: bytes = b"", header: bytes = b"", newline: bytes = b"\n") -> None:
        """Prepare for rows of `shard`; byte order mark and header come before the rows of the first shard.

        Raises:
            InputError: `kind`, which describes how rows are written, differs from that of the first shard.
        """
        if self._first is None:
            self._first = shard.name, kind
            self._file.write(mark)
            if header:
                self.write(header, newline)
        else:
            demand_same_kind(*self._first, shard.name, kind)

    def write(self, rows: bytes | memoryview, newline: bytes = b"\n") -> None:
        """Write rows; the newline of the last one may be missing, and is added if more rows follow."""
        if self._unfinished:
            self._file.write(self._unfinished)
        self._file.write(rows)
        self._unfinished = newline if bytes(rows[-len(newline) :]) != newline else b""

    def close(self) -> None:
        """Finish the file."""
        self._file.close()

    def __enter__(self) -> "TextSink":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def write_changed(lines: Lines, sink: TextSink, kept: Array, changed: Array, rewrite: Callable[[int], bytes]) -> None:
    """Write the rows of `lines` where `kept` (bool[rows]): as stored, or where also `changed`, as `rewrite` returns row i."""
    newline, after = lines.encoding.newline, 0
    for i in [*np.flatnonzero(kept & changed).tolist(), len(lines)]:
        for run in lines.runs(np.flatnonzero(kept[after:i]) + after):
            sink.write(run, newline)
        if i < len(lines):
            sink.write(rewrite(i), newline)
        after = i + 1


def with_parts(lines: Lines, i: int, parts: Iterable[tuple[int, int, bytes]]) -> bytes:
    """Row i as stored, with its newline, but with some parts replaced; each part is its begin and end in UTF-8, and the new bytes.

    If an encoding can write a text in more than one way, the row is written as its codec writes it.

    Raises:
        UnicodeEncodeError: the encoding lacks a character of a part.
    """
    line, newline = lines.data[lines.starts[i] : lines.ends[i]].data, lines.encoding.newline
    pieces: list[bytes | memoryview] = []
    after = 0
    for begin, end, part in sorted(parts):
        pieces += line[after:begin], part
        after = end
    pieces.append(line[after:])
    stored = next(lines.runs(np.array([i])))
    ending = newline if stored[-len(newline) :] == newline else b""
    if lines.encoding.is_utf8:
        return b"".join([*pieces, ending])
    return b"".join(pieces).decode().encode(lines.encoding.name) + ending


def demand_same_kind(first: str, kind: Any, name: str, other: Any) -> None:
    """Raise InputError, naming the difference, unless rows of both kinds can share a file; kinds are tuples of texts."""
    for here, there in zip(kind, other, strict=True):
        if here != there:
            raise InputError(
                f"{first} and {name} cannot be written to one file: {here} in one, {there} in the other. "
                "Name a folder (OUT/) as the output, which keeps the files apart."
            )
