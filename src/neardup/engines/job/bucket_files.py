"""BUCKET FILES: packed rows in files, where those of each bucket are, and how they are read from there.

A task writes one file, piece after piece, so its memory is that of a piece. What it tells is where the pieces are: 28 bytes each.
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.job.folder import Folder
from neardup.engines.packing import Packed
from neardup.errors import DataError

SEGMENT = np.dtype([("bucket", "<i4"), ("checksum", "<u4"), ("offset", "<i8"), ("size", "<i8"), ("rows", "<i4")])
"""Where a piece is."""
REQUESTS_AT_ONCE = 16
"""Requests to an object store at a time."""
_AS_ARROW = {"<i4": pa.int32(), "<u4": pa.uint32(), "<i8": pa.int64()}

Segments = Sequence[tuple[str, Array]]
"""Files, and SEGMENT[n] of each, ascending by bucket."""


@dataclass(frozen=True)
class Written:
    """What a task has written.

    Attributes:
        file: its name.
        segments: by output, SEGMENT[n], ascending by bucket.
    """

    file: str
    segments: Mapping[str, Array]


def write(file: IO[bytes], rows: Iterable[tuple[str, Packed]]) -> dict[str, Array]:
    """Write packed rows. Returns, by output, SEGMENT[n]."""
    found: dict[str, list[tuple[int, int, int, int, int]]] = {}
    offset = 0
    for name, packed in rows:
        size = len(packed.content)
        file.write(packed.content)
        found.setdefault(name, []).append((packed.bucket, zlib.crc32(packed.content), offset, size, packed.rows))
        offset += size
    arrays = ((name, np.array(each, SEGMENT)) for name, each in found.items())
    return {name: each[np.argsort(each["bucket"], kind="stable")] for name, each in arrays}


def of_buckets(segments: Segments, first: int, last: int) -> list[tuple[str, Array]]:
    """Those of the buckets from `first` up to, and without, `last`; files without any are left out."""
    found = []
    for name, each in segments:
        begin, end = np.searchsorted(each["bucket"], (first, last))
        if begin < end:
            found.append((name, each[begin:end]))
    return found


def contents(folder: Folder, segments: Segments) -> list[bytes]:
    """Packed rows, read from where they are.

    Raises:
        DataError: files are missing, or their content is another.
    """
    if not folder.is_remote:
        return [content for name, each in segments for content in _content(folder, name, each)]
    with ThreadPoolExecutor(REQUESTS_AT_ONCE) as pool:
        return [content for some in pool.map(lambda one: _content(folder, *one), segments) for content in some]


def _content(folder: Folder, name: str, segments: Array) -> list[bytes]:
    spans = [(int(each["offset"]), int(each["size"])) for each in segments]
    try:
        found = folder.ranges(name, spans)
    except FileNotFoundError:
        raise DataError(
            f"{folder}/{name} is not there. Either a file of this job was removed, or the folder of `work=` is not one that all "
            "machines share. Give another folder, and the job begins anew."
        ) from None
    for content, checksum in zip(found, segments["checksum"].tolist(), strict=True):
        if zlib.crc32(content) != checksum:
            raise DataError(
                f"{folder}/{name} is damaged: its content is not what was written. Give another folder as `work=`, and the job "
                "begins anew."
            )
    return found


def as_table(written: Iterable[Written]) -> pa.Table:
    """What tasks have written, to be kept: a row for each piece."""
    files: list[str] = []
    outputs: list[str] = []
    arrays: list[Array] = [np.zeros(0, SEGMENT)]
    for each in written:
        for name, array in each.segments.items():
            files += [each.file] * len(array)
            outputs += [name] * len(array)
            arrays.append(array)
    whole = np.concatenate(arrays)
    columns = {
        name: pa.array(np.ascontiguousarray(whole[name]), _AS_ARROW[SEGMENT[name].str]) for name in SEGMENT.names or ()
    }
    names = {"file": pa.array(files, pa.string()), "output": pa.array(outputs, pa.string())}
    return pa.table({name: column.dictionary_encode() for name, column in names.items()} | columns)


def in_table(table: pa.Table) -> list[Written]:
    """What `as_table` was given."""
    whole = np.empty(len(table), SEGMENT)
    for name in SEGMENT.names or ():
        whole[name] = table.column(name).to_numpy()
    files, outputs = (table.column(name).to_pylist() for name in ("file", "output"))
    found: dict[str, dict[str, list[int]]] = {}
    for at, (file, output) in enumerate(zip(files, outputs, strict=True)):
        found.setdefault(file, {}).setdefault(output, []).append(at)
    return [Written(file, {name: whole[at] for name, at in each.items()}) for file, each in found.items()]
