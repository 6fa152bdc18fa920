"""FILTER by a store: decide documents by similarity, and write them before they are remembered, both or neither."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.io.corpora.batch import BATCH_BYTES, Batch
from neardup.io.corpora.reading import Reading
from neardup.io.corpora.shard import Shard
from neardup.io.formats.json.json_values import value_token
from neardup.jobs.store_places import first_texts_of, ids_in
from neardup.jobs.stores.store_answers import UpdateCounts, digits_as_number
from neardup.jobs.streams.filter import FilterResult
from neardup.jobs.streams.filter_run import files_of
from neardup.jobs.streams.line_walk import Block, FilterCounts, LineWalk, Sinks, write_rejects
from neardup.jobs.streams.store_rows import DOCUMENTS_AT_ONCE, MetadataColumns
from neardup.progress import Progress
from neardup.store.answers import StoreAnswer, StoreMatch
from neardup.store.record.command_state import CommandState, state_for_commands
from neardup.store.store import Store
from neardup.survivors.outcomes import FilterOutcomes
from neardup.survivors.records.audit import filter_lines, replacement_lines

CHECKS_PER_WINDOW = 100
"""How often, in the time of a window, documents are looked for that were not seen within it."""


@dataclass(kw_only=True)
class StoreFilterCounts(FilterCounts, UpdateCounts):
    """The counts of a run so far; see `FilterResult`."""

    def result(self, *, created: bool, compared_as: str | None = None) -> FilterResult:
        """The counts of a run that has ended."""
        counts = {name: value for name, value in vars(self).items() if name != "began"}
        return FilterResult(**counts, created=created, compared_as=compared_as)


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
        window: float | None = None,
        metadata: MetadataColumns,
        ttl: float | None = None,
        threads: int,
        progress: Progress,
    ) -> None:
        """`written`: called when lines were written; makes them durable, or hands them over, and returns what to save with them.
        `window`: seconds after which documents that were not seen are removed. `metadata`: what is kept with documents. `ttl`:
        seconds after which they expire.
        """
        super().__init__(shards, how, on_error, threads, progress, values=metadata.names)
        self.counts: StoreFilterCounts = StoreFilterCounts()
        self._metadata, self._ttl = metadata, ttl
        self.empty_columns = set(metadata.names)
        """Those in which no row had a value."""
        self._store, self._written, self._ids = store, written, ids_in(store)
        self._state = state_for_commands(store.state)
        self._at_once = not files_of(shards)
        self._waiting: list[_Part] = []
        self._documents = self._bytes = 0
        self._window, self._expired_at = window, 0.0
        self.first_texts = first_texts_of(store, progress)

    def prepare(self, batch: Batch, present: Any) -> list[str]:
        """The texts."""
        texts: list[str] = batch.texts.filter(present).to_pylist()
        return texts

    def decide(self, block: Block[list[str]], sinks: Sinks) -> None:
        """Decide the documents of a block, or let them wait for others: small files are not made durable one by one."""
        begin, count = 0, len(block.rows)
        for first in range(0, max(count, 1), DOCUMENTS_AT_ONCE):
            last = first + DOCUMENTS_AT_ONCE
            end = len(block.lines) if last >= count else int(block.rows[last])
            self._waiting.append(_Part(block, range(begin, end), slice(first, last)))
            begin = end
            self._documents += len(block.rows[first:last])
            if self._at_once or self._documents >= DOCUMENTS_AT_ONCE:
                self.finish(sinks)
        self._bytes += len(block.lines.data)
        if self._bytes >= BATCH_BYTES:
            self.finish(sinks)

    def finish(self, sinks: Sinks) -> None:
        """Decide the documents that wait."""
        parts, self._waiting, self._documents, self._bytes = self._waiting, [], 0, 0

        def write(answers: list[StoreAnswer]) -> dict[str, Any]:
            rest, names = iter(answers), iter(ids)
            for part in parts:
                count = len(part.texts)
                self._write(part, list(islice(names, count)), list(islice(rest, count)), sinks)
            self.counts.unfit_values += sum(unfit for _, unfit in of_parts)
            return CommandState({**self._state, **self._ids.state(), **self._written()})

        self._expire()
        ids = [each for part in parts for each in self._ids.of(part.tokens, part.block.shard, part.numbers)]
        texts = [text for part in parts for text in part.texts]
        of_parts = [self._metadata.of(part.values, part.block.shard, part.numbers) for part in parts]
        kept = [each for found, _ in of_parts for each in found or ()]
        self.empty_columns -= {name for each in kept for name in each} if self.empty_columns else set()
        self._store.check_and_add_many(ids, texts, metadata=kept or None, ttl=self._ttl, state=write)
        self.progress.advance(sum(len(part.all_rows) for part in parts))

    def _expire(self) -> None:
        """Remove the documents that were not seen within the window, now and then: to find them, the store reads all its rows."""
        if self._window is None:
            return
        passed = time.time() - self._expired_at
        if not 0 <= passed < self._window / CHECKS_PER_WINDOW:  # or the clock has gone back
            self._expired_at += passed
            self.counts.orphans += self._store.expire(older_than=self._window).orphans.count

    def _write(self, part: "_Part", ids: list[int | str], answers: list[StoreAnswer], sinks: Sinks) -> None:
        """Write the lines of a part, and count its rows."""
        block, rows = part.block, part.rows
        new = np.array([answer.is_new for answer in answers], np.bool_)
        self.pass_on(block, rows[new], sinks.out)
        if sinks.audit is not None:
            at = self.counts.rows - part.all_rows.start + rows
            sinks.audit.write("".join(_audit_lines(answers, ids, at)).encode())
        rejections = [each for each in block.rejections if each[0] - block.lines.row in part.all_rows]
        write_rejects(block.shard, rejections, sinks.rejects)
        self.counts.rows += len(part.all_rows)
        self.counts.passed += int(new.sum())
        self.counts.duplicates += int((~new).sum())
        self.counts.count_updates(answers)
        self.counts.rejected += len(rejections)


@dataclass(frozen=True, slots=True)
class _Part:
    """Some rows of a block, and which of its documents are in them."""

    block: Block[list[str]]
    all_rows: range
    documents: slice

    @property
    def rows(self) -> Array:
        """The rows of the documents in the block: int64[n]."""
        return self.block.rows[self.documents]

    @property
    def numbers(self) -> Array:
        """Their rows in the shard: int64[n]."""
        return self.block.lines.row + self.rows

    @property
    def texts(self) -> list[str]:
        """Their texts."""
        return self.block.made[self.documents]

    @property
    def tokens(self) -> Any:
        """Their ids, Arrow large_string[n] of JSON values."""
        return self.block.batch.ids.take(pa.array(self.rows))

    @property
    def values(self) -> list[Any]:
        """Their values in each further column, Arrow large_string[n] of JSON values."""
        rows = pa.array(self.rows)
        return [column.take(rows) for column in self.block.batch.values]


def _audit_lines(answers: Sequence[StoreAnswer], ids: Sequence[int | str], rows: Array) -> list[str]:
    """The lines of some documents, with these ids, in these rows over all inputs (int64[n], ascending): one for each that was not
    passed on, and one for each document that another one has replaced.
    """
    removed = [place for place, answer in enumerate(answers) if not answer.is_new]
    firsts = [answers[place].matches[0] for place in removed]
    exact = np.array([answers[place].exact for place in removed], np.bool_)
    only_digits = np.array([digits_as_number(answers[place]) for place in removed], np.int32)
    replaced = [(place, match) for place, answer in enumerate(answers) for match in answer.replaces]
    places = [place for place, _ in replaced]
    lines = filter_lines(_outcomes(removed, firsts, answers, ids, rows, exact, only_digits))
    lines += replacement_lines(_outcomes(places, [match for _, match in replaced], answers, ids, rows))
    return [lines[i] for i in np.argsort(np.array(removed + places, np.int64), kind="stable").tolist()]


def _outcomes(
    places: Sequence[int],
    matches: Sequence[StoreMatch],
    answers: Sequence[StoreAnswer],
    ids: Sequence[int | str],
    rows: Array,
    exact: Array | None = None,
    only_digits: Array | None = None,
) -> FilterOutcomes:
    """The outcomes of the documents at some places, with their matches; `answers`, `ids` and `rows` of all documents."""
    at = np.array(places, np.int64)
    return FilterOutcomes(
        ids=pa.array([value_token(ids[place]) for place in places], pa.large_string()),
        rows=rows[at],
        matched=[match.id for match in matches],
        distances=np.array([match.distance for match in matches], np.int64),
        similarities=np.array([np.nan if match.similarity is None else match.similarity for match in matches]),
        exact=exact,
        status=[answers[place].status for place in places],
        only_digits=only_digits,
    )
