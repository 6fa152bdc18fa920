"""The Hamming distance that a run uses: the one asked for, or the recipe's, or the method's."""

from neardup.errors import OptionError
from neardup.options import DedupOptions
from neardup.recipe.kinds import FingerprintRecipe
from neardup.recipe.presets import usual_distance
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import Similarity
from neardup.recipe.tables.methods import METHODS


def demand_similarity(recipe: FingerprintRecipe, options: DedupOptions) -> None:
    """Refuse a similarity that cannot compare texts under the recipe.

    Raises:
        OptionError: it does not go with the recipe, or a part of it is not available here.
    """
    if isinstance(options.similarity, Similarity) and isinstance(recipe, Recipe) and options.min_similarity > 0:
        options.similarity.check_recipe(recipe)
        options.similarity.check_available()


def distance_limit(recipe: FingerprintRecipe, options: DedupOptions, *, have_texts: bool = True) -> int | None:
    """Return the distance asked for, or the method's default: the recipe's, the sieve's, or None; see the method's row.

    Raises:
        OptionError: the recipe has no distance of its own, or has fewer bits than the distance; or the similarity of texts does not
            go with it.
    """
    demand_similarity(recipe, options)
    row, limit = METHODS[options.taken()], options.max_distance
    if limit is None and row.is_by_distance:
        limit = usual_distance(recipe)
        if limit is None:
            other = ", or another `method`" if have_texts else ""  # fingerprints alone have no other method
            raise OptionError(
                f"This recipe of {recipe.bits} bits has no distance of its own. Give `max_distance`{other}."
            )
    if limit is None:
        return None if row.sieve_share is None else int(row.sieve_share * recipe.bits)
    if limit > recipe.bits:
        raise OptionError(
            f"`max_distance={limit}`: the recipe has {recipe.bits} bits; give an integer from 0 to {recipe.bits}."
        )
    return limit
