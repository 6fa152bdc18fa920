"""The steps of a de-duplication of whole documents: what `neardup.jobs.removal.run` does one after another."""

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.dedup import find_duplicates
from neardup.errors import OptionError
from neardup.io.checks.number_files import refuse_lone_numbers
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.reading import recipe_for
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.stored_shards import digest_of_files
from neardup.io.ids import repeated_ids, shared_ids
from neardup.io.outputs.outputs import Outputs
from neardup.io.resume.checkpoints import Checkpoints
from neardup.io.storage.places import Place, place_of
from neardup.jobs.removal.output_paths import OutputPaths
from neardup.jobs.removal.request import Request
from neardup.jobs.removal.resume import run_description
from neardup.jobs.removal.run import Steps, run
from neardup.jobs.removal.writing import DecidedRows, write_shards
from neardup.jobs.results import FileResult
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.resources.unfinished import TemporaryFolder
from neardup.survivors.decisions import Findings
from neardup.survivors.records.audit import AuditChunk, audit_lines
from neardup.survivors.records.audit_schema import DOCUMENTS, Column, columns_of
from neardup.survivors.records.counting import summarize
from neardup.survivors.records.parquet_log import LogValues
from neardup.survivors.records.result_tables import ANNOTATIONS, annotations
from neardup.survivors.records.superseded import superseded_lines

if TYPE_CHECKING:
    from neardup.jobs.removal.reference import FingerprintReference
    from neardup.judging.run_cost import CostEstimate
    from neardup.store.reference import StoreReference


def deduplicate_shards(
    shards: Sequence[Shard],
    references: Sequence[str | Path],
    recipe: Recipe | None,
    options: DedupOptions,
    request: Request,
    progress: Progress,
    *,
    temporary: TemporaryFolder,
) -> FileResult:
    """De-duplicate some files; see `neardup.jobs.removal.dedup.deduplicate_files`. `recipe`: as asked for, or None."""
    reading, on_error = request.reading, request.on_error
    columns = reading.columns(options.columns, asked_by=options.columns_asked_by)
    corpus = FileCorpus(
        shards,
        columns,
        on_error=on_error,
        progress=progress,
        resources=options.resources,
        refine=refuse_lone_numbers(shards),
    )
    with contextlib.ExitStack() as stack:
        reference: FileCorpus | FingerprintReference | StoreReference | None = None
        besides: Mapping[str, Iterable[Place]] = {}
        if references:
            from neardup.jobs.removal.reference import open_reference, open_store_reference, usual_recipe
            from neardup.store.session.folder import is_store

            if any(map(is_store, references)):
                if request.with_superseded:
                    raise OptionError(
                        f"`prefer='best'`: {references[0]} is a store, which decides which of its documents stay. Make it with the "
                        "`keep` of this run, and give the inputs to `neardup filter --store`: it tells what replaces documents."
                    )
                from neardup.jobs.store_places import folder_of_store

                besides = folder_of_store(references[0])
                opened = open_store_reference(references, recipe, reading, options, resume=request.resume)
                reference, recipe, options = stack.enter_context(opened)
            else:
                recipe = usual_recipe(references, reading, temporary, progress) if recipe is None else recipe
                reference = open_reference(
                    references,
                    corpus,
                    recipe,
                    reading,
                    options,
                    temporary=temporary,
                    on_error=on_error,
                    progress=progress,
                    together=request.with_superseded,
                )
                besides = {"the reference": [shard.path for shard in reference.shards]}
        recipe = recipe_for(reading, Recipe()) if recipe is None else recipe
        return run(_Steps(corpus, besides, request, progress, reference, recipe, options))


@dataclass
class _Steps(Steps[Findings, FileResult]):
    reference: "FileCorpus | FingerprintReference | StoreReference | None"
    recipe: Recipe
    options: DedupOptions
    expected: "CostEstimate | None" = None

    def check(self) -> None:
        self.corpus.check(ANNOTATIONS if self.request.annotate else ())
        if self.request.report_by is not None:
            from neardup.judging.reports.sources import check_column

            check_column(self.corpus, self.request.report_by)

    def description(self) -> dict[str, Any]:
        asked, reading = self.request, self.request.reading
        files: Any = self.reference  # no store: `resume` is refused with one
        known = run_description(asked.output, self.corpus, files, self.recipe, self.options, reading)
        known |= {"annotate": asked.annotate, "audit": asked.audit, "on_error": asked.on_error}
        return known | ({"prefer": asked.named["prefer"]} if asked.with_superseded else {})

    def done_before(self, record: dict[str, Any]) -> FileResult:
        done, page = replace(FileResult.of_record(record), annotated=self.request.annotate), self.request.report
        if page is not None and not place_of(page).is_file():
            from neardup.judging.report import report as write_report

            write_report(
                done.files["audit"],
                page,
                report_by=self.request.report_by,
                threads=self.options.threads,
                progress=self.progress,
            )
            done.files["report"] = page
        return done

    def find(self, checkpoints: Checkpoints) -> Findings:
        if self.request.dry_run:
            from neardup.judging.estimate import estimate_corpus

            unsourced = self.options.changed(prefer_source=())  # whose sources may be those of the reference
            estimated = unsourced if self.request.with_superseded else self.options
            self.expected = estimate_corpus(self.corpus, self.recipe, estimated)
            self.progress.say(f"estimate: {self.expected}")
            self.progress.say("all is done now but writing; interrupt it if the estimate is enough")
        known: Any = self.reference
        return find_duplicates(
            self.corpus,
            self.recipe,
            self.options,
            self.progress,
            reference=getattr(known, "documents", known),
            checkpoints=checkpoints,
            together=self.request.with_superseded,
        )

    def audit(self, found: Findings) -> Iterator[AuditChunk]:
        locate = None if self.reference is None else self.reference.locate
        with_matched = self.options.cluster == "components"
        return audit_lines(found.of_inputs, found.documents.ids, with_matched=with_matched, locate=locate)

    @property
    def log_columns(self) -> Sequence[Column[Any]]:
        with_matched = self.options.cluster == "components"
        return columns_of(DOCUMENTS, with_matched=with_matched, with_reference=self.reference is not None)

    def log_values(self, found: Findings) -> LogValues | None:
        name = self.options.preferred_by
        if name is None:
            return None
        values = found.documents.values[name]
        return LogValues(values if found.together else values.slice(0, found.inputs), found.of_inputs.survivor)

    def superseded(self, found: Findings) -> Iterator[str]:
        reference: Any = self.reference  # refused without one
        return superseded_lines(found, with_matched=self.options.cluster == "components", locate=reference.locate)

    def write(self, found: Findings, paths: OutputPaths, outputs: Outputs) -> None:
        known = found.documents
        added = partial(annotations, found.decisions, known.ids) if self.request.annotate else None
        writer = DecidedRows(
            self.corpus.shards, self.rows(found), found.decisions.kept_of, known.valid, added, self.request.reading.html
        )
        write_shards(writer, paths.outputs, outputs, threads=self.options.threads, progress=self.progress)

    def result(self, found: Findings, files: dict[str, Any]) -> FileResult:
        repeated = repeated_ids(found.documents.ids.slice(0, found.inputs))
        html = self.request.reading.html
        counts = summarize(
            found,
            self.recipe,
            self.options,
            self.progress,
            repeated_ids=repeated,
            html=html,
            rejected=self.corpus.rejected,
            unnamed=self.unnamed(found.documents.ids.slice(0, found.inputs), self.rows(found)),
            shared_ids=shared_ids(found.documents.ids, found.decisions.kept, found.inputs) if found.together else 0,
        )
        files |= {"report": self.request.report}
        if self.request.report_by is not None:
            files["report_by"] = self.request.report_by
        return FileResult(counts, files, self.expected, annotated=self.request.annotate)

    def content(self) -> dict[str, str | None]:
        """The digests of the inputs and of the files of a reference; None for what cannot be read again. The content of a store."""
        is_of_texts = isinstance(self.reference, FileCorpus)
        known = super().content()
        if of_store := getattr(self.reference, "content", None):
            known["store"] = of_store()
        elif self.reference is not None:
            shards = getattr(self.reference, "shards", ())
            known["reference" if is_of_texts else "fingerprints"] = digest_of_files(shards)
        return known

    def report(self, found: Findings, result: FileResult) -> bytes:
        reference = self.reference if isinstance(self.reference, FileCorpus) else None
        from neardup.judging.report import make_report
        from neardup.judging.reports.run_inputs import RunInputs

        inputs = RunInputs(found.inputs, self.recipe, self.corpus, reference)
        lines = partial(self._audited, found)
        summary = json.loads(result.to_json())
        made, reason = make_report(summary, lines, inputs, self.progress, report_by=self.request.report_by)
        if reason:
            self.progress.say(f"{self.request.report} shows no texts: {reason}")
        return made

    def _audited(self, found: Findings) -> Iterator[dict[str, Any]]:
        """The lines of the audit, parsed, without reading a file."""
        for _, lines in self.audit(found):
            yield from map(json.loads, lines)
