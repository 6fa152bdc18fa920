"""Text files: one document per file, whose id is its relative path. A survivor becomes the same file; other documents get no file.

`neardup.io.formats.table.Format` states the guarantees of the functions here; `part_of_files` reads many files at a time.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from neardup.arrays import Array
from neardup.errors import InputError
from neardup.io.corpora.batch import Batch, Columns, Part, Rejections
from neardup.io.corpora.shard import Shard
from neardup.io.formats.json.json_values import quote
from neardup.io.formats.lines import too_long
from neardup.io.storage.compression import open_for_reading, open_for_writing
from neardup.io.storage.encodings import encoding_of
from neardup.io.storage.places import copy_file, name_as_text
from neardup.io.storage.refusals import demand_format, no_columns

_TEXT = pa.large_string()


class Sink:
    """Writes one text file."""

    format = "txt"

    def __init__(self, path: Path, compression: str, _: Sequence[Shard] = ()) -> None:
        self.path, self.compression = path, compression
        self._first = ""

    def begin(self, shard: Shard) -> None:
        """Prepare for the document of `shard`, the only one."""
        demand_format(shard, self)
        if self._first:
            raise _one_each(self._first, shard.name)
        self._first = shard.name

    def close(self) -> None:
        """Do nothing: no file stays open between calls."""

    def __enter__(self) -> "Sink":
        return self

    def __exit__(self, *_: object) -> None:
        return


def check(shard: Shard, columns: Columns, added: Sequence[str] = ()) -> None:
    """See `Format.check`: there are no columns, so none can be requested or added; the text is the whole file."""
    if columns.id is not None or columns.values or added:
        raise no_columns(shard.name, [*([columns.id] if columns.id else []), *columns.values], added)


def check_together(shards: Sequence[Shard]) -> None:
    """See `Format.check_together`; each document keeps a file of its own."""
    if len(shards) > 1:
        raise _one_each(shards[0].name, shards[1].name)


def _one_each(first: str, second: str) -> InputError:
    return InputError(
        f"{first} and {second} are one document each, and would be one in one file. "
        "Name a folder (OUT/) as the output; or pass `lines=True`, if each line is a document."
    )


def parts(shard: Shard, columns: Columns, wanted: Array | None = None) -> Iterator[Part]:
    """See `Format.parts`."""
    yield part_of_files([shard], columns, wanted)


def part_of_files(shards: Sequence[Shard], columns: Columns, wanted: Array | None = None) -> Part:
    """Several shards as one part: row i is shard i; the batch starts at row 0."""
    return partial(_read, shards, len(columns.values), wanted)


def _read(shards: Sequence[Shard], values: int, wanted: Array | None) -> tuple[Batch, Rejections]:
    texts: list[str | None] = []
    rejections: Rejections = []
    for i, shard in enumerate(shards):
        text, reason = (None, None) if wanted is not None and not wanted[i] else _text(shard)
        texts.append(text)
        if reason:
            rejections.append((i, reason))
    ids = [None if text is None else file_id(shard) for text, shard in zip(texts, shards, strict=True)]
    nulls = (pa.nulls(len(shards), _TEXT),) * values
    return Batch(0, pa.array(texts, _TEXT), pa.array(ids, _TEXT), nulls), rejections


def file_id(shard: Shard) -> str:
    """The id of a file's document, as a JSON value."""
    return quote(name_as_text(shard.relative))


def content(shard: Shard) -> bytes | None:
    """All bytes of a file, decompressed; None if they exceed the limit for a document.

    Raises:
        InputError: it cannot be opened.
        DataError: it is damaged, or has changed since it was found.
    """
    shard.check_unchanged()
    with open_for_reading(shard.path, shard.compression, name=shard.name) as file:
        data = file.read(shard.max_document_bytes + 1)
    if len(data) > shard.max_document_bytes:
        return None
    if shard.compression == "plain" and len(data) != shard.size:
        raise shard.changed()
    return data


def _text(shard: Shard) -> tuple[str | None, str | None]:
    """The text of a file, or the reason why there is none."""
    data = content(shard)
    if data is None:
        return None, too_long(shard)
    encoding = encoding_of(data[:4], shard.encoding, shard.name)
    try:
        return data[len(encoding.mark) :].decode(encoding.name), None
    except UnicodeDecodeError as error:
        return None, f"it is not {encoding.name}: {error.reason} (byte {error.start})"


def copy(shard: Shard, keep: Array, sink: Any) -> None:
    """See `Format.copy`."""
    if len(keep) != 1:
        raise shard.changed()
    if not keep[0]:
        return
    sink.begin(shard)
    shard.check_unchanged()
    if sink.compression == shard.compression:
        copy_file(shard.path, sink.path)
    else:
        with (
            open_for_reading(shard.path, shard.compression, name=shard.name) as file,
            open_for_writing(sink.path, sink.compression) as out,
        ):
            shutil.copyfileobj(file, out, 1 << 20)
    shard.check_unchanged()


def replace(
    shard: Shard,
    columns: Columns,  # noqa: ARG001
    rewrite: Callable[[int, list[str]], list[str]],
    sink: Any,
    *,
    keep: Array,
    changed: Array,
) -> None:
    """See `Rewritable.replace`; a changed text is written in the encoding of the file, with its byte order mark."""
    if len(keep) != 1 or not (keep[0] and changed[0]):
        copy(shard, keep, sink)
        return
    sink.begin(shard)
    data, (text, _) = content(shard), _text(shard)
    if data is None or text is None:
        raise shard.changed()
    encoding = encoding_of(data[:4], shard.encoding, shard.name)
    [left] = rewrite(0, [text])
    with open_for_writing(sink.path, sink.compression) as out:
        out.write(encoding.mark + left.encode(encoding.name))


def annotate(shard: Shard, added: Any, sink: Any, *, keep: Array) -> None:  # noqa: ARG001
    """See `Format.annotate`; refused, because there are no columns."""
    raise no_columns(shard.name, [], added.column_names)
