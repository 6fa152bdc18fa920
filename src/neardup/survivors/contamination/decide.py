"""DECIDE which documents are contaminated, and by which items; count what became of each item."""

import json
from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.display import counted
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.protocol import Corpus
from neardup.matching.contamination.items import Items, ReadItems, read_items
from neardup.matching.contamination.options import MANY_ITEMS, DecontaminationOptions
from neardup.matching.contamination.scan import Scanned, Scanner
from neardup.progress import Progress
from neardup.recipe.tables.parts import VERSION
from neardup.survivors.contamination.columns import ContaminationOutcomes, contamination_columns
from neardup.survivors.decisions import NONE
from neardup.survivors.records.audit_schema import ANNOTATED
from neardup.survivors.records.result_tables import table_of
from neardup.text.scripts import ScriptCount
from neardup.text.unicode_tables import SPACELESS

STRONGEST_DOCUMENTS = 10
"""So many documents are listed for each item: those that hold most of it. All are counted."""


@dataclass(frozen=True, slots=True)
class Benchmarks:
    """Benchmarks, one after another, with their items.

    Attributes:
        names: the name of each.
        starts: int64[benchmarks + 1], its first row, then the number of all rows.
        items: the items of all.
        reasons: why rows could not be read, by row.
    """

    names: Sequence[str]
    starts: Array
    items: Items
    reasons: dict[int, str]

    def numbers_of(self, rows: Array) -> Array:
        """int64[n]: the benchmarks of some rows (int64[n])."""
        found: Array = np.searchsorted(self.starts, rows, "right") - 1
        return found


def read_benchmark(corpus: Corpus, options: DecontaminationOptions, progress: Progress) -> Iterator[Any]:
    """What `Items.of` takes, batch by batch; the ids are in it if the corpus has no others. Says what cannot be found."""
    scripts = ScriptCount()

    def read(batch: Batch) -> ReadItems:
        scripts.look(batch.texts)
        return read_items(batch, options.version)

    for _, part in corpus.map(read):
        progress.advance(len(part.tokens))
        yield part
    if options.version == VERSION and (told := scripts.told(SPACELESS)):
        progress.say(
            f"{told[1]}. Few items are checked then, and few are found. To compare characters instead, give `recipe='all-scripts'`"
        )


Take = Callable[[int, Scanned], list[Any]]
"""Receives what was found in each batch, with the batch's first row, in order; returns the ids of the contaminated documents."""


class Contamination:
    """What was found in a corpus.

    Attributes:
        rows: int64[contaminated], the contaminated documents, ascending.
        items: int64[contaminated], the distinct item of which each holds most.
        shares, runs: float64, int64 [contaminated], of that item.
        counts: int64[contaminated], how many distinct items each holds.
        valid: bool[rows of the corpus], whether each row is a document.
        documents: int64[distinct items], how many documents hold each item.
        strongest: for each distinct item that was found: at most STRONGEST_DOCUMENTS, as (-share, -run, row, id, items in which
            the passage stands), ascending.
        shared_passages: how many documents were found by a passage that stands in MANY_ITEMS items or more.
        by_benchmark: int64[benchmarks], how many documents hold an item of each.
    """

    def __init__(self, benchmarks: Benchmarks) -> None:
        self.benchmarks = benchmarks
        known = benchmarks.items
        self.documents = np.zeros(len(known.firsts), np.int64)
        self.strongest: dict[int, list[tuple[float, int, int, Any, int]]] = {}
        self.shared_passages = 0
        self.by_benchmark = np.zeros(len(benchmarks.names), np.int64)
        self._of_benchmarks: list[set[int]] = [set() for _ in known.firsts]
        checked = np.flatnonzero(known.numbers >= 0)
        for number, benchmark in zip(
            known.numbers[checked].tolist(), benchmarks.numbers_of(checked).tolist(), strict=True
        ):
            self._of_benchmarks[number].add(benchmark)
        self._found: list[tuple[int, int, float, int, int]] = []
        self._valid: list[Array] = []

    def scan(self, corpus: Corpus, options: DecontaminationOptions, progress: Progress, take: Take) -> None:
        """Read the corpus once, and decide each document."""
        for first, found in corpus.map(Scanner(self.benchmarks.items, options).scan):
            self._valid.append(found.valid)
            for each, id_ in zip(found.contaminated, take(first, found), strict=True):
                row, best = first + each.row, each.overlaps[0]
                self._found.append((row, each.items[0], best.share, best.run, len(each.items)))
                self.shared_passages += each.shared[0] >= MANY_ITEMS
                for item, overlap, shared in zip(each.items, each.overlaps, each.shared, strict=True):
                    self.documents[item] += 1
                    listed = self.strongest.setdefault(item, [])
                    insort(listed, (-overlap.share, -overlap.run, row, id_, shared), key=lambda entry: entry[:3])
                    del listed[STRONGEST_DOCUMENTS:]
                for benchmark in set().union(*(self._of_benchmarks[item] for item in each.items)):
                    self.by_benchmark[benchmark] += 1
            progress.advance(len(found.valid))
        self.valid = np.concatenate([np.empty(0, np.bool_), *self._valid])
        rows, items, shares, runs, counts = zip(*self._found, strict=True) if self._found else ((),) * 5
        self.rows, self.items, self.runs, self.counts = (
            np.array(each, np.int64) for each in (rows, items, runs, counts)
        )
        self.shares = np.array(shares, np.float64)

    def kept(self, rows: slice) -> Array:
        """bool[n]: whether each row of a slice is a clean document."""
        kept = self.valid[rows].copy()
        kept[self.rows[slice(*np.searchsorted(self.rows, [rows.start, rows.stop]))] - rows.start] = False
        return kept

    def annotations(self, rows: slice, *, ids_are_json: bool = True) -> Any:
        """The added columns of some rows, as an Arrow table."""
        first, end = np.searchsorted(self.rows, [rows.start, rows.stop])
        at = np.full(rows.stop - rows.start, NONE)
        at[self.rows[first:end] - rows.start] = np.arange(first, end)
        outcomes = outcomes_of(
            self.benchmarks,
            ids=pa.nulls(len(at)),
            rows=np.arange(rows.start, rows.stop),
            items=_taken(self.items, at, NONE),
            shares=_taken(self.shares, at, np.nan),
            runs=_taken(self.runs, at, NONE),
            counts=_taken(self.counts, at, 0),
        )
        return table_of(contamination_columns(ANNOTATED), outcomes, ids_are_json=ids_are_json)

    @property
    def contaminated_items(self) -> Array:
        """bool[items]: whether a document holds each item; equal items all count."""
        numbers = self.benchmarks.items.numbers
        found: Array = (numbers >= 0) & (_taken(self.documents, numbers, 0) > 0)
        return found

    def item_records(self, min_tokens: int, *, ids: Sequence[Any]) -> Iterator[dict[str, Any]]:
        """What became of each item, in order. `ids`: of the items, as JSON has them."""
        benchmarks, known = self.benchmarks, self.benchmarks.items
        rows = np.arange(len(known.tokens))
        numbers = benchmarks.numbers_of(rows)
        for row, benchmark, number, tokens in zip(
            rows.tolist(), numbers.tolist(), known.numbers.tolist(), known.tokens.tolist(), strict=True
        ):
            reason = benchmarks.reasons.get(row, "no text") if tokens < 0 else None
            if reason is None and number < 0:
                reason = f"{counted(tokens, 'token')}, fewer than {min_tokens}"
            listed = self.strongest.get(number, []) if number >= 0 else []
            yield {
                "id": ids[row],
                "benchmark": benchmarks.names[benchmark],
                "row": row - int(benchmarks.starts[benchmark]),
                "tokens": max(0, tokens),
                "is_checked": reason is None,
                "reason": reason,
                "is_contaminated": bool(listed),
                "documents": int(self.documents[number]) if number >= 0 else 0,
                "item_share": -listed[0][0] if listed else None,
                "item_run": -listed[0][1] if listed else None,
                "passage_items": listed[0][4] if listed else None,
                "strongest": [
                    {"id": id_, "row": row, "item_share": -share, "item_run": -run, "passage_items": shared}
                    for share, run, row, id_, shared in listed
                ],
            }


def outcomes_of(
    benchmarks: Benchmarks,
    *,
    ids: Any,
    rows: Array,
    items: Array,
    shares: Array,
    runs: Array,
    counts: Array,
    **others: Any,
) -> ContaminationOutcomes:
    """The outcomes of some documents; `items`: the distinct item of each, -1 for none."""
    known = benchmarks.items
    firsts = _taken(known.firsts, items, NONE)
    numbers = benchmarks.numbers_of(np.maximum(firsts, 0))
    is_none = items < 0
    return ContaminationOutcomes(
        ids=ids,
        rows=rows,
        item_ids=known.ids.take(pa.array(firsts, mask=is_none)),
        item_rows=np.where(is_none, NONE, firsts - benchmarks.starts[numbers]),
        benchmarks=[
            None if none else benchmarks.names[n] for n, none in zip(numbers.tolist(), is_none.tolist(), strict=True)
        ],
        shares=shares,
        runs=runs,
        items=counts,
        **others,
    )


def outcomes_of_batch(benchmarks: Benchmarks, first: int, found: Scanned, ids: Any) -> ContaminationOutcomes:
    """The outcomes of the contaminated documents of a batch that starts at row `first`; `ids`: theirs."""
    each = found.contaminated
    return outcomes_of(
        benchmarks,
        ids=ids,
        rows=np.array([first + one.row for one in each], np.int64),
        items=np.array([one.items[0] for one in each], np.int64),
        shares=np.array([one.overlaps[0].share for one in each], np.float64),
        runs=np.array([one.overlaps[0].run for one in each], np.int64),
        counts=np.array([len(one.items) for one in each], np.int64),
        shared=np.array([one.shared[0] for one in each], np.int64),
        matched_texts=[one.excerpt.text for one in each],
        characters=np.array([one.excerpt.characters for one in each], np.int64),
    )


def _taken(values: Array, at: Array, none: Any) -> Array:
    """The values at some places (int64[n]), `none` where a place is negative."""
    if not len(values):
        return np.full(len(at), none, values.dtype)
    found: Array = np.where(at < 0, none, values[np.maximum(at, 0)]).astype(values.dtype)
    return found


def parsed(ids: Any) -> list[Any]:
    """Ids that are JSON values (an Arrow array), as Python has them."""
    return [None if token is None else json.loads(token) for token in ids.to_pylist()]
