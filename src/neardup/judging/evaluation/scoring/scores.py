"""SCORES of methods, distances, thresholds and recipes; their attributes have the names of the result's JSON."""

from dataclasses import dataclass
from typing import Any

from neardup.display import counted
from neardup.judging.evaluation.scoring.intervals import Share
from neardup.recipe.presets import RECIPES
from neardup.recipe.similarity import Similarity
from neardup.recipe.tables.methods import MeasuredMethod
from neardup.recipe.tables.similarities import SimilarityName

USUAL = {"recipe": "default", "similarity": "jaccard"}
"""The options of a trial that a call need not give."""


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
        unlabeled: those of them that nobody judged; they count neither for nor against the distance.
    """

    max_distance: int
    recall: Share
    precision: Share
    f1: Share
    pairs: float
    unlabeled: float = 0.0


@dataclass(frozen=True, slots=True)
class ThresholdScore:
    """The pairs of a similarity or more; with labels that are complete, all other pairs count against its precision.

    Attributes:
        found: pairs that it finds; an estimate if there are too many documents to compare all pairs.
        unlabeled: those of them that nobody judged; they count neither for nor against the threshold.
    """

    min_similarity: float
    recall: Share
    precision: Share
    f1: Share
    found: int
    unlabeled: int


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

    @property
    def labeled(self) -> str:
        """How many of the pairs that were found are labeled, in words; nothing if all are judged."""
        return (
            f"{self.found - self.unlabeled:,} of {counted(self.found, 'pair')} found are labeled"
            if self.unlabeled
            else ""
        )

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
