"""RECOMMENDATION: what to call with for a recall, why, and what fingerprints are no good for."""

from collections.abc import Sequence

from neardup.display import counted
from neardup.judging.evaluation.intervals import Share
from neardup.judging.evaluation.result import MethodScore, RecipeScore, Recommendation, ThresholdScore
from neardup.recipe.methods import MEASURED, METHODS

FEW_TOKENS = 50
"""Of texts with fewer tokens the distances spread: a word changed changes many of the bits."""
SAME_SECONDS, SAME_RATIO = 1.0, 1.25
"""Recipes that differ by no more are equally fast: the first of them is taken."""
MANY_FEW = 0.05
"""Such a share of documents with few tokens is worth a warning."""


def others_than_fingerprints(methods: Sequence[str] = MEASURED) -> str:
    """What to use instead of distances, as the words of a command."""
    return " or ".join(f"--method {name}" for name in methods if not METHODS[name].is_by_distance)


def recommend(
    methods: Sequence[MethodScore],
    recipes: Sequence[RecipeScore],
    thresholds: Sequence[ThresholdScore],
    *,
    min_similarity: float,
    target: float,
) -> Recommendation:
    """The method, recipe, distance and similarity to use.

    Of the methods that reach the target the one of highest F1, then of highest recall, then the first. Of the recipes that do, at
    whatever distance, the first that is about as fast as the fastest.
    """
    reasons = []
    reaching = [score for score in methods if (score.recall.value or 0.0) >= target]
    method = max(reaching, key=lambda score: (score.f1.value or 0.0, score.recall.value or 0.0), default=None)
    if method is not None:
        reasons.append(
            f"--method {method.method} finds {method.recall} of the near-duplicates; asked for is {target:g}."
        )
    elif methods:
        best = max(methods, key=lambda score: score.recall.value or 0.0)
        reasons.append(
            f"No method reaches {target:g} at --min-similarity {min_similarity:g}: {best.method} finds {best.recall}."
        )

    usable = [score for score in recipes if score.max_distance is not None]
    least = min((score.seconds or 0.0 for score in usable), default=0.0)
    fast = max(least + SAME_SECONDS, least * SAME_RATIO)
    recipe = next((score for score in usable if (score.seconds or 0.0) <= fast), None)
    if recipe is not None:
        reasons.append(
            f"By fingerprints: --recipe {recipe.recipe} --max-distance {recipe.max_distance} {_costs(recipe)}."
        )
        reasons += [f"{other.recipe} {_costs(other, other.max_distance)}." for other in usable if other is not recipe]
    reasons += [
        f"{score.recipe} reaches {target:g} at no distance: it finds {score.recall}, for short texts have equal ones only."
        for score in recipes
        if score.max_distance is None and score.recall.value is not None
    ]

    similarity = None if thresholds or method is None else min_similarity
    reaching_thresholds = [score for score in thresholds if (score.recall.value or 0.0) >= target]
    if reaching_thresholds:
        highest = reaching_thresholds[-1]
        similarity = highest.min_similarity
        precision = (
            "" if highest.precision.value is None else f", with precision {highest.precision} among the labeled pairs"
        )
        reasons.append(
            f"--min-similarity {similarity:g} is the highest that {highest.recall} of the near-duplicates have{precision}."
        )
    shown = method.recall if method else recipe.recall if recipe else None
    if shown is not None and shown.low is not None and shown.low < target:
        reasons.append(
            f"{counted(shown.of, 'near-duplicate')} cannot show a recall of {target:g} with certainty: the interval begins at "
            f"{shown.low:.3f}. More labels or a larger --sample narrow it."
        )
    return Recommendation(
        method.method if method else None,
        recipe.recipe if recipe else None,
        recipe.bits if recipe else None,
        recipe.max_distance if recipe else None,
        similarity,
        tuple(reasons),
    )


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


def warnings(
    documents: int,
    short: int,
    few: int,
    *,
    min_tokens: int,
    max_distance: int,
    recall_of_few: Share,
    recall_of_others: Share,
) -> tuple[str, ...]:
    """Where texts are too short for fingerprints, and what works."""
    found = []
    others = others_than_fingerprints()
    if short:
        instead = f" {others} finds their near copies." if others else ""
        found.append(
            f"{counted(short, 'document')} of {documents:,} ({short / documents:.1%}) "
            f"{'has' if short == 1 else 'have'} fewer than {min_tokens} tokens: "
            f"by fingerprint they match only where their texts are equal.{instead}"
        )
    worse = (
        recall_of_few.high is not None
        and recall_of_others.low is not None
        and recall_of_few.high < recall_of_others.low
    )
    if few > MANY_FEW * documents or worse:
        measured = "of the near-duplicates with such a text none is known"
        if recall_of_few.value is not None:
            measured = f"within distance {max_distance} are {recall_of_few} of the near-duplicates with such a text"
            if recall_of_others.value is not None:
                measured += f", {recall_of_others} of the others"
        instead = others or "a larger --max-distance with --min-similarity"
        found.append(
            f"{counted(few, 'document')} of {documents:,} ({few / documents:.1%}) "
            f"{'has' if few == 1 else 'have'} fewer than {FEW_TOKENS} tokens, where distances spread: {measured}. "
            f"What works there is {instead}, by the similarity of the texts; for the shortest also smaller shingles "
            "(word_shingle and cjk_shingle in a recipe file)."
        )
    return tuple(found)
