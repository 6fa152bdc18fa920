"""Recipes as fingerprints bring them along, and what two of them do not have in common."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from neardup.errors import RecipeMismatch
from neardup.recipe.parts import NORMALIZER_PACKAGES, WEIGHT_PACKAGES
from neardup.recipe.recipe import Recipe, digest_of
from neardup.recipe.segmenters import PACKAGES
from neardup.recipe.stored_parts import plain, stored, with_versions
from neardup.recipe.vectors import KIND, VectorRecipe, stored_vector_recipe
from neardup.recipe.word_lists import STOP_LISTS, stop_list

AnyRecipe = Recipe | VectorRecipe | Mapping[str, Any]
"""A recipe, of texts or of vectors, or what its `as_dict` gave."""


def stored_recipe(values: Mapping[str, Any]) -> Recipe:
    """The recipe of which `Recipe.as_dict` gave these values.

    What is not at hand, a caller's function, the words of a file or another version of a package, is a `StoredPart`: the recipe
    has the same digest, and says what is missing when it is to make fingerprints.
    """
    known = {field.name for field in dataclasses.fields(Recipe)}
    return Recipe(**{name: _stored_value(name, value) for name, value in values.items() if name in known})


def any_stored_recipe(values: Mapping[str, Any]) -> Recipe | VectorRecipe:
    """The recipe, of texts or of vectors, of which `as_dict` gave these values; see `stored_recipe`."""
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
        what: what the other one made.
        than: what is to be said of the first one.

    Raises:
        RecipeMismatch: with both recipes, as far as they differ.
    """
    values, others = _values(mine), _values(other)
    if values != others:
        raise RecipeMismatch(
            f"{what} was made by the recipe {digest_of(others)}, not by {digest_of(values)}, {than}: {difference(others, values)}. "
            "Distances between fingerprints of two recipes mean nothing. Make both with the same recipe."
        )


def difference(these: Mapping[str, Any], those: Mapping[str, Any]) -> str:
    """In what two recipes differ, given by what `as_dict` gives: `bits: 64 there, 128 here; …`."""
    kinds = [values.get("kind", "texts") for values in (these, those)]
    if kinds[0] != kinds[1]:
        return f"of {kinds[0]} there, of {kinds[1]} here"
    names = [name for name in {**these, **those} if _value(name, these) != _value(name, those)]
    return "; ".join(
        f"{name}: {_shown(_value(name, these))} there, {_shown(_value(name, those))} here" for name in names
    )


def _values(recipe: AnyRecipe) -> Mapping[str, Any]:
    known = recipe if isinstance(recipe, Mapping) else recipe.as_dict()
    found: dict[str, Any] = json.loads(json.dumps(known))  # tuples are lists in a file
    return found


def _value(name: str, values: Mapping[str, Any]) -> Any:
    """A field that is missing is as by default."""
    plainly = {field.name: plain(field.default) for field in dataclasses.fields(Recipe)}
    return values.get(name, plainly.get(name))


def _shown(value: Any) -> str:
    """A name as it is; what is more than a name as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
