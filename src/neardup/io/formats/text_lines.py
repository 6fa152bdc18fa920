"""Text files with one document per line. The output keeps every byte of the lines that are kept.

`neardup.io.formats.lines` defines rows: lines that are not blank. `neardup.io.formats.table.Format` states the guarantees of the
functions here.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.io.corpora.batch import Batch, Columns, Part, Rejections
from neardup.io.corpora.shard import Shard
from neardup.io.formats import jsonl, text_files
from neardup.io.formats.json.json_values import default_ids, is_utf8, only, spread
from neardup.io.formats.lines import Lines, mask_of, read_lines
from neardup.io.formats.text_sink import TextSink, with_parts, write_changed
from neardup.io.storage.refusals import demand_format
from neardup.kernels.io.delimited import WHOLE, unfold_fields

_RETURN = ord("\r")

Sink = partial(TextSink, "lines")
check, annotate = text_files.check, text_files.annotate  # there are no columns; the text is the whole line
check_together, copy = jsonl.check_together, jsonl.copy


def parts(shard: Shard, columns: Columns, wanted: Array | None = None) -> Iterator[Part]:
    """See `Format.parts`."""
    for block in read_lines(shard):
        yield partial(
            read_block, shard, len(columns.values), block, None if wanted is None else mask_of(shard, wanted, block)
        )


def replace(
    shard: Shard,
    columns: Columns,  # noqa: ARG001
    rewrite: Callable[[int, list[str]], list[str]],
    sink: Any,
    *,
    keep: Array,
    changed: Array,
) -> None:
    """See `Rewritable.replace`; the end of the line stays."""
    demand_format(shard, sink)
    for block in read_lines(shard):
        jsonl.begin(shard, sink, block)
        kept, new = mask_of(shard, keep, block), mask_of(shard, changed, block)
        write_changed(block, sink, kept, new, partial(_with_text, block, rewrite))


def _with_text(block: Lines, rewrite: Callable[[int, list[str]], list[str]], i: int) -> bytes:
    """Row i as stored, with its newline, but with a new text from `rewrite`."""
    line = block.line(i).removesuffix(b"\r")
    [new] = rewrite(block.row + i, [line.decode()])
    return with_parts(block, i, [(0, len(line), new.encode())])


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
        for i, reason in lines.not_utf8(rows):
            usable[i] = False
            reasons.setdefault(int(rows[i]), reason)
    columns = [only(texts, usable), only(default_ids(shard.name, lines.row + rows), usable)]
    texts, ids = spread(columns, rows, len(lines))
    nulls = (pa.nulls(len(lines), pa.large_string()),) * values
    return Batch(lines.row, texts, ids, nulls), [(lines.row + row, reasons[row]) for row in sorted(reasons)]
