"""The steps of a removal of repeated lines or paragraphs: what `neardup.jobs.removal.run` does one after another."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.dedup import find_duplicates
from neardup.errors import InputError
from neardup.fingerprints.unit_corpus import UnitCorpus
from neardup.io.corpora.file_corpus import FileCorpus, Rejected
from neardup.io.corpora.shard import Shard
from neardup.io.formats.table import FORMATS, ROWS, Rewritable
from neardup.io.outputs.outputs import Outputs
from neardup.io.resume.checkpoints import Checkpoints
from neardup.io.storage.places import Place
from neardup.jobs.removal.output_paths import OutputPaths
from neardup.jobs.removal.request import Request
from neardup.jobs.removal.resume import run_description
from neardup.jobs.removal.run import run
from neardup.jobs.removal.unit_rows import RewrittenRows, UnitRemoval
from neardup.jobs.removal.writing import write_shards
from neardup.jobs.results import UnitResult
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.survivors.decisions import Findings
from neardup.survivors.records.audit import AuditChunk
from neardup.survivors.records.counting import summarize
from neardup.survivors.records.unit_audit import unit_audit_lines
from neardup.survivors.records.unit_summary import UnitSummary
from neardup.text.units import SEPARATORS


def deduplicate_shards(
    shards: Sequence[Shard], unit: str, recipe: Recipe, options: DedupOptions, request: Request, progress: Progress
) -> UnitResult:
    """Remove units from some files; see `neardup.jobs.removal.units.deduplicate_units`."""
    _check_formats(shards, unit)
    read = request.reading.columns(options.columns, asked_by=options.columns_asked_by)
    columns = dataclasses.replace(read, separator=SEPARATORS[unit])
    documents = FileCorpus(shards, columns, on_error=request.on_error, progress=progress, resources=options.resources)
    steps = _Steps(UnitCorpus(documents, unit), unit, recipe, options, request, progress)
    return run(steps, request, progress, resumable=steps)


def _check_formats(shards: Sequence[Shard], unit: str) -> None:
    able = [row.name for row in ROWS if isinstance(FORMATS[row.name], Rewritable)]
    for shard in shards:
        if shard.format not in able:
            raise InputError(
                f"{shard.name} is {shard.format}: `unit={unit!r}` can rewrite {', '.join(able)}. Convert it first."
            )


@dataclass(frozen=True, slots=True)
class _Found:
    """The findings about units, the resulting removal, and the checkpoints of the run for the pass of the audit."""

    units: Findings
    removal: UnitRemoval
    checkpoints: Checkpoints


@dataclass
class _Steps:
    """The steps for lines or paragraphs; see `neardup.jobs.removal.run.Steps`."""

    corpus: UnitCorpus
    unit: str
    recipe: Recipe
    options: DedupOptions
    request: Request
    progress: Progress

    @property
    def shards(self) -> Sequence[Shard]:
        return self.corpus.documents.shards

    @property
    def reads_besides(self) -> Mapping[str, Iterable[Place]]:
        return {}

    @property
    def rejected(self) -> Iterable[Rejected]:
        return self.corpus.documents.rejected

    def check(self, _: OutputPaths) -> None:
        self.corpus.documents.check()

    def description(self) -> dict[str, Any]:
        asked, documents = self.request, self.corpus.documents
        known = run_description(asked.output, documents, None, self.recipe, self.options, asked.reading)
        return known | {"unit": self.unit, "audit": asked.audit, "on_error": asked.on_error}

    def done_before(self, record: dict[str, Any]) -> UnitResult:
        return UnitResult.of_record(record)

    def find(self, checkpoints: Checkpoints) -> _Found:
        found = find_duplicates(self.corpus, self.recipe, self.options, self.progress, checkpoints=checkpoints)
        return _Found(found, UnitRemoval.of(self.corpus, found.decisions), checkpoints)

    def rows(self, _: _Found) -> Sequence[slice]:
        return [self.corpus.documents.rows_of(number) for number in range(len(self.shards))]

    def audit(self, found: _Found) -> Iterator[AuditChunk]:
        with_matched = self.options.cluster == "components"
        return unit_audit_lines(
            self.corpus,
            found.units.decisions,
            unit=self.unit,
            with_matched=with_matched,
            checkpoints=found.checkpoints,
        )

    def write(self, found: _Found, paths: OutputPaths, outputs: Outputs) -> None:
        columns = self.request.reading.columns()
        writer = RewrittenRows(self.corpus, self.unit, found.removal, columns)
        write_shards(writer, paths.outputs, outputs, threads=1, progress=self.progress)

    def result(self, found: _Found, files: dict[str, Any]) -> UnitResult:
        corpus, removal = self.corpus, found.removal
        ids = corpus.ids.drop_null()
        repeated = len(ids) - len(ids.unique())
        units = summarize(
            found.units, self.recipe, self.options, self.progress, repeated_ids=repeated, rejected=self.rejected
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
