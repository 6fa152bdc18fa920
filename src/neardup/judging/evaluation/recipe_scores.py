"""RECIPES: the distance each one needs for the target recall, and the cost of the join at that distance."""

from dataclasses import astuple
from typing import NamedTuple

import numpy as np

from neardup.hamming.block_plan import plan_join
from neardup.judging.evaluation.scoring.curves import DistanceHistogram, distance_histogram, distance_scores
from neardup.judging.evaluation.scoring.intervals import UNKNOWN
from neardup.judging.evaluation.scoring.listing import BUDGET_SECONDS
from neardup.judging.evaluation.scoring.sampled_corpus import SampledCorpus
from neardup.judging.evaluation.scoring.scores import DistanceScore, RecipeScore, Trial
from neardup.judging.evaluation.scoring.truth import Truth
from neardup.recipe.presets import RECIPES, usual_distance
from neardup.recipe.recipe import Recipe

VERIFY_SECONDS = 3e-6
"""Time to verify a candidate with about 500 shingles per text, on one thread."""

UNNAMED = "the given recipe"


class RecipeResult(NamedTuple):
    """The score of a recipe, and a trial for each distance of its fingerprints alone, the smallest first."""

    score: RecipeScore
    trials: list[Trial]


def recipe_results(
    corpus: SampledCorpus,
    truth: Truth,
    own: DistanceHistogram,
    scores: tuple[DistanceScore, ...],
    target: float,
    *,
    of_elements: bool = False,
) -> list[RecipeResult]:
    """Score the corpus' own recipe, which comes first, and every named recipe that is not a profile of another tool. One that gives
    these documents the distances of another in as many bits, as of another version without such scripts, is not scored again.

    Args:
        corpus: its texts are read once for each further recipe.
        truth: the pairs that recall is measured on.
        own, scores: distances by the corpus' own recipe.
        target: recall to reach, above 0 and up to 1.
        of_elements: the documents are given sets or lists: no other recipe is for them.
    """
    name_of_own, others = UNNAMED, list[RecipeResult]()
    seen = [(corpus.recipe.bits, own)]
    for name, named in RECIPES.items():
        if named.recipe.digest() == corpus.recipe.digest():
            name_of_own = name
        elif not named.recipe.is_of_other_tool and not of_elements:
            bits = named.recipe.bits
            found = distance_histogram(truth, corpus.by_recipe(named.recipe))
            if not any(bits == known and _is_same(found, other) for known, other in seen):
                seen.append((bits, found))
                scores_of_it = distance_scores(truth, found, bits)
                others.append(_result(name, named.recipe, truth, found, scores_of_it, target))
    return [_result(name_of_own, corpus.recipe, truth, own, scores, target), *others]


def _is_same(one: DistanceHistogram, other: DistanceHistogram) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(astuple(one), astuple(other), strict=True))


def _result(
    name: str, recipe: Recipe, truth: Truth, found: DistanceHistogram, scores: tuple[DistanceScore, ...], target: float
) -> RecipeResult:
    trials = [
        Trial(
            method="simhash",
            similarity=None,
            min_similarity=0,
            recipe=name,
            bits=recipe.bits,
            max_distance=score.max_distance,
            recall=score.recall,
            precision=score.precision,
            f1=score.f1,
            found=round(score.pairs),
            unlabeled=round(score.unlabeled),
        )
        for score in scores
        if join_seconds(recipe, found, score) <= BUDGET_SECONDS
    ]
    return RecipeResult(recipe_score(name, recipe, truth, found, scores, target), trials)


def join_seconds(recipe: Recipe, found: DistanceHistogram, score: DistanceScore) -> float:
    """Expected time of a join within the distance and of verifying its pairs."""
    join: float = plan_join(len(found.rows), bits=64 * recipe.words, max_distance=score.max_distance).seconds
    return join + score.pairs * VERIFY_SECONDS


def recipe_score(
    name: str, recipe: Recipe, truth: Truth, found: DistanceHistogram, scores: tuple[DistanceScore, ...], target: float
) -> RecipeScore:
    """Find the smallest distance that reaches the target recall, and its cost."""
    usual = usual_distance(recipe)
    reaching = (score.max_distance for score in scores if (score.recall.value or 0.0) >= target)
    distance = next(reaching, None)
    false_per_true = seconds = None
    if distance is not None:
        true = int(found.true[:, : distance + 1].sum())
        if true and (truth.source == "sample" or truth.complete):
            false_per_true = (int(found.counts[:, : distance + 1].sum()) - true) / true
        seconds = join_seconds(recipe, found, scores[distance])
    return RecipeScore(
        name,
        recipe.bits,
        distance,
        scores[distance].recall if distance is not None else scores[-1].recall,
        false_per_true,
        seconds,
        usual,
        scores[usual].recall if usual is not None else UNKNOWN,
    )
