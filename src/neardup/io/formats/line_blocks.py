"""The lines of a text file, as stored and as UTF-8, a few megabytes at a time; overlong lines are never held whole."""

import codecs
import itertools
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.io.corpora.batch import BATCH_BYTES
from neardup.io.corpora.shard import Shard
from neardup.io.storage.compression import open_for_reading, position
from neardup.io.storage.encodings import Encoding, encoding_of
from neardup.kernels.chosen_bytes import PLACES_BEHIND
from neardup.kernels.text.utf8 import count_byte, find_byte

_STEPS_PER_SIZE = 4
"""A long line is read in steps of 1 / _STEPS_PER_SIZE of the bytes held."""

_UNITS = {2: np.uint16, 4: np.uint32}


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Consecutive lines, newlines included.

    Attributes:
        data: uint8[bytes], UTF-8.
        ends: int64[lines], where each line ends in `data`; the last end is the end of `data`.
        raw: uint8[bytes], as stored; `data` itself if that is UTF-8.
        raw_ends: int64[lines], where each line ends in `raw`.
        undecodable: lines that do not fit the encoding, with the reason; `data` has U+FFFD in place of the invalid bytes.
        unfinished: the last line exceeds the limit, and continues in the next block.
    """

    data: Array
    ends: Array
    raw: Array
    raw_ends: Array
    undecodable: dict[int, str] = field(default_factory=dict)
    unfinished: bool = False


def join_blocks(blocks: Sequence[LineBlock]) -> LineBlock:
    """Concatenate one or more blocks."""
    if len(blocks) == 1:
        return blocks[0]
    undecodable: dict[int, str] = {}
    lines = 0
    for block in blocks:
        undecodable |= {lines + i: reason for i, reason in block.undecodable.items()}
        lines += len(block.ends)
    data = np.concatenate([block.data for block in blocks])
    ends = _ends_together([(block.ends, len(block.data)) for block in blocks])
    if all(block.raw is block.data for block in blocks):
        return LineBlock(data, ends, data, ends, undecodable, blocks[-1].unfinished)
    raw = np.concatenate([block.raw for block in blocks])
    raw_ends = _ends_together([(block.raw_ends, len(block.raw)) for block in blocks])
    return LineBlock(data, ends, raw, raw_ends, undecodable, blocks[-1].unfinished)


def _ends_together(parts: Sequence[tuple[Array, int]]) -> Array:
    starts = itertools.accumulate((size for _, size in parts), initial=0)
    return np.concatenate([ends + start for (ends, _), start in zip(parts, starts, strict=False)])


def after_line(block: LineBlock, lines: int) -> LineBlock:
    """The rest of a block after its first `lines` lines; the block itself need not be kept."""
    start, raw_start = (int(ends[lines - 1]) if lines else 0 for ends in (block.ends, block.raw_ends))
    data, ends = block.data[start:].copy(), block.ends[lines:] - start
    undecodable = {i - lines: reason for i, reason in block.undecodable.items() if i >= lines}
    if block.raw is block.data:
        return LineBlock(data, ends, data, ends, undecodable, block.unfinished)
    raw, raw_ends = block.raw[raw_start:].copy(), block.raw_ends[lines:] - raw_start
    return LineBlock(data, ends, raw, raw_ends, undecodable, block.unfinished)


class LineFile:
    """A text file being read; a context manager.

    Attributes:
        encoding: the encoding of the file.

    Raises:
        InputError: the file cannot be opened.
        DataError: on entering or from `blocks`: the file is damaged, or has another encoding.
    """

    def __init__(self, shard: Shard, pipe: Any = None) -> None:
        """`pipe`: a binary stream to read instead of the shard's file; its bytes are taken as they arrive."""
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
        """Bytes of the file on disk read so far; 0 for a pipe."""
        return 0 if self._as_it_comes else position(self._file)

    def blocks(self, size: int) -> Generator[LineBlock, None, None]:
        """All lines, about `size` bytes at a time, or one line if it is longer.

        An overlong line comes in pieces; at most the allowed size of it is held, and only once.
        """
        limit, inside = self._shard.max_document_bytes, False
        decoder: Any = None
        data, held, known = self._rest.copy(), len(self._rest), 0
        while True:
            # The end of a line longer than `size` is searched in steps that grow with it, up to the allowed length.
            room = (min(max(size, held // _STEPS_PER_SIZE), max(limit - held, 0) + size) + 3) & -4
            if held < room:
                grown = np.empty(held + room, np.uint8)
                grown[:held] = data[:held]
                data = grown
            else:  # moves without a copy and appends zeros
                data.resize(held + room, refcheck=False)  # no other code has seen it
            filled = self._fill(data[held:])
            ends = self._newlines(data, known, held + filled)
            held = known = held + filled
            if not filled or (filled < room and not self._as_it_comes):
                if held and (not len(ends) or ends[-1] != held):
                    ends = np.append(ends, held)
                if held:
                    yield self._decoded(data[:held], ends)
                return
            if len(ends):
                rest = data[ends[-1] : held].copy()
                found = self._decoded(data[: ends[-1]], ends)
                data, held, known, inside, decoder = rest, len(rest), len(rest), False, None
                yield found
                del found
            elif inside or held > limit:
                decoder = decoder or codecs.getincrementaldecoder(self.encoding.name)("replace")
                for start in range(0, held, size):
                    yield self._fragment(data[start : min(start + size, held)], decoder)
                data, held, known, inside = np.empty(0, np.uint8), 0, 0, True

    def _newlines(self, data: Array, begin: int, end: int) -> Array:
        """Where lines end in `data[:end]`; its first `begin` bytes contain no newline."""
        newline = self.encoding.newline
        unit = len(newline)
        if unit == 1:
            byte = np.uint8(newline[0])
            behind = np.empty(count_byte(data, begin, end, byte) + PLACES_BEHIND, np.int64)
            find_byte(data, begin, end, byte, behind)
            return behind[:-PLACES_BEHIND]
        value = np.frombuffer(newline, _UNITS[unit])[0]
        found = [np.empty(0, np.int64)]
        for start in range(begin // unit * unit, end // unit * unit, BATCH_BYTES):
            stop = min(start + BATCH_BYTES, end // unit * unit)
            found.append((np.flatnonzero(data[start:stop].view(_UNITS[unit]) == value) + 1) * unit + start)
        return np.concatenate(found)

    def _fill(self, room: Array) -> int:
        """Read bytes and return how many: fewer than `room` holds at the end of a file, 0 at the end of a pipe."""
        if self._as_it_comes:
            found = np.frombuffer(self._file.read1(len(room)), np.uint8)  # readinto1 waits for more than the pipe has
            room[: len(found)] = found
            return len(found)
        filled: int = self._file.readinto(room.data)
        return filled

    def _fragment(self, raw: Array, decoder: Any) -> LineBlock:
        ends = np.array([len(raw)])
        if self.encoding.is_utf8:
            return LineBlock(raw, ends, raw, ends, unfinished=True)
        data = np.frombuffer(decoder.decode(raw.data).encode("utf-8", "replace"), np.uint8)
        return LineBlock(data, np.array([len(data)]), raw, ends, unfinished=True)

    def _decoded(self, raw: Array, raw_ends: Array) -> LineBlock:
        if self.encoding.is_utf8:
            return LineBlock(raw, raw_ends, raw, raw_ends)
        undecodable: dict[int, str] = {}
        try:
            data = np.frombuffer(str(raw.data, self.encoding.name).encode(), np.uint8)
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
