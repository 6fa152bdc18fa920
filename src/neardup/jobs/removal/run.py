"""The one sequence of every job that writes survivors: open → find → write → commit.

`dedup`, `dedup --unit` and `apply` differ in their `Steps` only. No file appears under its final name before all files are
complete. Records (audit, rejects) are written before rows, and `commit` renames them in the same order. So every removal that is
visible has its line in the audit.
"""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.corpora.stored_shards import digest_of_files, digest_of_written
from neardup.io.formats.json.json_values import count_default_ids
from neardup.io.formats.table import FILES
from neardup.io.outputs.output_names import STANDARD_OUTPUT
from neardup.io.outputs.outputs import Outputs
from neardup.io.resume.checkpoints import NO_CHECKPOINTS, Checkpoints
from neardup.io.storage.places import Place, place_of
from neardup.jobs.removal.output_paths import OutputPaths
from neardup.jobs.removal.request import Request
from neardup.jobs.removal.resume import open_saved, tell_skipped
from neardup.jobs.removal.writing import ParquetForm, write_audits
from neardup.jobs.results import JobResult
from neardup.progress import Progress
from neardup.survivors.records.audit import AuditChunk, reject_lines
from neardup.survivors.records.audit_schema import Column
from neardup.survivors.records.parquet_log import LogValues, is_parquet_log

Found = TypeVar("Found")
Done = TypeVar("Done", bound=JobResult)


@dataclass
class Steps(ABC, Generic[Found, Done]):
    """The parts of a run that differ between jobs.

    Attributes:
        corpus: the documents of the inputs; those that are set aside are known after `find`.
        reads_besides: the files and folders that are read besides the inputs, as `neardup.io.corpora.read_files.ReadFiles` takes
            them.
        request: the arguments of the run.
        progress: shows the stages of the run.
        command: the command that does such runs.
    """

    corpus: FileCorpus
    reads_besides: Mapping[str, Iterable[Place]]
    request: Request
    progress: Progress
    command: ClassVar[str] = "dedup"

    @abstractmethod
    def check(self) -> None:
        """Refuse impossible inputs before any work."""

    @abstractmethod
    def find(self, checkpoints: Checkpoints) -> Found:
        """Decide every row; `checkpoints` save the results of each pass over the inputs."""

    def rows(self, _: Found) -> Sequence[slice]:
        """The slice of rows that belongs to each shard."""
        return [self.corpus.rows_of(number) for number in range(len(self.corpus.shards))]

    def unnamed(self, ids: Any, slices: Sequence[slice]) -> int:
        """Of how many documents the id is FILE:ROW, because they lack it where others have it, or in a column that was named."""
        shards = zip(self.corpus.shards, slices, strict=True)
        named = [(shard, rows) for shard, rows in shards if shard.format not in FILES]
        found = sum(count_default_ids(ids[rows], shard.name) for shard, rows in named)
        return found if self.request.reading.id is not None or found < len(ids) - ids.null_count else 0

    @abstractmethod
    def audit(self, found: Found) -> Iterable[AuditChunk]:
        """The lines of the audit, in the order of the rows."""

    @property
    def log_columns(self) -> Sequence[Column[Any]]:
        """The columns of the audit, of a run that may write it as Parquet."""
        raise NotImplementedError

    def log_values(self, _: Found) -> LogValues | None:
        """What `keep` compares, for the audit in Parquet; None if it compares no values."""
        return None

    def superseded(self, _: Found) -> Iterable[str]:
        """The lines of the list of documents of the reference that do not stay, of a run that has one."""
        raise NotImplementedError

    @abstractmethod
    def write(self, found: Found, paths: OutputPaths, outputs: Outputs) -> None:
        """Write the rows to the outputs."""

    @abstractmethod
    def result(self, found: Found, files: dict[str, Any]) -> Done:
        """The result of the run, with the entries about files in its summary."""

    def content(self) -> dict[str, str | None]:
        """The digests of the inputs, and of what they were held against; None for what cannot be read again."""
        return {"inputs": digest_of_files(self.corpus.shards), "reference": None}

    def description(self) -> dict[str, Any]:
        """Of a run that can be resumed after it was killed: everything that determines its result; it identifies the run."""
        raise NotImplementedError

    def done_before(self, record: dict[str, Any]) -> Done:
        """The result of a run that was already complete, from what `JobResult.record` returned."""
        raise NotImplementedError

    def report(self, found: Found, result: Done) -> bytes:
        """The HTML report of a run that can have one."""
        raise NotImplementedError


def run(steps: Steps[Found, Done]) -> Done:
    """Decide every row, and write the outputs.

    Raises:
        InputError: an output exists or is an input, or the formats of input and output do not fit.
        RecipeMismatch: the folder of the run to resume belongs to other inputs, another recipe or other options.
        RowError, DataError: a row, or a file, cannot be read.
    """
    request, progress, shards = steps.request, steps.progress, steps.corpus.shards
    paths = request.output_paths(shards)
    to_standard_output = paths.outputs[:1] == (STANDARD_OUTPUT,)
    steps.check()
    reads = ReadFiles(shards, steps.reads_besides)
    reads.refuse(request.written(paths))
    saved = None
    if request.resume:
        run_of = steps.description()
        saved = open_saved(request.output, request.dry_run, paths, shards, run_of, request.resources.scratch)
    with contextlib.ExitStack() as stack:
        if saved is not None:
            stack.callback(saved.release)
            if (done := saved.completed()) is not None:
                progress.say(f"{saved.folder}: this run was done before")
                return steps.done_before(done)
        outputs = stack.enter_context(request.open_outputs(paths, reads, saved))
        found = steps.find(NO_CHECKPOINTS if saved is None else saved.checkpoints)
        tell_skipped(saved, progress)
        rows = steps.rows(found)
        with progress.stage("write", sum(each.stop - each.start for each in rows)):
            if paths.audit:
                form = None
                if paths.audits and is_parquet_log(paths.audits[0]):
                    form = ParquetForm(steps.log_columns, steps.log_values(found))
                write_audits(steps.audit(found), paths, shards, rows, outputs, form)
            if paths.rejects:
                outputs.write_lines(paths.rejects, reject_lines(steps.corpus.rejected))
            if paths.superseded:
                outputs.write_lines(paths.superseded, steps.superseded(found))
            if not to_standard_output and not request.dry_run:
                steps.write(found, paths, outputs)
            progress.written(outputs.written_bytes)
        made = {"content": steps.content(), "asked": {"command": steps.command, **request.asked()}}
        result = steps.result(found, request.files(paths) | made | _written(paths, outputs))
        if paths.summary:
            outputs.claim(paths.summary).write_bytes(result.to_json(indent=2))
        if request.report is not None:
            outputs.claim(place_of(request.report)).write_bytes(steps.report(found, result))
        if to_standard_output:
            steps.write(found, paths, outputs)
        outputs.commit(result.record())
    return result


def _written(paths: OutputPaths, outputs: Outputs) -> dict[str, Any]:
    """Digests of what was written, by which `reproduce` knows it again; nothing for a dry run, nor of standard output."""
    records = {name: getattr(paths, name) for name in ("rejects", "items", "superseded")}
    every = {"output": paths.outputs, "audit": paths.audits} | {name: (path,) for name, path in records.items() if path}
    found = {name: digest_of_written(outputs.written(some)) for name, some in every.items()}
    return {"written": found} if paths.outputs else {}
