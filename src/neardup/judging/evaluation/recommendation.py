"""RECOMMENDATION: which of the options that were tried to use, and why."""

from collections.abc import Callable, Sequence

from neardup.display import as_code, counted
from neardup.judging.evaluation.intervals import Share
from neardup.judging.evaluation.result import RecipeScore, Recommendation, Trial
from neardup.recipe.presets import RECIPES

SAME_F1 = 3
"""F1 scores that are equal in so many decimals count as equal."""


def pick(trials: Sequence[Trial], *, target: float, min_precision: float) -> tuple[Trial | None, bool]:
    """Choose among trials, and say whether the choice reaches the target recall with at least this precision.

    Of those that do, the highest F1 wins, then the fewest pairs, then the first. If none does, that with the highest recall among
    those that keep the precision, then the highest F1; None if none finds any near-duplicate. Where no pair is known to be
    false, every precision will do.
    """
    known = [trial for trial in trials if trial.recall.value]
    precise = [trial for trial in known if _is_precise(trial, min_precision)]
    reaching = [trial for trial in precise if _reaches(trial.recall, target)]
    if reaching:
        return max(reaching, key=lambda trial: (_rounded(trial.f1), -trial.found)), True
    if precise:
        return max(precise, key=lambda trial: (trial.recall.value or 0.0, _rounded(trial.f1), -trial.found)), False
    return max(known, key=lambda trial: (_rounded(trial.f1), -trial.found), default=None), False


def recommend(
    trials: Sequence[Trial],
    recipes: Sequence[RecipeScore],
    *,
    target: float,
    min_precision: float,
    by_labels: bool,
    run: Callable[[Trial], tuple[Trial, int | None]],
) -> Recommendation:
    """Recommend one of the trials, with the figures of a run with just its options.

    Args:
        trials: what was tried.
        recipes: for the reasons.
        target, min_precision: as in `pick`.
        by_labels: labels say which pairs are near-duplicates; if not, the threshold that was given does, and none is recommended.
        run: runs a trial, and returns it with the figures of the run and the number of documents removed. If they are worse
            than those that the trial was chosen for, others are looked at.
    """
    candidates, removed = list(trials), dict[Trial, int | None]()
    best, reaches = pick(candidates, target=target, min_precision=min_precision)
    while best is not None and best not in removed:
        ran, number = run(best)
        candidates[candidates.index(best)], removed[ran] = ran, number
        best, reaches = pick(candidates, target=target, min_precision=min_precision)
    is_given = best is not None and not by_labels and best.min_similarity > 0
    return Recommendation(
        reaches_target=reaches,
        best=best,
        removed=removed[best] if best is not None else None,
        threshold_is_given=is_given,
        reasons=(
            *_reasons_for(best, reaches, trials, target, min_precision, is_given=is_given),
            *_reasons_for_recipes(recipes, target),
            *_doubts(best.recall if best is not None and reaches else None, target),
        ),
    )


def named(trial: Trial) -> str:
    """The options of a trial, as code."""
    return as_code([f"{name}={value!r}" for name, value in trial.options().items()])


def figures(trial: Trial) -> str:
    """What a trial finds, in words."""
    precision = "" if trial.precision.value is None else f", precision {trial.precision}, F1 {trial.f1}"
    return f"{counted(trial.found, 'pair')} found, recall {trial.recall}{precision}"


def asked_for(target: float, min_precision: float) -> str:
    """The target, in words."""
    return f"recall {target:g} with a precision of {min_precision:g} or more"


def _reaches(recall: Share, target: float) -> bool:
    return (recall.value or 0.0) >= target


def _is_precise(trial: Trial, least: float) -> bool:
    return trial.precision.value is None or trial.precision.value >= least


def _rounded(share: Share) -> float:
    return round(share.value or 0.0, SAME_F1)


def _reasons_for(
    best: Trial | None,
    reaches: bool,
    trials: Sequence[Trial],
    target: float,
    min_precision: float,
    *,
    is_given: bool,
) -> list[str]:
    if best is None and all(trial.recall.value is None for trial in trials):
        return ["Nothing is recommended: no near-duplicate is known, or nothing could be tried."]
    is_unknown = best is not None and best.f1.value is None
    asked = f"recall {target:g}" if is_unknown else asked_for(target, min_precision)
    if best is None:
        return [f"Nothing that was tried reaches {asked}; nothing finds any near-duplicate."]
    reasons = [f"Nothing that was tried reaches {asked}."]
    if reaches:
        precision = "" if is_unknown else f" with precision {best.precision}"
        reasons = [f"{named(best)} finds {best.recall} of the near-duplicates{precision}; asked for is {asked}."]
    if is_given and best is not None:
        reasons.append(
            f"No threshold is recommended: without labels, `min_similarity={best.min_similarity!r}` says which pairs are "
            "near-duplicates. What other thresholds remove is above. To find one, judge pairs in the report of a run, and give the "
            "labels as `pairs`."
        )
    if is_unknown:
        reasons.append(
            "No pair is known to be false, so precision is unknown, and the fewest pairs count as best. "
            "Label false pairs with 0, or give `complete=True` if the labels list every near-duplicate."
        )
    return reasons


def _reasons_for_recipes(recipes: Sequence[RecipeScore], target: float) -> list[str]:
    """Say what fingerprints alone do: first the recipes that reach the target, then the rest."""
    reaching = [score for score in recipes if score.max_distance is not None]
    reasons = [
        f"By fingerprints alone: {recipe_of(score)} with `max_distance={score.max_distance}` {_costs(score)}."
        for score in reaching
    ]
    return reasons + [
        f"{score.recipe} reaches {target:g} at no distance: it finds {score.recall}, for short texts have equal ones only."
        for score in recipes
        if score.max_distance is None and score.recall.value is not None
    ]


def recipe_of(score: RecipeScore) -> str:
    """The recipe as code if it has a name."""
    return f"`recipe={score.recipe!r}`" if score.recipe in RECIPES else score.recipe


def _doubts(shown: Share | None, target: float) -> list[str]:
    """Warn if there are so few pairs that the target may have been reached by chance."""
    if shown is None or shown.low is None or shown.low >= target:
        return []
    return [
        f"{counted(shown.of, 'near-duplicate')} cannot show a recall of {target:g} with certainty: the interval begins at "
        f"{shown.low:.3f}. More labels or a larger `sample` narrow it."
    ]


def _costs(score: RecipeScore) -> str:
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
    return f"finds {score.recall}{false}, in {time} by estimate"
