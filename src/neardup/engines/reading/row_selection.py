"""ROW SELECTION: which documents a later reading of the input needs, as a bit for each row of each part."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.packing import ints
from neardup.engines.reading.documents import numbered
from neardup.engines.schemas import MARKS, rows_of
from neardup.engines.stages import Found, Part, Stage
from neardup.errors import DataError

CODEC = "zstd"
MAX_MARK_BYTES = 1 << 28
"""Of marks, compressed, which every task gets: a bit for each row if they do not compress, so enough for 2^31 rows."""


class Marks:
    """Marked documents. Travels compressed."""

    def __init__(self, parts: Mapping[int, bytes]) -> None:
        self._parts = dict(parts)

    @cached_property
    def bytes(self) -> int:
        """Bytes that travel to every task."""
        return sum(map(len, self._parts.values()))

    def of(self, part: int, rows: Array) -> Array:
        """bool[n]: whether rows (int64[n]) of a part are marked."""
        return _flags(self.bits(part), rows)

    def only(self, parts: Iterable[int]) -> "Marks":
        """Those of some parts."""
        return Marks({part: self._parts[part] for part in parts if part in self._parts})

    def bits(self, part: int) -> Array:
        """uint8[m]: 1 for each marked row of a part; those behind the last are not."""
        content = self._parts.get(part)
        if content is None:
            return np.empty(0, np.uint8)
        size = int.from_bytes(content[:8], "little")
        return np.unpackbits(np.frombuffer(pa.decompress(content[8:], size, CODEC), np.uint8), bitorder="little")


def _flags(bits: Array, rows: Array) -> Array:
    inside = rows < len(bits)
    found = np.zeros(len(rows), np.bool_)
    found[inside] = bits[rows[inside]] > 0
    return found


def flags_of(bits: Mapping[int, Array], part: Array, row: Array) -> Array:
    """bool[n]: whether rows of parts are marked, where rows of a part are together."""
    found = [np.zeros(0, np.bool_)]
    for begin, end in pairwise(np.flatnonzero(np.diff(part, prepend=-1, append=-1))):
        found.append(_flags(bits[int(part[begin])], row[begin:end]))
    return np.concatenate(found)


def find(marked: pa.Table) -> Found:
    """The bits of the parts."""
    if not len(marked):
        return
    part, row = ints(marked, "part", "row")
    edges = np.flatnonzero(np.diff(part, prepend=-1))
    bits = []
    for rows in np.split(row, edges[1:]):
        flags = np.zeros(int(rows.max(initial=-1)) + 1, np.uint8)
        flags[rows] = 1
        content = np.packbits(flags, bitorder="little").tobytes()
        bits.append(len(content).to_bytes(8, "little") + pa.compress(content, CODEC, asbytes=True))
    yield "marks", pa.table([part[edges], bits], MARKS.schema)


STAGE = Stage("marks", find, {"marks": MARKS})


def marks_in(collected: pa.Table, *, max_bytes: int = MAX_MARK_BYTES) -> Marks:
    """Of the rows that the stage gave.

    Raises:
        DataError: they are too large to travel to every task.
    """
    found = Marks(dict(zip(collected.column("part").to_pylist(), collected.column("bits").to_pylist(), strict=True)))
    if found.bytes > max_bytes:
        raise DataError(
            f"The marks of documents that are read again take {found.bytes:,} bytes; at most {max_bytes:,} can travel to every "
            "task. Divide the documents, and use `against=`."
        )
    return found


def marked_rows(part: Part, *marks: Marks) -> Iterator[tuple[Array, pa.RecordBatch, list[Array]]]:
    """The documents of a part that have any of these marks (int64[n]), their rows, and bool[n] for each of the marks."""
    numbers = [number for _, number in part.runs] or [part.number]
    bits = [{number: each.bits(number) for number in numbers} for each in marks]
    for batch, docs in numbered(part):
        flags = [flags_of(each, *rows_of(docs)) for each in bits]
        wanted = np.flatnonzero(np.any(flags, axis=0))
        if len(wanted) == len(docs) > 0:
            yield docs, batch, flags  # taken, long texts would be copied
        elif len(wanted):
            yield docs[wanted], batch.take(wanted), [each[wanted] for each in flags]
