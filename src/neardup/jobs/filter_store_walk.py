"""FILTER by a store: decide documents by similarity, and write them before they are remembered, both or neither."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.io.batch import Batch
from neardup.io.reading import Reading
from neardup.io.shard import Shard
from neardup.jobs.line_walk import Block, LineWalk, Sinks, write_rejects
from neardup.jobs.store_rows import TOGETHER, RowIds
from neardup.progress import Progress
from neardup.store.answers import StoreAnswer
from neardup.store.store import Store
from neardup.survivors.audit import filter_lines
from neardup.survivors.outcomes import FilterOutcomes


class FilterStoreWalk(LineWalk[list[str]]):
    """Decides by a store. The lines of some documents are written, then these are remembered, in one transaction of the store."""

    def __init__(
        self,
        store: Store,
        shards: Sequence[Shard],
        how: Reading,
        on_error: str,
        *,
        written: Callable[[], dict[str, Any]],
        threads: int,
        progress: Progress,
    ) -> None:
        """`written`: called when lines were written; makes them durable, or hands them over, and returns what to save with them."""
        super().__init__(shards, how, on_error, threads, progress)
        self._store, self._written, self._ids = store, written, RowIds(store.state)
        self._state = store.state or {}

    def prepare(self, batch: Batch, present: Any) -> list[str]:
        """The texts."""
        texts: list[str] = batch.texts.filter(present).to_pylist()
        return texts

    def decide(self, block: Block[list[str]], sinks: Sinks) -> None:
        """See `LineWalk`."""
        begin, count = 0, len(block.rows)
        for first in range(0, max(count, 1), TOGETHER):
            last = first + TOGETHER
            end = len(block.lines) if last >= count else int(block.rows[last])
            self._decide_rows(block, range(begin, end), slice(first, last), sinks)
            begin = end

    def _decide_rows(self, block: Block[list[str]], all_rows: range, documents: slice, sinks: Sinks) -> None:
        """Decide the documents among some rows of a block, and count these rows."""
        rows = block.rows[documents]
        tokens = block.batch.ids.take(pa.array(rows))

        def write(answers: list[StoreAnswer]) -> dict[str, Any]:
            new = np.array([answer.is_new for answer in answers], np.bool_)
            self.pass_on(block, rows[new], sinks.out)
            if sinks.audit is not None:
                at = self.counts.rows - all_rows.start + rows
                sinks.audit.write("".join(filter_lines(_outcomes(answers, tokens, at, ~new))).encode())
            first = block.lines.row
            rejections = [each for each in block.rejections if each[0] - first in all_rows]
            write_rejects(block.shard, rejections, sinks.rejects)
            self.counts.rows += len(all_rows)
            self.counts.passed += int(new.sum())
            self.counts.duplicates += int((~new).sum())
            self.counts.rejected += len(rejections)
            return self.state()

        ids = self._ids.of(tokens, block.shard, block.lines.row + rows)
        self._store.check_and_add_many(ids, block.made[documents], state=write)
        self.progress.advance(len(all_rows))

    def state(self) -> dict[str, Any]:
        """What is saved with the documents so far."""
        return self._state | self._ids.state() | self._written()


def _outcomes(answers: Sequence[StoreAnswer], tokens: Any, rows: Array, removed: Array) -> FilterOutcomes:
    """The outcomes of removed documents (bool[n]) among some with these ids, in these rows over all inputs (int64[n])."""
    places = np.flatnonzero(removed)
    found = [answers[i] for i in places.tolist()]
    firsts = [answer.matches[0] for answer in found]
    return FilterOutcomes(
        ids=tokens.take(pa.array(places)),
        rows=rows[places],
        matched=[match.id for match in firsts],
        distances=np.array([match.distance for match in firsts], np.int64),
        similarities=np.array([np.nan if match.similarity is None else match.similarity for match in firsts]),
        exact=np.array([answer.exact for answer in found], np.bool_),
    )
