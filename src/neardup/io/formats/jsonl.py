"""JSON lines: one object per line, in UTF-8. The output keeps every byte of the rows that are kept.

`neardup.io.formats.lines` defines rows, `neardup.io.formats.json.json_rows` defines how a row is read, and
`neardup.io.formats.table.Format` states the guarantees of the functions here.
"""

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.errors import DataError, InputError
from neardup.io.checks.missing_columns import MissingColumnError
from neardup.io.corpora.batch import Columns, Part
from neardup.io.corpora.shard import Shard
from neardup.io.formats.json.json_blocks import BlockReader
from neardup.io.formats.json.json_rows import BadRow, Pairs, has_column, keys_of, parse_object
from neardup.io.formats.json.json_spans import text_spans
from neardup.io.formats.json.json_values import json_members, quote
from neardup.io.formats.line_blocks import LineFile
from neardup.io.formats.lines import BLANK, Lines, mask_of, read_lines
from neardup.io.formats.text_sink import TextSink, demand_same_kind, with_parts, write_changed
from neardup.io.storage.encodings import UTF_8
from neardup.io.storage.refusals import demand_format, demand_new
from neardup.kernels.io.json_texts import ODD, cut_rows
from neardup.text.lists.paths import column_of, list_path

_CHECKED_ROWS = 100
_CHECKED_BYTES = 1 << 18


Sink = partial(TextSink, "jsonl")


def check(shard: Shard, columns: Columns, added: Sequence[str] = ()) -> None:
    """See `Format.check`; checks the first 100 rows."""
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
    single = [name for name in (columns.stored, columns.id) if name]
    for name in dict.fromkeys((*(columns.text if columns.stored is None else ()), *single, *columns.values)):
        if objects and not any(has_column(pairs, name) for pairs in objects):
            if (steps := list_path(name)) and any(has_column(pairs, ".".join(column_of(steps))) for pairs in objects):
                raise InputError(f"{shard.name} has no text at {name!r} in its first rows. Name the field that has it.")
            names = list(dict.fromkeys(key for pairs in objects for key, _ in pairs))
            raise MissingColumnError(shard.name, name, names, there=keys_of(*objects), where=" in its first rows")
    demand_new(shard.name, added, {key for pairs in objects for key, _ in pairs})


def check_together(shards: Sequence[Shard]) -> None:
    """See `Format.check_together`; rows can share a file if they have the same encoding."""
    kinds = []
    for shard in shards:
        if shard.encoding != UTF_8:
            with LineFile(shard) as file:
                kinds.append((shard.name, (file.encoding.name,)))
    for name, kind in kinds[1:]:
        demand_same_kind(*kinds[0], name, kind)


def parts(shard: Shard, columns: Columns, wanted: Array | None = None) -> Iterator[Part]:
    """See `Format.parts`; lines that are not wanted are not parsed."""
    reader = BlockReader(columns, shard.name)
    for block in read_lines(shard):
        yield partial(reader.read, block, None if wanted is None else mask_of(shard, wanted, block))


def copy(shard: Shard, keep: Array, sink: Any) -> None:
    """See `Format.copy`."""
    demand_format(shard, sink)
    for block in read_lines(shard, expected=len(keep)):
        begin(shard, sink, block)
        for run in block.runs(np.flatnonzero(mask_of(shard, keep, block))):
            sink.write(run, block.encoding.newline)


def replace(
    shard: Shard,
    columns: Columns,
    rewrite: Callable[[int, list[str]], list[str]],
    sink: Any,
    *,
    keep: Array,
    changed: Array,
) -> None:
    """See `Rewritable.replace`; in new texts, only characters that JSON requires are escaped."""
    demand_format(shard, sink)
    for block in read_lines(shard):
        begin(shard, sink, block)
        kept, new = mask_of(shard, keep, block), mask_of(shard, changed, block)
        write_changed(block, sink, kept, new, partial(_with_texts, block, columns, rewrite))


def cut(
    shard: Shard,
    columns: Columns,
    spans: Array,
    rewrite: Callable[[int, list[str]], list[str]],
    sink: Any,
    *,
    keep: Array,
    changed: Array,
) -> None:
    """`replace` where new texts are the old ones without some spans, which are given as well; see `Cuttable.cut`."""
    demand_format(shard, sink)
    names = [name.encode() for name in columns.text]
    keys, key_ends = np.frombuffer(b"".join(names), np.uint8), np.cumsum([len(name) for name in names])
    working = np.empty((2, len(names)), np.int64)
    for block in read_lines(shard):
        begin(shard, sink, block)
        kept, new = mask_of(shard, keep, block), mask_of(shard, changed, block)
        size = ODD
        if block.encoding.is_utf8 and block.raw is None and (kept & new).any():
            some = spans[slice(*np.searchsorted(spans[:, 0], [block.row, block.row + len(block)]))]
            ends = np.minimum(block.ends + 1, len(block.data))
            out = np.empty(int((ends - block.starts)[kept].sum()), np.uint8)
            size = cut_rows(block.data, block.starts, ends, kept, block.row, some, keys, key_ends, *working, out)
        if size == ODD:
            write_changed(block, sink, kept, new, partial(_with_texts, block, columns, rewrite))
        elif size:
            sink.write(out[:size].data, block.encoding.newline)


def _with_texts(block: Lines, columns: Columns, rewrite: Callable[[int, list[str]], list[str]], i: int) -> bytes:
    """Row i as stored, with its newline, but with new texts from `rewrite`, where they differ."""
    # A text may be nearly the whole row, and large: no more copies live at a time than need to.
    spans = text_spans(block.line(i), columns.text)
    row = block.data[block.starts[i] : block.ends[i]].data
    before = [json.loads(str(row[start:end], "utf-8")) for start, end in spans]
    compared = before.copy() if len(before) > 1 else [None]  # the only text of a changed row differs
    after = rewrite(block.row + i, before)
    del before
    parts = [
        (*span, _string_in(text, block.encoding.name))
        for span, text, old in zip(spans, after, compared, strict=True)
        if text != old
    ]
    return with_parts(block, i, parts)


def _string_in(text: str, encoding: str) -> bytes:
    """A JSON string, in UTF-8, for storage in another encoding; characters that the encoding lacks are escaped."""
    string = quote(text)
    if encoding != UTF_8:
        try:
            string.encode(encoding)
        except UnicodeEncodeError:
            return json.dumps(text).encode()
    return string.encode()


def annotate(shard: Shard, added: Any, sink: Any, *, keep: Array) -> None:
    """See `Format.annotate`; the columns become the last keys of each object."""
    demand_format(shard, sink)
    for block in read_lines(shard, expected=len(keep)):
        rows = np.flatnonzero(mask_of(shard, keep, block))
        if not len(rows):
            continue
        begin(shard, sink, block)
        data = block.data.tobytes()
        names = [name for name in added.column_names if quote(name).encode() in data]
        written: list[bytes] = []
        members = json_members(added.take(block.row + rows))
        for row, start, end, more in zip(rows, block.starts[rows], block.ends[rows], members, strict=True):
            line = data[start:end]
            if names or not line.rstrip(BLANK).endswith(b"}"):
                _demand_object_without(names, line, shard, int(block.row + row))
            if block.encoding.is_utf8:
                written += _with_members(line, more)
                written.append(data[end : end + 1])  # the newline
            else:
                written.append(_stored_with_members(block, int(row), line, more))
        sink.write(b"".join(written), block.encoding.newline)


def begin(shard: Shard, sink: Any, block: Lines) -> None:
    """Write the byte order mark for UTF-16 and UTF-32, which cannot be read without it; other encodings do better without."""
    encoding = block.encoding
    sink.begin(shard, (encoding.name,), mark=encoding.mark if len(encoding.newline) > 1 else b"")


def _demand_object_without(names: Sequence[str], line: bytes, shard: Shard, row: int) -> None:
    try:
        keys = {key for key, _ in parse_object(line)}
    except BadRow as reason:
        raise DataError(f"{shard.name}, row {row}: columns cannot be added: {reason}. Mend the row.") from None
    demand_new(shard.name, names, keys)


def _stored_with_members(block: Lines, row: int, line: bytes, members: bytes) -> bytes:
    """Like `_with_members`, but as stored and with the newline; the members are ASCII, which nearly all encodings contain."""
    name, stored = block.encoding.name, block.stored(row)
    brace = len(line.rstrip(BLANK)) - 1
    end = len(stored) - len(line[brace:].decode().encode(name))
    if stored.endswith(block.encoding.newline):
        end -= len(block.encoding.newline)
    comma = "" if line[:brace].rstrip(BLANK).endswith(b"{") else ","
    ascii_members = json.dumps(json.loads(b"{" + members + b"}"))[1:-1]
    return stored[:end] + (comma + ascii_members).encode(name) + stored[end:]


def _with_members(line: bytes, members: bytes) -> tuple[bytes, ...]:
    """The line with further members before the closing brace of its object."""
    brace = len(line.rstrip(BLANK)) - 1
    empty = line[:brace].rstrip(BLANK).endswith(b"{")
    return line[:brace], b"" if empty else b",", members, line[brace:]
