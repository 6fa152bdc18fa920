"""The result of an evaluation; attributes have the names of its JSON."""

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

from neardup.display import html_sentence, html_table
from neardup.judging.evaluation.intervals import Share
from neardup.recipe.methods import MeasuredMethod
from neardup.recipe.presets import RECIPES
from neardup.recipe.similarities import SimilarityName
from neardup.recipe.similarity import Similarity
from neardup.recipe.stored_parts import plain


@dataclass(frozen=True, slots=True)
class MethodScore:
    """The scores of one method.

    Attributes:
        method: one of `METHODS`.
        recall, precision, f1: precision and F1 are empty if no pair is known to be false.
        found: number of pairs found among the documents that took part.
        unlabeled: found pairs that nobody judged; they count neither for nor against the method.
        bands: recall by band of similarity, keyed by the band's name.
    """

    method: MeasuredMethod
    recall: Share
    precision: Share
    f1: Share
    found: int
    unlabeled: int
    bands: dict[str, Share]


@dataclass(frozen=True, slots=True)
class DistanceScore:
    """What fingerprints alone find within a Hamming distance.

    Attributes:
        pairs: pairs of the input within the distance; an estimate unless every document was sampled.
    """

    max_distance: int
    recall: Share
    precision: Share
    f1: Share
    pairs: float


@dataclass(frozen=True, slots=True)
class ThresholdScore:
    """The labeled pairs found at a similarity."""

    min_similarity: float
    recall: Share
    precision: Share
    f1: Share


@dataclass(frozen=True, slots=True)
class SimilarityCount:
    """Pairs in a step of similarity: those that are labeled or, without labels, all that have a sampled document.

    Attributes:
        least: where the step begins; the last one includes 1.
        near: those that are near-duplicates.
        others: those that are not.
    """

    least: float
    near: int
    others: int


@dataclass(frozen=True, slots=True)
class Stratum:
    """Pairs within a range of distances; random pairs of any distance if `distance` is "any".

    Attributes:
        pairs: pairs in the input; an estimate unless every document was sampled.
        sampled: pairs whose texts were read.
        similar: share of the pairs that reach the similarity asked for.
        median, highest: similarity of the sampled pairs; None if there are none.
    """

    distance: str
    pairs: float
    sampled: int
    similar: Share
    median: float | None
    highest: float | None


@dataclass(frozen=True, slots=True)
class RecipeScore:
    """What a recipe's fingerprints need to reach the target recall.

    Attributes:
        max_distance: smallest distance that reaches it; None if none does.
        recall: recall at that distance.
        false_per_true: pairs within that distance that are not near-duplicates, per pair that is; None if not known.
        seconds: expected time of the join and of verifying its pairs; None if no distance reaches the target.
        usual_distance: the recipe's own distance; None if it has none.
        usual_recall: recall at that distance.
    """

    recipe: str
    bits: int
    max_distance: int | None
    recall: Share
    false_per_true: float | None
    seconds: float | None
    usual_distance: int | None
    usual_recall: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Options that might be recommended, and what they find.

    Attributes:
        method: one of `METHODS`.
        similarity, min_similarity: None and 0 for fingerprints alone; a `Similarity` if one was given.
        recipe: a name, or "the given recipe".
        bits: of the recipe's fingerprints.
        max_distance: None for methods that need no distance.
        recall, precision, f1: precision and F1 are empty if no pair is known to be false.
        found: number of pairs found among the documents that took part; an estimate for fingerprints alone, unless it was run.
        unlabeled: found pairs that nobody judged; they count neither for nor against the options.
    """

    method: MeasuredMethod
    similarity: Similarity | SimilarityName | None
    min_similarity: float
    recipe: str
    bits: int
    max_distance: int | None
    recall: Share
    precision: Share
    f1: Share
    found: int
    unlabeled: int

    def options(self) -> dict[str, Any]:
        """The options as arguments of `deduplicate`, `match` and `pair_files`, without a recipe that has no name."""
        found: dict[str, Any] = {"method": self.method, "min_similarity": self.min_similarity}
        if self.similarity is not None:
            found["similarity"] = self.similarity
        if self.max_distance is not None:
            found["max_distance"] = self.max_distance
        if self.recipe in RECIPES:
            found["recipe"] = self.recipe
        return found


@dataclass(frozen=True, slots=True)
class RemovedShare:
    """How many documents a threshold of similarity removes, equal texts included.

    Attributes:
        similarity, min_similarity: the threshold.
        removed: the number of documents; if not every document was sampled, an estimate of how many are removed at most.
        share: their share of all documents.
    """

    similarity: str
    min_similarity: float
    removed: float
    share: Share


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The options to use, and why.

    Attributes:
        reaches_target: whether `best` reaches the target recall and the least precision.
        threshold_is_given: the threshold of `best` was given, not found: without labels, it says which pairs are near-duplicates.
        best: the recommended options with the figures of a run with just these; if nothing reaches the target, those that come
            nearest; None if no near-duplicate is known.
        removed: number of documents that de-duplication with these options removes; None if `best` did not run on all documents.
        reasons: sentences.
        commands: the command lines that list the pairs and that remove the duplicates, for the files of `evaluate_files`; empty
            for texts in memory, and for a recipe that is in no file.
    """

    reaches_target: bool
    best: Trial | None
    removed: int | None
    reasons: tuple[str, ...]
    threshold_is_given: bool = False
    commands: tuple[str, ...] = ()

    def options(self) -> dict[str, Any]:
        """The recommended options as arguments of `deduplicate` and `match`; empty if nothing reaches the target."""
        return self.best.options() if self.best is not None and self.reaches_target else {}


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Precision and recall of methods, distances and similarities on a corpus.

    Attributes:
        truth: "labels" or "sample": the source of the known near-duplicates.
        documents: number of documents in the input.
        equal_texts: documents with the same normalized text as an earlier one; with truth from a sample they are set aside first.
        short: documents under the recipe's minimum of tokens; `few_tokens`: those under 50 tokens, short ones included.
        min_similarity: pairs at or above it are near-duplicates, unless labels say otherwise.
        target_recall, min_precision: the recall that the recommendation should reach, and the precision that it should keep.
        labeled_pairs, labeled_positive: 0 with truth from a sample.
        complete: the labels include every near-duplicate, so any other pair found is false.
        sampled_documents: documents compared with all others.
        seed: seed of the sample.
        near_duplicates: number of near-duplicate pairs: those labeled, or an estimate for the input.
        near_duplicates_low, near_duplicates_high: 95 % interval of that estimate.
        with_near_duplicate: share of the sampled documents that have a near-duplicate; empty with labels.
        recipe: the recipe behind `distances` and `strata`, and its digest.
        trials: the options that were tried, one for each method, similarity or recipe.
        removal: the share of documents removed, by threshold of similarity.
        similarities: the distribution of similarities; without labels, from the least one that was looked for.
        left_out: what was not tried, and why, in sentences.
        warnings: sentences.
    """

    truth: str
    documents: int
    equal_texts: int
    short: int
    few_tokens: int
    min_similarity: float
    target_recall: float
    min_precision: float
    labeled_pairs: int
    labeled_positive: int
    complete: bool
    sampled_documents: int
    seed: int
    near_duplicates: float
    near_duplicates_low: float
    near_duplicates_high: float
    with_near_duplicate: Share
    recipe: dict[str, Any]
    methods: tuple[MethodScore, ...]
    distances: tuple[DistanceScore, ...]
    thresholds: tuple[ThresholdScore, ...]
    strata: tuple[Stratum, ...]
    recipes: tuple[RecipeScore, ...]
    trials: tuple[Trial, ...]
    removal: tuple[RemovedShare, ...]
    similarities: tuple[SimilarityCount, ...]
    left_out: tuple[str, ...]
    recommendation: Recommendation
    warnings: tuple[str, ...]
    seconds: dict[str, float]
    versions: dict[str, str]

    @property
    def is_estimate(self) -> bool:
        """Whether the truth is from a sample of only some of the documents of different text."""
        return self.truth == "sample" and self.sampled_documents != self.documents - self.equal_texts

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain values, ready for JSON."""
        trials = [dataclasses.replace(trial, similarity=None) for trial in self.trials]
        best = self.recommendation.best
        if best is not None:
            recommendation = dataclasses.replace(self.recommendation, best=dataclasses.replace(best, similarity=None))
        else:
            recommendation = self.recommendation
        found = dataclasses.asdict(dataclasses.replace(self, trials=tuple(trials), recommendation=recommendation))
        for trial, plainly in zip(self.trials, found["trials"], strict=True):
            plainly["similarity"] = plain(trial.similarity)
        if best is not None:
            found["recommendation"]["best"]["similarity"] = plain(best.similarity)
        return found

    def to_json(self) -> str:
        """The fields as one JSON object, indented, ending in a newline."""
        return json.dumps(self.as_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"

    def _repr_html_(self) -> str:
        best = self.recommendation
        label = "recommended"
        if best.threshold_is_given:
            label = "recommended method, at the threshold that was given"
        advice = ", ".join(f"{name}={value!r}" for name, value in best.options().items()) or "nothing that was measured"
        rows = [
            (score.method, score.recall.value, score.precision.value, score.f1.value, score.found)
            for score in self.methods
        ]
        line = f"{self.documents:,} documents, truth from {self.truth}; {label}: `{advice}`"
        said = "".join(f"<li>{html_sentence(each)}</li>" for each in (*best.reasons, *self.left_out, *self.warnings))
        table = html_table(("method", "recall", "precision", "F1", "found"), rows)
        return f"<p><strong>{html_sentence(line)}</strong></p>{table}<ul>{said}</ul>"

    def __repr__(self) -> str:
        method = self.recommendation.options().get("method")
        return f"Evaluation({self.documents:,} documents, truth from {self.truth}, recommended: method={method})"
