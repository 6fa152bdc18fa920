"""Plain, gzip and zstd files as streams of bytes; damage is always detected.

Gzip files may have several members; zstd files may have several frames, and windows of up to 2 GiB (`zstd --long=31`).
"""

import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

from neardup.errors import DataError, InputError
from neardup.io.storage.places import Place
from neardup.io.storage.refusals import damaged

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_INPUT_BYTES = {"gzip": 1 << 16, "zstd": 1 << 12}
"""Small, because a decompressor returns everything that its input expands to: at most some 64 MB, and 128 MB."""

_BUFFER_BYTES = 1 << 20
_GZIP_LEVEL = 6
_ZSTD: dict[int, int] = {zstd.CompressionParameter.compression_level: 3, zstd.CompressionParameter.checksum_flag: 1}

_DECOMPRESSORS: dict[str, Callable[[], Any]] = {
    "gzip": lambda: zlib.decompressobj(wbits=31),
    "zstd": lambda: zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: 31}),
}

COMPRESSIONS = ("plain", *_DECOMPRESSORS)
COMPRESSION_ENDINGS = {".gz": "gzip", ".zst": "zstd"}


def compression_of_name(name: str) -> str:
    """The compression named by the last ending of a file name."""
    return COMPRESSION_ENDINGS.get(os.path.splitext(name)[1].lower(), "plain")


def sniff(head: bytes) -> str:
    """The compression of data that begins with `head` (4 bytes or more): a name in COMPRESSIONS."""
    if head[:2] == b"\x1f\x8b":
        return "gzip"
    if head[:4] == b"\x28\xb5\x2f\xfd" or (head[1:4] == b"\x2a\x4d\x18" and head[0] >> 4 == 5):
        return "zstd"
    return "plain"


class _Decompressed(io.RawIOBase):
    """The decompressed bytes of a file."""

    def __init__(self, file: BinaryIO, name: str, compression: str) -> None:
        self._file, self._name, self._compression = file, name, compression
        self._new = _DECOMPRESSORS[compression]
        self._stream = self._new()
        self._inside = True  # an empty file is a truncated one
        self._waiting = memoryview(b"")
        self._left = b""  # input after the end of a member or frame

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._waiting:
            data = self._left or self._file.read(_INPUT_BYTES[self._compression])
            if not data:
                if self._inside:
                    raise self._damaged("it ends too early")
                return 0
            self._waiting = memoryview(self._decompress(data))
        size = min(len(buffer), len(self._waiting))
        buffer[:size] = self._waiting[:size]
        self._waiting = self._waiting[size:]
        return size

    def _decompress(self, data: bytes) -> bytes:
        """Decompress input up to the end of a member or frame; the rest of the input stays in `_left`."""
        if not self._inside:
            if self._compression == "gzip":
                data = data.lstrip(b"\0")  # padding, as tapes and some writers add it
            if not data:
                self._left = b""
                return b""
            self._stream, self._inside = self._new(), True
        try:
            found: bytes = self._stream.decompress(data)
        except (zlib.error, zstd.ZstdError) as error:
            raise self._damaged(str(error)) from None
        self._left = self._stream.unused_data if self._stream.eof else b""
        self._inside = not self._stream.eof
        return found

    def position(self) -> int:
        return self._file.tell()

    def _damaged(self, reason: str) -> DataError:
        return damaged(self._name, self._compression, reason)

    def close(self) -> None:
        self._file.close()
        super().close()


class _ClosesBelow:
    """Closes the file that a compressor writes to with it; stands before the compressor among the bases."""

    _below: BinaryIO

    def close(self) -> None:
        try:
            super().close()  # type: ignore[misc]
        finally:
            self._below.close()


class _GzipWriter(_ClosesBelow, gzip.GzipFile):
    """Gzip without name and time in its header, so that the same rows give the same file."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=file, mtime=0)
        self._below = file


class _ZstdWriter(_ClosesBelow, zstd.ZstdFile):
    """Zstd with a checksum in each frame."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, "w", options=_ZSTD)
        self._below = file

    def close(self) -> None:
        try:
            if not self.closed and self.tell() == 0:
                # else there would be no frame at all, which readers take for damage
                self._below.write(zstd.compress(b"", options=_ZSTD))
        finally:
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
        found = sniff(file.peek(4)[:4])
        if found != "plain":
            file.close()
            ending = {"gzip": ".gz", "zstd": ".zst"}[found]
            raise DataError(f"{name} holds {found} data, but its name does not end in {ending}. Rename it.")
        return file
    return io.BufferedReader(_Decompressed(file, name, compression), _BUFFER_BYTES)


def position(file: io.BufferedReader) -> int:
    """Bytes on disk read so far from a file of `open_for_reading`."""
    below = file.raw
    return below.position() if isinstance(below, _Decompressed) else file.tell()


def open_for_writing(path: Path, compression: str) -> BinaryIO:
    """Open a file for writing; bytes are compressed on the way."""
    file = path.open("wb", buffering=_BUFFER_BYTES)
    if compression == "gzip":
        return io.BufferedWriter(cast(io.RawIOBase, _GzipWriter(file)), _BUFFER_BYTES)
    if compression == "zstd":
        return io.BufferedWriter(cast(io.RawIOBase, _ZstdWriter(file)), _BUFFER_BYTES)
    return file
