"""The final paths of a job's outputs, determined and checked before any work."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from neardup.errors import InputError
from neardup.io.corpora.shard import Shard
from neardup.io.endings import (
    AUDIT_ENDING,
    ITEMS_ENDING,
    REJECTS_ENDING,
    SUMMARY_ENDING,
    SUPERSEDED_ENDING,
    split_ending,
)
from neardup.io.outputs.output_names import STANDARD_OUTPUT, demand_open, output_folder, output_names, stem
from neardup.io.storage.places import Place, is_inside, place_of, real_name
from neardup.survivors.records.audit_files import summary_path


@dataclass(frozen=True, slots=True)
class OutputPaths:
    """The final paths of the outputs and the records of a de-duplication; None for what is not written.

    Attributes:
        outputs: the output of each shard; all are equal if the shards go to one file.
        audit: the file or folder of the audit.
        audits: the audit file of each shard; all are equal if the audit is one file.
        summary, rejects: the files of the summary and of the rejects, for all shards.
        items: the file of the items of benchmarks.
        superseded: the list of the documents of a reference that do not stay.
    """

    outputs: tuple[Place, ...] = ()
    audit: Place | None = None
    audits: tuple[Place, ...] = ()
    summary: Place | None = None
    rejects: Place | None = None
    items: Place | None = None
    superseded: Place | None = None

    @property
    def audit_folder(self) -> Place | None:
        """The folder of the audit if each shard has its own file; None if one file has all lines."""
        return self.audit if self.audit is not None and self.audit not in self.audits else None

    @property
    def records(self) -> list[Place]:
        """The paths of the audits, the rejects, the items, the list and the summary, in the order of writing."""
        single = [path for path in (self.rejects, self.items, self.superseded, self.summary) if path is not None]
        return [*dict.fromkeys(self.audits), *single]


def demand_output(output: str | None) -> None:
    """Raise InputError if there is no output."""
    if not output:
        raise InputError(
            "Give `output` a file, a folder that ends in /, or - (standard output); or pass `dry_run=True`."
        )


def dedup_output_paths(
    output: str,
    shards: Sequence[Shard],
    *,
    audit: str | None,
    with_rejects: bool,
    ending: str = AUDIT_ENDING,
    with_items: bool = False,
    with_superseded: bool = False,
) -> OutputPaths:
    """The paths of the survivors and the records. Records lie beside the output, or beside the audit if it is named.

    Raises:
        InputError: there is no output or no place for a record, or a record would replace an output.
    """
    folder = output_folder(audit) if audit else None
    if audit is not None:
        known = split_ending(place_of(audit).name) if folder is None else ("", "jsonl", "plain")
        formats = ("jsonl", "parquet") if ending == AUDIT_ENDING else ("jsonl",)
        if known is None or known[1] not in formats:
            is_open = "parquet" in formats
            raise InputError(
                f"`audit={audit!r}`: the audit is JSON lines{' or Parquet' if is_open else ''}. Give a name that ends in .jsonl "
                f"(also compressed){' or .parquet' if is_open else ''}, or a folder that ends in / (one file for each shard)."
            )
        beside = str(summary_path(audit)).removesuffix(SUMMARY_ENDING)
    elif output == str(STANDARD_OUTPUT):
        if with_rejects:
            raise InputError(
                "`on_error='skip'` with `output='-'` has no place for the rejects. Give `audit` a file; they are written beside it."
            )
        if with_superseded:
            raise InputError(
                "`prefer='best'` with `output='-'` has no place for the list of documents to delete from the reference. Give "
                "`audit` a file; it is written beside it."
            )
        return OutputPaths(tuple(output_names(output, shards)))
    else:
        beside = stem(output)
    single = place_of(audit or beside + ending)
    found = OutputPaths(
        tuple(output_names(output, shards)),
        single,
        (single,) * len(shards) if folder is None else _audit_names(folder, output, shards, ending),
        place_of(beside + SUMMARY_ENDING),
        place_of(beside + REJECTS_ENDING) if with_rejects else None,
        place_of(beside + ITEMS_ENDING) if with_items else None,
        place_of(beside + SUPERSEDED_ENDING) if with_superseded else None,
    )
    outputs = {real_name(path) for path in found.outputs}
    for path in found.records:
        if real_name(path) in outputs:
            raise InputError(
                f"{path} is the name of the output, and of a record of what was removed. Name another `audit`."
            )
    return found


def list_output_paths(output: str, *, with_rejects: bool) -> OutputPaths:
    """The paths of a list, which is written instead of documents, and of its records.

    Raises:
        InputError: the list is no file of JSON lines, or there is no place for the rejects.
    """
    if output == str(STANDARD_OUTPUT):
        demand_open(output)
        if with_rejects:
            raise InputError("`on_error='skip'` with `output='-'` has no place for the rejects. Give `output` a file.")
        return OutputPaths((STANDARD_OUTPUT,))
    known = None if output_folder(output) is not None else split_ending(place_of(output).name)
    if known is None or known[1] != "jsonl":
        raise InputError(
            f"`output={output!r}`: the list is one file of JSON lines. Give a name that ends in .jsonl "
            "(also .gz, .zst, .bz2, .xz or .lz4), or - (standard output)."
        )
    beside = stem(output)
    return OutputPaths(
        (place_of(output),),
        summary=place_of(beside + SUMMARY_ENDING),
        rejects=place_of(beside + REJECTS_ENDING) if with_rejects else None,
    )


def _audit_names(folder: Place, output: str, shards: Sequence[Shard], ending: str) -> tuple[Place, ...]:
    """The audit path of each shard: the shard's relative name in the folder, without data endings, + `ending`."""
    audits, kept = real_name(folder), output_folder(output)
    if kept is not None and is_inside(audits, real_name(kept)):
        raise InputError(
            f"`audit={str(folder)!r}`: audits in the output folder {output} would be read with its documents. Name another "
            "folder."
        )
    names, owner = [], dict[Place, Shard]()
    for shard in shards:
        relative = PurePath(shard.relative)
        known = split_ending(relative.name)
        name = folder / str(relative.with_name((known[0] if known else relative.name) + ending))
        first = owner.setdefault(name, shard)
        if first is not shard:
            raise InputError(
                f"{first.name} and {shard.name} would both have the audit {name}. Name a file for the audit of all, or give the "
                "folder above them as input, or rename one of them."
            )
        if is_inside(real_name(shard.path), audits):
            raise InputError(f"{shard.name} lies in the folder of the audit, {folder}. Name another folder.")
        names.append(name)
    return tuple(names)
