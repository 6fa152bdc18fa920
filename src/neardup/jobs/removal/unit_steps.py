"""The steps of a removal of repeated lines or paragraphs: what `neardup.jobs.removal.run` does one after another.

Of a document from which some are removed, the rest is written.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.dedup import find_duplicates
from neardup.errors import InputError
from neardup.fingerprints.unit_corpus import UnitCorpus
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.shard import Shard
from neardup.io.formats.table import FORMATS, ROWS, Rewritable, Sink
from neardup.io.outputs.outputs import Outputs
from neardup.io.resume.checkpoints import Checkpoints
from neardup.jobs.removal.output_paths import OutputPaths
from neardup.jobs.removal.request import Request
from neardup.jobs.removal.resume import run_description
from neardup.jobs.removal.run import Steps, run
from neardup.jobs.removal.writing import write_shards
from neardup.jobs.results import UnitResult
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.survivors.decisions import Decisions, Findings
from neardup.survivors.records.audit import AuditChunk
from neardup.survivors.records.counting import summarize
from neardup.survivors.records.summary import UnitSummary
from neardup.survivors.records.unit_audit import emptied_rows, unit_audit_lines
from neardup.text.units import SEPARATORS, without_units


def deduplicate_shards(
    shards: Sequence[Shard], unit: str, recipe: Recipe, options: DedupOptions, request: Request, progress: Progress
) -> UnitResult:
    """Remove units from some files; see `neardup.jobs.removal.units.deduplicate_units`."""
    _check_formats(shards, unit)
    read = request.reading.columns(options.columns, asked_by=options.columns_asked_by)
    columns = dataclasses.replace(read, separator=SEPARATORS[unit])
    documents = FileCorpus(shards, columns, on_error=request.on_error, progress=progress, resources=options.resources)
    return run(_Steps(documents, {}, request, progress, UnitCorpus(documents, unit), unit, recipe, options))


def _check_formats(shards: Sequence[Shard], unit: str) -> None:
    able = [row.name for row in ROWS if isinstance(FORMATS[row.name], Rewritable)]
    for shard in shards:
        if shard.format not in able:
            raise InputError(
                f"{shard.name} is {shard.format}: `unit={unit!r}` can rewrite {', '.join(able)}. Convert it first."
            )


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

    shards: Sequence[Shard]
    rows: Sequence[slice]
    corpus: UnitCorpus
    unit: str
    removal: UnitRemoval
    columns: Columns

    def keeps_any(self, number: int) -> bool:
        return bool(self.removal.keep[self.rows[number]].any())

    def write(self, number: int, sink: Sink) -> None:
        shard, rows = self.shards[number], self.rows[number]
        form: Any = FORMATS[shard.format]
        keep, changed = self.removal.keep[rows], self.removal.changed[rows]
        form.replace(shard, self.columns, partial(self._rest, rows.start), sink, keep=keep, changed=changed)

    def _rest(self, first: int, row: int, texts: list[str]) -> list[str]:
        """The rest of the texts of a row; rows are counted from `first`."""
        removal = self.removal
        start, end = np.searchsorted(removal.rows, [first + row, first + row + 1])
        return without_units(texts, self.corpus.numbers[removal.units[start:end]].astype(np.int64), self.unit)


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
            self.units, found.units.decisions, unit=self.unit, with_matched=with_matched, checkpoints=found.checkpoints
        )

    def write(self, found: _Found, paths: OutputPaths, outputs: Outputs) -> None:
        shards, columns = self.corpus.shards, self.request.reading.columns()
        writer = RewrittenRows(shards, self.rows(found), self.units, self.unit, found.removal, columns)
        write_shards(writer, paths.outputs, outputs, threads=1, progress=self.progress)

    def result(self, found: _Found, files: dict[str, Any]) -> UnitResult:
        corpus, removal = self.units, found.removal
        ids = corpus.ids.drop_null()
        repeated = len(ids) - len(ids.unique())
        units = summarize(
            found.units, self.recipe, self.options, self.progress, repeated_ids=repeated, rejected=self.corpus.rejected
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
