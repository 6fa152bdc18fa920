"""PACKING: rows on their way to buckets. What travels is a compressed run of bytes for each, so engines move few values."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.columns import ascending
from neardup.engines.stages import Found, Output
from neardup.kernels.store.postings import MIX

PIECE_BYTES = 1 << 25
"""Bytes of rows that are packed together."""
SIZE_BYTES = 8
"""Before a packed batch, for its size when unpacked."""
WORD = 8
"""Bytes of the words in which Arrow writes."""
_NUMBERS, _TEXTS = pa.Codec("zstd", 1), pa.Codec("zstd", 3)
"""Texts take 20 % fewer bytes than with level 1, and numbers 5 %."""


class Packed(NamedTuple):
    """Rows for a bucket.

    Attributes:
        bucket: its number.
        rows: how many there are.
        content: the rows, of one output.
    """

    bucket: int
    rows: int
    content: bytes


def ints(table: pa.Table, *names: str) -> list[Array]:
    """Columns of int64 without nulls."""
    return [table.column(name).to_numpy() for name in names]


def with_columns(table: pa.Table, **columns: Any) -> pa.Table:
    """A table with more columns: arrays of NumPy or Arrow."""
    for name, column in columns.items():
        table = table.append_column(name, pa.array(column) if isinstance(column, np.ndarray) else column)
    return table


def rows_of_docs(table: pa.Table, docs: Array) -> pa.Table:
    """The rows of documents (int64[n]) in a table that ascends by `doc` and has them all."""
    return table.take(np.searchsorted(table.column("doc").to_numpy(), docs))


def mixed(*columns: Array) -> Array:
    """uint64[n]: hashes of rows of int64. Sorted by them, equal rows are neighbors; and, but for chance, no others come between."""
    found = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        found = (found ^ column.view(np.uint64)) * MIX
        found ^= found >> np.uint64(32)
    return found


def buckets_of(table: pa.Table, key: Sequence[str], buckets: int) -> Array:
    """int64[n]: the bucket of each row. Rows with equal keys have the same."""
    nothing = np.zeros(len(table), np.int64)  # mixed once more at the end: keys may differ in high bits alone
    return (mixed(*ints(table, *key), nothing) % np.uint64(buckets)).astype(np.int64)


def pack(table: pa.Table, output: Output, buckets: int) -> Iterator[Packed]:
    """Rows of an output for the buckets to which they go."""
    if not len(table):
        return
    of = buckets_of(table, output.key, buckets)
    order = np.argsort(of.astype(np.uint16), kind="stable")  # numpy sorts these by radix
    (rows,) = table.take(order).combine_chunks().to_batches()
    edges = np.searchsorted(of[order], np.arange(buckets + 1))
    for bucket in np.unique(of).tolist():
        first, last = int(edges[bucket]), int(edges[bucket + 1])
        yield Packed(bucket, last - first, _written(rows.slice(first, last - first), is_text=output.is_text))


def pack_all(
    found: Found, outputs: Mapping[str, Output], buckets: int, *, piece_bytes: int = PIECE_BYTES
) -> Iterator[tuple[str, Packed]]:
    """All that a stage yields, by output, packed in pieces of about so many bytes of rows."""
    waiting: dict[str, list[pa.Table]] = {}
    sizes: dict[str, int] = {}
    for name, table in found:
        waiting.setdefault(name, []).append(table)
        sizes[name] = sizes.get(name, 0) + table.nbytes
        if sizes[name] >= piece_bytes:
            yield from _packed(name, waiting.pop(name), outputs, buckets)
            sizes[name] = 0
    for name, tables in waiting.items():
        yield from _packed(name, tables, outputs, buckets)


def _packed(
    name: str, tables: list[pa.Table], outputs: Mapping[str, Output], buckets: int
) -> Iterator[tuple[str, Packed]]:
    output, table = outputs[name], pa.concat_tables(tables)
    if table.schema != output.schema:  # rows travel without it
        raise TypeError(f"{name}: {table.schema} is not {output.schema}")
    for packed in pack(table, output, buckets if output.key else 1):
        yield name, packed


def unpack(contents: Sequence[bytes], output: Output) -> pa.Table:
    """The rows of one bucket, ascending by their key, if they are to be sorted."""
    table = unsorted(contents, output)
    if not output.key or not output.is_sorted or not len(table):
        return table
    order = ascending(*ints(table, *output.key))
    return table.take(order).combine_chunks()


def unsorted(contents: Sequence[bytes], output: Output) -> pa.Table:
    """The rows of one bucket, in no order."""
    batches = [_read(content, output) for content in contents]
    return pa.Table.from_batches(batches, output.schema).combine_chunks()


def _written(batch: pa.RecordBatch, *, is_text: bool) -> bytes:
    """A batch without its schema, which the output tells: its size, and then one frame of zstd.

    Most batches are small: Arrow's own compression, of each buffer, takes 4 to 8 times as long for 25 rows, and twice the bytes.
    Of numbers, the first bytes of all words of eight are put together, then the second ones, and so on: high bytes are often equal.
    """
    content = np.frombuffer(batch.serialize(), np.uint8)
    planes = content if is_text else np.ascontiguousarray(content.reshape(-1, WORD).T)
    packed: bytes = (_TEXTS if is_text else _NUMBERS).compress(planes, asbytes=True)
    return content.size.to_bytes(SIZE_BYTES, "little") + packed


def _read(packed: bytes, output: Output) -> pa.RecordBatch:
    size = int.from_bytes(packed[:SIZE_BYTES], "little")
    content = _NUMBERS.decompress(memoryview(packed)[SIZE_BYTES:], size)
    if not output.is_text:
        content = pa.py_buffer(np.ascontiguousarray(np.frombuffer(content, np.uint8).reshape(WORD, -1).T))
    return pa.ipc.read_record_batch(content, output.schema)
