"""The rows of delimited text, located in the bytes but not parsed: a header, then one row per document.

A row ends with a newline that is neither quoted nor escaped; `neardup.kernels.io.delimited` defines fields. Empty lines between
rows and a byte order mark are not rows.
"""

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.errors import DataError, InputError
from neardup.io.checks.likely_encoding import encoding_advice
from neardup.io.corpora.batch import BATCH_BYTES
from neardup.io.corpora.shard import Shard
from neardup.io.dialect import Dialect
from neardup.io.formats.dialect_search import find_dialect
from neardup.io.formats.line_blocks import LineBlock, LineFile, after_line, join_blocks
from neardup.io.formats.lines import Lines, lines_of_block, overlong
from neardup.io.storage.encodings import Encoding
from neardup.kernels.io.delimited import (
    BEGIN,
    FINE,
    QUOTED,
    QUOTED_ESCAPED,
    QUOTES,
    UNQUOTED,
    find_fields,
    split_rows,
    unfold_fields,
)

_SAMPLE_BYTES = 1 << 18
_MAX_SAMPLE_BYTES = 1 << 22  # a longer row is not worth the wait for its dialect
_DELIMITERS = {"csv": ",;\t|", "tsv": "\t"}
_MARK = "\ufeff".encode()
_NOTHING = np.empty(0, np.uint8)
_NO_LINES = LineBlock(_NOTHING, np.empty(0, np.int64), _NOTHING, np.empty(0, np.int64))


@dataclass(frozen=True, slots=True)
class Header:
    """The beginning of a file.

    Attributes:
        names: the names of the columns; none if the file is empty.
        dialect: the dialect of its rows.
        stored: the header row as stored, with its newline.
        encoding: the encoding of the file.
    """

    names: tuple[str, ...]
    dialect: Dialect
    stored: bytes
    encoding: Encoding


@dataclass(frozen=True, slots=True)
class Fields:
    """Fields of some rows.

    Attributes:
        counts: int64[rows], the number of fields in each row.
        odd: uint8[rows], irregularities of the row; see `neardup.kernels.io.delimited`.
        columns: Arrow large_string[rows] for each requested column; empty where a row has too few fields or is odd.
        spans: int64[rows, columns, 2], begin and end of each of these fields in the data, without the quotes around it.
        quoted: bool[rows, columns]: the field has quotes around it.
    """

    counts: Array
    odd: Array
    columns: list[Any]
    spans: Array
    quoted: Array


def fields_of(data: Array, starts: Array, ends: Array, dialect: Dialect, wanted: list[int]) -> Fields:
    """The fields of the columns `wanted`, without quotes and escapes; the strings may not be UTF-8."""
    n, slots = len(starts), np.full(max(wanted, default=-1) + 1, -1)
    slots[wanted] = np.arange(len(wanted))
    spans, kinds = np.zeros((n, len(wanted), 2), np.int64), np.zeros((n, len(wanted)), np.uint8)
    counts, odd = np.empty(n, np.int64), np.empty(n, np.uint8)
    find_fields(data, starts, ends, *dialect.codes, slots, spans, kinds, counts, odd)
    columns, quoting = [], dialect.codes[1:]
    for i, number in enumerate(wanted):
        usable = (counts > number) & (odd == FINE)
        begin, end = spans[:, i, 0], spans[:, i, 1]
        out, offsets = np.empty(int((end - begin)[usable].sum()), np.uint8), np.empty(n + 1, np.int64)
        unfold_fields(data, spans[:, i], kinds[:, i], usable, *quoting, out, offsets)
        columns.append(pa.LargeStringArray.from_buffers(n, pa.py_buffer(offsets), pa.py_buffer(out)))
    return Fields(counts, odd, columns, spans, (kinds == UNQUOTED) | (kinds == QUOTES))


def read_header(shard: Shard) -> Header:
    """The header of a file, with its dialect: the dialect that the shard states, or the detected one.

    Raises:
        InputError: the file cannot be opened, has no clear dialect, or names a column twice.
        DataError: it is damaged, or has another encoding.
    """
    with LineFile(shard) as file:
        blocks = [_NO_LINES]
        for block in file.blocks(_SAMPLE_BYTES):
            blocks.append(block)
            if sum(len(each.data) for each in blocks) >= _SAMPLE_BYTES:
                break
        sample = join_blocks(blocks[-1:] if len(blocks) == 2 else blocks)
        complete = len(sample.data) < _SAMPLE_BYTES
        encoding = file.encoding
    if shard.dialect is not None:
        dialect = Dialect.parse(shard.dialect)
    else:
        if ord("\n") not in sample.data and ord("\r") in sample.data[:-1]:
            raise InputError(
                f"{shard.name} has carriage returns, but no newlines at the ends of its rows. Convert it: tr '\\r' '\\n'"
            )
        beginning = sample.data[:_MAX_SAMPLE_BYTES]
        dialect = find_dialect(beginning, complete=complete, delimiters=_DELIMITERS[shard.format], name=shard.name)
    ends = np.empty(len(sample.ends), np.int64)
    ends = ends[: split_rows(sample.data, BEGIN, *dialect.codes, ends)[0]]
    if complete and len(sample.data):
        ends = np.append(ends, len(sample.data)) if not len(ends) or ends[-1] + 1 < len(sample.data) else ends
    rows = next(_rows(shard, encoding, sample, ends, -1), None)
    if rows is None and not complete:
        raise InputError(f"{shard.name}: its first row does not end within {_SAMPLE_BYTES:,} bytes. Is it a header?")
    if rows is None:
        return Header((), dialect, b"", encoding)
    if 0 in rows.bad:
        advice = encoding_advice(shard, rows.bad[0])
        raise InputError(f"{shard.name}: its header cannot be read: {rows.bad[0]}. {advice}".rstrip())
    return Header(_names(shard, rows, dialect), dialect, rows.stored(0), encoding)


def _names(shard: Shard, block: Lines, dialect: Dialect) -> tuple[str, ...]:
    starts, ends = block.starts[:1], block.ends[:1]
    count = int(fields_of(block.data, starts, ends, dialect, []).counts[0])
    header = fields_of(block.data, starts, ends, dialect, list(range(count)))
    if header.odd[0] != FINE:
        raise InputError(
            f"{shard.name}: its header has a quote out of place (read with {dialect}). "
            "Mend it, or give `dialect` the delimiter, the quote and the escape character."
        )
    try:
        names = tuple(column[0].as_py() for column in header.columns)
    except UnicodeDecodeError:
        raise DataError(
            f"{shard.name}: its header is not UTF-8. {encoding_advice(shard, 'it is not utf-8').strip()}"
        ) from None
    name, times = next(iter(Counter(names).most_common(1)), ("", 0))
    if times > 1:
        raise InputError(f'{shard.name} has {times} columns "{name}". Rename all but one of them.')
    return names


def read_rows(
    shard: Shard, header: Header, size: int = BATCH_BYTES, *, expected: int | None = None
) -> Generator[Lines, None, None]:
    """All rows except the header, about `size` bytes at a time, or one row if it is longer. `expected`: the earlier number of rows.

    Raises:
        InputError: the file cannot be opened.
        DataError: it is damaged, ends inside quotes, has another encoding, or has changed since the shard was found.
    """
    shard.check_unchanged()
    total = 0
    for lines in _all_rows(shard, header.dialect, size):
        if lines.row < 0:  # that of the header
            lines = lines.after(1)
        total += len(lines)
        if len(lines):
            yield lines
    shard.check_unchanged()
    if expected not in (None, total):
        raise shard.changed()


def _all_rows(shard: Shard, dialect: Dialect, size: int) -> Generator[Lines, None, None]:
    """Rows, including the header, which has the number -1."""
    begun: list[LineBlock] = []  # parts of a row whose end is not found yet
    state, skipping, row, line, opening = BEGIN, False, -1, 1, 0
    with LineFile(shard) as file:
        for block in file.blocks(size):
            utf8 = block.raw is block.data
            ends = np.empty(len(block.ends) if utf8 else int(np.count_nonzero(block.data == ord("\n"))), np.int64)
            found, state, opened = split_rows(block.data, state, *dialect.codes, ends)
            opening = line + int(np.searchsorted(block.ends, opened, "right")) if opened >= 0 else opening
            line += len(block.ends) - block.unfinished
            ends = ends[:found]
            if skipping:  # the overlong row ends here, or continues
                if not found:
                    continue
                cut = int(ends[0]) + 1
                block = after_line(block, int(np.searchsorted(block.ends, cut)) + 1)
                ends, skipping = ends[1:] - cut, False
            begun.append(block)
            if len(ends):
                ends = ends + sum(len(part.data) for part in begun[:-1])
                block, begun = join_blocks(begun), []
                for lines in _rows(shard, file.encoding, block, ends, row):
                    row += len(lines)
                    yield replace(lines, position=file.position)
                    del lines
                begun = [after_line(block, int(np.searchsorted(block.ends, ends[-1] + 1)) + 1)]
            if block.unfinished or sum(len(part.raw) for part in begun) > shard.max_document_bytes:
                long = replace(overlong(shard, file.encoding, row), position=file.position)
                if state in (QUOTED, QUOTED_ESCAPED):
                    long.bad[0] += f"; it is so far inside quotes that open in line {opening:,}"
                yield long
                row, begun, skipping = row + 1, [], True
            del block
        if state in (QUOTED, QUOTED_ESCAPED):
            raise DataError(
                f"{shard.name} ends inside quotes that open in line {opening:,}: a quote there is not closed, or the file is cut "
                f"off, and nobody knows how many rows are lost. Mend it, or, if its fields are not quoted (it was read with "
                f"{dialect}), give the delimiter alone: `dialect={dialect.shown_delimiter!r}`."
            )
        last = join_blocks(begun or [_NO_LINES])
        if len(last.data):
            for lines in _rows(shard, file.encoding, last, np.array([len(last.data)]), row):
                yield replace(lines, position=file.position)


def _rows(shard: Shard, encoding: Encoding, block: LineBlock, ends: Array, row: int) -> Generator[Lines, None, None]:
    """Rows that end at `ends` in a block, without empty lines."""
    if not len(ends):
        return
    last = np.minimum(np.searchsorted(block.ends, ends + 1), len(block.ends) - 1)
    first = np.append(0, last[:-1] + 1)
    starts = np.append(0, block.ends)[first]
    sizes = ends - starts
    blank = (sizes == 0) | ((sizes == 1) & (block.data[np.minimum(starts, len(block.data) - 1)] == ord("\r")))
    if not blank.all():
        lines = lines_of_block(shard, encoding, block, row, first[~blank], last[~blank], ends[~blank])
        for i in np.flatnonzero(lines.data[np.minimum(lines.starts, len(lines.data) - 1)] == _MARK[0]).tolist():
            if lines.data[lines.starts[i] : lines.starts[i] + len(_MARK)].tobytes() == _MARK:
                lines.bad.setdefault(i, "it begins with a byte-order mark, as where files were joined")
        yield lines
