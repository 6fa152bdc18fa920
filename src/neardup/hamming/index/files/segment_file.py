"""A segment on disk: mapped arrays with a checksum for every page. docs/formats/index-folder.md describes every byte.

magic, format, header length | header (JSON) | arrays, each on a page of the system | a checksum for every page before | footer
"""

import json
import math
import mmap
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from neardup.arrays import Array
from neardup.errors import DataError, InputError
from neardup.kernels.digests import digest_documents

MAGIC = b"NDSEGMT\n"
FORMAT = 1
ALIGNMENT = 4096
PAGE = 1 << 20
"""Bytes of a page, unless others are asked for; each page has a checksum."""
_START = struct.Struct("<8sIQ")
_FOOTER = struct.Struct("<QQQ8s")
"""Offset of the checksums, checksum of these and the header, file length, magic."""


def checksum(content: Any) -> int:
    """The high word of the XXH3-128 of some bytes."""
    data = np.frombuffer(content, np.uint8)
    found = np.empty((1, 2), np.uint64)
    padded = data if len(data) else np.zeros(1, np.uint8)
    digest_documents(padded, np.array([0, len(data)], np.int64), found)
    return int(found[0, 0])


def _pages(data: Any, end: int, page: int) -> Array:
    offsets = np.minimum(np.arange(-(-end // page) + 1) * page, end)
    found = np.empty((len(offsets) - 1, 2), np.uint64)
    digest_documents(np.frombuffer(data, np.uint8), offsets, found)
    return found[:, 0].astype("<u8")


def write_segment_file(path: Path, arrays: Mapping[str, Array], facts: Mapping[str, Any], *, page: int = PAGE) -> int:
    """Write arrays and facts (plain values) to a new file, and flush it to the disk. Returns its seal, see `SegmentFile`.

    `page`: bytes of a page, each of which has a checksum.
    """
    listed: list[dict[str, Any]] = []
    offset = 0
    arrays = {name: array.astype(array.dtype.newbyteorder("<"), copy=False) for name, array in arrays.items()}
    for name, array in arrays.items():
        listed.append({"name": name, "dtype": array.dtype.str, "shape": array.shape, "offset": offset})
        offset += -(-array.nbytes // ALIGNMENT) * ALIGNMENT
    header = json.dumps({"arrays": listed, "bytes": offset, "page": page, **facts}).encode()
    begin = -(-(_START.size + len(header)) // ALIGNMENT) * ALIGNMENT
    end = begin + offset
    with path.open("xb") as file:
        file.write(_START.pack(MAGIC, FORMAT, len(header)) + header)
        for place, array in zip(listed, arrays.values(), strict=True):
            file.seek(begin + place["offset"])
            file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else b"")
        file.truncate(end)
        file.flush()
        with path.open("rb") as again, mmap.mmap(again.fileno(), 0, access=mmap.ACCESS_READ) as data:
            sums = _pages(data, end, page)
        file.seek(end)
        footing = sums.tobytes()
        seal = checksum(header + footing)
        file.write(footing)
        file.write(_FOOTER.pack(end, seal, end + len(footing) + _FOOTER.size, MAGIC))
        file.flush()
        os.fsync(file.fileno())
    return seal


@dataclass(frozen=True)
class SegmentFile:
    """A segment file, mapped read-only. It stays readable even if a writer removes the file.

    Attributes:
        path: the path from which it was opened.
        arrays: its arrays, by name.
        facts: its plain values.
        seal: the checksum of its header and of the checksums of its pages: files with other contents have another one.
        begin: the offset of the first array.
        page: bytes of a page.
        sums: uint64[p], the checksums of the pages.
    """

    path: Path
    arrays: dict[str, Array]
    facts: dict[str, Any]
    seal: int
    begin: int
    page: int
    sums: Array
    _data: Any

    @property
    def starts(self) -> Array:
        """int64[a]: where the arrays begin in the file."""
        offsets = [self.begin]
        for array in self.arrays.values():
            offsets.append(offsets[-1] + -(-array.nbytes // ALIGNMENT) * ALIGNMENT)
        return np.array(offsets[:-1], np.int64)

    @property
    def content(self) -> Array:
        """uint8[]: the bytes that the pages have, the last of which may be shorter."""
        return np.frombuffer(self._data, np.uint8, len(self._data) - _FOOTER.size - self.sums.nbytes)

    def copy_to(self, path: Path) -> None:
        """Write all bytes to a new file, durably."""
        with path.open("xb") as file:
            file.write(self._data)
            file.flush()
            os.fsync(file.fileno())

    def damaged_pages(self) -> list[int]:
        """Return the pages that do not match their checksum."""
        content = self.content
        found: list[int] = np.flatnonzero(_pages(content, len(content), self.page) != self.sums).tolist()
        return found


def read_segment_file(path: Path) -> SegmentFile:
    """Map a segment file. This checks the header and the footer, but not the pages.

    Raises:
        FileNotFoundError: there is no such file.
        InputError: it cannot be read.
        DataError: it is damaged, truncated, of another format, or not a segment file.
    """
    try:
        with path.open("rb") as file:
            header, begin, sums, seal = _opened(path, file)
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror}.") from None
    arrays = {}
    for place in header.pop("arrays"):
        shape, dtype = tuple(place["shape"]), np.dtype(place["dtype"])
        found = (
            np.frombuffer(data, dtype, math.prod(shape), begin + place["offset"])
            if 0 not in shape
            else np.empty(0, dtype)
        )
        arrays[place["name"]] = found.reshape(shape)
    return SegmentFile(path, arrays, header, seal, begin, header["page"], sums, data)


def _opened(path: Path, file: BinaryIO) -> tuple[dict[str, Any], int, Array, int]:
    """The header, the offset of the arrays, the checksums of the pages, and the seal."""
    size = os.fstat(file.fileno()).st_size
    start = file.read(_START.size)
    if len(start) < _START.size or start[:8] != MAGIC:
        raise DataError(f"{path} is no segment of an index. Restore it, or build the index anew.")
    _, written, length = _START.unpack(start)
    if written != FORMAT:
        raise DataError(f"{path} is of format {written}; this version reads {FORMAT}. Build the index anew.")
    header = file.read(length) if length <= size else b""
    file.seek(max(0, size - _FOOTER.size))
    footer = file.read(_FOOTER.size)
    if len(footer) < _FOOTER.size or footer[-8:] != MAGIC:
        raise DataError(f"{path} is truncated: it has no end. Restore it, or build the index anew.")
    end, expected, whole, _ = _FOOTER.unpack(footer)
    if whole != size or end > size - _FOOTER.size:
        raise DataError(f"{path} has {size:,} bytes, but should have {whole:,}. Restore it, or build the index anew.")
    file.seek(end)
    footing = file.read(size - _FOOTER.size - end)
    if checksum(header + footing) != expected:
        raise DataError(f"{path} is damaged: its header or its checksums are. Restore it, or build the index anew.")
    begin = -(-(_START.size + length) // ALIGNMENT) * ALIGNMENT
    return json.loads(header), begin, np.frombuffer(footing, "<u8"), expected
