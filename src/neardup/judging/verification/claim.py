"""What a finished run states about itself: its options, its inputs and its counts, read from its summary."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from neardup.display import threshold_text
from neardup.errors import DECODER_ERRORS, InputError, NeardupError, OptionError
from neardup.io.corpora.reading import Reading, stored_reading
from neardup.io.storage.places import Place, place_of
from neardup.options import CLUSTERS, GUARDS, Guard
from neardup.recipe.presets import RecipeLike
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import recipe_of_run
from neardup.recipe.similarity import Similarity, stored_similarity
from neardup.recipe.tables.keeps import KeepAs
from neardup.recipe.tables.methods import METHODS, Promise
from neardup.recipe.tables.similarities import SimilarityName
from neardup.recipe.vectors import KIND as VECTORS
from neardup.survivors.records.summary_reader import RunSummary, no_summary, read_summaries

if TYPE_CHECKING:
    from neardup.io.corpora.stored_shards import StoredShard

COUNTS = ("rows", "documents", "rejected", "survivors", "duplicates", "exact_duplicates", "short", "repeated_ids")
"""Counts of a summary that add up over the parts of a run in stages."""
LATER_COUNTS = ("only_digits", "digits_unknown")
"""Such counts that summaries of older versions lack. One is null if it is known of no document."""
OF_WHOLE = ("clusters", "reference_documents", "against_reference")
"""Counts of a summary that do not add up."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a run states, or what its user says about it.

    Attributes:
        recipe, similarity, min_similarity, max_distance, min_tokens, cluster, within, guard: how documents matched.
        drop_matched: whether all documents that match another are removed.
        keep_most: how many documents of a cluster stay; None for one. If there is a number, `keep`, `keep_as` and `prefer_source`,
            which say which these are, are those of the run.
        method: how the run found candidates; None if that is unknown.
        reading: how the inputs are read.
        inputs, against: the inputs and the reference, as they were named.
        together: whether documents of the reference and of the inputs were ordered together, so that those of both may be removed.
        store: what the reference held, if it is a store; see `neardup.store.reference`.
        folder: the folder in which they were named.
        counts: the counts of the summary, by name; empty without a summary.
        matches: pairs that matched in the run.
        join: the costs of finding candidates, as the summary has them.
        shards: for a run in stages, the shards over which its rows are counted.
    """

    recipe: Recipe
    similarity: Similarity | SimilarityName
    min_similarity: float
    max_distance: int | None = None
    min_tokens: int = 1
    cluster: str = "star"
    drop_matched: bool = False
    keep_most: int | None = None
    keep: str = "first"
    keep_as: KeepAs | None = None
    prefer_source: tuple[str, ...] = ()
    within: str | None = None
    guard: Guard | None = None
    method: str | None = None
    reading: Reading
    inputs: tuple[str, ...]
    against: tuple[str, ...] = ()
    together: bool = False
    store: str | None = None
    folder: str = "."
    counts: dict[str, int] = field(default_factory=dict)
    matches: int | None = None
    join: dict[str, Any] = field(default_factory=dict)
    shards: "tuple[StoredShard, ...] | None" = None

    @property
    def compared_by(self) -> str:
        """The similarity in words; how given elements stand as tokens of texts is nothing that a reader has to know."""
        if self.reading.elements is not None and isinstance(self.similarity, Similarity):
            return f"{self.similarity.measure} of the elements"
        return str(self.similarity)

    @property
    def is_by_distance(self) -> bool:
        """Whether fingerprints alone decide matches, so that no similarity is known."""
        return self.min_similarity == 0

    @property
    def preference(self) -> dict[str, Any]:
        """The options of the run that say which documents of a cluster stay, if several do."""
        names = ("keep_most", "keep", "keep_as", "prefer_source")
        return {} if self.keep_most is None else {name: getattr(self, name) for name in names}

    def promise(self, *, strict: bool) -> str:
        """Where survivors do not match one another, and why, as the end of a sentence; `strict`: every match was a failure."""
        row = None if self.method is None else METHODS[self.method]
        if self.is_by_distance:
            return f"within distance {self.max_distance}, by theorem"
        at = f"at {self.compared_by} {threshold_text(self.min_similarity)}"
        if self.keep_most is not None:
            return f"{at}, but for the first {self.keep_most:,} of a cluster"
        if row is None or row.promise is Promise.EXACT or strict:
            return f"{at}, by theorem"
        if row.promise is Promise.PROBABLE:
            return f"{at}, but for a probability of {row.miss_probability:g} for each pair at the threshold"
        return f"{at} within distance {self.max_distance}"


def read_claim(audit: Place, given: RecipeLike | None = None) -> Claim | None:
    """Read the summary beside an audit; None if there is none. For a run in stages, read those of all its parts.

    `given`: the run's recipe, with the functions and files that the summary does not have.

    Raises:
        InputError: the summaries are of several runs, or the cluster file of a run in stages is missing.
        OptionError: the run was of lines or paragraphs, of vectors, or `within` a function.
        DataError: a file is not the summary of a run.
        RecipeMismatch: this version makes other fingerprints by the recipe, or the given recipe is another.
    """
    found = read_summaries(audit)
    if not found:
        return None
    for path, summary in found:
        if "unit" in summary:
            raise OptionError(
                f"`unit={summary['unit']!r}`: {path} is of a run that removed {summary['unit']}s. Only runs on whole documents "
                "can be verified."
            )
    path, summary = found[0]
    try:
        return _claim(audit, [summary for _, summary in found], summary["files"].get("clusters"), given)
    except DECODER_ERRORS as problem:
        if isinstance(problem, NeardupError):
            raise
        raise no_summary(path) from None


def _claim(audit: Place, summaries: list[RunSummary], clusters: str | None, given: RecipeLike | None) -> Claim:
    summary = summaries[0]
    options, files = summary["options"], summary["files"]
    if summary["recipe"].get("kind"):
        kind = summary["recipe"]["kind"]
        raise OptionError(
            f"{audit} is of a run on {kind if kind == VECTORS else f'fingerprints of {kind}'}. Only runs on texts can be verified: "
            "their similarities come from the texts."
        )
    keep, most = options["keep"], options.get("keep_most")
    if most is not None and keep.endswith("()"):
        raise OptionError(
            f"`keep={keep!r}`: only its name is known here, not the function, so it is unknown which documents of a cluster are "
            f"the first {most}. Use `keep` with a column to have runs that can be verified."
        )
    recipe = recipe_of_run(summary["recipe"], given, str(audit))
    within = options["within"]
    if within is not None and within.endswith("()"):
        raise OptionError(
            f"`within={within!r}`: only its name is known here, not the function. Use `within` with a column to have runs that can "
            "be verified."
        )
    guard = options.get("guard")
    for value, allowed in ((summary["method"], METHODS), (options["cluster"], CLUSTERS), (guard, (None, *GUARDS))):
        if value not in allowed:
            raise ValueError(value)
    counts = {name: sum(int(each[name]) for each in summaries) for name in COUNTS}
    for name in LATER_COUNTS:
        if all(name in each for each in summaries):
            counts[name] = sum(int(each[name] or 0) for each in summaries)
    shards, inputs = None, tuple(files["inputs"])
    if clusters is None:
        counts |= {
            name: int(summary[name]) for name in (*OF_WHOLE, *(("superseded",) if "superseded" in summary else ()))
        }
    else:
        shards = _shards(clusters, files["folder"], counts["rows"])
        inputs = tuple(shard.name for shard in shards)
    return Claim(
        recipe=recipe,
        similarity=stored_similarity(options["similarity"]),
        min_similarity=float(summary["min_similarity"]),
        max_distance=summary["max_distance"],
        min_tokens=int(summary["min_tokens"]),
        cluster=options["cluster"],
        drop_matched=bool(options.get("drop_matched")),
        **({} if most is None else _preference(options)),
        within=within,
        guard=guard,
        method=summary["method"],
        reading=stored_reading(files),
        inputs=inputs,
        against=tuple(files.get("against", ())),
        together=files.get("prefer") == "best",
        store=_content_of_store(files),
        folder=files["folder"],
        counts=counts,
        matches=int(summary["matches"]),
        join=dict(summary["join"]),
        shards=shards,
    )


def _preference(options: Mapping[str, Any]) -> dict[str, Any]:
    """What says which documents of a cluster are the first."""
    names = ("keep_most", "keep", "keep_as")
    return {name: options.get(name) for name in names} | {"prefer_source": tuple(options.get("prefer_source", ()))}


def _content_of_store(files: Mapping[str, Any]) -> str | None:
    found: str | None = (files.get("content") or {}).get("store")
    if found is not None and not found.partition(":")[0].isdecimal():
        raise ValueError(found)
    return found


def _shards(clusters: str, folder: str, rows: int) -> "tuple[StoredShard, ...]":
    """The shards of a run in stages, all of which were applied."""
    from neardup.io.corpora.stored_shards import reading_recorded
    from neardup.survivors.records.cluster_file import read_cluster_file  # loads Arrow; claims are read before refusals

    if not place_of(clusters).is_file():
        raise InputError(
            f"{clusters}: there is no such file. The run was made in stages, and its cluster file says which shards it is of. Run "
            f"this in {folder}, with the cluster file and the inputs in their places."
        )
    shards = read_cluster_file(clusters).shards
    of_all = sum(shard.rows for shard in shards)
    if rows != of_all:
        raise InputError(
            f"The audit is of {rows:,} of the {of_all:,} rows of {clusters}: survivors may be in the other shards. Apply all "
            "shards, with one folder for all audits (`audit`), and name that folder."
        )
    reading_recorded(shards)  # refuses shards that were not read alike
    return shards
