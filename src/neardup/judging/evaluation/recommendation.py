"""RECOMMENDATION: which options reach a target recall, and why."""

from collections.abc import Sequence

from neardup.display import counted
from neardup.judging.evaluation.intervals import Share
from neardup.judging.evaluation.result import MethodScore, RecipeScore, Recommendation, ThresholdScore

SAME_SECONDS, SAME_RATIO = 1.0, 1.25
"""Recipes whose times differ by no more count as equally fast; the first of them is recommended."""


def recommend(
    methods: Sequence[MethodScore],
    recipes: Sequence[RecipeScore],
    thresholds: Sequence[ThresholdScore],
    *,
    min_similarity: float,
    target: float,
) -> Recommendation:
    """Recommend a method, recipe, distance and similarity.

    Among methods that reach the target, the highest F1 wins, then the highest recall, then the first listed. Among recipes that
    reach it at any distance, the first whose time is close to the fastest. Among similarities that reach it, the highest.
    """
    method, recipe = _best_method(methods, target), _fastest_recipe(recipes)
    threshold = next((score for score in reversed(thresholds) if _reaches(score.recall, target)), None)
    similarity = None if thresholds or method is None else min_similarity
    if threshold is not None:
        similarity = threshold.min_similarity
    shown = method.recall if method else recipe.recall if recipe else None
    return Recommendation(
        method=method.method if method else None,
        recipe=recipe.recipe if recipe else None,
        bits=recipe.bits if recipe else None,
        max_distance=recipe.max_distance if recipe else None,
        min_similarity=similarity,
        reasons=(
            *_reasons_for_method(method, methods, min_similarity, target),
            *_reasons_for_recipe(recipe, recipes, target),
            *_reasons_for_threshold(threshold),
            *_doubts(shown, target),
        ),
    )


def _reaches(recall: Share, target: float) -> bool:
    return (recall.value or 0.0) >= target


def _best_method(methods: Sequence[MethodScore], target: float) -> MethodScore | None:
    reaching = [score for score in methods if _reaches(score.recall, target)]
    return max(reaching, key=lambda score: (score.f1.value or 0.0, score.recall.value or 0.0), default=None)


def _fastest_recipe(recipes: Sequence[RecipeScore]) -> RecipeScore | None:
    usable = [score for score in recipes if score.max_distance is not None]
    least = min((score.seconds or 0.0 for score in usable), default=0.0)
    limit = max(least + SAME_SECONDS, least * SAME_RATIO)
    return next((score for score in usable if (score.seconds or 0.0) <= limit), None)


def _reasons_for_method(
    best: MethodScore | None, methods: Sequence[MethodScore], min_similarity: float, target: float
) -> list[str]:
    if best is not None:
        return [f"--method {best.method} finds {best.recall} of the near-duplicates; asked for is {target:g}."]
    if not methods:
        return []
    most = max(methods, key=lambda score: score.recall.value or 0.0)
    return [f"No method reaches {target:g} at --min-similarity {min_similarity:g}: {most.method} finds {most.recall}."]


def _reasons_for_recipe(best: RecipeScore | None, recipes: Sequence[RecipeScore], target: float) -> list[str]:
    """Say why the recipe was chosen and what the others would do: those that reach the target first, then the rest."""
    reasons = []
    if best is not None:
        reasons.append(f"By fingerprints: --recipe {best.recipe} --max-distance {best.max_distance} {_costs(best)}.")
    reasons += [
        f"{other.recipe} {_costs(other, other.max_distance)}."
        for other in recipes
        if other.max_distance is not None and other is not best
    ]
    reasons += [
        f"{score.recipe} reaches {target:g} at no distance: it finds {score.recall}, for short texts have equal ones only."
        for score in recipes
        if score.max_distance is None and score.recall.value is not None
    ]
    return reasons


def _reasons_for_threshold(highest: ThresholdScore | None) -> list[str]:
    if highest is None:
        return []
    precision = ""
    if highest.precision.value is not None:
        precision = f", with precision {highest.precision} among the labeled pairs"
    return [
        f"--min-similarity {highest.min_similarity:g} is the highest that {highest.recall} of the near-duplicates have"
        f"{precision}."
    ]


def _doubts(shown: Share | None, target: float) -> list[str]:
    """Warn if there are so few pairs that the target may have been reached by chance."""
    if shown is None or shown.low is None or shown.low >= target:
        return []
    return [
        f"{counted(shown.of, 'near-duplicate')} cannot show a recall of {target:g} with certainty: the interval begins at "
        f"{shown.low:.3f}. More labels or a larger --sample narrow it."
    ]


def _costs(score: RecipeScore, distance: int | None = None) -> str:
    at = "" if distance is None else f" at distance {distance}"
    false = (
        "" if score.false_per_true is None else f" with {score.false_per_true:,.1f} false candidates for each true one"
    )
    seconds = score.seconds or 0.0
    time = (
        "under a second"
        if seconds < 1
        else f"about {seconds:,.0f} s"
        if seconds < 120
        else f"about {seconds / 60:,.0f} min"
    )
    return f"finds {score.recall}{at}{false}, in {time} by estimate"
