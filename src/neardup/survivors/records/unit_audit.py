"""The audit of units: one JSON line per removed line or paragraph, which names the one that stays."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Bools, Int64s
from neardup.fingerprints.unit_corpus import UnitCorpus
from neardup.io.corpora.batch import Batch
from neardup.io.resume.checkpoints import NO_CHECKPOINTS, Checkpoints
from neardup.survivors.decisions import NONE, Decisions
from neardup.survivors.outcomes import Outcomes
from neardup.survivors.records.audit import CHUNK_ROWS, AuditChunk, lines_of
from neardup.survivors.records.audit_schema import UNITS, columns_of

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
    with_matched: bool,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
) -> Iterator[AuditChunk]:
    """The lines of the audit, by row and unit. Documents that lose units are read again for their texts."""
    removed, names = decisions.duplicates, UnitNames(corpus)
    rows, emptied = corpus.row_of(removed), emptied_rows(corpus, removed)
    wanted = np.zeros(len(corpus.numbers), np.bool_)
    wanted[removed] = True
    columns = columns_of(UNITS, with_matched=with_matched)

    def shown(batch: Batch) -> Any:
        """What lines show of the texts of the removed units."""
        return pc.utf8_slice_codeunits(batch.texts.drop_null(), 0, SHOWN_CHARACTERS)

    done = 0
    for _, found in checkpoints.map(corpus, shown, name="audit texts", wanted=wanted):
        for first in range(0, len(found), CHUNK_ROWS):
            texts = found[first : first + CHUNK_ROWS].to_pylist()
            here = slice(done, done + len(texts))
            outcomes = Outcomes(decisions, removed[here], names, emptied=emptied[rows[here]], texts=texts)
            yield rows[here], lines_of(columns, outcomes)
            done = here.stop
