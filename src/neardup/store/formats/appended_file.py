"""An append-only file of a store: words that are written and synced before the record names them, and read through a mapping.
A header comes before them, of 64 bytes, so that items stay aligned:

magic | format | type of items | name | generation | identity of the store | checksum of the bytes before

The file grows by chunks of zeros, which take no room on disk, so that the mapping need not be made anew for every append; a clean
close cuts them off. What lies behind the end that the record knows was left by a crash, and is overwritten.
"""

import mmap
import os
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from neardup.arrays import Array
from neardup.errors import DataError
from neardup.hamming.index.files.segment_file import checksum
from neardup.store.formats.versions import demand_version

CHUNK_BYTES = 1 << 24
"""Bytes by which the file grows, at least; later, by an eighth of its size."""
MAGIC = b"NDSTORE\n"
FORMAT = 1
_FIELDS = struct.Struct("<8sI4s24sQ8s")
_CHECKSUM = struct.Struct("<Q")
BYTES = _FIELDS.size + _CHECKSUM.size
"""The length of a header."""


@dataclass(frozen=True)
class Header:
    """What a file of contents says of itself.

    Attributes:
        name: which of the files it is, such as `rows`.
        kind: the type of its items, as NumPy writes it.
        generation: how often the store was compacted before.
        store: the identity of the store, 16 hexadecimal digits.
    """

    name: str
    kind: str
    generation: int
    store: str

    def __str__(self) -> str:
        return f"{self.name}-{self.generation} ({self.kind}) of the store {self.store}"

    def to_bytes(self) -> bytes:
        """The header as it is written."""
        fields = (self.kind.encode(), self.name.encode(), self.generation, bytes.fromhex(self.store))
        written = _FIELDS.pack(MAGIC, FORMAT, *fields)
        return written + _CHECKSUM.pack(checksum(written))

    def demand(self, path: Path, written: bytes) -> None:
        """Refuse (DataError) a file that begins with other bytes: no contents, another format, damaged, or another file."""
        if written == self.to_bytes():
            return
        if len(written) < BYTES or not written.startswith(MAGIC):
            raise DataError(f"{path} is no file of a store: it begins with other bytes. Restore it from a backup.")
        _, version, kind, name, generation, store = _FIELDS.unpack_from(written)
        demand_version(path, version, FORMAT)
        if _CHECKSUM.unpack_from(written, _FIELDS.size)[0] != checksum(written[: _FIELDS.size]):
            raise DataError(f"{path} is damaged: its header is not what was written. Restore it from a backup.")
        found = Header(name.rstrip(b"\0").decode(), kind.rstrip(b"\0").decode(), generation, store.hex())
        raise DataError(f"{path} is another file: {found}, not {self}. Restore it from a backup.")


class AppendedFile:
    """Items of one type, in the order in which they were appended.

    Attributes:
        path: the file.
        end: how many items it has.
    """

    def __init__(self, path: Path, header: Header, end: int, *, readonly: bool = False) -> None:
        """Open the file, or create it.

        Args:
            path: the file.
            header: what it says of itself.
            end: how many items the record knows.
            readonly: whether another process may append.

        Raises:
            DataError: the file is missing, another one, or shorter than the record says.
        """
        self.path, self.end, self._kind, self._readonly = path, end, np.dtype(header.kind), readonly
        self._header = header
        self._items: Array = np.empty(0, self._kind)
        self._file = -1
        if end or not readonly:  # before the first append, there may be no file
            self._open()

    def _open(self) -> None:
        flags = os.O_RDONLY if self._readonly else os.O_RDWR if self.end else os.O_RDWR | os.O_CREAT
        try:
            self._file = os.open(self.path, flags, 0o644)
        except FileNotFoundError:
            raise DataError(f"{self.path} is missing. Restore it from a backup.") from None
        try:
            self._demand_ours()
        except BaseException:
            os.close(self._file)
            self._file = -1
            raise

    def _demand_ours(self) -> None:
        """Refuse another file. One without items gets its header, whatever a crash has left of it."""
        if not self.end:
            os.pwrite(self._file, self._header.to_bytes(), 0)
            return
        self._header.demand(self.path, os.pread(self._file, BYTES, 0))
        size, known = os.fstat(self._file).st_size, self.bytes_of(self.end)
        if size < known:
            raise DataError(
                f"{self.path} has {size:,} bytes, but the store knows of {known:,}. Restore it from a backup."
            )

    def bytes_of(self, items: int) -> int:
        """Bytes of the file if it has so many items."""
        return BYTES + items * self._kind.itemsize

    def catch_up(self, end: int) -> None:
        """Know of items that another process has appended. The file is opened now: later, it may be removed."""
        self.end = end
        if end and self._file < 0:
            self._open()

    def copy_to(self, path: Path, end: int) -> None:
        """Write the first `end` items, one at least, to a new file, durably, also if this one was removed; a DataError if it is
        shorter.
        """
        at, size = 0, self.bytes_of(end)
        with path.open("xb") as target:
            while at < size:
                part = os.pread(self._file, min(size - at, CHUNK_BYTES), at)
                if not part:
                    raise DataError(f"{self.path} is shorter than the store knows. Verify the store.")
                at += target.write(part)
            target.flush()
            os.fsync(target.fileno())

    def append(self, items: Array) -> int:
        """Write items behind the others; they are durable after `sync`. Returns the place of the first."""
        first = self.end
        content = np.ascontiguousarray(items, self._kind).reshape(-1).view(np.uint8).data
        at = self.bytes_of(first)
        self._reserve(at + len(content))
        while content:
            written = os.pwrite(self._file, content, at)
            content, at = content[written:], at + written
        self.end = first + items.size
        return first

    def items(self) -> Array:
        """All items, mapped; valid for as long as anybody holds them."""
        if len(self._items) < self.end:
            self._map()
        return self._items[: self.end]

    def sync(self) -> None:
        """Make all items durable."""
        os.fdatasync(self._file)

    def leave(self) -> None:
        """Let the file be as another writer has made it."""
        self._readonly = True

    def close(self) -> None:
        """Close the file, without the zeros behind its end."""
        if not self._readonly:
            os.ftruncate(self._file, self.bytes_of(self.end))
        if self._file >= 0:
            os.close(self._file)

    def _reserve(self, size: int) -> None:
        there = os.fstat(self._file).st_size
        if size > there:
            os.ftruncate(
                self._file, max(size, there + max(CHUNK_BYTES, there >> 3)) // CHUNK_BYTES * CHUNK_BYTES + CHUNK_BYTES
            )

    def _map(self) -> None:
        if self._file < 0:
            self._open()
        items = (os.fstat(self._file).st_size - BYTES) // self._kind.itemsize
        if items < self.end:
            raise DataError(f"{self.path} was cut while the store was open. Restore it from a backup.")
        mapping = mmap.mmap(self._file, self.bytes_of(items), access=mmap.ACCESS_READ)
        self._items = np.frombuffer(mapping, self._kind, offset=BYTES)
