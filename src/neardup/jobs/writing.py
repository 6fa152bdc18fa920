"""WRITE: the rows of shards, as decisions say: survivors alone, or all with more columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from neardup.arrays import Array
from neardup.io.formats.table import FILES, FORMATS, Sink, open_sink
from neardup.io.outputs import Outputs
from neardup.io.records import compression_of
from neardup.io.shard import Shard
from neardup.io.storage.places import Place
from neardup.progress import Progress
from neardup.resources.threads import in_order, thread_count
from neardup.survivors.annotations import annotations
from neardup.survivors.decisions import Decisions


class ShardWriter(Protocol):
    """What becomes of the rows of each shard, known by its number."""

    @property
    def shards(self) -> Sequence[Shard]:
        """All of them."""
        ...

    @property
    def rows(self) -> Sequence[slice]:
        """Which rows are each shard's own."""
        ...

    def keeps_any(self, number: int) -> bool:
        """Whether a row of the shard stays."""
        ...

    def write(self, number: int, sink: Sink) -> None:
        """Write what stays of the shard; from any thread, each sink from one."""
        ...


def write_shards(
    writer: ShardWriter, paths: Sequence[Place], outputs: Outputs, *, threads: int | None, progress: Progress
) -> None:
    """Write each shard to its path; shards with one path share its sink, others are written at the same time."""
    shards, rows = writer.shards, writer.rows
    progress.expect(sum(shard.size for shard in shards))
    numbers: dict[Place, list[int]] = {}
    for number, path in enumerate(paths):
        numbers.setdefault(path, []).append(number)

    def write(task: tuple[Place, list[int]]) -> list[int]:
        path, together = task
        kind = shards[together[0]].format
        if kind in FILES and not writer.keeps_any(together[0]):
            outputs.leave_out(path)  # a document that is removed is a file less
        elif not outputs.is_finished(path):
            with open_sink(outputs.claim(path), kind, compression_of(path)) as sink:
                for number in together:
                    writer.write(number, sink)
            outputs.finish(path)
        return together

    for together in in_order(write, numbers.items(), thread_count(threads)):
        for number in together:
            progress.read(shards[number].size)
            progress.advance(rows[number].stop - rows[number].start)


@dataclass(frozen=True, slots=True)
class DecidedRows:
    """Rows that stay as they were; see `ShardWriter`.

    Attributes:
        shards, rows: each shard, and which rows of `decisions` are its own.
        decisions, ids, valid: by row; Arrow large_string[rows], each a JSON value; bool[rows], which are documents.
        annotate: all documents are written, with more columns; else survivors alone.
    """

    shards: Sequence[Shard]
    rows: Sequence[slice]
    decisions: Decisions
    ids: Any
    valid: Array
    annotate: bool

    def _kept(self, number: int) -> Array:
        """bool: of this shard's rows alone, for there may be many shards."""
        rows = self.rows[number]
        found: Array = self.decisions.survivor[rows] == np.arange(rows.start, rows.stop)
        return found

    def keeps_any(self, number: int) -> bool:
        """See `ShardWriter`."""
        return bool(self._kept(number).any())

    def write(self, number: int, sink: Sink) -> None:
        """See `ShardWriter`."""
        shard, rows = self.shards[number], self.rows[number]
        if self.annotate:
            added = annotations(self.decisions, self.ids, rows)
            FORMATS[shard.format].annotate(shard, added, sink, keep=self.valid[rows])
        else:
            FORMATS[shard.format].copy(shard, self._kept(number), sink)
