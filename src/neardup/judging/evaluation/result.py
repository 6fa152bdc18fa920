"""The result of an evaluation; attributes have the names of its JSON."""

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

from neardup.display import html_sentence, html_table
from neardup.judging.evaluation.scoring.intervals import Share
from neardup.judging.evaluation.scoring.scores import (
    DistanceScore,
    MethodScore,
    RecipeScore,
    RemovedShare,
    SimilarityCount,
    Stratum,
    ThresholdScore,
    Trial,
)
from neardup.recipe.stored_parts import plain
from neardup.recipe.tables.methods import METHODS, Promise


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The options to use, and why.

    Attributes:
        reaches_target: whether `best` reaches the target recall and the least precision.
        threshold_is_given: the threshold of `best` was given, not found: without labels, or with such as state the similarity
            that is compared, it says which pairs are near-duplicates.
        by_definition: what `best` finds are the near-duplicates by definition, so its recall and precision measure nothing.
        best: the recommended options with the figures of a run with just these; if nothing reaches the target, those that come
            nearest; None if no near-duplicate is known.
        removed: number of documents that de-duplication with these options removes; None if `best` did not run on all documents.
        reasons: why, and what else would do, in sentences.
        notes: what the figures do not show, in sentences: where precision or a threshold is not known, or there are few pairs.
        withheld: why the options are not to be used without more ado, in sentences: most of the pairs that they find are unlabeled,
            or most documents would be removed and it is not labels that say so. No commands are given then.
        commands: the command lines that list the pairs and that remove the duplicates, for the files of `evaluate_files`; empty
            for texts in memory, and for a recipe that is in no file.
    """

    reaches_target: bool
    best: Trial | None
    removed: int | None
    reasons: tuple[str, ...]
    notes: tuple[str, ...] = ()
    threshold_is_given: bool = False
    by_definition: bool = False
    withheld: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()

    def options(self) -> dict[str, Any]:
        """The recommended options as arguments of `deduplicate` and `match`; empty if none reach the target, or if `withheld`."""
        return self.best.options() if self.best is not None and self.reaches_target and not self.withheld else {}


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Precision and recall of methods, distances and similarities on a corpus.

    Attributes:
        truth: "labels" or "sample": the source of the known near-duplicates.
        documents: number of documents in the input.
        equal_texts: documents that repeat an earlier one: their normalized texts are equal; with truth from a sample they are
            set aside first.
        short: documents under the recipe's minimum of tokens; `few_tokens`: those under 50 tokens, short ones included.
        min_similarity: pairs at or above it are near-duplicates, unless labels say otherwise.
        target_recall, min_precision: the recall that the recommendation should reach, and the precision that it should keep.
        labeled_pairs, labeled_positive: 0 with truth from a sample.
        complete: the labels include every near-duplicate, so any other pair found is false.
        judged_by: what says which pairs are near-duplicates: "similarity", the one that is compared, from `min_similarity` on,
            without labels, or where they state it; "other similarity", if labels state one that is not compared; "label", if they
            have labels; "listing", if all pairs that they list are.
        sampled_documents: documents compared with all others.
        seed: seed of the sample.
        near_duplicates: number of near-duplicate pairs: those labeled, or an estimate for the input.
        near_duplicates_low, near_duplicates_high: 95 % interval of that estimate.
        with_near_duplicate: share of the sampled documents that have a near-duplicate; empty with labels.
        recipe: the recipe behind `distances` and `strata`, its digest, and the distance in use: methods by distance run with it,
            and it divides the strata.
        thresholds, strata: the first is empty without labels, the second with labels.
        recipes: that of the corpus' fingerprints comes first.
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
    judged_by: str
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

    def is_definition(self, method: str) -> bool:
        """Whether what a method finds at `min_similarity` are the near-duplicates by definition, so that no score measures it."""
        return self.judged_by == "similarity" and METHODS[method].promise is Promise.EXACT

    def shown_scores(self, score: MethodScore) -> tuple[float | str | None, ...]:
        """Recall, precision and F1 of a method, as tables show them."""
        if self.is_definition(score.method):
            return ("by definition", None, None)
        return (score.recall.value, score.precision.value, score.f1.value)

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain values, ready for JSON."""
        best = self.recommendation.best
        without = dataclasses.replace(self.recommendation, best=None)
        found = dataclasses.asdict(dataclasses.replace(self, trials=(), recommendation=without))
        found["trials"] = list(map(_plain_trial, self.trials))
        found["recommendation"]["best"] = None if best is None else _plain_trial(best)
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
        rows = [(score.method, *self.shown_scores(score), score.found) for score in self.methods]
        line = f"{self.documents:,} documents, truth from {self.truth}; {label}: `{advice}`"
        said = "".join(
            f"<li>{html_sentence(each)}</li>"
            for each in (*best.withheld, *best.notes, *best.reasons, *self.left_out, *self.warnings)
        )
        names: tuple[str, ...] = ("method", "recall", "precision", "F1", "found")
        if any(score.unlabeled for score in self.methods):
            names, rows = (
                (*names, "unlabeled"),
                [(*row, score.unlabeled) for row, score in zip(rows, self.methods, strict=True)],
            )
        table = html_table(names, rows)
        return f"<p><strong>{html_sentence(line)}</strong></p>{table}<ul>{said}</ul>"

    def __repr__(self) -> str:
        method = self.recommendation.options().get("method")
        return f"Evaluation({self.documents:,} documents, truth from {self.truth}, recommended: method={method})"


def _plain_trial(trial: Trial) -> dict[str, Any]:
    return dataclasses.asdict(dataclasses.replace(trial, similarity=None)) | {"similarity": plain(trial.similarity)}
