"""RECOMMENDATION: which of the options that were tried to use, and why."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from neardup.display import as_code, counted
from neardup.judging.evaluation.result import Recommendation
from neardup.judging.evaluation.scoring.intervals import Share
from neardup.judging.evaluation.scoring.scores import USUAL, RecipeScore, Trial
from neardup.recipe.presets import RECIPES
from neardup.recipe.similarity import Similarity
from neardup.recipe.tables.methods import METHODS, Promise
from neardup.recipe.tables.similarities import SimilarityName


class Definition(NamedTuple):
    """A similarity and its threshold, as given, that say which pairs are near-duplicates.

    Attributes:
        similarity, min_similarity: the two.
        by_labels: whether labels state the similarity; if not, there are no labels.
    """

    similarity: Similarity | SimilarityName
    min_similarity: float
    by_labels: bool

    def has_threshold_of(self, trial: Trial) -> bool:
        """Whether a trial decides by this similarity at this threshold."""
        return trial.similarity == self.similarity and trial.min_similarity == self.min_similarity

    def is_met_by(self, trial: Trial) -> bool:
        """Whether a trial finds just these pairs, by theorem."""
        return METHODS[trial.method].promise is Promise.EXACT and self.has_threshold_of(trial)


UNKNOWN_PRECISION = (
    "No pair is known to be false, so precision is unknown, and the fewest pairs count as best. Label false pairs with 0, or give "
    "`complete=True` if the labels list every near-duplicate."
)
OF_SIMILARITIES = (
    "The labels state similarities, not judgements: `min_similarity` says which of these pairs are near-duplicates, and what "
    "is recommended finds the same pairs again. To learn where a threshold should be, let people judge pairs, and give the "
    "column label."
)

MOST_RUNS = 4
"""Trials that are run: each may take long."""
SAME_F1 = 3
"""F1 scores that are equal in so many decimals count as equal."""


def pick(
    trials: Sequence[Trial], *, target: float, min_precision: float, most_wins: bool = False
) -> tuple[Trial | None, bool]:
    """Choose among trials, and say whether the choice reaches the target recall with at least this precision.

    Of those that do, the highest F1 wins, then the fewest pairs, then the first. If none does, the highest F1 wins; where no pair
    is known to be false, the highest recall. None if none finds any near-duplicate. Where no pair is known to be false, every
    precision will do; with `most_wins`, recall then stands for F1.
    """
    known = [trial for trial in trials if trial.recall.value]
    reaching = [trial for trial in known if _is_precise(trial, min_precision) and _reaches(trial.recall, target)]
    if reaching:
        if most_wins and all(trial.f1.value is None for trial in reaching):
            return max(reaching, key=lambda trial: (_rounded(trial.recall), -trial.found)), True
        return max(reaching, key=lambda trial: (_rounded(trial.f1), -trial.found)), True
    return max(known, key=lambda trial: (_rounded(trial.f1), _unscored(trial), -trial.found), default=None), False


def recommend(
    trials: Sequence[Trial],
    recipes: Sequence[RecipeScore],
    *,
    target: float,
    min_precision: float,
    documents: int,
    definition: Definition | None = None,
    is_stated: bool = False,
    run: Callable[[Trial], tuple[Trial, int | None]],
) -> Recommendation:
    """Recommend one of the trials, with the figures of a run with just its options.

    Args:
        trials: what was tried.
        recipes: for the reasons.
        target, min_precision: as in `pick`.
        documents: the number of documents; options that remove most of them are withheld.
        definition: what defines near-duplicates, without labels and with such as state the similarity that is compared: then no
            threshold is recommended. None if the labels say what is near by themselves.
        is_stated: labels state a similarity, not a judgement.
        run: runs a trial, and returns it with the figures of the run and the number of documents removed. If they are worse
            than those that the trial was chosen for, others are looked at.
    """
    candidates, removed = list(trials), dict[Trial, int | None]()
    choose = partial(pick, target=target, min_precision=min_precision, most_wins=definition is not None)
    best, reaches = choose(candidates)
    while best is not None and best not in removed and len(removed) < MOST_RUNS:
        ran, number = run(best)
        candidates[candidates.index(best)], removed[ran] = ran, number
        best, reaches = choose(candidates)
    if best is not None and best not in removed:
        best, reaches = choose(list(removed))
    removes = None if best is None else removed[best]
    is_given = best is not None and definition is not None and definition.has_threshold_of(best)
    is_met = best is not None and definition is not None and definition.is_met_by(best)
    return Recommendation(
        reaches_target=reaches,
        best=best,
        removed=removes,
        threshold_is_given=is_given,
        by_definition=is_met,
        withheld=()
        if best is None
        else (
            *_mostly_unlabeled(best),
            *(
                ()
                if definition is None and not is_stated and _is_mostly_true(best)
                else _removes_most(removes, documents)
            ),
        ),
        reasons=(
            *(
                _by_definition(best)
                if best is not None and is_met
                else _reasons_for(best, reaches, trials, target, min_precision)
            ),
            *_reasons_for_recipes(recipes, target),
        ),
        notes=(
            *(_no_threshold(definition) if definition is not None and is_given else ()),
            *([OF_SIMILARITIES] if is_stated else ()),
            *([UNKNOWN_PRECISION] if best is not None and best.f1.value is None and not is_given else ()),
            *_doubts(best.recall if best is not None and reaches and not is_met else None, target),
        ),
    )


def _mostly_unlabeled(best: Trial) -> list[str]:
    if 2 * best.unlabeled <= best.found:
        return []
    return [
        f"Only {best.labeled}: precision and recall are those of the labeled pairs, and nothing is known of the others. Label "
        "more of the pairs that are found, or give `complete=True` if the labels list every near-duplicate."
    ]


def _is_mostly_true(best: Trial) -> bool:
    """Whether most of the pairs that are found are labeled as near-duplicates, so that people know how many documents go."""
    return 2 * (best.precision.value or 0.0) * (best.found - best.unlabeled) > best.found


def _removes_most(removed: int | None, documents: int) -> list[str]:
    if removed is None or 2 * removed <= documents:
        return []
    return [
        f"These options remove {removed:,} of {counted(documents, 'document')}. Look at some of the pairs that they find before "
        "you use them, or raise the threshold."
    ]


def options_text(trial: Trial, *, usual: bool = True) -> str:
    """The options of a trial, as code; without `usual`, only those that differ from the defaults that every trial names."""
    options = trial.options() | ({"similarity": str(trial.similarity)} if trial.similarity is not None else {})
    return as_code([f"{name}={value!r}" for name, value in options.items() if usual or USUAL.get(name) != value])


def precision_text(trial: Trial) -> str:
    """The precision, and how many of the pairs it is measured on where not all are judged."""
    return f"{trial.precision}" + (f" ({trial.labeled})" if trial.labeled else "")


def asked_for(target: float, min_precision: float) -> str:
    """The target, in words."""
    return f"recall {target:g} with a precision of {min_precision:g} or more"


def _reaches(recall: Share, target: float) -> bool:
    return (recall.value or 0.0) >= target


def _is_precise(trial: Trial, least: float) -> bool:
    return trial.precision.value is None or trial.precision.value >= least


def _unscored(trial: Trial) -> float:
    """The recall of a trial that has no F1."""
    return _rounded(trial.recall) if trial.f1.value is None else 0.0


def _rounded(share: Share) -> float:
    return round(share.value or 0.0, SAME_F1)


def _reasons_for(
    best: Trial | None, reaches: bool, trials: Sequence[Trial], target: float, min_precision: float
) -> list[str]:
    if best is None and all(trial.recall.value is None for trial in trials):
        return ["Nothing is recommended: no near-duplicate is known, or nothing could be tried."]
    is_unknown = best is not None and best.f1.value is None
    asked = f"recall {target:g}" if is_unknown else asked_for(target, min_precision)
    if best is None:
        return [f"Nothing that was tried reaches {asked}; nothing finds any near-duplicate."]
    if not reaches:
        return [f"Nothing that was tried reaches {asked}."]
    precision = "" if is_unknown else f" with precision {precision_text(best)}"
    return [f"{options_text(best)} finds {best.recall} of the near-duplicates{precision}; asked for is {asked}."]


def _by_definition(best: Trial) -> list[str]:
    return [
        f"`method={best.method!r}` finds every pair of this similarity, by theorem. These pairs are the near-duplicates here, so "
        "it is right by definition, and the others are measured by it."
    ]


def _no_threshold(definition: Definition) -> list[str]:
    """Why no threshold is recommended, and how one is found."""
    why = "the labels state the similarities that are compared" if definition.by_labels else "there are no labels"
    instead = "give them with the column label" if definition.by_labels else "give them as `pairs`"
    return [
        f"No threshold is recommended: {why}, so `min_similarity={definition.min_similarity!r}`, as it is given, says which pairs "
        f"are near-duplicates. To find one, judge pairs in the report of a run, and {instead}."
    ]


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
