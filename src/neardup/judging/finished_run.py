"""A finished run, read from its summary: how it decided, and its inputs, to be read again."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from neardup.errors import DECODER_ERRORS, InputError, NeardupError
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.reading import READING, stored_reading
from neardup.io.corpora.shards import find_shards
from neardup.io.corpora.stored_shards import named_as_stored, reading_recorded
from neardup.io.storage.places import Place, place_of
from neardup.options import Guard
from neardup.recipe.presets import RecipeLike
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import recipe_of_run
from neardup.recipe.similarity import Similarity, stored_similarity
from neardup.recipe.tables.methods import METHODS
from neardup.recipe.tables.similarities import SimilarityName, is_of_older_similarity
from neardup.survivors.records.audit import audit_lines
from neardup.survivors.records.audit_files import read_audit, summary_path
from neardup.survivors.records.cluster_file import ClusterFile, read_cluster_file
from neardup.survivors.records.summary_reader import no_summary, read_summaries

_FILES = ("inputs", "folder", *READING)


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A finished run, as its summary describes it.

    Attributes:
        audit: a file or a folder.
        recipe: the recipe of its fingerprints.
        method, similarity, min_similarity, min_tokens, max_distance: how documents matched.
        within: the column whose values had to be equal, or the name of a function, ending in `()`; None if nothing had to.
        guard: what had to be equal in texts besides; see `DedupOptions`.
        rows: number of input rows, including rejected ones.
        files: the inputs, the folder they were named in, and how they were read.
        clusters: the cluster file of a run in stages; rows are then counted over its shards.
    """

    audit: Place
    recipe: Recipe
    method: str
    similarity: Similarity | SimilarityName
    min_similarity: float
    min_tokens: int
    max_distance: int | None
    within: str | None
    guard: Guard | None
    rows: int
    files: dict[str, Any]
    clusters: ClusterFile | None

    def survivors(self, rows: Iterable[int]) -> dict[int, tuple[Any, int | None]]:
        """Map each of `rows` that was removed to its survivor's id and row; the row is None if the survivor is in the reference."""
        if self.clusters is None:
            removed = set(rows)
            return {
                line["row"]: (line["survivor_id"], line["survivor_row"])
                for line in read_audit(self.audit)
                if line["row"] in removed
            }
        return {row: (line["survivor_id"], line["survivor_row"]) for row in rows for line in self.removal(row)}

    def removal(self, row: int) -> tuple[dict[str, Any], ...]:
        """For a run in stages, the audit line of `row` if it was removed, even from a shard that was not applied."""
        if self.clusters is None:
            return ()
        with_matched = self.clusters.summary["options"]["cluster"] == "components"
        chunks = audit_lines(
            self.clusters.decisions, self.clusters.ids, with_matched=with_matched, within=[slice(row, row + 1)]
        )
        return tuple(json.loads(line) for _, lines in chunks for line in lines)

    def changed(self) -> InputError:
        """The error for inputs that are no longer those that were de-duplicated."""
        return InputError(
            f"The inputs are not what they were when the audit was written ({', '.join(map(str, self.files['inputs']))}). "
            "Put those back, or run again."
        )

    def open(self, doc_id: str) -> FileCorpus:
        """Open the inputs with the values of `within`; for a run in stages, all its shards.

        Raises:
            InputError: the inputs are missing or have changed. The message names `doc_id`, the document looked for.
        """
        files = self.files
        listed = f"The audit does not list {doc_id!r} as removed. To say why it was kept, its text is needed"
        inputs = files["inputs"] if self.clusters is None else [shard.name for shard in self.clusters.shards]
        if "-" in inputs or "stdin" in inputs:
            raise InputError(f"{listed}, but standard input cannot be read again.")
        values = () if self.within is None or self.within.endswith("()") else (self.within,)
        try:
            reading = stored_reading(files)
            shards = find_shards(inputs, reading=reading)
        except InputError as problem:
            raise InputError(
                f"{listed}, but: {problem} Run this in {files['folder']}, with the inputs in their places."
            ) from None
        if self.clusters is not None:
            known = self.clusters.shards
            reading_recorded(known)  # refuses shards that were not read alike
            if [shard.size for shard in shards] != [shard.size for shard in known]:
                raise self.changed()
            shards = named_as_stored(shards, known)
        return FileCorpus(shards, reading.columns(values), on_error="skip")


def read_finished_run(audit: Place, doc_id: str, given: RecipeLike | None = None) -> FinishedRun:
    """Read the summary beside an audit; in a folder with audits of one run in stages, any of their summaries.

    `given`: the run's recipe, with the functions and files that the summary does not have.

    Raises:
        RecipeMismatch: the run's recipe is another than the given one.
        InputError: there is no summary, there are summaries of several runs, the cluster file is missing, or the run was of units.
        DataError: the file is not a summary.
    """
    found = read_summaries(audit)
    if not found:
        raise InputError(
            f"The audit does not list {doc_id!r} as removed, and {summary_path(audit)}, which tells where its text is, is missing. "
            "Put it beside the audit, under this name."
        )
    path, summary = found[0]
    if "unit" in summary:
        raise InputError(
            f"The audit lists nothing of {doc_id!r} as removed: none of its {summary['unit']}s was a repeated one. Why a "
            f"{summary['unit']} was kept is not told; without `unit`, whole documents are compared."
        )
    files = summary["files"]
    clusters = files.get("clusters")
    try:
        recipe = recipe_of_run(summary["recipe"], given, str(audit))
        compared = stored_similarity(summary["options"]["similarity"])
        if summary["method"] not in METHODS:
            raise ValueError(summary["method"])
        run = FinishedRun(
            audit=audit,
            recipe=recipe,
            method=summary["method"],
            similarity=compared,
            min_similarity=summary["min_similarity"],
            min_tokens=summary["min_tokens"],
            max_distance=summary["max_distance"],
            within=summary["options"]["within"],
            guard=summary["options"].get("guard"),
            rows=summary["rows"],
            files={name: files[name] for name in _FILES if name != "elements" or name in files},
            clusters=None if clusters is None else _clusters(clusters, files["folder"], doc_id),
        )
        if is_of_older_similarity(summary):
            raise InputError(
                f"The audit does not list {doc_id!r} as removed, and {path} is of an older version of neardup, whose "
                "similarities ignored the recipe's `normalize`. Run again to learn why it was kept."
            )
    except DECODER_ERRORS as problem:
        if isinstance(problem, NeardupError):
            raise
        raise no_summary(path) from None
    return run


def _clusters(name: str, folder: str, doc_id: str) -> ClusterFile:
    if not place_of(name).is_file():
        raise InputError(
            f"The audit does not list {doc_id!r} as removed. To say why it was kept, the clusters of all shards are needed, but "
            f"{name}: there is no such file. Run this in {folder}, with the cluster file and the inputs in their places."
        )
    return read_cluster_file(name)
