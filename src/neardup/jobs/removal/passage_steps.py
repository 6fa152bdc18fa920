"""The steps of a run that cuts repeated passages: what `neardup.jobs.removal.run` does one after another."""

import dataclasses
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from neardup.display import ToldLine, allowed_text, counted, reasons_text, share_text
from neardup.errors import InputError
from neardup.io.checks.number_files import refuse_lone_numbers
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.stored_shards import digest_of_files
from neardup.io.formats.text_sink import TextSink
from neardup.io.ids import repeated_ids
from neardup.io.outputs.outputs import Outputs
from neardup.io.resume.checkpoints import Checkpoints
from neardup.io.storage.compressions import compression_of_name
from neardup.io.storage.places import Place, place_of
from neardup.jobs.removal.output_paths import OutputPaths
from neardup.jobs.removal.request import Request
from neardup.jobs.removal.resume import run_description
from neardup.jobs.removal.run import Steps, run
from neardup.jobs.removal.writing import DecidedRows, RewrittenRows, ShardWriter, demand_rewritable, write_shards
from neardup.jobs.results import JobResult, passed_over, places_of, told_of_reference, told_of_unfit, took
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.resources.unfinished import TemporaryFolder
from neardup.survivors.records.audit import AuditChunk
from neardup.survivors.repeats.options import PassageOptions
from neardup.survivors.repeats.outcomes import Passages, find_passages
from neardup.survivors.repeats.records.cut_log import ANNOTATION, CutSegments, Spans, cut_lines
from neardup.survivors.repeats.records.repeated import ListedPlaces, Repeated, list_repeated
from neardup.survivors.repeats.records.summary import PassagesSummary, summarize_passages
from neardup.survivors.repeats.token_stream import SEPARATOR
from neardup.text.html import extractor

if TYPE_CHECKING:
    from neardup.judging.run_cost import CostEstimate


@dataclass(frozen=True)
class FilePassages(JobResult):
    """The result of `passages_files`.

    Attributes:
        summary: the counts and seconds of the run.
        files: the paths of inputs, reference, output, audit, summary and rejects, by these names; None for files that were not
            written.
        written: what was written: `documents`, `annotated` rows, or a `list`.
        estimate: the cost that a dry run estimated; None for other runs.
    """

    summary: PassagesSummary
    files: dict[str, Any]
    written: str = "documents"
    estimate: "CostEstimate | None" = None

    def __repr__(self) -> str:
        return f"FilePassages({self.summary.in_a_line()}, output={self.files['output']!r})"

    def _further(self) -> dict[str, Any]:
        return {} if self.estimate is None else {"estimate": self.estimate.as_dict()}

    def lines(self) -> Iterator[ToldLine]:
        """The lines for the terminal."""
        counts = self.summary
        yield "read", f"{counted(counts.documents, 'document')}, {counted(counts.tokens, 'token')}"
        yield from told_of_reference(self.files)
        share = share_text(counts.cut_tokens, counts.tokens)
        verb = {"annotated": "marked", "list": "found"}.get(self.written, "cut")
        yield verb, f"{counted(counts.cut_tokens, 'token')}{share} in {counted(counts.passages, 'passage')}"
        if self.written != "list":
            least = counts.options["min_left"]
            few = (
                "of which nothing was left"
                if least == 1
                else f"of which fewer than {counted(least, 'token')} were left"
            )
            changed = counted(counts.changed, "document") + share_text(counts.changed, counts.documents)
            yield "", f"{changed} {'would be ' if self.written == 'annotated' else ''}changed"
            if counts.removed:
                removed = counted(counts.removed, "document") + share_text(counts.removed, counts.documents)
                yield "", f"{removed} {'would be ' if self.written == 'annotated' else ''}removed, {few}"
            if counts.kept_for_copies:
                yield (
                    "",
                    f"{counted(counts.kept_for_copies, 'document')} kept, {few}: a copy that the log names is there",
                )
        yield from self._remarks()
        yield from places_of(self.files, ("output", "audit"))

    def _remarks(self) -> Iterator[ToldLine]:
        """What to know about the run."""
        counts = self.summary
        if counts.repeated_ids:
            yield "warning", f"{counted(counts.repeated_ids, 'repeated id')}; the log tells such documents apart by row"
        if counts.unnamed:
            yield "note", f"{counted(counts.unnamed, 'document')} without an id: FILE:ROW stands for it"
        if counts.rejected:
            place = self.files["rejects"] or "not written"
            yield "skipped", f"{counted(counts.rejected, 'row')} could not be read: {place}"
            yield "", reasons_text(counts.rejected_for)
        if counts.compared_as is not None:
            how = f"keep {counts.options['keep']} compares {counts.compared_as}"
            yield "note", how + told_of_unfit(counts.unfit_values)
        if self.files["output"] is None:
            yield "note", "a dry run: nothing was written"
        yield from passed_over(counts.passed_over)

    def details(self) -> Iterator[ToldLine]:
        """How the work was done: what `--verbose` adds."""
        counts = self.summary
        yield took(counts)
        yield "allowed", allowed_text(counts.memory["budget"], counts.temporary_limit_bytes)
        yield from places_of(self.files, ("summary",))


def cut_shards(
    shards: Sequence[Shard],
    against: Sequence[str | Path],
    recipe: Recipe,
    options: PassageOptions,
    request: Request,
    progress: Progress,
    *,
    temporary: TemporaryFolder,
) -> FilePassages:
    """Cut passages out of some files; see `neardup.jobs.removal.passages.passages_files`."""
    if not request.annotate and not request.lists:
        demand_rewritable(shards, "what cuts passages", request.output)
    order = options.order
    how: dict[str, Any] = {"on_error": request.on_error, "progress": progress, "resources": options.resources}
    asked_by = order.columns_asked_by

    def columns(values: Iterable[str]) -> Columns:
        read = request.reading.columns(values, asked_by=asked_by)
        return dataclasses.replace(read, separator=SEPARATOR) if len(read.text) > 1 else read

    corpus = FileCorpus(shards, columns(order.columns), refine=refuse_lone_numbers(shards), **how)
    reference, besides = None, dict[str, list[Place]]()
    if against:
        # loads stores
        from neardup.fingerprints.files.fingerprint_file import hold_fingerprints
        from neardup.jobs.removal.reference import shards_of_reference

        others = shards_of_reference(against, shards, request.reading, temporary, takes="files of texts")
        if hold_fingerprints(others):
            raise InputError(
                f"`against`: {others[0].name} holds fingerprints, and passages are found in texts. Name files of texts."
            )
        within = columns([name for name in order.columns if name == order.grouped_by])
        reference = FileCorpus(others, within, refine=refuse_lone_numbers(others), **how)
        besides = {"the reference": [shard.path for shard in others]}
    return run(_Steps(corpus, besides, request, progress, reference, recipe, options))


def _write_list(listed: Repeated, path: Place, outputs: Outputs) -> None:
    with TextSink("jsonl", outputs.claim(path), compression_of_name(path.name)) as sink:
        for line in listed.lines():
            sink.write(line.encode())


@dataclass
class _Steps(Steps[Passages, FilePassages]):
    reference: FileCorpus | None
    recipe: Recipe
    options: PassageOptions
    expected: "CostEstimate | None" = None
    command: ClassVar[str] = "passages"

    @property
    def _names(self) -> tuple[str, ...]:
        """The names of the text columns."""
        return tuple(self.request.reading.text)

    @property
    def _written(self) -> str:
        """As `FilePassages.written`."""
        return "list" if self.request.lists else "annotated" if self.request.annotate else "documents"

    def check(self) -> None:
        self.corpus.check((ANNOTATION,) if self.request.annotate else ())
        if self.reference is not None:
            self.reference.check()
        if self.request.report_by is not None:
            from neardup.judging.reports.sources import check_column

            check_column(self.corpus, self.request.report_by)

    def description(self) -> dict[str, Any]:
        asked = self.request
        known = run_description(asked.output, self.corpus, self.reference, self.recipe, self.options, asked.reading)
        return known | {"passages": self._written, "audit": asked.audit, "on_error": asked.on_error}

    def done_before(self, record: dict[str, Any]) -> FilePassages:
        done, page = (
            FilePassages(PassagesSummary(**record["summary"]), record["files"], self._written),
            self.request.report,
        )
        if page is not None and not place_of(page).is_file():
            from neardup.judging.report import report as write_report

            how: dict[str, Any] = {"report_by": self.request.report_by, "threads": self.options.threads}
            write_report(done.files["audit"], page, progress=self.progress, **how)
            done.files["report"] = page
        return done

    def find(self, checkpoints: Checkpoints) -> Passages:
        if self.request.dry_run:
            from neardup.judging.passage_estimate import estimate_passages

            several = len(self._names)
            self.expected = estimate_passages(self.corpus, self.reference, self.recipe, self.options, several)
            self.progress.say(f"estimate: {self.expected}")
            self.progress.say("all is done now but writing; interrupt it if the estimate is enough")
        return find_passages(
            self.corpus,
            self.recipe,
            self.options,
            self.progress,
            reference=self.reference,
            columns=len(self._names),
            checkpoints=checkpoints,
        )

    def audit(self, found: Passages) -> Iterator[AuditChunk]:
        locate = None if self.reference is None else self.reference.locate
        return cut_lines(CutSegments.of(found, found.repeats.documents.ids, self._names, locate))

    def write(self, found: Passages, paths: OutputPaths, outputs: Outputs) -> None:
        if self.request.lists:
            locate = None if self.reference is None else self.reference.locate
            places = ListedPlaces.none(found, found.repeats.documents.ids, self._names, locate)
            with list_repeated(found, places, self.reference, self.options.resources, self.progress) as listed:
                _write_list(listed, paths.outputs[0], outputs)
            return
        writer = self._writer(found)
        write_shards(writer, paths.outputs, outputs, threads=self.options.threads, progress=self.progress)

    def _writer(self, found: Passages) -> ShardWriter:
        shards, rows, spans = self.corpus.shards, self.rows(found), Spans(found.cut)
        valid = found.repeats.documents.valid[: found.repeats.inputs]
        if self.request.annotate:
            several = len(self._names) > 1
            return DecidedRows(
                shards, rows, valid.__getitem__, valid, lambda part: spans.annotation(part, several=several)
            )
        extract = None if self.request.reading.html is None else extractor(self.request.reading.html)
        changed = spans.changed(len(valid), every=extract is not None) & valid

        def rest(row: int, texts: list[str]) -> list[str]:
            return spans.rest(row, texts if extract is None else [extract(text) for text in texts])

        cut = None if extract is not None else found.cut.spans
        return RewrittenRows(shards, rows, found.kept, changed, rest, self.request.reading.columns(), cut)

    def result(self, found: Passages, files: dict[str, Any]) -> FilePassages:
        ids = found.repeats.documents.ids.slice(0, found.repeats.inputs)
        counts = summarize_passages(
            found,
            len(self._names),
            self.recipe,
            self.options,
            self.progress,
            repeated_ids=repeated_ids(ids),
            html=self.request.reading.html,
            rejected=self.corpus.rejected,
            unnamed=self.unnamed(ids, self.rows(found)),
        )
        files |= {"report": self.request.report}
        if self.request.report_by is not None:
            files["report_by"] = self.request.report_by
        return FilePassages(counts, files, self._written, self.expected)

    def content(self) -> dict[str, str | None]:
        """The digests of the inputs and of the reference."""
        reference = () if self.reference is None else self.reference.shards
        return super().content() | {"reference": digest_of_files(reference)}

    def report(self, found: Passages, result: FilePassages) -> bytes:
        from neardup.judging.reports.passages import passages_report
        from neardup.judging.reports.run_inputs import RunInputs

        def lines() -> Iterator[dict[str, Any]]:
            return (json.loads(line) for _, chunk in self.audit(found) for line in chunk)

        inputs = RunInputs(found.repeats.inputs, self.recipe, self.corpus, self.reference)
        summary = json.loads(result.to_json())
        return passages_report(summary, lines, inputs, self.progress, report_by=self.request.report_by)[0]
