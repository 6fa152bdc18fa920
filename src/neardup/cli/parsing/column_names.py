"""The columns of files that are being typed, for completion: the first row or the schema is read, and nothing else.

Loads neither NumPy nor Arrow. Whatever cannot be read at once has no columns.
"""

import contextlib
import csv
import itertools
import json
import os
from collections.abc import Iterable, Iterator
from glob import has_magic, iglob
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from neardup.io.storage.compressions import compression_of_name, without_compression

_MAX_FILES = 3
"""Files that are read, of several inputs or of one folder."""
_MAX_NAMES = 1000
"""Entries of a folder, or matches of a glob, that are looked at."""
_MAX_LINE_BYTES = 1 << 20
_MAX_FOOTER_BYTES = 1 << 24
_MAX_DEPTH = 4


def column_names(inputs: Iterable[str], encoding: str = "utf-8") -> list[str]:
    """The columns of some inputs, in the order of the first that has them; nested ones with dots."""
    found: dict[str, None] = {}
    files = itertools.chain.from_iterable(map(_files, inputs))
    for path in itertools.islice(files, _MAX_FILES):
        with contextlib.suppress(Exception):  # a name that is being typed may be anything
            found.update(dict.fromkeys(_columns(path, encoding)))
    return list(found)


def _files(name: str) -> Iterator[Path]:
    path = Path(name).expanduser()
    if has_magic(name) and not path.exists():
        yield from filter(_is_readable, itertools.islice(map(Path, iglob(str(path), recursive=True)), _MAX_NAMES))
    elif path.is_dir():
        below = (Path(folder, each) for folder, _, names in os.walk(path) for each in sorted(names))
        yield from itertools.islice(filter(_is_readable, itertools.islice(below, _MAX_NAMES)), 1)
    elif _is_readable(path):
        yield path


def _is_readable(path: Path) -> bool:
    return path.is_file() and not path.name.startswith(".") and _kind(path) != ""


def _kind(path: Path) -> str:
    ending = Path(without_compression(path.name)).suffix.lower()
    return {".ndjson": ".jsonl", ".json": ".jsonl"}.get(ending, ending) if ending in _ENDINGS else ""


_ENDINGS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")


def _columns(path: Path, encoding: str) -> Iterator[str]:
    kind = _kind(path)
    if kind == ".parquet":
        with path.open("rb") as file:
            return iter(_of_footer(file))
    with _opened(path) as file:
        line = file.readline(_MAX_LINE_BYTES).decode(encoding if encoding != "utf-8" else "utf-8-sig")
    if kind == ".jsonl":
        return _keys(json.loads(line), "", 1)
    line = line.rstrip("\r\n")
    delimiter = "\t" if kind == ".tsv" else max(",;\t|", key=line.count)
    return iter(next(csv.reader([line], delimiter=delimiter)))


def _opened(path: Path) -> Any:
    from neardup.io.storage.compression import open_for_reading

    return open_for_reading(path, compression_of_name(path.name))


def _keys(row: Any, above: str, depth: int) -> Iterator[str]:
    for name, value in row.items():
        yield above + name
        if isinstance(value, dict) and depth < _MAX_DEPTH:
            yield from _keys(value, f"{above}{name}.", depth + 1)


def _of_footer(file: IO[bytes]) -> list[str]:
    """The columns in the footer of a Parquet file, which is in Thrift's compact protocol (apache/parquet-format)."""
    size = file.seek(0, os.SEEK_END)
    file.seek(size - 8)
    length = int.from_bytes(file.read(4), "little")
    file.seek(size - 8 - min(length, _MAX_FOOTER_BYTES))
    schema = _Thrift(file.read(length)).struct().get(2, [])
    elements = iter(schema)
    root = next(elements)
    return [name for _ in range(root[5]) for name in _below(elements, "", 1)]


def _below(elements: Iterator[dict[int, Any]], above: str, depth: int) -> list[str]:
    element = next(elements)
    name = above + element[4].decode()
    children = [each for _ in range(element.get(5, 0)) for each in _below(elements, f"{name}.", depth + 1)]
    is_list = element.get(6) is not None  # a list or a map: its parts have names of the format
    return [name] if is_list or depth >= _MAX_DEPTH else [name, *children]


class _Thrift:
    """A reader of values in Thrift's compact protocol."""

    def __init__(self, data: bytes) -> None:
        self._data = BytesIO(data)

    def struct(self) -> dict[int, Any]:
        """The fields of a struct, by number."""
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._integer()
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind)
        return fields

    def _value(self, kind: int) -> Any:
        match kind:
            case 1 | 2 | 3:
                return self._byte()
            case 4 | 5 | 6:
                return self._integer()
            case 7:
                return self._data.read(8)
            case 8:
                return self._data.read(self._unsigned())
            case 9 | 10:
                head = self._byte()
                count = head >> 4 if head >> 4 != 15 else self._unsigned()
                return [self._value(head & 15) for _ in range(count)]
            case 11:
                count = self._unsigned()
                kinds = self._byte() if count else 0
                return [(self._value(kinds >> 4), self._value(kinds & 15)) for _ in range(count)]
            case 12:
                return self.struct()
        raise ValueError(kind)

    def _byte(self) -> int:
        return self._data.read(1)[0]

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def _integer(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
