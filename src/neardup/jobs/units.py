"""Remove repeated lines or paragraphs from the documents of files; write the rest of each, an audit and a summary."""

import dataclasses
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack, cast

import numpy as np

from neardup.dedup import find_duplicates
from neardup.errors import InputError, OptionError
from neardup.fingerprints.unit_corpus import UnitCorpus
from neardup.io.checkpoints import Checkpoints
from neardup.io.corpus import FileCorpus, Rejected
from neardup.io.formats.table import FORMATS, Rewritable
from neardup.io.outputs import Outputs
from neardup.io.reading import Reading, UnitReadingDict, split_options
from neardup.io.shard import Shard
from neardup.io.shards import find_shards, listed_inputs
from neardup.io.storage.places import path_text
from neardup.jobs.output_paths import OutputPaths, demand_output
from neardup.jobs.results import UnitResult
from neardup.jobs.resume import run_description
from neardup.jobs.run import Request, run
from neardup.jobs.unit_rows import RewrittenRows, UnitRemoval
from neardup.jobs.writing import write_shards
from neardup.options import DedupOptions, DedupOptionsDict, OnError, RemovableUnit
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.survivors.audit import AuditChunk
from neardup.survivors.decisions import Findings
from neardup.survivors.summary import summarize
from neardup.survivors.unit_audit import unit_audit_lines
from neardup.survivors.unit_summary import UnitSummary
from neardup.text.units import SEPARATORS


def _check(unit: str, reading: Reading, *, annotate: bool, against: Any, html: Any) -> None:
    """Raise OptionError, with every problem, if the options do not go together."""
    problems = []
    if unit not in SEPARATORS:
        problems.append(f"`unit={unit!r}`: give one of {', '.join(SEPARATORS)}")
    if annotate:
        problems.append(
            f"`unit={unit!r}` with `annotate`: columns are of documents, not of their parts. Read the audit instead"
        )
    if against:
        problems.append(f"`unit={unit!r}` with `against`: a reference is of whole documents. Leave one of them out")
    if html is not None:
        problems.append(
            f"`unit={unit!r}` with `html`: parts of a page's text cannot be removed from its HTML. Extract the text first"
        )
    if reading.lines:
        problems.append(
            f"`unit={unit!r}` with `lines`: a line is a document there, and has no parts. Leave out `lines`; a text file is then "
            "one document, and loses the lines that are repeated"
        )
    if len(set(reading.text)) < len(tuple(reading.text)):
        problems.append(f"`text={tuple(reading.text)!r}` with `unit={unit!r}`: name each column once")
    if problems:
        raise OptionError("; ".join(problems) + ".")


def _check_formats(shards: Sequence[Shard], unit: str) -> None:
    able = [name for name, format_ in FORMATS.items() if isinstance(format_, Rewritable)]
    for shard in shards:
        if shard.format not in able:
            raise InputError(
                f"{shard.name} is {shard.format}: `unit={unit!r}` can rewrite {', '.join(able)}. Convert it first."
            )


class UnitFileOptions(UnitReadingDict, DedupOptionsDict, total=False):
    """The options of `deduplicate_units`."""


def deduplicate_units(
    inputs: str | Path | Sequence[str | Path],
    output: str | Path | None = None,
    *,
    unit: RemovableUnit,
    recipe: RecipeLike | None = None,
    annotate: bool = False,
    dry_run: bool = False,
    audit: str | Path | None = None,
    against: str | Path | Sequence[str | Path] = (),
    overwrite: bool = False,
    resume: bool = False,
    on_error: OnError = "stop",
    progress: Watcher = None,
    **options: Unpack[UnitFileOptions],
) -> UnitResult:
    """Remove repeated lines or paragraphs from the documents of files, wherever in the corpus they repeat.

    One unit of each cluster stays. `keep` chooses it, as it chooses documents in `deduplicate_files`. A unit is removed with the
    separator after it. Units without a token (blank lines, rules of dashes) always stay. A document that loses its last unit with
    a token is removed. A document that loses no unit is written unchanged. In all other documents, only the texts change.

    Args:
        unit: `line` or `paragraph`; see `neardup.text.units`. Each text column is divided into units by itself.
        annotate, against: not supported for units; refused.
        inputs, output, recipe, dry_run, audit, overwrite, resume, on_error, progress: as in `deduplicate_files`.
        **options: the fields of `neardup.io.reading.Reading` (except html) and of `DedupOptions`.

    Raises:
        InputError: a format cannot be rewritten, and as in `deduplicate_files`.
        OptionError, RecipeMismatch, RowError, DataError: as in `deduplicate_files`.
    """
    output = path_text(output)
    audit = path_text(audit)
    made_by, progress = recipe_of(recipe), progress_of(progress)
    html = cast(dict[str, Any], options).pop("html", None)  # which editors refuse, and `_check` with the reason
    reading, chosen = split_options(options, deduplicate_units)
    _check(unit, reading, annotate=annotate, against=against, html=html)
    if not dry_run:
        demand_output(output)
    request = Request(
        inputs=listed_inputs(inputs),
        output=output,
        reading=reading,
        audit=audit,
        dry_run=dry_run,
        overwrite=overwrite,
        resume=resume,
        on_error=on_error,
        resources=chosen.resources,
    )
    with tempfile.TemporaryDirectory(prefix="neardup-", dir=chosen.temp_dir) as spool:
        shards = find_shards(request.inputs, temporary=Path(spool), reading=reading, progress=progress)
        _check_formats(shards, unit)
        columns = dataclasses.replace(reading.columns(chosen.columns), separator=SEPARATORS[unit])
        documents = FileCorpus(shards, columns, on_error=on_error, progress=progress, resources=chosen.resources)
        steps = _Steps(UnitCorpus(documents, unit), unit, made_by, chosen, request, progress)
        return run(steps, request, progress, resumable=steps)


@dataclass(frozen=True, slots=True)
class _Found:
    """The findings about units, the resulting removal, and the checkpoints of the run for the pass of the audit."""

    units: Findings
    removal: UnitRemoval
    checkpoints: Checkpoints


@dataclass
class _Steps:
    """The steps for lines or paragraphs; see `neardup.jobs.run.Steps`."""

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
        units = summarize(found.units, self.recipe, self.options, self.progress, repeated_ids=repeated)
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
