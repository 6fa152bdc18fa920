"""MARKS: which documents a later reading of the input needs, as a bit for each row of each part."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.documents import numbered
from neardup.engines.packing import ints
from neardup.engines.schemas import MARKS
from neardup.engines.stage import Found, Part, Stage
from neardup.engines.work import Work
from neardup.store.texts import Texts, texts_of_column

CODEC = "zstd"


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
        content = self._parts.get(part)
        if content is None:
            return np.zeros(len(rows), np.bool_)
        size = int.from_bytes(content[:8], "little")
        bits = np.unpackbits(np.frombuffer(pa.decompress(content[8:], size, CODEC), np.uint8), bitorder="little")
        inside = rows < len(bits)
        found = np.zeros(len(rows), np.bool_)
        found[inside] = bits[rows[inside]] > 0
        return found


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


def marks_in(collected: pa.Table) -> Marks:
    """Of the rows that the stage gave."""
    return Marks(dict(zip(collected.column("part").to_pylist(), collected.column("bits").to_pylist(), strict=True)))


class MarkedTexts(NamedTuple):
    """Documents of a part that are marked.

    Attributes:
        docs: int64[n].
        rows: their rows of the input.
        texts: what is made of their texts.
        flags: bool[n] for each of the marks.
    """

    docs: Array
    rows: pa.RecordBatch
    texts: Texts
    flags: list[Array]


def marked_texts(work: Work, part: Part, *marks: Marks) -> Iterator[MarkedTexts]:
    """The documents of a part that have any of these marks."""
    first = 0
    for batch, docs in numbered(part):
        numbers = np.arange(first, first + len(batch))
        first += len(batch)
        flags = [each.of(part.number, numbers) for each in marks]
        wanted = np.flatnonzero(np.any(flags, axis=0))
        if len(wanted):
            rows = batch.take(pa.array(wanted))
            texts = texts_of_column(rows.column("text"), work.recipe, work.similarity, None)
            yield MarkedTexts(docs[wanted], rows, texts, [each[wanted] for each in flags])
