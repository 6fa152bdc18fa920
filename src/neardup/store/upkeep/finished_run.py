"""A FINISHED RUN of which a store can be made: how it decided, and where its inputs are, from the summary beside its audit."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neardup.errors import DECODER_ERRORS, InputError, NeardupError, OptionError
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.reading import Reading, stored_reading
from neardup.io.corpora.shards import find_shards
from neardup.io.corpora.stored_shards import digest_of_contents
from neardup.io.storage.places import Place, place_of
from neardup.progress import Progress
from neardup.recipe.presets import RecipeLike
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import recipe_of_run
from neardup.recipe.similarity import stored_similarity
from neardup.recipe.tables.methods import METHODS
from neardup.recipe.tables.similarities import is_of_older_similarity
from neardup.resources.resources import Resources
from neardup.store.candidates.table import CANDIDATES
from neardup.survivors.records.audit_files import audit_beside, audit_files, summary_path, summary_paths
from neardup.survivors.records.summary_reader import RunSummary, no_summary, read_summaries


@dataclass(frozen=True, slots=True)
class DecidedRun:
    """A run that decided as a store does.

    Attributes:
        audit: a file or a folder.
        recipe: the recipe of its fingerprints.
        matching: the options of a store that decides in the same way.
        reading: how its inputs were read.
        inputs: its inputs, as they were named in `folder`.
        rows, documents, removed: their numbers.
        content: what distinguishes the inputs from others; None if it was not recorded.
    """

    audit: Place
    recipe: Recipe
    matching: dict[str, Any]
    reading: Reading
    inputs: tuple[str, ...]
    folder: str
    rows: int
    documents: int
    removed: int
    content: str | None

    def open(self, resources: Resources, progress: Progress) -> FileCorpus:
        """Open the inputs; an InputError if they are missing, or are not what they were."""
        try:
            shards = find_shards(self.inputs, reading=self.reading)
        except InputError as problem:
            raise InputError(f"{problem} Run this in {self.folder}, with the inputs in their places.") from None
        if self.content is not None and digest_of_contents(shards) != self.content:
            raise self.changed()
        corpus = FileCorpus(shards, self.reading.columns(), on_error="skip", progress=progress, resources=resources)
        corpus.check()
        return corpus

    def changed(self) -> InputError:
        """The error for inputs that are no longer those that were de-duplicated."""
        return InputError(
            f"The inputs of {self.audit} are not what they were when it was written ({', '.join(self.inputs)}). Put those back, "
            "or run `neardup dedup` again."
        )


def read_decided_run(run: str | Path, given: RecipeLike | None = None) -> DecidedRun:
    """Read the summary of a run, which is named by its audit or by its output.

    `given`: the run's recipe, with the functions and files that the summary does not have.

    Raises:
        InputError: there is no audit or summary, or the run was in stages.
        OptionError: a store cannot decide as the run did.
        DataError: the file is not a summary.
        RecipeMismatch: the run's recipe is another than the given one.
    """
    audit = _audit_of(str(run))
    found = read_summaries(audit)
    if not found:
        raise InputError(
            f"{summary_path(audit)}, which tells how the run decided, is missing. Name the output or the audit of a "
            "run, with the summary beside it."
        )
    path, summary = found[0]
    if len(found) > 1 or "clusters" in summary["files"]:
        raise InputError(f"{path} is of a run in stages. Add its inputs with `neardup store add`.")
    try:
        if problems := list(_problems(summary)):
            raise OptionError(
                f"{path}: a store cannot decide as this run did: {'; '.join(problems)}. Add the inputs with `neardup store add`."
            )
        files, options = summary["files"], summary["options"]
        takes_distance = METHODS[summary["method"]].takes_distance
        return DecidedRun(
            audit=audit,
            recipe=recipe_of_run(summary["recipe"], given, str(audit)),
            matching={
                "method": summary["method"],
                "min_similarity": float(summary["min_similarity"]),
                "similarity": stored_similarity(options["similarity"]),
                "max_distance": options["max_distance"] if takes_distance else None,
                "guard": options.get("guard"),
            },
            reading=stored_reading(files),
            inputs=tuple(files["inputs"]),
            folder=files["folder"],
            rows=int(summary["rows"]),
            documents=int(summary["documents"]),
            removed=int(summary["duplicates"]),
            content=(files.get("content") or {}).get("inputs"),
        )
    except DECODER_ERRORS as problem:
        if isinstance(problem, NeardupError):
            raise
        raise no_summary(path) from None


def _audit_of(run: str) -> Place:
    """The audit: what is named, or what is beside the output that is named."""
    beside = audit_beside(run)
    if beside.is_file():
        return beside
    place = place_of(run)
    if not (place.is_dir() and summary_paths(place)):  # text files of which none was removed have no audits
        audit_files(place)  # refuses what is not there
    return place


def _problems(summary: RunSummary) -> Iterator[str]:
    """Why a store cannot decide as a run did."""
    if "unit" in summary:
        yield f"it removed {summary['unit']}s (`unit={summary['unit']!r}`), a store decides on documents"
        return
    options, files = summary["options"], summary["files"]
    if kind := summary["recipe"].get("kind"):
        yield f"it was on {kind}, a store takes texts"
        return
    if summary["method"] not in CANDIDATES:
        yield f"`method={summary['method']!r}`, not one of {', '.join(CANDIDATES)}"
    for name, own in (("cluster", "star"), ("keep", "first")):
        if options[name] != own:
            yield f"`{name}={options[name]!r}`, not {own!r}"
    for name in ("prefer_source", "within", "keep_most", "drop_matched"):
        if options.get(name):
            yield f"`{name}={options[name]!r}`, which a store does not have"
    if files.get("elements") is not None:
        yield f"`elements={files['elements']!r}`, a store takes texts"
    if files.get("against"):
        yield f"`against={files['against']!r}`, and the reference is not in the store"
    if "-" in files["inputs"] or "stdin" in files["inputs"]:
        yield "it read standard input, which cannot be read again"
    if is_of_older_similarity(summary):
        yield "its version of neardup had other similarities: they ignored the recipe's `normalize`"
