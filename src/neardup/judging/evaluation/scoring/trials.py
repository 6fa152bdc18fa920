"""TRIALS: options that might be recommended: each similarity, method and recipe with the threshold that serves the target best."""

import dataclasses
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.errors import OptionError
from neardup.judging.evaluation.methods import found_with, judged_places, scores_of
from neardup.judging.evaluation.recipe_scores import RecipeResult
from neardup.judging.evaluation.recommendation import pick
from neardup.judging.evaluation.removal import removal_of_matches, removal_of_sample, removed_documents
from neardup.judging.evaluation.request import EvaluationRequest
from neardup.judging.evaluation.scoring.listing import (
    BUDGET_SECONDS,
    LEAST_TRIED,
    USUAL,
    collected,
    edit_seconds,
    list_pairs,
    trials_by_threshold,
)
from neardup.judging.evaluation.scoring.sampled_corpus import SampledCorpus
from neardup.judging.evaluation.scoring.sampling import SimilarPairs
from neardup.judging.evaluation.scoring.scores import MethodScore, RemovedShare, Trial
from neardup.judging.evaluation.scoring.truth import LEAST_SHOWN, Truth, similarities_of_rows
from neardup.options import DedupOptions
from neardup.recipe.presets import RECIPES
from neardup.recipe.similarity import Similarity, measure_of
from neardup.recipe.tables.methods import MEASURED, METHODS, MeasuredMethod
from neardup.recipe.tables.similarities import SimilarityName


class Tried(NamedTuple):
    """What was tried, what each threshold removes, and what was not tried and why."""

    trials: tuple[Trial, ...]
    removal: tuple[RemovedShare, ...]
    left_out: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Trials:
    """Tries options on a corpus.

    Attributes:
        corpus, truth, request: of the evaluation.
        recipes: the results of the recipes, the corpus' own first.
        max_distance: the distance in use.
    """

    corpus: SampledCorpus
    truth: Truth
    request: EvaluationRequest
    recipes: Sequence[RecipeResult]
    max_distance: int

    def of_sample(self, methods: Sequence[MethodScore], similar: SimilarPairs) -> Tried:
        """Trials at the similarity that says what is near; `similar`: all pairs of sampled documents that were found."""
        given, left_out = self.corpus.options.min_similarity, []
        if similar.least > LEAST_SHOWN:
            left_out.append(
                f"What thresholds below `min_similarity={given!r}` remove was left out: among so many documents it takes long."
            )
        return Tried(self._as_given(methods), tuple(removal_of_sample(self.corpus, similar)), tuple(left_out))

    def of_definition(self, methods: Sequence[MethodScore]) -> Tried:
        """Trials at the threshold of the similarity that labels state and that is compared: it says what is near."""
        used = self.corpus.options.compared_by
        found, others = (
            self._of_similarity(used, lists=True),
            [each for each in self.request.tried_similarities() if each != used],
        )
        left_out = list(found.left_out)
        if others:
            names = ", ".join(map(str, others))
            left_out.append(
                f"{names} and thresholds other than `min_similarity={self.corpus.options.min_similarity!r}` were not tried: by "
                f"these labels, {used} at this threshold says which pairs are near-duplicates."
            )
        return Tried(self._as_given(methods), found.removal, tuple(left_out))

    def _as_given(self, methods: Sequence[MethodScore]) -> tuple[Trial, ...]:
        """The trials of methods as they were measured, and those of fingerprints."""
        tried = [self._of_method(score) for score in methods]
        if any(METHODS[score.method].is_by_distance for score in methods):
            tried += self._by_distance(self.corpus.options.compared_by, self.corpus.options.min_similarity)
        return tuple(dict.fromkeys(tried))

    def of_labels(self) -> Tried:
        """Trials of every similarity, and of methods at the threshold that the similarity in use needs."""
        tried, removal, left_out = list[Trial](), list[RemovedShare](), list[str]()
        names = self.request.named_methods or MEASURED
        used, threshold = self.corpus.options.compared_by, self.corpus.options.min_similarity
        if "exact" not in names and threshold > 0 and self.truth.positive.any():
            threshold = self._threshold_for(self.truth.similarity)
        for similarity in self.request.tried_similarities():
            try:
                found = self._of_similarity(similarity, lists="exact" in names)
            except OptionError as problem:  # of a similarity that does not go with the recipe
                found = Tried((), (), (f"`similarity={str(similarity)!r}` was left out: {problem}",))
            tried += found.trials
            removal += found.removal
            left_out += found.left_out
            if similarity == used and found.trials:
                threshold = found.trials[0].min_similarity
        for method in names:
            try:
                tried += self._at_threshold(method, used, threshold)
            except OptionError as problem:
                left_out.append(f"`method={method!r}` was not tried at `min_similarity={threshold!r}`: {problem}")
        return Tried(tuple(tried), tuple(removal), tuple(left_out))

    def run(self, trial: Trial) -> tuple[Trial, int | None]:
        """Run a trial on all documents with just its options: its figures, and the number of documents removed.

        With truth from a sample that is smaller than the corpus, nothing runs: the trial's figures are estimates.
        """
        corpus, truth = self.corpus, self.truth
        by_sample = truth.source == "sample"
        if by_sample and len(corpus.sampled) < np.count_nonzero(corpus.among):
            return trial, None
        if trial.recipe in RECIPES and RECIPES[trial.recipe].recipe.digest() != corpus.recipe.digest():
            corpus = corpus.by_recipe(RECIPES[trial.recipe].recipe)
        matches = collected(corpus, options_of(trial, corpus.options), distinct=by_sample)
        if matches is None:
            return trial, None
        at = judged_places(truth, matches.left, matches.right, len(corpus.documents))
        found = np.zeros(len(truth), np.bool_)
        found[at[at >= 0]] = True
        scores = scores_of(truth, found, len(matches))
        removed = removed_documents(corpus, matches, by_distance=trial.min_similarity == 0)
        return dataclasses.replace(trial, found=len(matches), **scores._asdict()), removed

    def _of_method(self, score: MethodScore) -> Trial:
        """The trial of a method that was measured at the similarity that was given."""
        return Trial(
            method=score.method,
            similarity=self.corpus.options.compared_by,
            min_similarity=self.corpus.options.min_similarity,
            recipe=self.recipes[0].score.recipe,
            bits=self.corpus.recipe.bits,
            max_distance=self.max_distance if METHODS[score.method].is_by_distance else None,
            recall=score.recall,
            precision=score.precision,
            f1=score.f1,
            found=score.found,
            unlabeled=score.unlabeled,
        )

    def _of_similarity(self, similarity: Similarity | SimilarityName, *, lists: bool) -> Tried:
        """The trial of `exact` at the best threshold of a similarity, and what its thresholds remove."""
        corpus, truth, target = self.corpus, self.truth, self.request.target_recall
        if (seconds := edit_seconds(corpus, len(truth), similarity)) > BUDGET_SECONDS:
            why = (
                f"the labeled pairs alone take {seconds:,.0f} s of the reference machine, more than {BUDGET_SECONDS:g}"
            )
            return Tried((), (), (f"`similarity={str(similarity)!r}` was left out: {why}.",))
        if not lists or not truth.positive.any():
            return Tried((), (), ())
        values = truth.similarity
        if similarity != corpus.options.compared_by:
            values = similarities_of_rows(corpus, truth.left, truth.right, similarity)
        needed, left_out = self._needed(values), []
        if needed < LEAST_TRIED:
            left_out.append(
                f"`similarity={str(similarity)!r}` reaches recall {target:g} only at {needed:.2f}; below {LEAST_TRIED:g}, where "
                "texts match that have little in common, it was not tried."
            )
        listing = list_pairs(
            corpus, similarity, min(self._threshold_for(values), USUAL[-1]), corpus.options.min_similarity
        )
        scored = trials_by_threshold(corpus, truth, similarity, listing, self.recipes[0].score.recipe)
        best, _ = pick(scored, target=target, min_precision=self.request.min_precision)
        removal = []
        if listing.matches is not None:
            removal = removal_of_matches(corpus, listing.matches, similarity, listing.least)
        return Tried((best,) if best else (), tuple(removal), (*left_out, *listing.left_out))

    def _needed(self, values: Array) -> float:
        """The highest similarity that the target share of the near-duplicates has; values: float64[p], of the judged pairs."""
        ranked = np.sort(values[self.truth.positive])[::-1]
        return float(ranked[math.ceil(self.request.target_recall * len(ranked) - 1e-9) - 1])

    def _threshold_for(self, values: Array) -> float:
        """That similarity as a threshold in steps of 0.01, from LEAST_TRIED up."""
        return max(math.floor(100 * self._needed(values) + 1e-9) / 100, LEAST_TRIED)

    def _at_threshold(
        self, method: MeasuredMethod, similarity: Similarity | SimilarityName, threshold: float
    ) -> list[Trial]:
        """Trials of a method other than `exact` at a threshold of similarity."""
        if method == "exact" or not METHODS[method].is_for(measure_of(similarity)):
            return []
        if METHODS[method].is_by_distance:
            return self._by_distance(similarity, threshold)
        return [self._verified(method, similarity, threshold, None)] if threshold > 0 else []

    def _by_distance(self, similarity: Similarity | SimilarityName, threshold: float) -> list[Trial]:
        """Trials of fingerprints: those of the corpus with verification, and those of each recipe alone."""
        target, least = self.request.target_recall, self.request.min_precision
        alone = (pick(each.trials, target=target, min_precision=least)[0] for each in self.recipes)
        found = [trial for trial in alone if trial is not None]
        if threshold == 0:
            return found
        needed = self.recipes[0].score.max_distance
        distances = sorted({self.max_distance, self.max_distance if needed is None else needed})
        return [self._verified("simhash", similarity, threshold, each) for each in distances] + found

    def _verified(
        self, method: MeasuredMethod, similarity: Similarity | SimilarityName, threshold: float, distance: int | None
    ) -> Trial:
        options = dataclasses.replace(
            self.corpus.options, method=method, similarity=similarity, min_similarity=threshold, max_distance=distance
        )
        found, total = found_with(options, self.corpus, self.truth)
        return Trial(
            method=method,
            similarity=similarity,
            min_similarity=threshold,
            recipe=self.recipes[0].score.recipe,
            bits=self.corpus.recipe.bits,
            max_distance=distance,
            found=total,
            **scores_of(self.truth, found, total)._asdict(),
        )


def options_of(trial: Trial, given: DedupOptions) -> DedupOptions:
    """The options of a run with what a trial says, in the given resources."""
    return dataclasses.replace(
        given,
        method=trial.method,
        similarity=trial.similarity or "jaccard",
        min_similarity=trial.min_similarity,
        max_distance=trial.max_distance,
    )
