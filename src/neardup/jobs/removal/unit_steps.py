"""The steps of a removal of repeated lines or paragraphs: what `neardup.jobs.removal.run` does one after another.

Of a document from which some are removed, the rest is written.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.dedup import find_duplicates
from neardup.fingerprints.unit_corpus import UnitCorpus
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.shard import Shard
from neardup.io.outputs.outputs import Outputs
from neardup.io.resume.checkpoints import Checkpoints
from neardup.jobs.removal.output_paths import OutputPaths
from neardup.jobs.removal.request import Request
from neardup.jobs.removal.resume import run_description
from neardup.jobs.removal.run import Steps, run
from neardup.jobs.removal.writing import RewrittenRows, demand_rewritable, write_shards
from neardup.jobs.results import UnitResult
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.survivors.decisions import Decisions, Findings
from neardup.survivors.records.audit import AuditChunk
from neardup.survivors.records.audit_schema import UNITS, Column, columns_of
from neardup.survivors.records.counting import summarize
from neardup.survivors.records.summary import UnitSummary
from neardup.survivors.records.unit_audit import emptied_rows, unit_audit_lines
from neardup.text.units import SEPARATORS, without_units


def deduplicate_shards(
    shards: Sequence[Shard], unit: str, recipe: Recipe, options: DedupOptions, request: Request, progress: Progress
) -> UnitResult:
    """Remove units from some files; see `neardup.jobs.removal.units.deduplicate_units`."""
    demand_rewritable(shards, f"`unit={unit!r}`", request.output)
    read = request.reading.columns(options.columns, asked_by=options.columns_asked_by)
    columns = dataclasses.replace(read, separator=SEPARATORS[unit])
    documents = FileCorpus(shards, columns, on_error=request.on_error, progress=progress, resources=options.resources)
    return run(_Steps(documents, {}, request, progress, UnitCorpus(documents, unit), unit, recipe, options))


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
class _Found:
    """The findings about units, the resulting removal, and the checkpoints of the run for the pass of the audit."""

    units: Findings
    removal: UnitRemoval
    checkpoints: Checkpoints


@dataclass
class _Steps(Steps[_Found, UnitResult]):
    units: UnitCorpus
    unit: str
    recipe: Recipe
    options: DedupOptions

    def check(self) -> None:
        self.corpus.check()

    def description(self) -> dict[str, Any]:
        asked = self.request
        known = run_description(asked.output, self.corpus, None, self.recipe, self.options, asked.reading)
        return known | {"unit": self.unit, "audit": asked.audit, "on_error": asked.on_error}

    def done_before(self, record: dict[str, Any]) -> UnitResult:
        return UnitResult.of_record(record)

    def find(self, checkpoints: Checkpoints) -> _Found:
        found = find_duplicates(self.units, self.recipe, self.options, self.progress, checkpoints=checkpoints)
        return _Found(found, UnitRemoval.of(self.units, found.decisions), checkpoints)

    def audit(self, found: _Found) -> Iterator[AuditChunk]:
        with_matched = self.options.cluster == "components"
        return unit_audit_lines(
            self.units, found.units.decisions, with_matched=with_matched, checkpoints=found.checkpoints
        )

    @property
    def log_columns(self) -> Sequence[Column[Any]]:
        return columns_of(UNITS, with_matched=self.options.cluster == "components")

    def write(self, found: _Found, paths: OutputPaths, outputs: Outputs) -> None:
        removal = found.removal

        def rest(row: int, texts: list[str]) -> list[str]:
            start, end = np.searchsorted(removal.rows, [row, row + 1])
            return without_units(texts, self.units.numbers[removal.units[start:end]].astype(np.int64), self.unit)

        columns = self.request.reading.columns()
        writer = RewrittenRows(self.corpus.shards, self.rows(found), removal.keep, removal.changed, rest, columns)
        write_shards(writer, paths.outputs, outputs, threads=1, progress=self.progress)

    def result(self, found: _Found, files: dict[str, Any]) -> UnitResult:
        corpus, removal = self.units, found.removal
        ids = corpus.ids.drop_null()
        repeated = len(ids) - len(ids.unique())
        units = summarize(
            found.units,
            self.recipe,
            self.options,
            self.progress,
            repeated_ids=repeated,
            rejected=self.corpus.rejected,
            unnamed=self.unnamed(corpus.ids, self.rows(found)),
        )
        summary = UnitSummary(
            unit=self.unit,
            rows=len(removal.keep),
            documents=len(ids),
            rejected=len(removal.keep) - len(ids),
            survivors=int(removal.keep.sum()),
            changed_documents=int(removal.changed.sum()),
            emptied_documents=int(removal.emptied.sum()),
            units=units.documents,
            removed_units=units.duplicates,
            text_bytes=corpus.text_bytes,
            removed_bytes=int(corpus.sizes[removal.units].sum(dtype=np.int64)),
            found=units,
        )
        return UnitResult(summary, files)
