"""WRITE: the rest of documents from which lines or paragraphs are removed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.unit_corpus import UnitCorpus
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.shard import Shard
from neardup.io.formats.table import FORMATS, Sink
from neardup.survivors.decisions import Decisions
from neardup.survivors.records.unit_audit import emptied_rows
from neardup.text.units import without_units


@dataclass(frozen=True, slots=True)
class UnitRemoval:
    """The units that are removed, and the documents that they belong to.

    Attributes:
        keep: bool[rows], documents that are written.
        changed: bool[rows], documents that lose some units.
        emptied: bool[rows], documents that lose their last unit.
        units, rows: int64[n], the removed units, ascending, and the row of each.
    """

    keep: Array
    changed: Array
    emptied: Array
    units: Array
    rows: Array

    @classmethod
    def of(cls, corpus: UnitCorpus, decisions: Decisions) -> "UnitRemoval":
        units = decisions.duplicates
        rows, emptied = corpus.row_of(units), emptied_rows(corpus, units)
        valid = corpus.ids.is_valid().to_numpy(zero_copy_only=False)
        changed = np.zeros(len(valid), np.bool_)
        changed[rows] = True
        return cls(valid & ~emptied, changed & ~emptied, emptied, units, rows)


@dataclass(frozen=True, slots=True)
class RewrittenRows:
    """Writes rows without their removed units; see `neardup.jobs.removal.writing.ShardWriter`."""

    corpus: UnitCorpus
    unit: str
    removal: UnitRemoval
    columns: Columns

    @property
    def shards(self) -> Sequence[Shard]:
        """See `ShardWriter`."""
        return self.corpus.documents.shards

    @property
    def rows(self) -> Sequence[slice]:
        """See `ShardWriter`."""
        return [self.corpus.documents.rows_of(number) for number in range(len(self.shards))]

    def keeps_any(self, number: int) -> bool:
        """See `ShardWriter`."""
        return bool(self.removal.keep[self.corpus.documents.rows_of(number)].any())

    def write(self, number: int, sink: Sink) -> None:
        """See `ShardWriter`."""
        shard, rows = self.shards[number], self.corpus.documents.rows_of(number)
        form: Any = FORMATS[shard.format]
        keep, changed = self.removal.keep[rows], self.removal.changed[rows]
        form.replace(shard, self.columns, partial(self._rest, rows.start), sink, keep=keep, changed=changed)

    def _rest(self, first: int, row: int, texts: list[str]) -> list[str]:
        """The rest of the texts of a row; rows are counted from `first`."""
        removal = self.removal
        start, end = np.searchsorted(removal.rows, [first + row, first + row + 1])
        return without_units(texts, self.corpus.numbers[removal.units[start:end]].astype(np.int64), self.unit)
