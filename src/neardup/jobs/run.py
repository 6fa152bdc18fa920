"""ONE choreography for all that writes survivors: open → find → write → commit; `dedup`, `--unit` and `apply` differ in steps.

Nothing appears under a final name before all is complete. Records (audit, rejects) are written before rows, and `commit` renames
in that order, so that no removal is ever without its line in the audit.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from neardup.io.corpus import Rejected
from neardup.io.outputs import STANDARD_OUTPUT, Outputs, output_folder
from neardup.io.reading import Reading
from neardup.io.records import write_lines
from neardup.io.saved_work import SavedWork
from neardup.io.shards import Shard
from neardup.jobs.audits import write_audits
from neardup.jobs.output_paths import OutputPaths, dedup_output_paths
from neardup.jobs.resume import open_saved, tell_skipped
from neardup.progress import Progress
from neardup.survivors.audit import AuditChunk, reject_lines

Found = TypeVar("Found")
Inputs = str | Path | Sequence[str | Path]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of a run over files.

    Attributes:
        inputs: as given: files, folders, globs, or `-` for standard input.
        output: a file, a folder (ends in /), or `-` for standard output; None for a dry run.
        reading: how the inputs are read.
        audit: the file or folder of the audit, if it was named.
        report: the page of the run, if there is to be one.
        annotate: write all rows, with more columns.
        dry_run: do everything, write nothing.
        overwrite: replace outputs that exist.
        resume: keep finished work beside the output, and go on with what is there.
        on_error: `stop` or `skip`, for rows that cannot be read.
        temp_dir: folder for temporary files.
        named: what else the summary says of files.
    """

    inputs: tuple[str | Path, ...]
    output: str | None
    reading: Reading
    audit: str | None = None
    report: str | None = None
    annotate: bool = False
    dry_run: bool = False
    overwrite: bool = False
    resume: bool = False
    on_error: str = "stop"
    temp_dir: str | None = None
    named: Mapping[str, Any] = field(default_factory=dict)


def listed(inputs: Inputs) -> tuple[str | Path, ...]:
    """One input as a list of one."""
    return (inputs,) if isinstance(inputs, str | Path) else tuple(inputs)


class Result(Protocol):
    """What a run returns."""

    def to_json(self, indent: int | None = None) -> bytes:
        """The content of the summary."""
        ...

    def record(self) -> dict[str, Any]:
        """What a run to be resumed keeps of it."""
        ...


Done = TypeVar("Done", bound=Result)
DoneGiven = TypeVar("DoneGiven", bound=Result, covariant=True)
FoundTaken = TypeVar("FoundTaken", contravariant=True)
DoneTaken = TypeVar("DoneTaken", bound=Result, contravariant=True)


class Steps(Protocol[Found, DoneGiven]):
    """What differs between runs."""

    @property
    def shards(self) -> Sequence[Shard]:
        """The inputs."""
        ...

    @property
    def rejected(self) -> Iterable[Rejected]:
        """Rows that were set aside; known once all has been found."""
        ...

    def check(self, paths: OutputPaths) -> None:
        """Refuse what cannot be, before any work."""
        ...

    def find(self, *, resumable: bool) -> Found:
        """What becomes of every row."""
        ...

    def rows(self, found: Found) -> Sequence[slice]:
        """Which rows are each shard's own."""
        ...

    def audit(self, found: Found) -> Iterable[AuditChunk]:
        """The lines of the audit, by row."""
        ...

    def write(self, found: Found, paths: OutputPaths, outputs: Outputs) -> None:
        """Write the rows."""
        ...

    def result(self, found: Found, files: dict[str, Any]) -> DoneGiven:
        """The summary, with the names of `files` as it has them."""
        ...


class Resumable(Protocol[DoneGiven]):
    """Steps that can be gone on with after a run was killed."""

    def description(self) -> dict[str, Any]:
        """All that decides what the run gives, for telling it from others that are resumed."""
        ...

    def save_in(self, saved: SavedWork) -> None:
        """Let passes over the inputs keep their finished work."""
        ...

    def done_before(self, record: dict[str, Any]) -> DoneGiven:
        """The result of a run that had been done, of which `Result.record` gave this."""
        ...


class Reported(Protocol[FoundTaken, DoneTaken]):
    """Steps that a page can be made of."""

    def report(self, found: FoundTaken, result: DoneTaken) -> bytes:
        """The page of the run."""
        ...


def run(
    steps: Steps[Found, Done],
    request: Request,
    progress: Progress,
    *,
    resumable: Resumable[Done] | None = None,
    reported: Reported[Found, Done] | None = None,
) -> Done:
    """Find what becomes of every row, and write it.

    `resumable`, `reported`: the same steps, where they can be resumed, where a page can be made of them.

    Raises:
        InputError: an output exists, or formats do not go together.
        RecipeMismatch: the folder of a run to be resumed is of other inputs, another recipe or other options.
        RowError, DataError: a row, or a file, cannot be read.
    """
    paths = _paths(steps.shards, request)
    to_standard_output = paths.outputs[:1] == (STANDARD_OUTPUT,)
    steps.check(paths)
    saved = None
    if request.resume and resumable is not None:
        saved = open_saved(request.output, request.dry_run, paths, steps.shards, resumable.description())
        if (done := saved.completed()) is not None:
            progress.say(f"{saved.folder}: this run was done before")
            return resumable.done_before(done)
        resumable.save_in(saved)
    with _outputs(paths, steps.shards, request, saved) as outputs:
        found = steps.find(resumable=saved is not None)
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
        result = steps.result(found, _files(paths, request))
        if paths.summary:
            outputs.claim(paths.summary).write_bytes(result.to_json(indent=2))
        if request.report is not None and reported is not None:
            outputs.claim(Path(request.report)).write_bytes(reported.report(found, result))
        if to_standard_output:
            steps.write(found, paths, outputs)
        outputs.commit(result.record())
    return result


def _paths(shards: Sequence[Shard], request: Request) -> OutputPaths:
    """Where all goes; of a dry run names are checked, too, and nothing goes there."""
    if not request.output:
        return OutputPaths()
    with_rejects = request.on_error == "skip"
    found = dedup_output_paths(request.output, shards, audit=request.audit, with_rejects=with_rejects)
    return OutputPaths() if request.dry_run else found


def _outputs(paths: OutputPaths, shards: Sequence[Shard], request: Request, saved: SavedWork | None) -> Outputs:
    page = [Path(request.report)] if request.report else []
    return Outputs(
        [*paths.outputs, *paths.records, *page],
        inputs=shards,
        overwrite=request.overwrite,
        folder=output_folder(request.output) if request.output else None,
        audit_folder=paths.audit_folder,
        saved=saved,
        temp_dir=request.temp_dir,
    )


def _files(paths: OutputPaths, request: Request) -> dict[str, Any]:
    """What the summary says of files."""
    records = {name: getattr(paths, name) for name in ("audit", "summary", "rejects")}
    return {
        "inputs": [str(given) for given in request.inputs],
        "folder": str(Path.cwd()),
        **dataclasses.asdict(request.reading),
        **request.named,
        "output": None if request.dry_run else request.output,
        **{name: None if path is None else str(path) for name, path in records.items()},
    }
