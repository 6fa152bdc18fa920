"""The arguments of a run over files, and its outputs.

What they say can be refused before NumPy and Arrow, and with them most of the package, are loaded.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.io.corpora.read_files import ReadFiles
from neardup.io.corpora.reading import Reading
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import find_shards
from neardup.io.endings import AUDIT_ENDING
from neardup.io.outputs.output_names import STANDARD_OUTPUT, output_folder
from neardup.io.outputs.outputs import Outputs
from neardup.io.storage.places import Place, place_of
from neardup.jobs.removal.output_paths import OutputPaths, dedup_output_paths, list_output_paths
from neardup.progress import Progress
from neardup.resources.resources import DEFAULTS, Resources
from neardup.resources.unfinished import TemporaryFolder

if TYPE_CHECKING:
    from neardup.io.resume.run_folder import RunFolder


@dataclass(frozen=True, kw_only=True)
class Request:
    """The arguments of a run over files.

    Attributes:
        inputs: files, folders, globs, or `-` for standard input, as given.
        output: a file, a folder (ends in /), or `-` for standard output; None for a dry run.
        reading: how the inputs are read.
        audit: the file or folder of the audit; None for the default path.
        audit_ending: how the default path of the audit ends, and the files in a folder of audits do.
        with_items: a file of items is written beside the audit.
        with_superseded: a list of the documents of the reference that do not stay is written beside the audit.
        lists: a list of JSON lines is written instead of documents and an audit.
        report: the path of the HTML report; None for no report.
        report_by: the column by which the report counts documents; None for files.
        annotate: write all rows, with more columns.
        dry_run: do everything, write nothing.
        overwrite: replace outputs that exist.
        resume: keep finished work beside the output, and continue from the work that is there.
        on_error: `stop` or `skip`, for rows that cannot be read.
        resources: threads, memory and the folder for temporary files.
        named: further entries about files in the summary.
    """

    inputs: tuple[str | Path, ...]
    output: str | None
    reading: Reading
    audit: str | None = None
    audit_ending: str = AUDIT_ENDING
    with_items: bool = False
    with_superseded: bool = False
    lists: bool = False
    report: str | None = None
    report_by: str | None = None
    annotate: bool = False
    dry_run: bool = False
    overwrite: bool = False
    resume: bool = False
    on_error: str = "stop"
    resources: Resources = DEFAULTS
    named: Mapping[str, Any] = field(default_factory=dict)

    def find_shards(self, temporary: TemporaryFolder, progress: Progress) -> list[Shard]:
        """Find the inputs; refuse them, and outputs that are in the way. `temporary`: a folder for standard input."""
        shards = find_shards(self.inputs, temporary=temporary, reading=self.reading, progress=progress)
        paths = self.output_paths(shards)
        if not self.resume:  # outputs of a run that is complete may be there
            self.open_outputs(paths, ReadFiles(shards)).check_files()
        return shards

    def output_paths(self, shards: Sequence[Shard]) -> OutputPaths:
        """The paths of all outputs. For a dry run, paths are checked and then dropped, so nothing is written."""
        if not self.output:
            return OutputPaths()
        with_rejects = self.on_error == "skip"
        if self.lists:
            listed = list_output_paths(self.output, with_rejects=with_rejects)
            return OutputPaths() if self.dry_run else listed
        found = dedup_output_paths(
            self.output,
            shards,
            audit=self.audit,
            ending=self.audit_ending,
            with_rejects=with_rejects,
            with_items=self.with_items,
            with_superseded=self.with_superseded,
        )
        return OutputPaths() if self.dry_run else found

    def written(self, paths: OutputPaths) -> list[Place]:
        """All files that the run writes."""
        page = [place_of(self.report)] if self.report else []
        return [path for path in (*paths.outputs, *paths.records, *page) if path != STANDARD_OUTPUT]

    def open_outputs(self, paths: OutputPaths, reads: ReadFiles, saved: "RunFolder | None" = None) -> Outputs:
        """The outputs of the run, to be entered; `reads`: what it reads; `saved`: the folder of a resumable run."""
        return Outputs(
            self.written(paths),
            reads=reads,
            overwrite=self.overwrite,
            folder=output_folder(self.output) if self.output and not self.lists else None,
            audit_folder=paths.audit_folder,
            saved=saved,
            temp_dir=self.resources.temp_dir,
        )

    def asked(self) -> dict[str, Any]:
        """The arguments that decide what is written, and that the other entries about files do not have."""
        return {"annotate": self.annotate, "list": self.lists, "on_error": self.on_error}

    def files(self, paths: OutputPaths) -> dict[str, Any]:
        """The entries about files in the summary."""
        more = [name for name in ("items", "superseded") if getattr(self, f"with_{name}")]
        names = ("audit", *more, "summary", "rejects")
        records = {name: None if getattr(paths, name) is None else str(getattr(paths, name)) for name in names}
        if paths.audit_folder is not None:
            # as it has to be named where it is not there yet
            records["audit"] = f"{str(paths.audit_folder).rstrip('/')}/"
        return {
            "inputs": [str(given) for given in self.inputs],
            "folder": str(Path.cwd()),
            **dataclasses.asdict(self.reading),
            **self.named,
            "output": None if self.dry_run else self.output,
            **records,
        }
