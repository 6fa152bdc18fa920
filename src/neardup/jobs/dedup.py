"""De-duplicate files: write the survivors unchanged, an audit of every removal, and a summary."""

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from neardup.dedup import find_duplicates
from neardup.io.checkpoints import Checkpoints
from neardup.io.corpus import FileCorpus, Rejected, open_corpus
from neardup.io.ids import repeated_ids
from neardup.io.outputs import Outputs
from neardup.io.reading import split_options
from neardup.io.shard import Shard
from neardup.io.shards import listed_inputs
from neardup.io.storage.places import path_text
from neardup.jobs.output_paths import OutputPaths, demand_output
from neardup.jobs.reference import FingerprintReference, open_reference
from neardup.jobs.results import FileResult
from neardup.jobs.resume import run_description
from neardup.jobs.run import Request, run
from neardup.jobs.writing import DecidedRows, write_shards
from neardup.judging.estimate import CostEstimate, DedupFileOptions, estimate_corpus
from neardup.options import DedupOptions, OnError
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.survivors.annotations import ANNOTATIONS
from neardup.survivors.audit import AuditChunk, audit_lines
from neardup.survivors.decisions import Findings
from neardup.survivors.summary import summarize


def deduplicate_files(
    inputs: str | Path | Sequence[str | Path],
    output: str | Path | None = None,
    *,
    recipe: RecipeLike | None = None,
    annotate: bool = False,
    dry_run: bool = False,
    audit: str | Path | None = None,
    report: str | Path | None = None,
    against: str | Path | Sequence[str | Path] = (),
    overwrite: bool = False,
    resume: bool = False,
    on_error: OnError = "stop",
    progress: Watcher = None,
    **options: Unpack[DedupFileOptions],
) -> FileResult:
    """Remove near-duplicate documents from files.

    No file appears under its final name before all files are complete. Existing files are replaced only with `overwrite`.

    Args:
        inputs: files, folders, globs, or `-` for JSON lines on standard input.
        output: a file, a folder (ends in /; one shard for each input), or `-` for standard output.
        recipe: how texts become fingerprints; `Recipe()` by default.
        annotate: write all rows, with the columns ANNOTATIONS.
        dry_run: estimate the cost from a sample, then do all the work and write nothing.
        audit: the path of the audit: a file, or a folder (ends in /; one file for each input). By default it is the output
            without its data endings + `.duplicates.jsonl`.
        report: the path of an HTML report of the run, which ends in .html; a dry run writes it, too. The report reads the
            inputs once more.
        against: a reference: files of texts, like the inputs, or fingerprint files (then matched by distance alone). Documents
            near a document of the reference are removed. The reference itself stays as it is, and its documents are not compared
            with one another.
        overwrite: replace outputs that exist.
        resume: keep finished work in a folder beside the output (its name without data endings + `.resume`), and continue from
            the work of an earlier attempt at the same run. When the run is done, only a record of it stays in the folder.
        on_error: the treatment of rows that cannot be read: `stop`, or `skip` them into a file of rejects.
        progress: True shows the progress as the command line does. A function is called with each `ProgressEvent`. By default
            nothing is shown.
        **options: the fields of `neardup.io.reading.Reading` (text, id …) and of `DedupOptions`.

    Raises:
        InputError: an input is missing, an output exists, or the formats of input and output do not fit.
        OptionError: an option has a value that is not allowed.
        RecipeMismatch: the folder of the run to resume belongs to other inputs, another recipe or other options.
        RowError: a row cannot be read, and `on_error` is `stop`.
        DataError: a file is damaged.
    """
    output = path_text(output)
    audit = path_text(audit)
    report = path_text(report)
    made_by, progress = recipe_of(recipe), progress_of(progress)
    reading, chosen = split_options(options, deduplicate_files)
    if not dry_run:
        demand_output(output)  # before searching for inputs: without -o, a user has named the output as an input
    if report is not None:
        from neardup.judging.report import (
            check_report,
        )  # half of what a run without a report loads would be for reports

        check_report(report)
    references = listed_inputs(against)
    request = Request(
        inputs=listed_inputs(inputs),
        output=output,
        reading=reading,
        audit=audit,
        report=report,
        annotate=annotate,
        dry_run=dry_run,
        overwrite=overwrite,
        resume=resume,
        on_error=on_error,
        resources=chosen.resources,
        named={"against": [str(given) for given in references]},
    )
    with tempfile.TemporaryDirectory(prefix="neardup-", dir=chosen.temp_dir) as spool:
        corpus = open_corpus(
            request.inputs,
            reading,
            temporary=Path(spool),
            values=chosen.columns,
            on_error=on_error,
            progress=progress,
            resources=chosen.resources,
        )
        reference = open_reference(
            references, corpus, made_by, reading, chosen, temporary=Path(spool), on_error=on_error, progress=progress
        )
        steps = _Steps(corpus, reference, made_by, chosen, request, progress)
        return run(steps, request, progress, resumable=steps, reported=steps)


@dataclass
class _Steps:
    """The steps for whole documents; see `neardup.jobs.run.Steps`."""

    corpus: FileCorpus
    reference: FileCorpus | FingerprintReference | None
    recipe: Recipe
    options: DedupOptions
    request: Request
    progress: Progress
    expected: CostEstimate | None = None

    @property
    def shards(self) -> Sequence[Shard]:
        return self.corpus.shards

    @property
    def rejected(self) -> Iterable[Rejected]:
        return self.corpus.rejected

    def check(self, _: OutputPaths) -> None:
        self.corpus.check(ANNOTATIONS if self.request.annotate else ())

    def description(self) -> dict[str, Any]:
        asked, reading = self.request, self.request.reading
        known = run_description(asked.output, self.corpus, self.reference, self.recipe, self.options, reading)
        return known | {"annotate": asked.annotate, "audit": asked.audit, "on_error": asked.on_error}

    def done_before(self, record: dict[str, Any]) -> FileResult:
        done, page = FileResult.of_record(record), self.request.report
        if page is not None and not Path(page).exists():
            from neardup.judging.report import report as write_report

            write_report(done.files["audit"], page, threads=self.options.threads, progress=self.progress)
            done.files["report"] = page
        return done

    def find(self, checkpoints: Checkpoints) -> Findings:
        if self.request.dry_run:
            self.expected = estimate_corpus(self.corpus, self.recipe, self.options)
            self.progress.say(f"estimate: {self.expected}")
            self.progress.say("all is done now but writing; interrupt it if the estimate is enough")
        known = self.reference
        return find_duplicates(
            self.corpus,
            self.recipe,
            self.options,
            self.progress,
            reference=known.documents if isinstance(known, FingerprintReference) else known,
            checkpoints=checkpoints,
        )

    def rows(self, _: Findings) -> Sequence[slice]:
        return [self.corpus.rows_of(number) for number in range(len(self.corpus.shards))]

    def audit(self, found: Findings) -> Iterator[AuditChunk]:
        locate = None if self.reference is None else self.reference.locate
        with_matched = self.options.cluster == "components"
        return audit_lines(found.of_inputs, found.documents.ids, with_matched=with_matched, locate=locate)

    def write(self, found: Findings, paths: OutputPaths, outputs: Outputs) -> None:
        known, annotate = found.documents, self.request.annotate
        writer = DecidedRows(self.shards, self.rows(found), found.decisions, known.ids, known.valid, annotate)
        write_shards(writer, paths.outputs, outputs, threads=self.options.threads, progress=self.progress)

    def result(self, found: Findings, files: dict[str, Any]) -> FileResult:
        repeated = repeated_ids(found.documents.ids.slice(0, found.inputs))
        html = self.request.reading.html
        counts = summarize(found, self.recipe, self.options, self.progress, repeated_ids=repeated, html=html)
        return FileResult(counts, files | {"report": self.request.report}, self.expected)

    def report(self, found: Findings, result: FileResult) -> bytes:
        reference = self.reference if isinstance(self.reference, FileCorpus) else None
        from neardup.judging.report import RunInputs, make_report

        inputs = RunInputs(found.inputs, self.recipe, self.corpus, reference)
        lines = partial(self._audited, found)
        made, reason = make_report(json.loads(result.to_json()), lines, inputs, self.progress)
        if reason:
            self.progress.say(f"{self.request.report} shows no texts: {reason}")
        return made

    def _audited(self, found: Findings) -> Iterator[dict[str, Any]]:
        """The lines of the audit, parsed, without reading a file."""
        for _, lines in self.audit(found):
            yield from map(json.loads, lines)
