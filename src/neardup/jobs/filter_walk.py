"""FILTER, block by block: read lines, fingerprint them, decide each document, and write it to the output or the audit."""

import contextlib
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.errors import InputError, RowError
from neardup.fingerprints.simhash import Fingerprints, fingerprint_chunks
from neardup.hamming.index.labels import labels_of
from neardup.io.batch import BATCH_BYTES, Batch, Rejections
from neardup.io.formats.lines import Lines
from neardup.io.line_rows import after_rows, block_reader, line_rows
from neardup.io.reading import Reading
from neardup.io.shard import Shard
from neardup.io.storage.encodings import Encoding
from neardup.progress import Progress
from neardup.resources.threads import in_order
from neardup.survivors.audit import filter_lines
from neardup.survivors.outcomes import FilterOutcomes
from neardup.survivors.stream import Stream
from neardup.text.columns import in_chunks

COMMIT_ROWS = 1 << 17
COMMIT_SECONDS = 10.0
"""Maximum work, in documents and in seconds, that is repeated after a crash."""
BLOCK_BYTES = BATCH_BYTES


@dataclass(kw_only=True)
class FilterCounts:
    """The counts of a run so far; see `FilterResult`."""

    rows: int = 0
    passed: int = 0
    duplicates: int = 0
    rejected: int = 0


@dataclass(frozen=True)
class _Block:
    """Rows of a shard, with their texts, rejections and fingerprints."""

    shard: Shard
    lines: Lines
    batch: Batch
    rejections: Rejections
    rows: Any
    prints: Fingerprints


class FilterWalk:
    """Reads documents in order, decides each one, and writes it to the output or the audit.

    Attributes:
        counts: the rows so far.
        missing: the newline that the last line passed on lacks, and that comes before the next one.
        is_inside: whether a block is half decided, or the index half saved.
    """

    def __init__(
        self, stream: Stream, shards: Sequence[Shard], how: Reading, on_error: str, threads: int, progress: Progress
    ) -> None:
        self.stream, self.progress, self.counts = stream, progress, FilterCounts()
        self.is_inside = False
        self._shards, self._on_error, self._threads = shards, on_error, threads
        self._read = block_reader(how.columns())
        self._since, self._rows = time.monotonic(), 0
        self.missing = b""
        self._encoding: tuple[str, Encoding] | None = None

    @property
    def is_time(self) -> bool:
        """Whether it is time to commit."""
        return (
            self.counts.rows - self._rows >= COMMIT_ROWS or time.monotonic() - self._since >= COMMIT_SECONDS
        ) and self.counts.rows > self._rows

    def begin_after(self, counts: FilterCounts, *, missing: bytes = b"") -> None:
        """Begin after the rows that an interrupted run has decided."""
        self.counts, self.missing = counts, missing

    @contextlib.contextmanager
    def saving(self) -> Iterator[None]:
        """Around the work that saves everything up to here; stays `is_inside` if it fails."""
        self.is_inside = True
        yield
        self._since, self._rows = time.monotonic(), self.counts.rows
        self.is_inside = False

    def _fingerprinted(self, found: tuple[Shard, Lines]) -> _Block:
        shard, lines = found
        batch, rejections = self._read(shard, lines)
        present = batch.texts.is_valid()
        prints = fingerprint_chunks(in_chunks(batch.texts.filter(present)), self.stream.recipe)
        return _Block(shard, lines, batch, rejections, np.flatnonzero(present.to_numpy(zero_copy_only=False)), prints)

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
                    yield shard, after_rows(lines, max(0, left))
            before += last

    def blocks(self, out: Any, audit: Any, rejects: Any) -> Iterator[None]:
        """Decide and write the rows that are left, block by block; yields after each block."""
        last, position = None, 0
        for block in in_order(self._fingerprinted, self._lines(self.counts.rows), self._threads):
            self.is_inside = True
            if last is not block.shard:
                last, position = block.shard, 0
                self._begin(out, block.lines.encoding, block.shard)
            if block.rejections and self._on_error == "stop":
                row, reason = block.rejections[0]
                self.is_inside = False
                raise RowError(block.shard.name, row, reason)
            self._decide(block, out, audit, rejects)
            self.progress.read(max(0, block.lines.position - position))
            position = max(position, block.lines.position)
            self.is_inside = False
            yield

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

    def _decide(self, block: _Block, out: Any, audit: Any, rejects: Any) -> None:
        strings = self.stream.index.has_strings is not False
        tokens = block.batch.ids.take(pa.array(block.rows))
        found = self.stream.add_fingerprints(labels_of(tokens, strings=strings), block.prints)
        new = np.array([match is None for match in found], np.bool_)
        for run in block.lines.runs(block.rows[new]):
            self._pass(out, run, block.lines.encoding.newline)
        if audit is not None:
            places = np.flatnonzero(~new)
            matches = [match for match in found if match is not None]
            outcomes = FilterOutcomes(
                ids=tokens.take(pa.array(places)),
                rows=self.counts.rows + block.rows[places],
                matched=[match.id for match in matches],
                distances=np.array([match.distance for match in matches], np.int64),
            )
            audit.write("".join(filter_lines(outcomes)).encode())
        for row, reason in block.rejections:
            line = {"file": block.shard.name, "row": row, "reason": reason}
            rejects.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        self.counts.rows += len(block.lines)
        self.counts.passed += int(new.sum())
        self.counts.duplicates += int((~new).sum())
        self.counts.rejected += len(block.rejections)
        self.progress.advance(len(block.lines))

    def _pass(self, out: Any, run: memoryview, newline: bytes) -> None:
        if self.missing:
            out.write(self.missing)
        out.write(run)
        self.missing = newline if bytes(run[-len(newline) :]) != newline else b""
