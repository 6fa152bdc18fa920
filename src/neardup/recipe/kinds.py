"""The kinds of recipes that a fingerprint file or an index can have."""

from typing import ClassVar

from neardup.recipe.programs import ProgramRecipe
from neardup.recipe.recipe import Recipe
from neardup.recipe.tables.parts import ELEMENTS
from neardup.recipe.vectors import VectorRecipe

FingerprintRecipe = Recipe | VectorRecipe | ProgramRecipe
"""What made some fingerprints: a recipe of texts or of vectors, or another program."""


class ElementRecipe(Recipe):
    """A recipe whose features are the elements of given sets and lists; `recipe_of_elements` makes it."""

    documents: ClassVar[str | None] = ELEMENTS


class EitherRecipe(Recipe):
    """A stored recipe of an earlier version, which did not record whether it was of texts or of elements."""

    documents: ClassVar[str | None] = None


def short_document(recipe: FingerprintRecipe) -> str:
    """What a document of fewer tokens than `min_tokens` is called."""
    if isinstance(recipe, VectorRecipe):
        return "zero vector"
    return "short list" if isinstance(recipe, ElementRecipe) else "short text"


def few_tokens(needed: int) -> str:
    """What a text has that has fewer tokens than are needed."""
    return "no features" if needed <= 1 else f"fewer than {needed:,} tokens"
