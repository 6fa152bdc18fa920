"""The options of a search for leaks: which documents are near-duplicates, and when a passage is one of a test document."""

from collections.abc import Mapping
from typing import Any

from neardup.errors import OptionError
from neardup.matching.contamination.options import DecontaminationOptions
from neardup.options import DedupOptions
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import SimilarityLike
from neardup.resources.resources import ResourceOptions

PASSAGES = ("min_share", "min_run", "min_tokens")


class LeakOptions(ResourceOptions, total=False):
    """The options of `leaks` that say what counts as a leak, and its resources."""

    min_similarity: float
    similarity: SimilarityLike
    min_share: float
    min_run: int
    min_tokens: int


def options_of_leaks(
    given: Mapping[str, Any], recipe: RecipeLike | None
) -> tuple[DedupOptions, DecontaminationOptions, Recipe]:
    """The options of both searches, and the recipe: passages are compared by the tokens of its version.

    Raises:
        OptionError: a value is not allowed.
    """
    if given.get("min_similarity") == 0:
        raise OptionError(
            f"`min_similarity={given['min_similarity']!r}`: every test document would match. Give a number above 0, up to 1."
        )
    shared = {name: given[name] for name in ("threads", "temp_dir", "temp_limit") if name in given}
    near = DedupOptions(method="exact", **{name: value for name, value in given.items() if name not in PASSAGES})
    made_by = recipe_of(recipe, near.version)
    tokens = Recipe(version=made_by.version)
    passages = {name: given[name] for name in PASSAGES if name in given}
    return near, DecontaminationOptions(recipe=tokens, **shared, **passages), made_by
