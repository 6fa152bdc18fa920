"""Plain and compressed files as streams of bytes; damage is always detected where the file has a checksum."""

import io
from pathlib import Path
from typing import Any, BinaryIO, cast

from neardup.errors import DataError, InputError
from neardup.io.storage.compressions import COMPRESSIONS, HEAD_BYTES, sniff
from neardup.io.storage.places import Place
from neardup.io.storage.refusals import damaged

_BUFFER_BYTES = 1 << 20
"""The most that is decompressed at once, whatever its input expands to."""
_INPUT_BYTES = 1 << 14


class _Decompressed(io.RawIOBase):
    """The decompressed bytes of a file."""

    def __init__(self, file: BinaryIO, name: str, compression: str) -> None:
        self._file, self._name, self._kind = file, name, COMPRESSIONS[compression]
        self._stream = self._kind.decompressor()
        self._inside = True  # an empty file is a truncated one
        self._waiting = memoryview(b"")
        self._left = b""  # input after the end of a member or frame

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._waiting:
            data = self._left
            if not data and self._needs_input():
                data = self._file.read(_INPUT_BYTES)
                if not data and self._inside:
                    raise self._damaged("it ends too early")
                if not data:
                    return 0
            self._waiting = memoryview(self._decompress(data))
        size = min(len(buffer), len(self._waiting))
        buffer[:size] = self._waiting[:size]
        self._waiting = self._waiting[size:]
        return size

    def _decompress(self, data: bytes) -> bytes:
        """Decompress input up to the end of a member or frame; the rest of the input stays in `_left`."""
        if not self._inside:
            if self._kind.is_padded:
                data = data.lstrip(b"\0")
            if not data:
                self._left = b""
                return b""
            self._stream, self._inside = self._kind.decompressor(), True
        try:
            found: bytes = self._stream.decompress(data, _BUFFER_BYTES)
        except self._kind.errors as error:
            raise self._damaged(str(error)) from None
        self._left = self._stream.unused_data if self._stream.eof else b""
        self._inside = not self._stream.eof
        return found

    def _needs_input(self) -> bool:
        """Whether the decompressor has returned all that its input expands to."""
        return not self._inside or self._stream.needs_input

    def position(self) -> int:
        return self._file.tell()

    def _damaged(self, reason: str) -> DataError:
        return damaged(self._name, self._kind.name, reason)

    def close(self) -> None:
        self._file.close()
        super().close()


def open_for_reading(path: Place, compression: str, *, name: str | None = None) -> io.BufferedReader:
    """Open a file for reading its decompressed bytes. `name`: its name in messages.

    Raises:
        InputError: it cannot be opened.
        TransferError: from the call or from reading: a store fails again and again.
        DataError: from the call or from reading: the data is truncated, damaged, or has another compression.
    """
    name = name or str(path)
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}.") from None
    if compression == "plain":
        found = sniff(file.peek(HEAD_BYTES)[:HEAD_BYTES])
        if found != "plain":
            file.close()
            raise DataError(
                f"{name} holds {found} data, but its name does not end in {COMPRESSIONS[found].ending}. Rename it."
            )
        return file
    return io.BufferedReader(_Decompressed(file, name, compression), _BUFFER_BYTES)


def position(file: io.BufferedReader) -> int:
    """Bytes on disk read so far from a file of `open_for_reading`."""
    below = file.raw
    return below.position() if isinstance(below, _Decompressed) else file.tell()


def open_for_writing(path: Path, compression: str) -> BinaryIO:
    """Open a file for writing; bytes are compressed on the way."""
    file = path.open("wb", buffering=_BUFFER_BYTES)
    if compression == "plain":
        return file
    try:
        writer = COMPRESSIONS[compression].writer(file)
    except BaseException:
        file.close()
        raise
    return io.BufferedWriter(cast(io.RawIOBase, writer), _BUFFER_BYTES)
