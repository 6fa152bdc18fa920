"""De-duplicate files: survivors as they were, an audit of every removal, and a summary."""

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from neardup.dedup import find_duplicates
from neardup.io.corpus import FileCorpus, Rejected, open_corpus
from neardup.io.ids import repeated_ids
from neardup.io.outputs import Outputs
from neardup.io.reading import split_options
from neardup.io.saved_work import SavedWork
from neardup.io.shards import Shard
from neardup.jobs.output_paths import OutputPaths, demand_output
from neardup.jobs.reference import FingerprintReference, open_reference
from neardup.jobs.results import FileResult
from neardup.jobs.resume import run_description
from neardup.jobs.run import Request, listed, run
from neardup.jobs.writing import write_rows
from neardup.judging.estimate import CostEstimate, estimate_corpus
from neardup.judging.report import check_report, make_report
from neardup.judging.report import report as write_report
from neardup.options import DedupOptions, options_of
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.recipe import Recipe
from neardup.survivors.annotations import ANNOTATIONS
from neardup.survivors.audit import AuditChunk, audit_lines
from neardup.survivors.decisions import Findings
from neardup.survivors.summary import summarize


def deduplicate_files(
    inputs: str | Path | Sequence[str | Path],
    output: str | None = None,
    *,
    recipe: Recipe | None = None,
    annotate: bool = False,
    dry_run: bool = False,
    audit: str | None = None,
    report: str | None = None,
    against: str | Path | Sequence[str | Path] = (),
    overwrite: bool = False,
    resume: bool = False,
    on_error: str = "stop",
    progress: Watcher = None,
    **options: Any,
) -> FileResult:
    """Remove near-duplicate documents from files.

    Nothing appears under a final name before all is complete; no file is replaced unless `overwrite` is given.

    Args:
        inputs: files, folders, globs, or `-` for JSON lines on standard input.
        output: a file, a folder (ends in /; one shard for each input), or `-` for standard output.
        recipe: how texts become fingerprints; `Recipe()` if not given.
        annotate: write all rows, with the columns ANNOTATIONS.
        dry_run: say what is expected, from a sample, do everything, write nothing.
        audit: where the audit goes: a file, or a folder (ends in /; one file for each input); the output without its data endings +
            `.duplicates.jsonl` if not given.
        report: where the run goes as one HTML page, which ends in .html; of a dry run, too. The inputs are read once more for it.
        against: a reference: files of texts, like the inputs, or fingerprint files (then by distance alone). What is near one of
            its documents is removed; it stays as it is, and which of its own documents are near one another is not looked at.
        overwrite: replace outputs that exist.
        resume: keep finished work in a folder beside the output (its name without data endings + `.resume`), and go on with what is
            there of the same run. When the run is done, only a record of that stays in the folder.
        on_error: what to do with rows that cannot be read: `stop`, or `skip` them into a file of rejects.
        progress: True for what the command line shows, or a function that is called with each `ProgressEvent`; nothing is told if
            not given.
        **options: the fields of `neardup.io.reading.Reading` (text, id …) and of `DedupOptions`.

    Raises:
        InputError: an input is missing, an output exists, or formats do not go together.
        OptionError: an option has a value that is not allowed.
        RecipeMismatch: the folder of a run to be resumed is of other inputs, another recipe or other options.
        RowError: a row cannot be read, and `on_error` is `stop`.
        DataError: a file is damaged.
    """
    recipe, progress = recipe or Recipe(), progress_of(progress)
    reading, others = split_options(options)
    chosen = options_of(**others)
    if not dry_run:
        demand_output(output)  # before inputs are looked for: who forgot -o has named the output as an input
    if report is not None:
        check_report(report)
    references = listed(against)
    request = Request(
        inputs=listed(inputs),
        output=output,
        reading=reading,
        audit=audit,
        report=report,
        annotate=annotate,
        dry_run=dry_run,
        overwrite=overwrite,
        resume=resume,
        on_error=on_error,
        temp_dir=chosen.temp_dir,
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
            references, corpus, recipe, reading, chosen, temporary=Path(spool), on_error=on_error, progress=progress
        )
        steps = _Steps(corpus, reference, recipe, chosen, request, progress)
        return run(steps, request, progress, resumable=steps, reported=steps)


@dataclass
class _Steps:
    """Whole documents; see `neardup.jobs.run.Steps`."""

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

    def save_in(self, saved: SavedWork) -> None:
        self.corpus.save_in(saved, "inputs")
        if isinstance(self.reference, FileCorpus):
            self.reference.save_in(saved, "reference")

    def done_before(self, record: dict[str, Any]) -> FileResult:
        done, page = FileResult.of_record(record), self.request.report
        if page is not None and not Path(page).exists():
            write_report(done.files["audit"], page, threads=self.options.threads, progress=self.progress)
            done.files["report"] = page
        return done

    def find(self, *, resumable: bool) -> Findings:
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
            keep_elements=not resumable,
        )

    def rows(self, _: Findings) -> Sequence[slice]:
        return [self.corpus.rows_of(number) for number in range(len(self.corpus.shards))]

    def audit(self, found: Findings) -> Iterator[AuditChunk]:
        locate = None if self.reference is None else self.reference.locate
        with_matched = self.options.cluster == "components"
        return audit_lines(found.of_inputs, found.documents.ids, with_matched=with_matched, locate=locate)

    def write(self, found: Findings, paths: OutputPaths, outputs: Outputs) -> None:
        write_rows(
            self.shards,
            self.rows(found),
            found.decisions,
            found.documents.ids,
            found.documents.valid,
            paths=paths.outputs,
            outputs=outputs,
            annotate=self.request.annotate,
            threads=self.options.threads,
            progress=self.progress,
        )

    def result(self, found: Findings, files: dict[str, Any]) -> FileResult:
        repeated = repeated_ids(found.documents.ids.slice(0, found.inputs))
        html = self.request.reading.html
        counts = summarize(found, self.recipe, self.options, self.progress, repeated_ids=repeated, html=html)
        return FileResult(counts, files | {"report": self.request.report}, self.expected)

    def report(self, found: Findings, result: FileResult) -> bytes:
        made, reason = make_report(
            json.loads(result.to_json()),
            partial(self._audited, found),
            rows=found.inputs,
            corpus=self.corpus,
            reference=self.reference if isinstance(self.reference, FileCorpus) else None,
            recipe=self.recipe,
            progress=self.progress,
        )
        if reason:
            self.progress.say(f"{self.request.report} shows no texts: {reason}")
        return made

    def _audited(self, found: Findings) -> Iterator[dict[str, Any]]:
        """The lines of the audit, without a file."""
        for _, lines in self.audit(found):
            yield from map(json.loads, lines)
