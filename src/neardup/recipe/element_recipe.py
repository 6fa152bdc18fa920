"""Recipes of given sets and lists, which are told from recipes of texts with the same fields.

The fields of both may be equal, and so their digests, but not their features: an element is written as a token with its type, which
no text has by chance. So what a recipe is of is stored beside its fields, and files of texts and of lists are never mixed.
"""

from typing import ClassVar

from neardup.recipe.recipe import Recipe
from neardup.recipe.tables.parts import ELEMENTS


class ElementRecipe(Recipe):
    """A recipe whose features are the elements of given sets and lists; `recipe_of_elements` makes it."""

    documents: ClassVar[str | None] = ELEMENTS


class EitherRecipe(Recipe):
    """A stored recipe of an earlier version, which did not record whether it was of texts or of elements."""

    documents: ClassVar[str | None] = None
