"""The steps of a split of files: what `neardup.jobs.removal.run` does one after another."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from neardup.dedup import columns_with
from neardup.display import ToldLine, counted, share_text
from neardup.io.checks.number_files import refuse_lone_numbers
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.stored_shards import digest_of_files
from neardup.io.outputs.outputs import Outputs
from neardup.io.resume.checkpoints import Checkpoints
from neardup.jobs.removal.output_paths import OutputPaths
from neardup.jobs.removal.resume import run_description
from neardup.jobs.removal.run import Steps, run
from neardup.jobs.removal.writing import DecidedRows, write_shards
from neardup.jobs.results import JobResult, passed_over, places_of, took
from neardup.jobs.splits.find import SplitFindings, find_sides, summarize_split
from neardup.jobs.splits.previous import Previous, open_previous
from neardup.jobs.splits.side_paths import SplitRequest, name_of_side
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.survivors.records.audit import AuditChunk
from neardup.survivors.splits.options import SplitOptions
from neardup.survivors.splits.summary import SplitSummary

SHOWN_STRATA = 10
"""So many values of a column are shown; the summary has all."""


@dataclass(frozen=True)
class FileSplit(JobResult):
    """The result of `split_files`.

    Attributes:
        summary: the counts and seconds of the run.
        files: the paths of inputs, output, summary and rejects, by these names; None for files that were not written. And `sides`:
            the name of each in the output.
    """

    summary: SplitSummary
    files: dict[str, Any]

    def __repr__(self) -> str:
        return f"FileSplit({self.summary.in_a_line()}, output={self.files['output']!r})"

    def lines(self) -> Iterator[ToldLine]:
        """The lines for the terminal."""
        counts = self.summary
        dealt = counts.documents - counts.conflicts
        yield "read", counted(counts.documents, "document")
        width = max(len(each.side) for each in counts.sides)
        label = "split"
        for each in counts.sides:
            asked = f", asked for {100 * each.share:.4g} %"
            yield (
                label,
                f"{each.side:<{width}}  {counted(each.documents, 'document')}{share_text(each.documents, dealt)}{asked}",
            )
            label = ""
        if counts.dealt_before:
            yield "", f"{counted(counts.dealt_before, 'document')} dealt before, on the same side as then"
        if counts.largest > 1:
            yield (
                "together",
                f"at most {counts.largest:,} documents{share_text(counts.largest, dealt)}, on {counts.largest_side}",
            )
        yield from self._strata()
        if counts.conflicts:
            yield (
                "warning",
                f"{counted(counts.conflicts, 'new document')} of two sides at once: in conflicts, on no side",
            )
        for told in counts.warnings:
            yield "warning", told
        if counts.rejected:
            yield (
                "skipped",
                f"{counted(counts.rejected, 'row')} could not be read: {self.files['rejects'] or 'not written'}",
            )
        if self.files["output"] is None:
            yield "note", "a dry run: nothing was written"
        yield from passed_over(counts.passed_over)
        if counts.short:
            few = "without features" if counts.min_tokens <= 1 else f"of fewer than {counts.min_tokens:,} tokens"
            yield "note", f"{counted(counts.short, 'document')} {few}: only equal ones match"
        yield from places_of(self.files, ("output",))

    def _strata(self) -> Iterator[ToldLine]:
        counts = self.summary
        for each in sorted(counts.strata, key=lambda each: -each.documents)[:SHOWN_STRATA]:
            shares = ", ".join(
                f"{side} {100 * number / max(1, each.documents):.1f} %" for side, number in each.sides.items()
            )
            value = "without a value" if each.value is None else each.value
            yield "stratum", f"{value}: {counted(each.documents, 'document')}: {shares}"
        if len(counts.strata) > SHOWN_STRATA:
            yield "", f"and {len(counts.strata) - SHOWN_STRATA:,} more, which the summary has"

    def details(self) -> Iterator[ToldLine]:
        """How the work was done: what `--verbose` adds."""
        counts = self.summary
        yield "compared", f"{counted(counts.candidates, 'pair')}, of which {counts.matches:,} match"
        yield took(counts)
        yield from places_of(self.files, ("summary",))


def split_shards(
    shards: Sequence[Shard],
    previous: Sequence[str | Path],
    recipe: Recipe,
    options: DedupOptions,
    how: SplitOptions,
    request: SplitRequest,
    progress: Progress,
) -> FileSplit:
    """Split some files; see `neardup.jobs.splits.split_files.split_files`."""
    reading, on_error = request.reading, request.on_error
    asked_by = options.columns_asked_by | how.columns_asked_by
    corpus = FileCorpus(
        shards,
        reading.columns(columns_with(options, how.columns), asked_by=asked_by),
        on_error=on_error,
        progress=progress,
        resources=options.resources,
        refine=refuse_lone_numbers(shards),
    )
    before = None
    if previous:
        before = open_previous(previous, how, recipe, options, reading, on_error=on_error, progress=progress)
    besides = {} if before is None else {"the earlier split": [shard.path for shard in before.corpus.shards]}
    return run(_Steps(corpus, besides, request, progress, recipe, options, how, before))


@dataclass
class _Steps(Steps[SplitFindings, FileSplit]):
    recipe: Recipe
    options: DedupOptions
    how: SplitOptions
    before: Previous | None
    request: SplitRequest
    command: ClassVar[str] = "split"

    def check(self) -> None:
        self.corpus.check()

    def description(self) -> dict[str, Any]:
        asked = self.request
        known = None if self.before is None else self.before.corpus
        found = run_description(asked.output, self.corpus, known, self.recipe, self.options, asked.reading)
        return found | {"split": self.how.as_dict(), "on_error": asked.on_error}

    def done_before(self, record: dict[str, Any]) -> FileSplit:
        return FileSplit(SplitSummary.of_record(record["summary"]), record["files"])

    def find(self, checkpoints: Checkpoints) -> SplitFindings:
        return find_sides(
            self.corpus, self.recipe, self.options, self.how, self.progress, before=self.before, checkpoints=checkpoints
        )

    def audit(self, _: SplitFindings) -> Iterable[AuditChunk]:
        return ()  # nothing is removed

    def write(self, found: SplitFindings, _: OutputPaths, outputs: Outputs) -> None:
        shards, rows, valid = self.corpus.shards, self.rows(found), found.found.documents.valid
        for side, of_side in enumerate(self.request.side_paths(shards)):
            writer = DecidedRows(shards, rows, partial(found.on, side), valid, None)
            write_shards(writer, of_side, outputs, threads=self.options.threads, progress=self.progress)

    def content(self) -> dict[str, str | None]:
        """The digests of the inputs and of the sides of earlier splits."""
        before = () if self.before is None else self.before.corpus.shards
        return super().content() | {"reference": digest_of_files(before)}

    def result(self, found: SplitFindings, files: dict[str, Any]) -> FileSplit:
        counts = summarize_split(found, self.recipe, self.options, self.progress, html=self.request.reading.html)
        files["sides"] = {side: name_of_side(side, self.corpus.shards) for side in self.request.sides}
        return FileSplit(counts, files)
