"""The lines of a text file, as they are stored and as UTF-8, a few megabytes at a time; no line is held that is too long."""

import codecs
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neardup.io.compression import open_for_reading, position
from neardup.io.encodings import Encoding, encoding_of
from neardup.io.shards import Shard

Array = np.ndarray[Any, np.dtype[Any]]

_UNITS = {1: np.uint8, 2: np.uint16, 4: np.uint32}


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Consecutive lines, newlines included.

    Attributes:
        data: uint8[bytes], UTF-8.
        ends: int64[lines], where in `data` each line ends; the last end is the end of `data`.
        raw: uint8[bytes], as stored; `data` itself where that is UTF-8.
        raw_ends: int64[lines], likewise in `raw`.
        undecodable: lines that are not of the encoding, with the reason; `data` has U+FFFD for what is wrong there.
        unfinished: the last line is longer than is allowed, and goes on in the next block.
    """

    data: Array
    ends: Array
    raw: Array
    raw_ends: Array
    undecodable: dict[int, str] = field(default_factory=dict)
    unfinished: bool = False


def join_blocks(first: LineBlock, second: LineBlock) -> LineBlock:
    """One block after another."""
    if not len(first.data):
        return second
    data = np.concatenate([first.data, second.data])
    ends = np.concatenate([first.ends, second.ends + len(first.data)])
    undecodable = first.undecodable | {len(first.ends) + i: reason for i, reason in second.undecodable.items()}
    if second.raw is second.data:
        return LineBlock(data, ends, data, ends, undecodable, second.unfinished)
    raw = np.concatenate([first.raw, second.raw])
    raw_ends = np.concatenate([first.raw_ends, second.raw_ends + len(first.raw)])
    return LineBlock(data, ends, raw, raw_ends, undecodable, second.unfinished)


def after_line(block: LineBlock, lines: int) -> LineBlock:
    """What follows the first `lines` lines of a block."""
    start, raw_start = (int(ends[lines - 1]) if lines else 0 for ends in (block.ends, block.raw_ends))
    data, ends = block.data[start:], block.ends[lines:] - start
    undecodable = {i - lines: reason for i, reason in block.undecodable.items() if i >= lines}
    if block.raw is block.data:
        return LineBlock(data, ends, data, ends, undecodable, block.unfinished)
    return LineBlock(
        data, ends, block.raw[raw_start:], block.raw_ends[lines:] - raw_start, undecodable, block.unfinished
    )


class LineFile:
    """A text file being read; a context manager.

    Attributes:
        encoding: what it is encoded in.

    Raises:
        InputError: it cannot be opened.
        DataError: on entering or from `blocks`: it is damaged, or of another encoding.
    """

    def __init__(self, shard: Shard, pipe: Any = None) -> None:
        """`pipe`: a binary stream to be read instead of the shard's file; what it has is taken as it comes."""
        self._shard, self._as_it_comes = shard, pipe is not None
        self._file = pipe or open_for_reading(shard.path, shard.compression, name=shard.name)
        try:
            head = self._file.read(4)
            self.encoding: Encoding = encoding_of(head, shard.encoding, shard.name)
        except BaseException:
            self._file.close()
            raise
        self._rest = np.frombuffer(head[len(self.encoding.mark) :], np.uint8)

    def __enter__(self) -> "LineFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def position(self) -> int:
        """Bytes on the disk that were read so far; of a pipe 0."""
        return 0 if self._as_it_comes else position(self._file)

    def blocks(self, size: int) -> Generator[LineBlock, None, None]:
        """All lines, about `size` bytes at a time, or one line if that is longer."""
        newline = self.encoding.newline
        unit = len(newline)
        value = np.frombuffer(newline, _UNITS[unit])[0]
        limit, rest, inside = self._shard.max_document_bytes, self._rest, False
        decoder: Any = None
        while True:
            room = (max(size, len(rest)) + 3) & -4  # a line longer than `size` is looked for in steps that double
            data = np.empty(len(rest) + room, np.uint8)
            data[: len(rest)] = rest
            filled = self._fill(data[len(rest) :])
            data = data[: len(rest) + filled]
            ends = (np.flatnonzero(data[: len(data) // unit * unit].view(_UNITS[unit]) == value) + 1) * unit
            if not filled or (filled < room and not self._as_it_comes):
                if len(data) and (not len(ends) or ends[-1] != len(data)):
                    ends = np.append(ends, len(data))
                if len(data):
                    yield self._decoded(data, ends)
                return
            if len(ends):
                yield self._decoded(data[: ends[-1]], ends)
                rest, inside, decoder = data[ends[-1] :], False, None
            elif inside or len(data) > limit:
                decoder = decoder or codecs.getincrementaldecoder(self.encoding.name)("replace")
                yield self._fragment(data, decoder)
                rest, inside = data[:0], True
            else:
                rest = data

    def _fill(self, room: Array) -> int:
        """Read bytes; returns how many: fewer than there is room for at the end of a file, none at the end of a pipe."""
        if self._as_it_comes:
            found = np.frombuffer(self._file.read1(len(room)), np.uint8)  # readinto1 waits for more than it has
            room[: len(found)] = found
            return len(found)
        filled: int = self._file.readinto(room.data)
        return filled

    def _fragment(self, raw: Array, decoder: Any) -> LineBlock:
        ends = np.array([len(raw)])
        if self.encoding.is_utf8:
            return LineBlock(raw, ends, raw, ends, unfinished=True)
        data = np.frombuffer(decoder.decode(raw.tobytes()).encode("utf-8", "replace"), np.uint8)
        return LineBlock(data, np.array([len(data)]), raw, ends, unfinished=True)

    def _decoded(self, raw: Array, raw_ends: Array) -> LineBlock:
        if self.encoding.is_utf8:
            return LineBlock(raw, raw_ends, raw, raw_ends)
        undecodable: dict[int, str] = {}
        try:
            data = np.frombuffer(raw.tobytes().decode(self.encoding.name).encode(), np.uint8)
            ends = np.flatnonzero(data == ord("\n")) + 1
            if len(data) and (not len(ends) or ends[-1] != len(data)):
                ends = np.append(ends, len(data))
        except UnicodeError:
            ends = np.empty(0, np.int64)
        if len(ends) != len(raw_ends):
            content, parts, start = raw.tobytes(), [], 0
            for i, end in enumerate(raw_ends.tolist()):
                parts.append(self._line(content[start:end], i, undecodable))
                start = end
            data = np.frombuffer(b"".join(parts), np.uint8)
            ends = np.cumsum([len(part) for part in parts])
        return LineBlock(data, ends, raw, raw_ends, undecodable)

    def _line(self, line: bytes, number: int, undecodable: dict[int, str]) -> bytes:
        name, newline = self.encoding.name, self.encoding.newline
        try:
            return line.decode(name).encode()
        except UnicodeError as error:
            reason = error.reason if isinstance(error, UnicodeDecodeError | UnicodeEncodeError) else "malformed"
            start = f" (byte {error.start})" if isinstance(error, UnicodeDecodeError) else ""
            undecodable[number] = f"it is not {name}: {reason}{start}"
        finished = line.endswith(newline)
        text = line.removesuffix(newline).decode(name, "replace").replace("\n", "\ufffd") or "\ufffd"
        return text.encode("utf-8", "replace") + (b"\n" if finished else b"")
