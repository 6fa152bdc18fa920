"""Where a job writes: every final path, decided and checked before any work."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from neardup.audit_files import AUDIT_ENDING, SUMMARY_ENDING, summary_path
from neardup.errors import InputError
from neardup.io.outputs import STANDARD_OUTPUT, output_folder, output_names, stem
from neardup.io.shards import Shard, split_ending

REJECTS_ENDING = ".rejects.jsonl"


@dataclass(frozen=True, slots=True)
class Targets:
    """Final paths of a de-duplication, and what is written about it, if it is.

    Attributes:
        outputs: of each shard; the same for all where they go to one file.
        audit: the file or folder of the audit.
        audits: of each shard; the same for all where they go to one file.
        summary, rejects: of all.
    """

    outputs: tuple[Path, ...] = ()
    audit: Path | None = None
    audits: tuple[Path, ...] = ()
    summary: Path | None = None
    rejects: Path | None = None

    @property
    def audit_folder(self) -> Path | None:
        """Where each shard has an audit of its own; None if one file has all lines."""
        return self.audit if self.audit is not None and self.audit not in self.audits else None

    @property
    def records(self) -> list[Path]:
        """What is written about the documents, in the order of writing."""
        single = [path for path in (self.rejects, self.summary) if path is not None]
        return [*dict.fromkeys(self.audits), *single]


def demand_output(output: str | None) -> None:
    """Raise InputError if there is no output."""
    if not output:
        raise InputError("Name an output with -o OUT: a file, a folder that ends in /, or -; or pass --dry-run.")


def dedup_targets(output: str, shards: Sequence[Shard], *, audit: str | None, with_rejects: bool) -> Targets:
    """Where the survivors go, and beside them (or beside the audit, if it is named) the records.

    Raises:
        InputError: there is no output, or no place for a record, or a record would replace an output or an input.
    """
    folder = output_folder(audit) if audit else None
    if audit is not None:
        known = split_ending(Path(audit).name) if folder is None else ("", "jsonl", "plain")
        if known is None or known[1] != "jsonl":
            raise InputError(
                f"--audit {audit}: the audit is JSON lines. Give a name that ends in .jsonl, .jsonl.gz or .jsonl.zst, or a folder "
                "that ends in / (one file for each shard)."
            )
        beside = str(summary_path(audit)).removesuffix(SUMMARY_ENDING)
    elif output == str(STANDARD_OUTPUT):
        if with_rejects:
            raise InputError(
                "--on-error skip with -o - has no place for the rejects. Pass --audit FILE; they are written beside it."
            )
        return Targets(tuple(output_names(output, shards)))
    else:
        beside = stem(output)
    single = Path(audit or beside + AUDIT_ENDING)
    found = Targets(
        tuple(output_names(output, shards)),
        single,
        (single,) * len(shards) if folder is None else _audit_names(folder, output, shards),
        Path(beside + SUMMARY_ENDING),
        Path(beside + REJECTS_ENDING) if with_rejects else None,
    )
    outputs = {os.path.realpath(path) for path in found.outputs}
    for path in found.records:
        if os.path.realpath(path) in outputs:
            raise InputError(
                f"{path} is the name of the output, and of a record of what was removed. Name another --audit."
            )
    refuse_inputs(found.records, shards)
    return found


def _audit_names(folder: Path, output: str, shards: Sequence[Shard]) -> tuple[Path, ...]:
    """The audit of each shard: its relative name below the folder, without data endings, + AUDIT_ENDING."""
    audits, kept = os.path.realpath(folder), output_folder(output)
    if kept is not None and Path(audits).is_relative_to(os.path.realpath(kept)):
        raise InputError(
            f"--audit {folder}: audits in the output folder {output} would be read as documents with it. Name another folder."
        )
    names, owner = [], dict[Path, Shard]()
    for shard in shards:
        relative = Path(shard.relative)
        known = split_ending(relative.name)
        name = folder / relative.with_name((known[0] if known else relative.name) + AUDIT_ENDING)
        first = owner.setdefault(name, shard)
        if first is not shard:
            raise InputError(
                f"{first.name} and {shard.name} would both have the audit {name}. Name a file for the audit of all, or give the "
                "folder above them as input, or rename one of them."
            )
        if Path(os.path.realpath(shard.path)).is_relative_to(audits):
            raise InputError(f"{shard.name} lies in the folder of the audit, {folder}. Name another folder.")
        names.append(name)
    return tuple(names)


def refuse_inputs(paths: Iterable[Path], shards: Iterable[Shard]) -> None:
    """Raise InputError if a path is an input: what goes there holds no texts, and the input's would be lost."""
    inputs = {os.path.realpath(shard.path) for shard in shards}
    for path in paths:
        if os.path.realpath(path) in inputs:
            raise InputError(f"{path} is an input: its texts would be lost. Name another file.")
