"""TRIALS: options that might be recommended: each similarity, method and recipe with the threshold that serves the target best."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from neardup.errors import OptionError
from neardup.judging.evaluation.methods import found_with, judged_places, scores_of
from neardup.judging.evaluation.recipe_scores import RecipeResult
from neardup.judging.evaluation.recommendation import pick
from neardup.judging.evaluation.removal import removal_of_matches, removal_of_sample, removed_documents
from neardup.judging.evaluation.request import EvaluationRequest
from neardup.judging.evaluation.scoring.compared import (
    LISTED_FROM,
    Compared,
    TakesLongError,
    compare,
)
from neardup.judging.evaluation.scoring.held import Held, hold
from neardup.judging.evaluation.scoring.listing import BUDGET_SECONDS, MAX_PAIRS, collected, run_seconds
from neardup.judging.evaluation.scoring.sampled_corpus import SampledCorpus
from neardup.judging.evaluation.scoring.sampling import SimilarPairs
from neardup.judging.evaluation.scoring.scores import MethodScore, RemovedShare, ThresholdScore, Trial
from neardup.judging.evaluation.scoring.truth import LEAST_SHOWN, Truth
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.presets import RECIPES
from neardup.recipe.similarity import Similarity, measure_of
from neardup.recipe.tables.methods import MEASURED, METHODS, MeasuredMethod
from neardup.recipe.tables.similarities import SimilarityName

MOST_REFINED, REFINE_SECONDS, LOWER = 8, 15.0, 0.05
"""Similarities of which all pairs are looked at after a sample; what they take together by estimate, in seconds of the reference
machine; and from how far below their best threshold pairs are listed.
"""


class Tried(NamedTuple):
    """What was tried, what each threshold removes, what was not tried and why; and what the thresholds find, with labels."""

    trials: tuple[Trial, ...]
    removal: tuple[RemovedShare, ...]
    left_out: tuple[str, ...]
    thresholds: tuple[ThresholdScore, ...] = ()


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
    progress: Progress

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
        found, left_out = self._compared(self._held(), [used])
        if others := [each for each in self.request.tried_similarities() if each != used]:
            names = f"{len(others)} other similarities" if len(others) > 1 else str(others[0])
            left_out.append(
                f"{names} and thresholds other than `min_similarity={self.corpus.options.min_similarity!r}` were not tried: by "
                f"these labels, {used} at this threshold says which pairs are near-duplicates."
            )
        return Tried(self._as_given(methods), self._removal(found), tuple(left_out), self._thresholds(found))

    def _as_given(self, methods: Sequence[MethodScore]) -> tuple[Trial, ...]:
        """The trials of methods as they were measured, and those of fingerprints."""
        tried = [self._of_method(score) for score in methods]
        if any(METHODS[score.method].is_by_distance for score in methods):
            tried += self._by_distance(self.corpus.options.compared_by, self.corpus.options.min_similarity)
        return tuple(dict.fromkeys(tried))

    def of_labels(self) -> Tried:
        """Trials of every similarity, and of methods at the threshold that the similarity in use needs."""
        names = self.request.named_methods or MEASURED
        used, threshold = self.corpus.options.compared_by, self.corpus.options.min_similarity
        asked = self.request.tried_similarities() if "exact" in names else (used,)
        held = self._held()
        found, left_out = self._compared(held, asked)
        if "exact" in names:
            found = self._refined(held, found)
        of_used = next((self._best(each) for each in found if each.similarity == used), None)
        if any(each.is_exact for each in found):  # what a sample promises is no match for what is known
            sampled = [each for each in found if not each.is_exact]
            found = [each for each in found if each.is_exact]
            left_out += [
                f"`similarity={str(each.similarity)!r}` was tried on a sample of pairs alone." for each in sampled
            ]
        best = {each.similarity: self._best(each) for each in found}
        tried = [trial for trial in best.values() if trial is not None and "exact" in names]
        if of_used is not None and threshold > 0:
            threshold = of_used.min_similarity
        for method in names:
            with self.progress.stage(f"try {method}"):
                try:
                    tried += self._at_threshold(method, used, threshold)
                except (OptionError, TakesLongError) as problem:
                    left_out.append(f"`method={method!r}` was not tried at `min_similarity={threshold!r}`: {problem}")
        removal = self._removal(found) if "exact" in names else ()
        return Tried(tuple(tried), removal, tuple(left_out), self._thresholds(found))

    def _held(self) -> Held:
        with self.progress.stage("hold texts"):
            return hold(self.corpus, self.truth, self.request.seed)

    def _compared(
        self, held: Held, similarities: Sequence[Similarity | SimilarityName]
    ) -> tuple[list[Compared], list[str]]:
        """What the thresholds of each similarity find, and what was left out, in sentences."""
        found, left_out = list[Compared](), list[str]()
        for similarity in similarities:
            with self.progress.stage(f"try {similarity}"):
                try:
                    found.append(compare(held, self.truth, similarity))
                except (OptionError, TakesLongError) as problem:
                    left_out.append(f"`similarity={str(similarity)!r}` was left out: {str(problem).rstrip('.')}.")
        return found, left_out

    def _best(self, compared: Compared) -> Trial | None:
        """The trial of a similarity at its best threshold; None if none of the near-duplicates is found."""
        scored = compared.trials(self.truth, self.recipes[0].score.recipe, self.corpus.recipe.bits)
        return self._pick(scored)

    def _pick(self, trials: Sequence[Trial]) -> Trial | None:
        return pick(trials, target=self.request.target_recall, min_precision=self.request.min_precision)[0]

    def _refined(self, held: Held, found: Sequence[Compared]) -> list[Compared]:
        """The same, with all pairs of the best similarities, until the best of all is one of these: samples promise too much."""
        by_similarity = {each.similarity: each for each in found}
        best = {each.similarity: self._best(each) for each in found}
        left, spent = {each.similarity for each in found if not each.is_exact}, 0.0
        for _ in range(MOST_REFINED):
            choice = self._pick([trial for trial in best.values() if trial is not None])
            if choice is None or choice.similarity is None or choice.similarity not in left or spent > REFINE_SECONDS:
                break
            left.remove(choice.similarity)
            with self.progress.stage(f"compare all by {choice.similarity}"):
                refined, seconds = self._all_pairs(
                    held, by_similarity[choice.similarity], choice, REFINE_SECONDS - spent
                )
            spent += seconds
            by_similarity[choice.similarity], best[choice.similarity] = refined, self._best(refined)
        return list(by_similarity.values())

    def _all_pairs(self, held: Held, compared: Compared, best: Trial, most: float) -> tuple[Compared, float]:
        """With all pairs, at least from somewhat below the best threshold up, if that takes `most` seconds or less by estimate."""
        least = max(0.01, round(best.min_similarity - LOWER, 2))
        options = options_of(dataclasses.replace(best, min_similarity=least), self.corpus.options)
        if compared.all_seconds <= most:
            return compare(held, self.truth, compared.similarity, compared.all_seconds * 1.01), compared.all_seconds
        if compared.found(least) > MAX_PAIRS:
            return compared, 0.0
        seconds = run_seconds(self.corpus, options)
        matches = collected(self.corpus, options) if seconds <= most else None
        return (compared if matches is None else compared.listed(matches, least)), seconds

    def _removal(self, found: Sequence[Compared]) -> tuple[RemovedShare, ...]:
        """What the thresholds of named similarities remove, or of those that were given."""
        shown = [each for each in found if isinstance(each.similarity, str) or self.request.similarities]
        return tuple(
            share
            for each in shown
            if each.matches is not None
            for share in removal_of_matches(self.corpus, each.matches, each.similarity, max(each.least, LISTED_FROM))
        )

    def _thresholds(self, found: Sequence[Compared]) -> tuple[ThresholdScore, ...]:
        """What the thresholds of the similarity in use find."""
        used = self.corpus.options.compared_by
        return next((each.thresholds(self.truth) for each in found if each.similarity == used), ())

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
        options = options_of(trial, corpus.options)
        takes_long = trial.method == "exact" and run_seconds(corpus, options) > BUDGET_SECONDS
        if trial.found > MAX_PAIRS or takes_long:
            return trial, None
        matches = collected(corpus, options, distinct=by_sample)
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

    def _at_threshold(
        self, method: MeasuredMethod, similarity: Similarity | SimilarityName, threshold: float
    ) -> list[Trial]:
        """Trials of a method other than `exact` at a threshold of similarity."""
        if method == "exact" or not METHODS[method].is_for(measure_of(similarity)):
            return []
        if METHODS[method].is_by_distance:
            return self._by_distance(similarity, threshold)
        if threshold == 0:
            return []
        options = self._verifying(method, similarity, threshold, None)
        if threshold != self.corpus.options.min_similarity and run_seconds(self.corpus, options) > BUDGET_SECONDS:
            raise TakesLongError(f"it takes more than {BUDGET_SECONDS:g} s of the reference machine.")
        return [self._verified(method, options)]

    def _by_distance(self, similarity: Similarity | SimilarityName, threshold: float) -> list[Trial]:
        """Trials of fingerprints: those of the corpus with verification, and those of each recipe alone."""
        target, least = self.request.target_recall, self.request.min_precision
        alone = (pick(each.trials, target=target, min_precision=least)[0] for each in self.recipes)
        found = [trial for trial in alone if trial is not None]
        if threshold == 0:
            return found
        needed = self.recipes[0].score.max_distance
        distances = sorted({self.max_distance, self.max_distance if needed is None else needed})
        verifying = (self._verifying("simhash", similarity, threshold, each) for each in distances)
        return [self._verified("simhash", each) for each in verifying] + found

    def _verifying(
        self, method: MeasuredMethod, similarity: Similarity | SimilarityName, threshold: float, distance: int | None
    ) -> DedupOptions:
        return dataclasses.replace(
            self.corpus.options, method=method, similarity=similarity, min_similarity=threshold, max_distance=distance
        )

    def _verified(self, method: MeasuredMethod, options: DedupOptions) -> Trial:
        found, total = found_with(options, self.corpus, self.truth)
        return Trial(
            method=method,
            similarity=options.compared_by,
            min_similarity=options.min_similarity,
            recipe=self.recipes[0].score.recipe,
            bits=self.corpus.recipe.bits,
            max_distance=options.max_distance,
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
