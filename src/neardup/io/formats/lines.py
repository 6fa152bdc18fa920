"""The rows of a file of lines, located but not parsed. This module alone defines what a row is.

A row is a line that is not blank, without its newline. Blank lines (only spaces, tabs and carriage returns) and a byte
order mark at the beginning of the file are not rows: they are neither counted nor copied.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from neardup.arrays import Array
from neardup.display import counted
from neardup.io.corpora.batch import BATCH_BYTES
from neardup.io.corpora.shard import Shard
from neardup.io.formats.line_blocks import LineBlock, LineFile
from neardup.io.storage.encodings import UTF_8, Encoding

BLANK = b" \t\r"


@dataclass(frozen=True, slots=True)
class Lines:
    """Consecutive rows; row i is `data[starts[i]:ends[i]]`, followed by a newline or the end of the file.

    Attributes:
        row: number of the first row, counted in the shard from 0.
        data: uint8[bytes], whole lines, in UTF-8.
        starts: int64[rows].
        ends: int64[rows].
        raw: uint8[bytes], the lines as stored, if that is not UTF-8.
        raw_starts: int64[rows], where rows begin in `raw`.
        raw_ends: int64[rows], where they end in `raw`, newline included.
        bad: rows that cannot be read whatever they hold, each with the reason.
        encoding: how they are stored.
        position: bytes of the file that had been read when these rows were found.
    """

    row: int
    data: Array
    starts: Array
    ends: Array
    raw: Array | None = None
    raw_starts: Array | None = None
    raw_ends: Array | None = None
    bad: dict[int, str] = field(default_factory=dict)
    encoding: Encoding = Encoding(UTF_8, b"")  # noqa: RUF009 - frozen
    position: int = 0

    def __len__(self) -> int:
        return len(self.starts)

    def line(self, i: int) -> bytes:
        """Row i of this block, in UTF-8."""
        return self.data[self.starts[i] : self.ends[i]].tobytes()

    def not_utf8(self, rows: Array) -> Iterator[tuple[int, str]]:
        """Of some rows (int64[]) those that are not UTF-8, by their places among these, with the reason."""
        for place, row in enumerate(rows.tolist()):
            try:
                self.line(row).decode()
            except UnicodeDecodeError as error:
                yield place, f"it is not UTF-8: {error.reason} (byte {error.start})"

    def stored(self, i: int) -> bytes:
        """Row i of this block as stored, with its newline."""
        return b"".join(self.runs(np.array([i])))

    def after(self, rows: int) -> "Lines":
        """The rows after the first `rows`."""
        bad = {i - rows: reason for i, reason in self.bad.items() if i >= rows}
        raw = [None if places is None else places[rows:] for places in (self.raw_starts, self.raw_ends)]
        found = replace(self, row=self.row + rows, starts=self.starts[rows:], ends=self.ends[rows:], bad=bad)
        return replace(found, raw_starts=raw[0], raw_ends=raw[1])

    def runs(self, rows: Array) -> Iterator[memoryview]:
        """The bytes of some rows (int64[≤ rows], ascending) as stored, newlines included; adjacent rows come as one run."""
        if self.raw is None or self.raw_starts is None or self.raw_ends is None:
            yield from _runs(self.data, self.starts[rows], np.minimum(self.ends[rows] + 1, len(self.data)))
        else:
            yield from _runs(self.raw, self.raw_starts[rows], self.raw_ends[rows])

    def utf8_runs(self, rows: Array) -> Iterator[memoryview]:
        """Like `runs`, in UTF-8."""
        yield from _runs(self.data, self.starts[rows], np.minimum(self.ends[rows] + 1, len(self.data)))


def _runs(data: Array, starts: Array, ends: Array) -> Iterator[memoryview]:
    if not len(starts):
        return
    gaps = np.flatnonzero(starts[1:] != ends[:-1]) + 1
    firsts, lasts = np.append(0, gaps), np.append(gaps, len(starts)) - 1
    for start, end in zip(starts[firsts].tolist(), ends[lasts].tolist(), strict=True):
        yield data.data[start:end]


def mask_of(shard: Shard, mask: Array, block: Lines) -> Array:
    """The part of a mask of a shard's rows (bool[rows]) that covers a block.

    Raises:
        DataError: the shard has more rows than before.
    """
    part = mask[block.row : block.row + len(block)]
    if len(part) < len(block):
        raise shard.changed()
    return part


def too_long(shard: Shard) -> str:
    """The reason why an overlong row of the shard is not read."""
    return (
        f"it is longer than `max_document_bytes`, {counted(shard.max_document_bytes, 'byte')} "
        "(raise that if it is a document)"
    )


def lines_of_block(
    shard: Shard, encoding: Encoding, block: LineBlock, row: int, first: Array, last: Array, ends: Array
) -> Lines:
    """Rows that are the lines from `first` to `last` of a block (int64[rows] each) and end at `ends` in its data."""
    before, raw_before = np.append(0, block.ends), np.append(0, block.raw_ends)
    raw_starts, raw_ends = raw_before[first], raw_before[last + 1]
    bad: dict[int, str] = {}
    for line, reason in block.undecodable.items():
        i = int(np.searchsorted(last, line))
        if i < len(last) and first[i] <= line:
            bad[i] = reason
    starts, long = before[first], raw_ends - raw_starts > shard.max_document_bytes
    bad |= dict.fromkeys(np.flatnonzero(long).tolist(), too_long(shard))
    ends = np.where(long, starts, ends)  # so that no code reads their content
    if block.raw is block.data:
        return Lines(row, block.data, starts, ends, bad=bad, encoding=encoding)
    return Lines(row, block.data, starts, ends, block.raw, raw_starts, raw_ends, bad, encoding)


def overlong(shard: Shard, encoding: Encoding, row: int) -> Lines:
    """One row that is too long to hold in memory."""
    data = np.zeros(1, np.uint8)
    return Lines(row, data, np.array([0]), np.array([1]), bad={0: too_long(shard)}, encoding=encoding)


def read_lines(shard: Shard, size: int = BATCH_BYTES, *, expected: int | None = None) -> Generator[Lines, None, None]:
    """All rows of a shard, about `size` bytes at a time, or one line if it is longer. `expected`: the earlier number of rows.

    Raises:
        InputError: the file cannot be opened.
        DataError: it is damaged, has another encoding, or has changed since the shard was found.
    """
    shard.check_unchanged()
    row = 0
    with LineFile(shard) as file:
        for lines in rows_of_file(file, shard, size):
            row += len(lines)
            yield lines
    shard.check_unchanged()
    if expected not in (None, row):
        raise shard.changed()


def rows_of_file(file: LineFile, shard: Shard, size: int = BATCH_BYTES) -> Generator[Lines, None, None]:
    """All rows of an open file, like `read_lines`."""
    row, inside = 0, False
    for block in file.blocks(size):
        if block.unfinished:
            if not inside:
                yield replace(overlong(shard, file.encoding, row), position=file.position)
                row += 1
            inside = True
            continue
        ends = block.ends - (block.data[block.ends - 1] == ord("\n"))
        rows = _not_blank(block, ends)
        if inside:  # the first line is the end of an overlong one
            rows, inside = rows[rows > 0], False
        if len(rows):
            lines = lines_of_block(shard, file.encoding, block, row, rows, rows, ends[rows])
            row += len(rows)
            yield replace(lines, position=file.position)
            del lines
        del block


def _not_blank(block: LineBlock, ends: Array) -> Array:
    starts = np.append(0, block.ends[:-1])
    data = block.data
    maybe = np.flatnonzero(data[starts] <= ord(" "))  # the first character of an empty line is its newline
    blank = [i for i in maybe.tolist() if not data[starts[i] : ends[i]].tobytes().strip(BLANK)]
    return np.delete(np.arange(len(ends)), blank)
