"""The audit of units: one JSON line per removed line or paragraph, which names the one that stays."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Bools, Int64s
from neardup.fingerprints.unit_corpus import UnitCorpus
from neardup.io.corpora.batch import Batch
from neardup.io.resume.checkpoints import NO_CHECKPOINTS, Checkpoints
from neardup.survivors.decisions import NONE, Decisions
from neardup.survivors.outcomes import Outcomes
from neardup.survivors.records.audit import AuditChunk, lines_of
from neardup.survivors.records.audit_schema import UNITS, columns_of
from neardup.text.units import split

SHOWN_CHARACTERS = 80
"""Characters of the text that a line shows."""


@dataclass(frozen=True, slots=True)
class UnitNames:
    """Names for rows that are units of a corpus; see `neardup.survivors.outcomes.Names`."""

    corpus: UnitCorpus

    def ids(self, rows: Int64s) -> Any:
        """The ids of the documents that contain the units."""
        return self.corpus.ids.take(pa.array(self.corpus.row_of(rows), mask=rows < 0))

    def document_rows(self, rows: Int64s) -> Int64s:
        """The rows of the documents that contain the units."""
        return self.corpus.row_of(rows)

    def units(self, rows: Int64s) -> Int64s:
        """The numbers of the units in these documents."""
        return np.where(rows >= 0, self.corpus.numbers[rows], NONE)


def emptied_rows(corpus: UnitCorpus, removed: Int64s) -> Bools:
    """bool[rows]: the document had units with tokens, and removing `removed` (int64) leaves none."""
    lost = np.bincount(corpus.row_of(removed), minlength=len(corpus.firsts) - 1)
    emptied: Bools = (lost > 0) & (lost == np.diff(corpus.firsts))
    return emptied


def unit_audit_lines(
    corpus: UnitCorpus,
    decisions: Decisions,
    *,
    unit: str,
    with_matched: bool,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
) -> Iterator[AuditChunk]:
    """The lines of the audit, by row and unit. Documents that lose units are read again for their texts."""
    removed, names = decisions.duplicates, UnitNames(corpus)
    rows = corpus.row_of(removed)
    emptied = emptied_rows(corpus, removed)
    has_removed = np.zeros(len(corpus.firsts) - 1, np.bool_)
    has_removed[rows] = True
    starts = corpus.documents.starts or [0]
    columns = columns_of(UNITS, with_matched=with_matched)

    def read(batch: Batch) -> AuditChunk:
        first = starts[batch.shard] + batch.row
        here = slice(*np.searchsorted(rows, [first, first + len(batch.texts)]).tolist())
        parts = split(batch.texts, unit)
        places = parts.firsts[rows[here] - first] + corpus.numbers[removed[here]]
        texts = [parts.data[parts.starts[u] : parts.ends[u]][: 4 * SHOWN_CHARACTERS].tobytes() for u in places.tolist()]
        shown = [text.decode("utf-8", "ignore")[:SHOWN_CHARACTERS] for text in texts]
        outcomes = Outcomes(decisions, removed[here], names, emptied=emptied[rows[here]], texts=shown)
        return rows[here], lines_of(columns, outcomes)

    for _, chunk in checkpoints.map(corpus.documents, read, name="audit", wanted=has_removed):
        yield chunk
