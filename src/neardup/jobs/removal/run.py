"""The one sequence of every job that writes survivors: open → find → write → commit.

`dedup`, `dedup --unit` and `apply` differ in their `Steps` only. No file appears under its final name before all files are
complete. Records (audit, rejects) are written before rows, and `commit` renames them in the same order. So every removal that is
visible has its line in the audit.
"""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from neardup.io.corpora.file_corpus import Rejected
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.corpora.shard import Shard
from neardup.io.outputs.output_names import STANDARD_OUTPUT
from neardup.io.outputs.outputs import Outputs
from neardup.io.outputs.records import write_lines
from neardup.io.resume.checkpoints import NO_CHECKPOINTS, Checkpoints
from neardup.io.storage.places import Place, place_of
from neardup.jobs.removal.output_paths import OutputPaths
from neardup.jobs.removal.request import Request
from neardup.jobs.removal.resume import open_saved, tell_skipped
from neardup.jobs.removal.writing import write_audits
from neardup.progress import Progress
from neardup.survivors.records.audit import AuditChunk, reject_lines

Found = TypeVar("Found")


class Result(Protocol):
    """The result of a run."""

    def to_json(self, indent: int | None = None) -> bytes:
        """The content of the summary file."""
        ...

    def record(self) -> dict[str, Any]:
        """The part of the result that the folder of a resumable run stores."""
        ...


Done = TypeVar("Done", bound=Result)
DoneGiven = TypeVar("DoneGiven", bound=Result, covariant=True)
FoundTaken = TypeVar("FoundTaken", contravariant=True)
DoneTaken = TypeVar("DoneTaken", bound=Result, contravariant=True)


class Steps(Protocol[Found, DoneGiven]):
    """The parts of a run that differ between jobs."""

    @property
    def shards(self) -> Sequence[Shard]:
        """The shards of the inputs."""
        ...

    @property
    def reads_besides(self) -> Mapping[str, Iterable[Place]]:
        """The files and folders that are read besides the shards, as `neardup.io.corpora.read_files.ReadFiles` takes them."""
        ...

    @property
    def rejected(self) -> Iterable[Rejected]:
        """Rows that were set aside; complete after `find`."""
        ...

    def check(self, paths: OutputPaths) -> None:
        """Refuse impossible inputs and paths before any work."""
        ...

    def find(self, checkpoints: Checkpoints) -> Found:
        """Decide every row; `checkpoints` save the results of each pass over the inputs."""
        ...

    def rows(self, found: Found) -> Sequence[slice]:
        """The slice of rows that belongs to each shard."""
        ...

    def audit(self, found: Found) -> Iterable[AuditChunk]:
        """The lines of the audit, in the order of the rows."""
        ...

    def write(self, found: Found, paths: OutputPaths, outputs: Outputs) -> None:
        """Write the rows to the outputs."""
        ...

    def result(self, found: Found, files: dict[str, Any]) -> DoneGiven:
        """The result of the run, with the entries about files in its summary."""
        ...


class Resumable(Protocol[DoneGiven]):
    """Steps of a run that can be resumed after it was killed."""

    def description(self) -> dict[str, Any]:
        """Everything that determines the result of the run; it identifies the run."""
        ...

    def done_before(self, record: dict[str, Any]) -> DoneGiven:
        """The result of a run that was already complete, from what `Result.record` returned."""
        ...


class Reported(Protocol[FoundTaken, DoneTaken]):
    """Steps of a run that can write an HTML report."""

    def report(self, found: FoundTaken, result: DoneTaken) -> bytes:
        """The HTML report of the run."""
        ...


def run(
    steps: Steps[Found, Done],
    request: Request,
    progress: Progress,
    *,
    resumable: Resumable[Done] | None = None,
    reported: Reported[Found, Done] | None = None,
) -> Done:
    """Decide every row, and write the outputs.

    Args:
        steps: the parts of the run that differ between jobs.
        request: the arguments of the run.
        progress: shows the stages of the run.
        resumable: the same steps, if the run can be resumed.
        reported: the same steps, if the run can write an HTML report.

    Raises:
        InputError: an output exists or is an input, or the formats of input and output do not fit.
        RecipeMismatch: the folder of the run to resume belongs to other inputs, another recipe or other options.
        RowError, DataError: a row, or a file, cannot be read.
    """
    paths = request.output_paths(steps.shards)
    to_standard_output = paths.outputs[:1] == (STANDARD_OUTPUT,)
    steps.check(paths)
    reads = ReadFiles(steps.shards, steps.reads_besides)
    reads.refuse(request.written(paths))
    saved = None
    if request.resume and resumable is not None:
        saved = open_saved(
            request.output, request.dry_run, paths, steps.shards, resumable.description(), request.resources.scratch
        )
    with contextlib.ExitStack() as stack:
        if saved is not None:
            stack.callback(saved.release)
            if resumable is not None and (done := saved.completed()) is not None:
                progress.say(f"{saved.folder}: this run was done before")
                return resumable.done_before(done)
        outputs = stack.enter_context(request.open_outputs(paths, reads, saved))
        found = steps.find(NO_CHECKPOINTS if saved is None else saved.checkpoints)
        tell_skipped(saved, progress)
        rows = steps.rows(found)
        with progress.stage("write", sum(each.stop - each.start for each in rows)):
            if paths.audit:
                write_audits(steps.audit(found), paths, steps.shards, rows, outputs)
            if paths.rejects:
                write_lines(paths.rejects, outputs.claim(paths.rejects), reject_lines(steps.rejected))
            if not to_standard_output and not request.dry_run:
                steps.write(found, paths, outputs)
            progress.written(outputs.written_bytes)
        result = steps.result(found, request.files(paths))
        if paths.summary:
            outputs.claim(paths.summary).write_bytes(result.to_json(indent=2))
        if request.report is not None and reported is not None:
            outputs.claim(place_of(request.report)).write_bytes(reported.report(found, result))
        if to_standard_output:
            steps.write(found, paths, outputs)
        outputs.commit(result.record())
    return result
