"""INPUTS of a finished run, opened again if they are what they were."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from neardup.errors import DECODER_ERRORS, NeardupError
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.reading import stored_reading
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import find_shards
from neardup.io.corpora.stored_shards import (
    StoredShard,
    content_of,
    digest_of_contents,
    is_as_it_was,
    named_as_stored,
    reading_recorded,
)
from neardup.io.storage.places import Place
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import stored_recipe
from neardup.resources.resources import Resources
from neardup.survivors.records.audit_files import read_audit
from neardup.survivors.records.cluster_file import read_cluster_file
from neardup.survivors.records.summary_reader import RunSummary

NOT_AS_BEFORE = "The inputs are not what they were when the audit was written."
NOTHING_KNOWN = (
    "The summary does not say what the inputs held: it is of an older version of neardup, or was changed. Run again."
)
"""A summary may come from elsewhere, and name any file of this machine: only a run that has read a file knows its digest."""


@dataclass(frozen=True, slots=True)
class RunInputs:
    """The inputs of a run, to be read again for their texts.

    Attributes:
        rows: number of rows in all inputs.
        recipe: used to check that texts have not changed; None if unavailable.
        corpus, reference: the files; None if there are none or they cannot be read.
        reason: why the corpus cannot be read.
    """

    rows: int
    recipe: Recipe | None
    corpus: FileCorpus | None = None
    reference: FileCorpus | None = None
    reason: str = ""

    @property
    def shards(self) -> tuple[Shard, ...]:
        """The files that are read again."""
        return tuple(shard for files in (self.corpus, self.reference) if files is not None for shard in files.shards)


def inputs_of_run(
    summary: RunSummary, audit: Place, resources: Resources, progress: Progress, *, separator: str | None = None
) -> RunInputs:
    """Open the inputs that a run's summary names, or say why they are unavailable.

    `separator`: stands between the texts of several columns, if it is not that of `Columns`.
    """
    files = summary["files"]
    inputs, rows, staged = files["inputs"], summary["rows"], None
    content = files.get("content") if isinstance(files.get("content"), dict) else {}
    try:
        found = stored_recipe(summary["recipe"])
        recipe = None if found.missing else found
    except DECODER_ERRORS:
        recipe = None
    where = f"Run this in {files['folder']}, with the inputs in their places."
    try:
        if "clusters" in files:
            rows = None
            clusters = read_cluster_file(files["clusters"])
            inputs, rows = [shard.name for shard in clusters.shards], len(clusters.decisions.survivor)
            staged = clusters.shards
            reading_recorded(staged)  # refuses shards that were not read alike
        if "-" in inputs or "stdin" in inputs:
            reason = "They came on standard input, which cannot be read again; a report that is made during the run shows them."
            return RunInputs(rows, recipe, reason=reason)
        reading = stored_reading(files)
        find = partial(find_shards, reading=reading)
        shards = find(inputs, progress=progress)
        reason = _why_not(shards, content.get("inputs")) if staged is None else _why_not_staged(shards, staged)
        if reason:
            return RunInputs(rows, recipe, reason=reason)
        shards = shards if staged is None else named_as_stored(shards, staged)
        columns = reading.columns()
        columns = columns if separator is None else dataclasses.replace(columns, separator=separator)
        read = partial(FileCorpus, columns=columns, on_error="skip", resources=resources)
        others = find(files["against"]) if content.get("reference") else []
        if others and (reason := _why_not(others, content["reference"])):
            return RunInputs(rows, recipe, reason=reason)
        return RunInputs(rows, recipe, read(shards, progress=progress), read(others) if others else None)
    except (NeardupError, OSError) as problem:
        return RunInputs(_rows_named(audit) if rows is None else rows, recipe, reason=f"{problem} {where}")


def _why_not(shards: list[Shard], digest: Any) -> str:
    """Why texts of these files are not shown: they are not those that the run has read. Empty if they are."""
    if not digest:
        return NOTHING_KNOWN
    return "" if digest_of_contents(shards) == digest else NOT_AS_BEFORE


def _why_not_staged(shards: list[Shard], known: Sequence[StoredShard]) -> str:
    """The same for the shards of a run in stages."""
    if not all(each.content for each in known):
        return NOTHING_KNOWN
    sizes, wanted = [each.size for each in shards], [each.size for each in known]
    same = sizes == wanted and all(map(is_as_it_was, known, map(content_of, shards)))
    return "" if same else NOT_AS_BEFORE


def _rows_named(audit: Place) -> int:
    """One more than the largest row that an audit names."""
    return 1 + max((max(line["row"], line["cluster_id"]) for line in read_audit(audit)), default=-1)
