"""The compressions of files: a table from name to decompressor and compressor.

Files may have several members, streams or frames; those of zstd, windows of up to 2 GiB (`zstd --long=31`).
"""

import bz2
import gzip
import importlib
import io
import lzma
import os
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

from neardup.errors import MissingExtra

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_GZIP_LEVEL = 6
_ZSTD: dict[int, int] = {zstd.CompressionParameter.compression_level: 3, zstd.CompressionParameter.checksum_flag: 1}
_XZ_MEMORY = 1 << 30
"""A file of xz may ask for up to 4 GB; `xz -9` takes 65 MB."""
HEAD_BYTES = 10
"""So many bytes of a file tell its compression."""


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


class _GzipReader:
    """Decompresses a member of gzip, by the methods that the decompressors of other kinds have."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._stream.unconsumed_tail

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._stream.decompress(self._stream.unconsumed_tail + data, max_length)


def _lz4() -> Any:
    try:
        return importlib.import_module("lz4.frame")
    except ImportError:
        raise MissingExtra("Files that end in .lz4 need lz4. Install it: pip install 'neardup[lz4]'") from None


class _Lz4Writer(_ClosesBelow, io.RawIOBase):
    """Lz4 with a checksum of each frame's content."""

    def __init__(self, file: BinaryIO) -> None:
        self._below = file
        self._compressor = _lz4().LZ4FrameCompressor(content_checksum=True)
        file.write(self._compressor.begin())

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._below.write(self._compressor.compress(data))
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._below.write(self._compressor.flush())
        super().close()


class _Bz2Writer(_ClosesBelow, bz2.BZ2File):
    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, "w")
        self._below = file


class _XzWriter(_ClosesBelow, lzma.LZMAFile):
    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, "w")
        self._below = file


@dataclass(frozen=True, slots=True)
class _Kind:
    """A compression.

    Attributes:
        name: its name in shards and messages.
        ending: the ending of its files.
        begins: whether data that begins with these bytes is of it.
        decompressor: a new one of one member, stream or frame.
        writer: a file that compresses what it is given, into another, which it closes.
        errors: what a decompressor raises at damaged data.
        is_padded: zeros may stand between members.
    """

    name: str
    ending: str
    begins: Callable[[bytes], bool]
    decompressor: Callable[[], Any]
    writer: Callable[[BinaryIO], Any]
    errors: type[Exception] | tuple[type[Exception], ...]
    is_padded: bool = False


def _begins_zstd(head: bytes) -> bool:
    return head[:4] == b"\x28\xb5\x2f\xfd" or (head[1:4] == b"\x2a\x4d\x18" and head[0] >> 4 == 5)


def _begins_bz2(head: bytes) -> bool:
    return head[:3] == b"BZh" and head[4:10] in (b"1AY&SY", b"\x17rE8P\x90")  # a block, or the end of an empty file


_KINDS = (
    # zeros after a member: tapes and some writers add them
    _Kind("gzip", ".gz", lambda head: head[:2] == b"\x1f\x8b", _GzipReader, _GzipWriter, zlib.error, is_padded=True),
    _Kind(
        "zstd",
        ".zst",
        _begins_zstd,
        lambda: zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: 31}),
        _ZstdWriter,
        zstd.ZstdError,
    ),
    _Kind("bzip2", ".bz2", _begins_bz2, bz2.BZ2Decompressor, _Bz2Writer, (OSError, ValueError)),
    _Kind(
        "xz",
        ".xz",
        lambda head: head[:6] == b"\xfd7zXZ\0",
        lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY),
        _XzWriter,
        lzma.LZMAError,
        is_padded=True,
    ),
    _Kind(
        "lz4",
        ".lz4",
        lambda head: head[:4] == b"\x04\x22\x4d\x18",
        lambda: _lz4().LZ4FrameDecompressor(),
        _Lz4Writer,
        RuntimeError,
    ),
)
COMPRESSIONS = {kind.name: kind for kind in _KINDS}
COMPRESSION_ENDINGS = {kind.ending: kind.name for kind in _KINDS}
ENDINGS_SAID = f"plain, {', '.join(list(COMPRESSION_ENDINGS)[:-1])} or {_KINDS[-1].ending}"


def compression_of_name(name: str) -> str:
    """The compression named by the last ending of a file name."""
    return COMPRESSION_ENDINGS.get(os.path.splitext(name)[1].lower(), "plain")


def without_compression(name: str) -> str:
    """A file's name without the ending of its compression, if it has one."""
    stem, ending = os.path.splitext(name)
    return stem if ending.lower() in COMPRESSION_ENDINGS else name


def sniff(head: bytes) -> str:
    """The compression of data that begins with `head` (HEAD_BYTES, or all there are): `plain`, or a name in COMPRESSIONS."""
    return next((kind.name for kind in _KINDS if kind.begins(head)), "plain")
