"""RECIPES: the distance each one needs for the target recall, and the cost of the join at that distance."""

from neardup.hamming.block_plan import plan_join
from neardup.judging.evaluation.curves import DistanceHistogram, distance_histogram, distance_scores
from neardup.judging.evaluation.intervals import UNKNOWN
from neardup.judging.evaluation.result import DistanceScore, RecipeScore
from neardup.judging.evaluation.sampled_corpus import SampledCorpus
from neardup.judging.evaluation.truth import Truth
from neardup.recipe.presets import RECIPES, usual_distance
from neardup.recipe.recipe import Recipe

VERIFY_SECONDS = 3e-6
"""Time to verify a candidate with about 500 shingles per text, on one thread."""

UNNAMED = "the given recipe"


def recipe_scores(
    corpus: SampledCorpus, truth: Truth, own: DistanceHistogram, scores: tuple[DistanceScore, ...], target: float
) -> tuple[RecipeScore, ...]:
    """Score the corpus' own recipe, which comes first, and every named recipe that is not a profile of another tool.

    Args:
        corpus: its texts are read once for each further recipe.
        truth: the pairs that recall is measured on.
        own, scores: distances by the corpus' own recipe.
        target: recall to reach, above 0 and up to 1.
    """
    name_of_own, others = UNNAMED, []
    for name, named in RECIPES.items():
        if named.recipe.digest() == corpus.recipe.digest():
            name_of_own = name
        elif not named.recipe.is_of_other_tool:
            others.append(_other_score(name, named.recipe, corpus, truth, target))
    return (recipe_score(name_of_own, corpus.recipe, truth, own, scores, target), *others)


def _other_score(name: str, recipe: Recipe, corpus: SampledCorpus, truth: Truth, target: float) -> RecipeScore:
    """Score one recipe in a function of its own, which frees its fingerprints before the next recipe's are made."""
    found = distance_histogram(truth, corpus.by_recipe(recipe))
    return recipe_score(name, recipe, truth, found, distance_scores(truth, found, recipe.bits), target)


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
        join = plan_join(len(found.rows), bits=64 * recipe.words, max_distance=distance).seconds
        seconds = join + scores[distance].pairs * VERIFY_SECONDS
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
