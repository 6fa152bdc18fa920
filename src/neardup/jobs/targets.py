"""Where a job writes: every final path, decided and checked before any work."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from neardup.errors import InputError
from neardup.io.outputs import STANDARD_OUTPUT, output_names, stem
from neardup.io.places import Place, place_of, real_name
from neardup.io.shards import Shard, split_ending

AUDIT_ENDING, SUMMARY_ENDING, REJECTS_ENDING = ".duplicates.jsonl", ".summary.json", ".rejects.jsonl"


@dataclass(frozen=True, slots=True)
class Targets:
    """Final paths of a de-duplication: one output for each shard, and what is written about them, if it is."""

    outputs: tuple[Place, ...] = ()
    audit: Place | None = None
    summary: Place | None = None
    rejects: Place | None = None

    @property
    def records(self) -> list[Place]:
        """What is written about the documents, in the order of writing."""
        return [path for path in (self.audit, self.rejects, self.summary) if path is not None]


def summary_path(audit: str | Place) -> Place:
    """Where the summary lies that belongs to an audit."""
    name = str(audit)
    for ending in (".gz", ".zst", ".jsonl", ".duplicates"):
        name = name.removesuffix(ending)
    return place_of(name + SUMMARY_ENDING)


def dedup_targets(output: str | None, shards: Sequence[Shard], *, audit: str | None, with_rejects: bool) -> Targets:
    """Where the survivors go, and beside them (or beside the audit, if it is named) the records.

    Raises:
        InputError: there is no output, or no place for a record, or a record would replace an output or an input.
    """
    if not output:
        raise InputError("Name an output with -o OUT: a file, a folder that ends in /, or -; or pass --dry-run.")
    if audit is not None:
        known = split_ending(place_of(audit).name)
        if known is None or known[1] != "jsonl":
            raise InputError(
                f"--audit {audit}: the audit is JSON lines. Give a name that ends in .jsonl, .jsonl.gz or .jsonl.zst."
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
    found = Targets(
        tuple(output_names(output, shards)),
        place_of(audit or beside + AUDIT_ENDING),
        place_of(beside + SUMMARY_ENDING),
        place_of(beside + REJECTS_ENDING) if with_rejects else None,
    )
    outputs = {real_name(path) for path in found.outputs}
    for path in found.records:
        if real_name(path) in outputs:
            raise InputError(
                f"{path} is the name of the output, and of a record of what was removed. Name another --audit."
            )
    refuse_inputs(found.records, shards)
    return found


def refuse_inputs(paths: Iterable[Place], shards: Iterable[Shard]) -> None:
    """Raise InputError if a path is an input: what goes there holds no texts, and the input's would be lost."""
    inputs = {real_name(shard.path) for shard in shards}
    for path in paths:
        if real_name(path) in inputs:
            raise InputError(f"{path} is an input: its texts would be lost. Name another file.")
