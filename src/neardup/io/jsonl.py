"""JSON lines: one object a line, in UTF-8. What is written keeps every byte of the rows that are kept.

`neardup.io.lines` says what a row is, `neardup.io.json_rows` how one is read, and `neardup.io.formats.Format` what the
functions here promise.
"""

import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from neardup.errors import DataError, InputError
from neardup.io.batch import Batch, Columns, Part, Reject, read_parts
from neardup.io.compression import open_for_writing
from neardup.io.json_blocks import BlockReader
from neardup.io.json_rows import BadRow, Pairs, has_column, keys_of, parse_object
from neardup.io.json_spans import text_spans
from neardup.io.json_values import json_members, quote
from neardup.io.lines import BLANK, Lines, read_lines
from neardup.io.refusals import already_there, mixed_formats
from neardup.io.shards import Shard

Array = np.ndarray[Any, np.dtype[Any]]

_CHECKED_ROWS = 100
_CHECKED_BYTES = 1 << 18


class Sink:
    """JSON lines on their way to a file or, for the path `-`, to standard output."""

    format = "jsonl"

    def __init__(self, path: Path, compression: str) -> None:
        self._standard = str(path) == "-"
        self._file: Any = sys.stdout.buffer if self._standard else open_for_writing(path, compression)
        self._unfinished = False

    def write(self, lines: bytes | memoryview) -> None:
        """Write lines; the newline of the last one may be missing, and is added if anything follows."""
        if self._unfinished:
            self._file.write(b"\n")
        if self._standard:
            rest = memoryview(lines)
            while rest:  # an unbuffered stream may take less than it is given
                rest = rest[self._file.write(rest) :]
        else:
            self._file.write(lines)
        self._unfinished = lines[-1] != ord("\n")

    def close(self) -> None:
        """Finish the file."""
        if self._standard:
            self._file.flush()
        else:
            self._file.close()

    def __enter__(self) -> "Sink":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def check(shard: Shard, columns: Columns, added: Sequence[str] = ()) -> None:
    """See `Format.check`; here it is the first 100 rows that are looked at."""
    with contextlib.closing(read_lines(shard, _CHECKED_BYTES)) as blocks:
        block = next(blocks, None)
    objects: list[Pairs] = []
    for line in map(block.line, range(min(len(block), _CHECKED_ROWS))) if block else ():
        try:
            objects.append(parse_object(line))
        except BadRow:
            if not objects and line.startswith(b"["):
                raise InputError(
                    f"{shard.name} is a JSON array, not one object a line. Convert it: jq -c '.[]' FILE > FILE.jsonl"
                ) from None
    for name in dict.fromkeys((*columns.text, *([columns.id] if columns.id else []), *columns.values)):
        if objects and not any(has_column(pairs, name) for pairs in objects):
            raise InputError(f'{shard.name} has no column "{name}" in its first rows. It has: {keys_of(*objects)}.')
    for name in added:
        if any(key == name for pairs in objects for key, _ in pairs):
            raise already_there(shard.name, name)


def check_together(shards: Sequence[Shard]) -> None:
    """See `Format.check_together`; any rows go together."""


def parts(shard: Shard, columns: Columns, wanted: Array | None = None) -> Iterator[Part]:
    """See `Format.parts`; lines that are not wanted are not parsed."""
    reader = BlockReader(columns, shard.name)
    for block in read_lines(shard):
        yield partial(reader.read, block, None if wanted is None else _of_block(shard, wanted, block))


def read(shard: Shard, columns: Columns, *, reject: Reject, wanted: Array | None = None) -> Iterator[Batch]:
    """See `Format.read`."""
    return read_parts(parts(shard, columns, wanted), reject)


def copy(shard: Shard, keep: Array, sink: Any) -> None:
    """See `Format.copy`."""
    if sink.format != shard.format:
        raise mixed_formats(shard.name, shard.format, sink.format)
    for block in read_lines(shard):
        for run in block.runs(np.flatnonzero(_of_block(shard, keep, block))):
            sink.write(run)


def replace(
    shard: Shard,
    columns: Columns,
    rewrite: Callable[[int, list[str]], list[str]],
    sink: Any,
    *,
    keep: Array,
    changed: Array,
) -> None:
    """See `Format.replace`; the new texts are escaped where JSON asks for it, and only there."""
    if sink.format != shard.format:
        raise mixed_formats(shard.name, shard.format, sink.format)
    for block in read_lines(shard):
        kept, new = _of_block(shard, keep, block), _of_block(shard, changed, block)
        after = 0
        for i in np.flatnonzero(kept & new).tolist():
            for run in block.runs(np.flatnonzero(kept[after:i]) + after):
                sink.write(run)
            line, newline = block.line(i), block.data[block.ends[i] : block.ends[i] + 1].tobytes()
            sink.write(_with_texts(line, columns, partial(rewrite, block.row + i)) + newline)
            after = i + 1
        for run in block.runs(np.flatnonzero(kept[after:]) + after):
            sink.write(run)


def _with_texts(line: bytes, columns: Columns, rewrite: Callable[[list[str]], list[str]]) -> bytes:
    spans = text_spans(line, columns.text)
    texts = rewrite([json.loads(line[start:end]) for start, end in spans])
    for (start, end), text in sorted(zip(spans, texts, strict=True), reverse=True):
        line = line[:start] + quote(text).encode() + line[end:]
    return line


def annotate(shard: Shard, added: Any, sink: Any, *, keep: Array) -> None:
    """See `Format.annotate`; the columns become the last keys of each object."""
    if sink.format != shard.format:
        raise mixed_formats(shard.name, shard.format, sink.format)
    for block in read_lines(shard):
        rows = np.flatnonzero(_of_block(shard, keep, block))
        if not len(rows):
            continue
        data = block.data.tobytes()
        names = [name for name in added.column_names if quote(name).encode() in data]
        written: list[bytes] = []
        members = json_members(added.take(block.row + rows))
        for row, start, end, more in zip(rows, block.starts[rows], block.ends[rows], members, strict=True):
            line = data[start:end]
            if names or not line.rstrip(BLANK).endswith(b"}"):
                _demand_object_without(names, line, shard, int(block.row + row))
            written += _with_members(line, more)
            written.append(data[end : end + 1])  # the newline
        sink.write(b"".join(written))


def _of_block(shard: Shard, mask: Array, block: Lines) -> Array:
    part = mask[block.row : block.row + len(block)]
    if len(part) < len(block):
        raise shard.changed()
    return part


def _demand_object_without(names: Sequence[str], line: bytes, shard: Shard, row: int) -> None:
    try:
        keys = {key for key, _ in parse_object(line)}
    except BadRow as reason:
        raise DataError(f"{shard.name}, row {row}: columns cannot be added: {reason}. Mend the row.") from None
    for name in names:
        if name in keys:
            raise already_there(shard.name, name)


def _with_members(line: bytes, members: bytes) -> tuple[bytes, ...]:
    """The line with more members before the brace that ends its object."""
    brace = len(line.rstrip(BLANK)) - 1
    empty = line[:brace].rstrip(BLANK).endswith(b"{")
    return line[:brace], b"" if empty else b",", members, line[brace:]
