"""The steps of a decontamination of files: what `neardup.jobs.removal.run` does one after another."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from neardup.display import ToldLine, counted, share_text, size_text
from neardup.io.checks.number_files import refuse_lone_numbers
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.reading import Reading
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.stored_shards import digest_of_files
from neardup.io.outputs.outputs import Outputs
from neardup.io.resume.checkpoints import Checkpoints
from neardup.jobs.removal.output_paths import OutputPaths
from neardup.jobs.removal.request import Request
from neardup.jobs.removal.run import Steps, run
from neardup.jobs.removal.writing import DecidedRows, write_shards
from neardup.jobs.results import JobResult, passed_over, places_of, seconds_text, told_of_reference
from neardup.matching.contamination.items import Items
from neardup.matching.contamination.options import MANY_ITEMS, DecontaminationOptions
from neardup.matching.contamination.scan import Scanned
from neardup.progress import Progress
from neardup.resources.unfinished import TemporaryFolder
from neardup.survivors.contamination.columns import CONTAMINATION_ANNOTATIONS, contamination_columns
from neardup.survivors.contamination.decide import Benchmarks, Contamination, outcomes_of_batch, parsed, read_benchmark
from neardup.survivors.contamination.summary import DecontaminationSummary, summarize_contamination
from neardup.survivors.records.audit import CHUNK_ROWS, AuditChunk, lines_of
from neardup.survivors.records.audit_schema import DOCUMENTS

_COLUMNS = contamination_columns(DOCUMENTS)


@dataclass(frozen=True)
class FileDecontamination(JobResult):
    """The result of `decontaminate_files`.

    Attributes:
        summary: the counts and seconds of the run.
        files: the paths of inputs, benchmarks, output, audit, items, summary, rejects and report, by these names; None for files
            that were not written.
        annotated: whether all rows were written, with what they hold in columns.
    """

    summary: DecontaminationSummary
    files: dict[str, Any]
    annotated: bool = False

    def __repr__(self) -> str:
        return f"FileDecontamination({self.summary.in_a_line()}, output={self.files['output']!r})"

    def lines(self) -> Iterator[ToldLine]:
        """The lines for the terminal."""
        counts = self.summary
        least = counts.options["min_tokens"]
        benchmarks = counted(len(counts.benchmarks), "benchmark")
        yield "read", f"{counted(counts.documents, 'document')}, and {counted(counts.items, 'item')} of {benchmarks}"
        yield from told_of_reference(self.files)
        yield "kept", counted(counts.clean, "document") + share_text(counts.clean, counts.documents)
        holds = f": they hold {counted(counts.contaminated_items, 'item')}" if counts.contaminated else ""
        removed = counted(counts.contaminated, "document") + share_text(counts.contaminated, counts.documents)
        yield "marked" if self.annotated else "removed", removed + holds
        for each in counts.benchmarks:
            share = share_text(each.contaminated, each.checked)
            yield (
                "",
                f"{each.benchmark}: {each.contaminated:,} of {counted(each.checked, 'checked item')}{share} "
                f"in {counted(each.documents, 'document')}",
            )
        if counts.shared_passages:
            yield (
                "note",
                f"{counted(counts.shared_passages, 'document')} by a passage that stands in {MANY_ITEMS} items or more, such as an "
                "instruction: see `passage_items`",
            )
        if not counts.checked_items:
            yield "warning", "no item was checked, so nothing could be found"
        if counts.rejected_items:
            yield "warning", f"{counted(counts.rejected_items, 'row')} of benchmarks could not be read: not checked"
        if counts.rejected:
            yield (
                "skipped",
                f"{counted(counts.rejected, 'row')} could not be read: {self.files['rejects'] or 'not written'}",
            )
        yield from passed_over(counts.passed_over)
        if self.files["output"] is None:
            yield "note", "a dry run: nothing was written"
        if counts.short_items:
            yield "note", f"{counted(counts.short_items, 'item')} of fewer than {counted(least, 'token')}: not checked"
        yield from places_of(self.files, ("output", "audit", "items", "report"))

    def details(self) -> Iterator[ToldLine]:
        """How the work was done: what `--verbose` adds."""
        seconds, memory = self.summary.seconds["total"], self.summary.peak_memory_bytes
        yield "took", f"{seconds_text(seconds)}, {size_text(memory)} of memory"
        yield from places_of(self.files, ("summary",))


def decontaminate_shards(
    shards: Sequence[Shard],
    benchmarks: Sequence[Shard],
    of_items: Reading,
    options: DecontaminationOptions,
    request: Request,
    progress: Progress,
    *,
    temporary: TemporaryFolder,
) -> FileDecontamination:
    """Decontaminate some files; see `neardup.jobs.removal.decontaminate.decontaminate_files`."""
    how: dict[str, Any] = {"on_error": request.on_error, "progress": progress, "resources": options.resources}
    corpus, items = (
        FileCorpus(files, reading.columns(), refine=refuse_lone_numbers(files), **how)
        for files, reading in ((shards, request.reading), (benchmarks, of_items))
    )
    besides = {"a benchmark": [shard.path for shard in benchmarks]}
    return run(_Steps(corpus, besides, request, progress, items, options, temporary))


@dataclass
class _Steps(Steps[Contamination, FileDecontamination]):
    benchmarks: FileCorpus
    options: DecontaminationOptions
    temporary: TemporaryFolder
    command: ClassVar[str] = "decontaminate"

    @property
    def _lines(self) -> Path:
        """The lines of the audit, in the order of the rows: they are made while the corpus is read, and may be many."""
        return self.temporary.path / "contaminated.jsonl"

    def check(self) -> None:
        self.corpus.check(CONTAMINATION_ANNOTATIONS if self.request.annotate else ())
        self.benchmarks.check(named_by="against_")

    def find(self, _: Checkpoints) -> Contamination:
        benchmarks = self._read_benchmarks()
        found = Contamination(benchmarks)
        with self._lines.open("wb") as lines, self.progress.stage("scan"):

            def take(first: int, scanned: Scanned) -> list[Any]:
                made = "".join(lines_of(_COLUMNS, outcomes_of_batch(benchmarks, first, scanned, scanned.ids))).encode()
                self.temporary.add(len(made))
                lines.write(made)
                return parsed(scanned.ids)

            found.scan(self.corpus, self.options, self.progress, take)
        return found

    def _read_benchmarks(self) -> Benchmarks:
        corpus = self.benchmarks
        with self.progress.stage("benchmarks"):
            parts = list(read_benchmark(corpus, self.options, self.progress))
        ids = pa.concat_arrays([pa.array([], pa.large_string()), *(part.ids for part in parts)])
        starts = np.array(corpus.starts, np.int64)
        names = [shard.name for shard in corpus.shards]
        reasons = {int(starts[names.index(each.file)]) + each.row: each.reason for each in corpus.rejected}
        return Benchmarks(names, starts, Items.of(parts, ids, self.options), reasons)

    def audit(self, found: Contamination) -> Iterator[AuditChunk]:
        with self._lines.open(encoding="utf-8", newline="\n") as lines:
            for first in range(0, len(found.rows), CHUNK_ROWS):
                rows = found.rows[first : first + CHUNK_ROWS]
                yield rows, [next(lines) for _ in range(len(rows))]

    def items(self, found: Contamination) -> Iterator[dict[str, Any]]:
        """What became of each item."""
        return found.item_records(self.options.min_tokens, ids=parsed(found.benchmarks.items.ids))

    def write(self, found: Contamination, paths: OutputPaths, outputs: Outputs) -> None:
        if paths.items:
            lines = (json.dumps(each, ensure_ascii=False) + "\n" for each in self.items(found))
            outputs.write_lines(paths.items, lines)
        added = found.annotations if self.request.annotate else None
        writer = DecidedRows(
            self.corpus.shards, self.rows(found), found.kept, found.valid, added, self.request.reading.html
        )
        write_shards(writer, paths.outputs, outputs, threads=self.options.threads, progress=self.progress)

    def result(self, found: Contamination, files: dict[str, Any]) -> FileDecontamination:
        counts = summarize_contamination(found, self.options, self.progress, html=self.request.reading.html)
        return FileDecontamination(counts, files | {"report": self.request.report}, annotated=self.request.annotate)

    def content(self) -> dict[str, str | None]:
        """The digests of the inputs and of the benchmarks."""
        return super().content() | {"reference": digest_of_files(self.benchmarks.shards)}

    def report(self, found: Contamination, result: FileDecontamination) -> bytes:
        from neardup.judging.reports.page import contamination_page

        lines = (json.loads(line) for _, chunk in self.audit(found) for line in chunk)
        return contamination_page(json.loads(result.to_json()), self.items(found), lines)
