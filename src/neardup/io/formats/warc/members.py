"""The bytes of a WARC file, decompressed, and where its members of gzip begin: a damaged member does not hide those behind it."""

import zlib
from dataclasses import dataclass
from typing import Any

from neardup.errors import DataError
from neardup.io.corpora.shard import Shard
from neardup.io.storage.compression import open_for_reading, position

_INPUT_BYTES = 1 << 16
_CHUNK_BYTES = 1 << 20
"""The most that is decompressed at once."""
_HEAD_BYTES = 1 << 14
"""Compressed bytes that tell how a member begins."""
_MAGIC = b"\x1f\x8b\x08"
_BEGIN = b"WARC/"


class DamageError(Exception):
    """A stretch of the file cannot be read; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes of one member.

    Attributes:
        data: decompressed; not empty.
        start: where the member begins in the file, if these are its first bytes; otherwise None.
    """

    data: bytes
    start: int | None


class PlainBytes:
    """A file that is plain, or compressed as one stream. A damaged stream raises DataError."""

    def __init__(self, shard: Shard) -> None:
        self._file = open_for_reading(shard.path, shard.compression, name=shard.name)

    def chunk(self) -> Chunk | None:
        """The next bytes; None at the end."""
        data = self._file.read(_CHUNK_BYTES)
        return Chunk(data, None) if data else None

    @property
    def position(self) -> int:
        """Bytes of the file that have been read."""
        return position(self._file)

    def close(self) -> None:
        self._file.close()


class GzipMembers:
    """A file of gzip, usually with one member for each record."""

    def __init__(self, shard: Shard) -> None:
        self._file: Any = shard.path.open("rb")
        self._input, self._read = b"", 0
        self._stream: Any = None
        self.member, self.is_begun = 0, False
        """Where the last member begins in the file, and whether bytes of it were returned."""

    @property
    def position(self) -> int:
        return self._read

    def _more(self) -> bool:
        data = self._file.read(_INPUT_BYTES)
        self._input, self._read = self._input + data, self._read + len(data)
        return bool(data)

    def chunk(self) -> Chunk | None:
        """The next bytes, of a member whose checksum is compared before its last ones are followed by another chunk.

        Raises:
            DamageError: this member is damaged. `skip_damage` leads to the next one.
        """
        while True:
            start = None
            if self._stream is None:
                self._input = self._input.lstrip(b"\0")  # tapes and some writers pad members
                if not self._input:
                    if not self._more():
                        return None
                    continue
                self._stream = zlib.decompressobj(wbits=31)
                start = self.member = self._read - len(self._input)
                self.is_begun = False
            found = b""
            while not found and not self._stream.eof:
                if not self._input and not self._more():
                    raise DamageError("the file ends within it")
                try:
                    found = self._stream.decompress(self._input, _CHUNK_BYTES)
                except zlib.error as error:
                    raise DamageError(f"its compressed bytes are damaged ({error})") from None
                self._input = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail
            if self._stream.eof:
                self._stream = None
            if found:
                self.is_begun = True
                return Chunk(found, start)

    def skip_damage(self) -> bool:
        """Go to the next member that begins a record; whether there is one."""
        place = self.member + 1
        while True:
            self._file.seek(place)
            held = self._file.read(_CHUNK_BYTES)
            is_last = len(held) < _CHUNK_BYTES
            at = held.find(_MAGIC)
            while at >= 0 and (is_last or at < len(held) - _HEAD_BYTES):
                if self._begins_record(held[at : at + _HEAD_BYTES]):
                    self._file.seek(place + at)
                    self._input, self._read, self._stream = b"", place + at, None
                    return True
                at = held.find(_MAGIC, at + 1)
            if is_last:
                self._input, self._read, self._stream = b"", place + len(held), None
                return False
            place += len(held) - _HEAD_BYTES

    @staticmethod
    def _begins_record(data: bytes) -> bool:
        try:
            return zlib.decompressobj(wbits=31).decompress(data, len(_BEGIN)) == _BEGIN
        except zlib.error:
            return False

    def close(self) -> None:
        self._file.close()


def open_members(shard: Shard) -> PlainBytes | GzipMembers:
    """The bytes of a WARC file.

    Raises:
        InputError: it cannot be opened.
        DataError: it has changed since it was found, or is damaged as a whole.
    """
    shard.check_unchanged()
    if shard.compression != "gzip":
        return PlainBytes(shard)
    try:
        return GzipMembers(shard)
    except OSError as error:
        raise DataError(f"{shard.name} cannot be read: {error.strerror}.") from None
