"""SOURCES: which files, or which values of a column, the removed documents come from."""

import json
import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.file_corpus import FileCorpus

MAX_VALUES = 100_000
"""So many values of a column are told apart; documents of further ones are counted together."""

SHOWN_SOURCES = 10
"""Sources named in the page; others are summed."""

NO_VALUE, MANIFOLD = "no value", "a list or an object"


@dataclass(frozen=True, slots=True)
class Source:
    """Number of documents of a source, and how many of them were removed."""

    name: str
    documents: int
    removed: int


@dataclass(slots=True)
class Sources:
    """The documents by source.

    Attributes:
        column: None if the sources are files.
        counts: of each source that has documents.
        later: of all values that are not told apart; None if all are.
        names: the sources of some rows.
    """

    column: str | None
    counts: list[Source] = field(default_factory=list)
    later: Source | None = None
    names: dict[int, str] = field(default_factory=dict)

    def of(self, rows: Iterable[int]) -> list[tuple[str, int]]:
        """The sources of some rows and how many rows are of each, most first."""
        return Counter(self.names[row] for row in rows if row in self.names).most_common()


def sources_by_file(corpus: FileCorpus, documents: Array, removed: Array, wanted: Array) -> Sources:
    """Count by file.

    Args:
        corpus: it has been read.
        documents, removed: bool[rows], the rows that count, and those that were removed.
        wanted: int64, the rows whose sources are asked for.
    """
    found = Sources(None)
    for number, shard in enumerate(corpus.shards):
        here = corpus.rows_of(number)
        count, gone = int(documents[here].sum()), int((removed[here] & documents[here]).sum())
        if count:
            found.counts.append(Source(shard.name, count, gone))
    names, _ = corpus.locate(wanted)
    found.names = dict(zip(wanted.tolist(), names, strict=True))
    return found


def _of_column(corpus: FileCorpus, column: str) -> FileCorpus:
    return FileCorpus(corpus.shards, Columns((), values=(column,), asked_by={column: "report_by="}), on_error="skip")


def check_column(corpus: FileCorpus, column: str) -> None:
    """Refuse a column by which documents cannot be counted.

    Raises:
        InputError: a file has no such column, or no single values in it.
    """
    _of_column(corpus, column).check()


def sources_by_column(corpus: FileCorpus, column: str, documents: Array, removed: Array, wanted: Array) -> Sources:
    """Count by the values of a column, in one pass over the inputs; arguments as in `sources_by_file`."""
    found, wanted = Sources(column), np.unique(wanted)
    totals: dict[str | None, list[int]] = {}
    later = [0, 0]
    values = _of_column(corpus, column)
    for first, batch in values.map(lambda batch: batch):
        end = min(first + len(batch.texts), len(documents))
        tokens = batch.values[0].slice(0, end - first).to_pylist()
        has_row = batch.texts.slice(0, end - first).is_valid().to_pylist()
        for row in wanted[slice(*np.searchsorted(wanted, [first, end]).tolist())].tolist():
            found.names[row] = _named(tokens[row - first], has_row[row - first])
        for place in np.flatnonzero(documents[first:end]).tolist():
            token = tokens[place] if has_row[place] else MANIFOLD
            if token not in totals and len(totals) < MAX_VALUES:
                totals[token] = [0, 0]
            total = totals.get(token, later)
            total[0] += 1
            total[1] += bool(removed[first + place])
    for token, (count, gone) in totals.items():
        found.counts.append(Source(_named(token, token != MANIFOLD), count, gone))
    if later[0]:
        found.later = Source(f"values after the first {MAX_VALUES:,}", *later)
    return found


def _named(token: str | None, has_row: bool) -> str:
    """The name of a value, given as JSON. A token is never MANIFOLD: strings have quotes."""
    if not has_row:
        return MANIFOLD
    value: Any = None if token is None else json.loads(token)
    return NO_VALUE if value is None else value if isinstance(value, str) else str(token)


def shown_sources(sources: Sources) -> dict[str, Any] | None:
    """The sources that lost the most documents, the others summed as one, and how their shares spread; None if there are none."""
    if not sources.counts:
        return None
    ordered = sorted(sources.counts, key=lambda each: -each.removed)
    shown, rest = ordered[:SHOWN_SOURCES], ordered[SHOWN_SOURCES:]
    kind = "file" if sources.column is None else "value"
    others = None
    if rest:
        label = f"{len(rest):,} other {kind}{'s' if len(rest) > 1 else ''}"
        others = Source(label, sum(each.documents for each in rest), sum(each.removed for each in rest))
    shares = sorted(each.removed / each.documents for each in ordered) if len(ordered) > 1 else []
    return {
        "column": sources.column,
        "kind": kind,
        "number": len(ordered),
        "shown": shown,
        "others": [each for each in (others, sources.later) if each is not None],
        "least": shares[0] if shares else None,
        "most": shares[-1] if shares else None,
        "median": statistics.median(shares) if shares else None,
    }
