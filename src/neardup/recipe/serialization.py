"""Restore recipes that are stored with fingerprints, and refuse to mix fingerprints of different recipes."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from neardup.errors import RecipeMismatch
from neardup.recipe.differences import difference
from neardup.recipe.parts import NORMALIZER_PACKAGES, WEIGHT_PACKAGES
from neardup.recipe.recipe import Recipe, digest_of
from neardup.recipe.segmenters import PACKAGES
from neardup.recipe.stored_parts import stored, with_versions
from neardup.recipe.vectors import KIND, VectorRecipe, stored_vector_recipe
from neardup.recipe.word_lists import STOP_LISTS, stop_list

AnyRecipe = Recipe | VectorRecipe | Mapping[str, Any]
"""A recipe of texts or of vectors, or the result of its `as_dict`."""


def stored_recipe(values: Mapping[str, Any]) -> Recipe:
    """Restore a recipe from the result of `Recipe.as_dict`.

    A part that is not available is a `StoredPart`: a caller's function, the words of a file, or another version of a package. The
    recipe then has the same digest, but making fingerprints fails with a message that names the missing part.
    """
    known = {field.name for field in dataclasses.fields(Recipe)}
    return Recipe(**{name: _stored_value(name, value) for name, value in values.items() if name in known})


def any_stored_recipe(values: Mapping[str, Any]) -> Recipe | VectorRecipe:
    """Restore a recipe of texts or of vectors from the result of its `as_dict`; see `stored_recipe`."""
    return stored_vector_recipe(values) if values.get("kind") == KIND else stored_recipe(values)


def _stored_value(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_stored_value(name, each) for each in value]
    if not isinstance(value, dict):
        return value
    by_field: dict[str, Mapping[str, tuple[str, ...]]] = {
        "segmenter": PACKAGES,
        "normalize": NORMALIZER_PACKAGES,
        "weights": WEIGHT_PACKAGES,
    }
    packages = by_field.get(name, {})
    if with_versions(value.get("name", ""), packages.get(value.get("name", ""), ())) == value:
        return value["name"]
    if name == "stop_words":
        return next((each for each in map(stop_list, STOP_LISTS) if each.as_dict() == value), stored(value))
    return stored(value)


def check_same(mine: AnyRecipe, other: AnyRecipe, what: str, than: str = "which is asked for") -> None:
    """Refuse to mix fingerprints of two recipes.

    Args:
        mine, other: the recipes.
        what: the name in the message of what the other recipe made.
        than: the description of the first recipe in the message.

    Raises:
        RecipeMismatch: the recipes differ; the message has the differences.
    """
    values, others = _values(mine), _values(other)
    if values != others:
        raise RecipeMismatch(
            f"{what} was made by the recipe {digest_of(others)}, not by {digest_of(values)}, {than}: {difference(others, values)}. "
            "Distances between fingerprints of two recipes mean nothing. Make both with the same recipe."
        )


def _values(recipe: AnyRecipe) -> Mapping[str, Any]:
    known = recipe if isinstance(recipe, Mapping) else recipe.as_dict()
    found: dict[str, Any] = json.loads(json.dumps(known))  # tuples are lists in a file
    return found
