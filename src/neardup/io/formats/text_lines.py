"""Text files with one document per line. The output keeps every byte of the lines that are kept.

`neardup.io.formats.lines` defines rows: lines that are not blank. `neardup.io.formats.table.Format` states the guarantees of the
functions here.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.io.corpora.batch import Batch, Columns, Part, Reject, Rejections, read_parts
from neardup.io.corpora.shard import Shard
from neardup.io.formats import jsonl
from neardup.io.formats.json.json_values import default_ids, is_utf8, only, spread
from neardup.io.formats.lines import Lines, mask_of, read_lines
from neardup.io.formats.text_sink import TextSink
from neardup.io.storage.refusals import no_columns
from neardup.kernels.io.delimited import WHOLE, unfold_fields

_RETURN = ord("\r")

check_together, copy = jsonl.check_together, jsonl.copy


class Sink(TextSink):
    """Writes lines to a file or, for the path `-`, to standard output."""

    def __init__(self, path: Path, compression: str) -> None:
        super().__init__("lines", path, compression)


def check(shard: Shard, columns: Columns, added: Sequence[str] = ()) -> None:
    """See `Format.check`: there are no columns, so none can be requested or added; the text is the whole line."""
    if columns.id is not None or columns.values or added:
        raise no_columns(shard.name, [*([columns.id] if columns.id else []), *columns.values], added)


def parts(shard: Shard, columns: Columns, wanted: Array | None = None) -> Iterator[Part]:
    """See `Format.parts`."""
    for block in read_lines(shard):
        yield partial(
            read_block, shard, len(columns.values), block, None if wanted is None else mask_of(shard, wanted, block)
        )


def read(shard: Shard, columns: Columns, *, reject: Reject, wanted: Array | None = None) -> Iterator[Batch]:
    """See `Format.read`."""
    return read_parts(parts(shard, columns, wanted), reject)


def read_block(shard: Shard, values: int, lines: Lines, wanted: Array | None) -> tuple[Batch, Rejections]:
    """The rows where `wanted` (bool[rows]; None: all) is true, with `values` null values each; and those that cannot be read."""
    rows = np.arange(len(lines)) if wanted is None else np.flatnonzero(wanted)
    starts, ends = lines.starts[rows], lines.ends[rows].copy()
    ends -= (ends > starts) & (lines.data[ends - 1] == _RETURN)  # only an overlong row is empty
    usable = np.ones(len(rows), np.bool_)
    if lines.bad:
        usable = ~np.isin(rows, list(lines.bad))
    out, offsets = np.empty(int((ends - starts)[usable].sum()), np.uint8), np.empty(len(rows) + 1, np.int64)
    kinds = np.full(len(rows), WHOLE, np.uint8)
    unfold_fields(lines.data, np.stack([starts, ends], 1), kinds, usable, -1, -1, out, offsets)
    texts = pa.LargeStringArray.from_buffers(len(rows), pa.py_buffer(offsets), pa.py_buffer(out))
    reasons = {row: lines.bad[row] for row in rows.tolist() if row in lines.bad} if lines.bad else {}
    if not is_utf8(texts):
        for i, row in enumerate(rows.tolist()):
            try:
                lines.line(row).decode()
            except UnicodeDecodeError as error:
                usable[i] = False
                reasons.setdefault(row, f"it is not UTF-8: {error.reason} (byte {error.start})")
    columns = [only(texts, usable), only(default_ids(shard.name, lines.row + rows), usable)]
    texts, ids = spread(columns, rows, len(lines))
    nulls = (pa.nulls(len(lines), pa.large_string()),) * values
    return Batch(lines.row, texts, ids, nulls), [(lines.row + row, reasons[row]) for row in sorted(reasons)]


def annotate(shard: Shard, added: Any, sink: Any, *, keep: Array) -> None:  # noqa: ARG001
    """See `Format.annotate`; refused, because there are no columns."""
    raise no_columns(shard.name, [], added.column_names)
