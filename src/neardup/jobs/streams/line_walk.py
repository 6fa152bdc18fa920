"""WALK through inputs of lines, block by block: read documents in order, pass some of them on, and set unreadable rows aside."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from neardup.arrays import Array
from neardup.errors import InputError
from neardup.io.checks.readable_rows import ReadableRows
from neardup.io.corpora.batch import BATCH_BYTES, Batch, Rejections
from neardup.io.corpora.file_corpus import row_error
from neardup.io.corpora.reading import Reading
from neardup.io.corpora.shard import Shard
from neardup.io.formats.lines import Lines
from neardup.io.line_rows import block_reader, line_rows
from neardup.io.storage.encodings import Encoding
from neardup.progress import Progress
from neardup.resources.threads import in_order
from neardup.text.scripts import FirstTexts

BLOCK_BYTES = BATCH_BYTES

Prepared = TypeVar("Prepared")


@dataclass(kw_only=True)
class FilterCounts:
    """The counts of a run so far; see `FilterResult`."""

    rows: int = 0
    passed: int = 0
    duplicates: int = 0
    rejected: int = 0


@dataclass(frozen=True, slots=True)
class Sinks:
    """Where lines go: those that pass, the audit, and the rejects; None for a file that is not written."""

    out: Any
    audit: Any = None
    rejects: Any = None


@dataclass(frozen=True, slots=True)
class Block(Generic[Prepared]):
    """Rows of a shard: their lines, their texts and ids, the rows that hold documents (int64[n]), and what was made of these."""

    shard: Shard
    lines: Lines
    batch: Batch
    rejections: Rejections
    rows: Array
    made: Prepared


class LineWalk(ABC, Generic[Prepared]):
    """Reads documents in order, decides each one, and writes it to the output or the audit.

    Attributes:
        counts: the rows so far.
        missing: the newline that the last line passed on lacks, and that comes before the next one.
        is_inside: whether a block is half decided.
        first_texts: sees the texts, if what remembers them is new.
    """

    def __init__(
        self,
        shards: Sequence[Shard],
        how: Reading,
        on_error: str,
        threads: int,
        progress: Progress,
        *,
        values: Sequence[str] = (),
    ) -> None:
        """`values`: further columns to read."""
        self.progress, self.counts = progress, FilterCounts()
        self.missing, self.is_inside = b"", False
        self.first_texts: FirstTexts | None = None
        self._shards, self._on_error, self._threads = shards, on_error, threads
        self._read = block_reader(how.columns(values))
        self._encoding: tuple[str, Encoding] | None = None

    def begin_after(self, counts: FilterCounts, *, missing: bytes = b"") -> None:
        """Begin after the rows that an interrupted run has decided."""
        self.counts, self.missing = counts, missing

    @abstractmethod
    def prepare(self, batch: Batch, present: Any) -> Prepared:
        """What is made of documents before they are decided, on any thread; `present`: Arrow bool[rows], where a row is one."""

    @abstractmethod
    def decide(self, block: Block[Prepared], sinks: Sinks) -> None:
        """Decide the documents of a block, write their lines, and count them."""

    def blocks(self, sinks: Sinks) -> Iterator[None]:
        """Decide and write the rows that are left, block by block; yields after each block."""
        last, position = None, 0
        readable = ReadableRows() if self.counts.rows == self.counts.rejected else None
        for block in in_order(self._block, self._lines(self.counts.rows), self._threads):
            self.is_inside = True
            if last is not block.shard:
                last, position = block.shard, 0
                self._begin(sinks.out, block.lines.encoding, block.shard)
            if block.rejections and self._on_error == "stop":
                row, reason = block.rejections[0]
                self.is_inside = False
                raise row_error(block.shard, row, reason)
            if readable is not None:
                self._count(readable, block)
            self.decide(block, sinks)
            self.progress.read(max(0, block.lines.position - position))
            position = max(position, block.lines.position)
            self.is_inside = False
            if self.first_texts is not None:
                self.first_texts.look(block.batch.texts)
            yield
        if self.first_texts is not None:
            self.first_texts.end()
        if readable is not None:
            readable.demand_one()

    def _count(self, readable: ReadableRows, block: Block[Prepared]) -> None:
        """Stop before anything is decided if no row can be read."""
        self.is_inside = False
        readable.count([block.shard], len(block.lines), block.rejections)
        self.is_inside = True

    def pass_on(self, block: Block[Prepared], rows: Array, out: Any) -> None:
        """Write the lines of some rows of a block (int64[n], ascending), byte for byte."""
        newline = block.lines.encoding.newline
        for run in block.lines.runs(rows):
            if self.missing:
                out.write(self.missing)
            out.write(run)
            self.missing = newline if bytes(run[-len(newline) :]) != newline else b""

    def _block(self, found: tuple[Shard, Lines]) -> Block[Prepared]:
        shard, lines = found
        batch, rejections = self._read(shard, lines)
        present = batch.texts.is_valid()
        rows = np.flatnonzero(present.to_numpy(zero_copy_only=False))
        return Block(shard, lines, batch, rejections, rows, self.prepare(batch, present))

    def _lines(self, done: int) -> Iterator[tuple[Shard, Lines]]:
        """All blocks after the first `done` rows."""
        self.progress.expect(sum(shard.size for shard in self._shards))
        before = 0
        for shard in self._shards:
            last = 0
            for lines in line_rows(shard, BLOCK_BYTES):
                last = lines.row + len(lines)
                left = done - before - lines.row
                if left < len(lines):
                    yield shard, lines.after(max(0, left))
            before += last

    def _begin(self, out: Any, encoding: Encoding, shard: Shard) -> None:
        if self._encoding is None:
            self._encoding = shard.name, encoding
            if len(encoding.newline) > 1 and not self.counts.rows:
                out.write(encoding.mark)
        elif self._encoding[1].name != encoding.name:
            raise InputError(
                f"{self._encoding[0]} is {self._encoding[1].name}, {shard.name} {encoding.name}: they cannot be passed on as one. "
                "Convert one of them."
            )


def write_rejects(shard: Shard, rejections: Rejections, rejects: Any) -> None:
    """Write rows that cannot be read to the file of rejects."""
    for row, reason in rejections:
        line = {"file": shard.name, "row": row, "reason": reason}
        rejects.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
