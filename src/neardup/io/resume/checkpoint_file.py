"""One file of saved work: values one after another, each accepted whole or refused. docs/resume-format.md is the specification.

    magic, version of the format
    frame: length and checksum of the facts; the facts, JSON; the buffers that these describe, each with its checksum
    …
    the last frame holds the number of values

A file is written under another name, brought to disk and renamed, so it is complete or does not exist.
"""

import json
import math
import os
import struct
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from neardup.errors import DataError
from neardup.io.resume.codecs import KINDS, TEXTS, MalformedError, OtherVersionError, decode, encode
from neardup.resources.scratch import IN_MEMORY, Scratch

MAGIC, FORMAT = b"NEARDUP-CHECKPT\n", 1
PARTIAL = ".partial"
"""The ending of a file's name while it is being written."""
_HEAD, _FRAME = struct.Struct("<16sI"), struct.Struct("<II")


class WholeFile:
    """A file that gets its name once it is complete."""

    def __init__(self, path: Path) -> None:
        self._path, self._partial = path, path.with_name(path.name + PARTIAL)
        self.file: BinaryIO = self._partial.open("wb")

    def commit(self) -> None:
        """Finish writing: flush the file to disk, and give it its name."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        os.replace(self._partial, self._path)

    def abandon(self) -> None:
        """Remove the file."""
        self.file.close()
        self._partial.unlink(missing_ok=True)

    def __enter__(self) -> BinaryIO:
        return self.file

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.commit()
        else:
            self.abandon()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that exists with its whole content, or not at all."""
    with WholeFile(path) as file:
        file.write(content)


class CheckpointFile:
    """A file of values that is being written; see `read_checkpoint`.

    Args:
        folder: the run's folder.
        name: the file's name in it, including the folder of its pass. The file stores it, so no other file can take its place.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._whole, self._values = WholeFile(folder / name), 0
        self._whole.file.write(_HEAD.pack(MAGIC, FORMAT))
        self._write_facts({"name": name})

    def add(self, value: Any) -> None:
        """Append a value.

        Raises:
            TypeError: it has no codec.
        """
        facts, buffers = encode(value)
        contents = [_content_of(buffer) for buffer in buffers]
        forms = [form | {"crc32": zlib.crc32(content)} for form, content in contents]
        self._write_facts({"value": facts, "buffers": forms})
        for _, content in contents:
            self._whole.file.write(content)
        self._values += 1

    def commit(self) -> None:
        """Finish the file and give it its name."""
        self._write_facts({"values": self._values})
        self._whole.commit()

    def abandon(self) -> None:
        """Remove the file."""
        self._whole.abandon()

    def _write_facts(self, facts: dict[str, Any]) -> None:
        content = json.dumps(facts).encode("ascii")
        self._whole.file.write(_FRAME.pack(len(content), zlib.crc32(content)) + content)


def write_checkpoint(folder: Path, name: str, value: Any) -> None:
    """Write a file of one value."""
    file = CheckpointFile(folder, name)
    try:
        file.add(value)
    except BaseException:
        file.abandon()
        raise
    file.commit()


def _content_of(buffer: Any) -> tuple[dict[str, Any], Any]:
    """The description of a buffer, and its bytes."""
    if isinstance(buffer, pa.Array):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, pa.schema([("texts", TEXTS)])) as stream:
            stream.write_batch(pa.record_batch([buffer], names=["texts"]))
        content = sink.getvalue()
        return {"arrow": content.size}, memoryview(content)
    form = {"kind": buffer.dtype.name, "shape": list(buffer.shape), "read_only": not buffer.flags.writeable}
    return form, _bytes_of(np.ascontiguousarray(buffer, buffer.dtype.newbyteorder("<")))


def _bytes_of(array: Any) -> memoryview:
    return memoryview(array.reshape(-1).view(np.uint8))


def read_checkpoint(folder: Path, name: str, *, scratch: Scratch = IN_MEMORY) -> Iterator[Any]:
    """Yield the values of a file; each is checked before it is yielded.

    Args:
        folder, name: as in `CheckpointFile`.
        scratch: where arrays are allocated.

    Raises:
        DataError: the file is damaged, or comes from a version of this package with another format.
    """
    path = folder / name
    remove = f"{path}" if path.parent == folder else f"the folder {path.parent}"
    with path.open("rb") as file:
        try:
            yield from _Reader(file, name, scratch).values()
        except OtherVersionError as problem:
            raise DataError(
                f"{path} was written by another version of neardup: {problem}. Go on with the version that began the run, or "
                f"remove the folder {folder} and begin anew."
            ) from None
        except (MalformedError, RecursionError) as problem:
            raise DataError(
                f"{path} is damaged ({problem}). Remove {remove}, and that part of the run is done again."
            ) from None


class _Reader:
    """A file that is being read. No content is used before its checksum has been compared."""

    def __init__(self, file: BufferedReader, name: str, scratch: Scratch) -> None:
        self._file, self._name, self._scratch = file, name, scratch
        self._left = os.fstat(file.fileno()).st_size

    def values(self) -> Iterator[Any]:
        magic, version = _HEAD.unpack(self._read(_HEAD.size))
        if magic != MAGIC:
            raise MalformedError("it does not begin as a file of saved work")
        if version != FORMAT:
            raise OtherVersionError(f"its format is {version}, and this version reads {FORMAT}")
        if self._facts() != {"name": self._name}:
            raise MalformedError("it is another file under this name")
        count = 0
        while True:
            facts = self._facts()
            if facts.keys() == {"values"}:
                break
            if facts.keys() != {"value", "buffers"} or not isinstance(facts["buffers"], list):
                raise MalformedError("it lacks a value")
            yield decode(facts["value"], [self._buffer(form) for form in facts["buffers"]])
            count += 1
        if facts["values"] != count or self._left:
            raise MalformedError(
                f"it has {count} values and {self._left} bytes more, instead of {facts['values']} values"
            )

    def _read(self, size: int) -> bytes:
        self._take(size)
        content = self._file.read(size)
        if len(content) != size:
            raise MalformedError("it is too short")
        return content

    def _take(self, size: int) -> None:
        if not 0 <= size <= self._left:
            raise MalformedError("it is too short")
        self._left -= size

    def _facts(self) -> dict[str, Any]:
        size, checksum = _FRAME.unpack(self._read(_FRAME.size))
        content = self._read(size)
        _compare(content, checksum)
        try:
            facts = json.loads(content)
        except ValueError:
            raise MalformedError("its facts are no JSON") from None
        if not isinstance(facts, dict):
            raise MalformedError("its facts are no object")
        return facts

    def _buffer(self, form: Any) -> Any:
        """The next buffer in the file."""
        try:
            if "arrow" in form:
                content = self._read(int(form["arrow"]))
                _compare(content, form["crc32"])
                return _texts_of(content)
            shape, kind = tuple(map(int, form["shape"])), form["kind"]
            if kind not in KINDS or any(size < 0 for size in shape):
                raise MalformedError(f"an array is {kind}{list(shape)}")
            self._take(math.prod(shape) * np.dtype(kind).itemsize)
            array = self._scratch.zeros(shape, np.dtype(kind).newbyteorder("<"))
            into = _bytes_of(array)
            if self._file.readinto(into) != len(into):
                raise MalformedError("it is too short")
            _compare(into, form["crc32"])
            array = array.astype(kind, copy=False)
            array.flags.writeable = not form["read_only"]
            return array
        except MalformedError:
            raise
        except (KeyError, TypeError, ValueError, OverflowError) as problem:
            raise MalformedError(f"a buffer is described as {form}") from problem


def _compare(content: Any, checksum: Any) -> None:
    if zlib.crc32(content) != checksum:
        raise MalformedError("a checksum differs")


def _texts_of(content: bytes) -> Any:
    """The Arrow strings of an IPC stream."""
    try:
        with pa.ipc.open_stream(content) as stream:
            if stream.schema.types != [TEXTS]:
                raise MalformedError(f"Arrow data are {stream.schema.types}")
            table = stream.read_all()
        table.validate(full=True)
        return table.column(0).combine_chunks()
    except (pa.ArrowException, OSError) as problem:
        raise MalformedError(f"Arrow data cannot be read: {problem}") from None
