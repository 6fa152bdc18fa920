"""RESOLVED OPTIONS: what a recipe and the options of a run mean together; resolved once, before any work.

A recipe that brings a distance is a decision for its fingerprints, unless it is the default recipe with the default distance:
`auto` then means simhash within this distance. Any other recipe decides what the similarity compares, and what it does not decide
is named.
"""

import dataclasses
from dataclasses import dataclass

from neardup.display import as_code, threshold_text
from neardup.errors import OptionError
from neardup.matching.candidates.task import min_tokens_of
from neardup.matching.distance_limit import distance_limit
from neardup.options import DedupOptions
from neardup.recipe.given_elements import recipe_of_elements, similarity_of_elements
from neardup.recipe.kinds import ElementRecipe
from neardup.recipe.presets import RECIPES, usual_distance
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import Similarity
from neardup.recipe.tables.methods import BY_DISTANCE, METHODS, MethodRow, Promise
from neardup.recipe.tables.similarities import SIMILARITIES

_NOT_COMPARED = ("hash", "bits", "min_tokens", "profile", "profile_window")
"""The fields that say nothing about the features of a text or their weights."""
_COMPARED = ("normalize", "version")
"""The fields that say what every similarity compares."""
_DEFAULTS = ("default", "all-scripts", "unmarked")
"""The named recipes that decide what is compared, and leave it open how candidates are found."""


@dataclass(frozen=True, slots=True)
class ResolvedOptions:
    """The options of a run over texts, after the recipe's.

    Attributes:
        recipe: the recipe of the run.
        options: those given, but with `method="simhash"` if the choice is open and the recipe brings a distance.
        max_distance: the Hamming distance that the run uses: that given, of the recipe, or of the method's sieve; None for none.
        note: one sentence on what the recipe decides, and what of it decides nothing; see `what_recipe_decides`.
    """

    recipe: Recipe
    options: DedupOptions
    max_distance: int | None
    note: str | None

    @property
    def method(self) -> MethodRow:
        """The method, if it was given or the recipe brings it; else `auto`, which looks at the texts."""
        return METHODS[self.options.taken()]

    @property
    def min_tokens(self) -> int:
        """The fewest tokens of a document that the method takes."""
        return min_tokens_of(self.options.taken(), self.recipe, self.options)


def resolve(recipe: Recipe, options: DedupOptions) -> ResolvedOptions:
    """What the options mean with this recipe.

    Raises:
        OptionError: they do not go together: no distance is known where one is needed, or the similarity cannot compare texts so.
    """
    demand_digits(recipe, options)
    resolved = options.changed(method=BY_DISTANCE) if _brings_method(recipe, options) else options
    return ResolvedOptions(recipe, resolved, distance_limit(recipe, resolved), what_recipe_decides(recipe, options))


def demand_digits(recipe: Recipe, options: DedupOptions) -> None:
    """Refuse (OptionError) a guard for what has no digits that it could compare."""
    if options.guard is None:
        return
    if isinstance(recipe, ElementRecipe) or _are_elements(options):
        raise OptionError(
            f"`guard={options.guard!r}` compares the digits of texts, and these are given elements. Leave it out."
        )
    if "digits" in recipe.normalize:
        raise OptionError(
            f"`guard={options.guard!r}`: the recipe makes each digit a 0 (`normalize`), so numbers are not known. Leave out the "
            "guard, or the step `digits`."
        )


def _brings_method(recipe: Recipe, options: DedupOptions) -> bool:
    is_open = METHODS[options.taken()].promise is Promise.CHOSEN
    return is_open and not _is_default(recipe) and usual_distance(recipe) is not None


def _is_default(recipe: Recipe) -> bool:
    """Whether it is a default recipe, for texts or for given elements; another distance, which no digest has, is a decision."""
    known = [RECIPES[name].recipe.digest() for name in _DEFAULTS]
    of_bits = recipe.digest() in (*known, recipe_of_elements(Recipe()).digest())
    return of_bits and recipe.max_distance in (None, usual_distance(Recipe()))


def what_recipe_decides(recipe: Recipe, options: DedupOptions) -> str | None:
    """One sentence for the screen and the summary; None for the default recipe, and if nothing of the recipe is ignored.

    `options`: as given.
    """
    if _is_default(recipe):
        return None
    if _brings_method(recipe, options):
        return (
            f"the recipe brings the distance {usual_distance(recipe)}, so its fingerprints choose the candidates "
            f"(`method={BY_DISTANCE!r}`), and {options.compared_by} of at least "
            f"{threshold_text(options.min_similarity)} decides; with `min_similarity=0`, the distance alone does"
        )
    if METHODS[options.taken()].is_by_distance:
        return None
    ignored = _ignored(recipe, options)
    if not ignored:
        return None
    what = "elements" if _are_elements(options) else "texts"
    verb = "decides" if len(ignored) == 1 else "decide"
    is_sieved = METHODS[options.taken()].promise is not Promise.EXACT and ignored != ["max_distance"]
    sieve = ", except in the sieve of minhash" if is_sieved else ""
    needed = "" if usual_distance(recipe) is not None else " and a `max_distance`"
    return (
        f"the recipe's {as_code(ignored)} {verb} nothing here{sieve}: {what} are compared by {options.compared_by}. To choose "
        f"candidates by the recipe's fingerprints, give `method={BY_DISTANCE!r}`{needed}"
    )


def _are_elements(options: DedupOptions) -> bool:
    """Whether the similarity is that of given sets and lists, which have a recipe of their own."""
    compared = options.compared_by
    return isinstance(compared, Similarity) and compared == similarity_of_elements(compared.measure)


def _ignored(recipe: Recipe, options: DedupOptions) -> list[str]:
    """The fields of the recipe that differ from the default recipe's, and that the similarity does not use.

    If there is no other, this is the distance: with others, nobody expects that it decides.
    """
    of_recipe = SIMILARITIES[options.measure].shingles is None
    usual = recipe_of_elements(Recipe()) if _are_elements(options) else Recipe()
    fields = [each.name for each in dataclasses.fields(recipe) if each.name not in (*_COMPARED, "max_distance")]
    changed = [name for name in fields if getattr(recipe, name) != getattr(usual, name)]
    ignored = [name for name in changed if not of_recipe or name in _NOT_COMPARED]
    return ignored or [name for name in ("max_distance",) if getattr(recipe, name) is not None]
