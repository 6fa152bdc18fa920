"""Restore recipes that are stored with fingerprints, and refuse to mix fingerprints of different recipes."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from neardup.errors import InputError, RecipeMismatch
from neardup.recipe.differences import difference
from neardup.recipe.files.identities import stored_segmenter, stored_weights
from neardup.recipe.files.kept_files import KeptFile, files_of
from neardup.recipe.files.word_lists import STOP_LISTS, USER_DICTIONARIES, stop_list, user_dictionary
from neardup.recipe.kinds import EitherRecipe, ElementRecipe, FingerprintRecipe
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.programs import KIND as PROGRAM_KIND
from neardup.recipe.programs import ProgramRecipe
from neardup.recipe.recipe import Recipe
from neardup.recipe.stored_parts import of_other_versions, stored, with_versions
from neardup.recipe.tables.parts import (
    ELEMENTS,
    NORMALIZER_PACKAGES,
    NOT_DECIDING,
    OF,
    TEXTS,
    VERSION,
    VERSIONS,
    digest_of,
)
from neardup.recipe.vectors import KIND, VectorRecipe

AnyRecipe = FingerprintRecipe | Mapping[str, Any]
"""A recipe of any kind, or the result of its `as_dict`."""


def stored_recipe(values: Mapping[str, Any]) -> Recipe:
    """Restore a recipe from the result of `Recipe.stored` or `Recipe.as_dict`.

    A part that is not available is a `StoredPart`: a caller's function, a file that is gone or has changed, or another version of a
    package. The recipe then has the same digest, but making fingerprints fails with a message that names the missing part.

    Raises:
        DataError: what is stored of the recipe's files is damaged.
        RecipeMismatch: it is of a version that is not known here.
    """
    if values.get("version", VERSION) not in VERSIONS:
        raise RecipeMismatch(
            f"A recipe of version {values['version']} is recorded here, and this neardup has versions "
            f"{' and '.join(map(str, VERSIONS))}. Use the neardup that made it, or a newer one."
        )
    known, files = {field.name for field in dataclasses.fields(Recipe)}, files_of(values)
    made = _KINDS[values.get(OF)]
    found = made(**{name: _stored_value(name, value, files) for name, value in values.items() if name in known})
    return found if found.could_be_of_elements else Recipe(**vars(found))


_KINDS: dict[str | None, type[Recipe]] = {TEXTS: Recipe, ELEMENTS: ElementRecipe, None: EitherRecipe}


def recipe_of_run(values: Mapping[str, Any], given: RecipeLike | None, what: str) -> Recipe:
    """The recipe of a finished run: what is stored of it, or the same recipe from the caller, whose parts are all at hand.

    Args:
        values: the recipe in the run's summary.
        given: the recipe of the caller, or None.
        what: the name of the run in messages.

    Raises:
        RecipeMismatch: the caller's recipe is another, or this version of neardup makes another of the stored one.
        InputError: the run was about vectors, or about fingerprints of another program; or as in `recipe_of`.
        OptionError: as in `recipe_of`.
        DataError: as in `stored_recipe`.
    """
    if "kind" in values:
        raise InputError(
            f"This run compared fingerprints of {values['kind']}: it has no texts to read again. Its audit and its summary have "
            "all that is known of it."
        )
    written = {name: value for name, value in values.items() if name != "digest"}
    if given is not None:
        found = recipe_of(given)
        check_same(found, written, what, "which was given")
        return found
    found = stored_recipe(values)
    check_same(found, written, what, "as this version of neardup makes it")
    return found


def any_stored_recipe(values: Mapping[str, Any], max_distance: int | None = None) -> FingerprintRecipe:
    """Restore a recipe of any kind from the result of its `stored` or `as_dict`, with a default distance; see `stored_recipe`."""
    made = _PLAIN_KINDS.get(values.get("kind"))
    if made is None:
        return stored_recipe({**values, "max_distance": max_distance})
    fields = {field.name: values[field.name] for field in dataclasses.fields(made) if field.name != "max_distance"}
    return made(**fields, max_distance=max_distance)


_PLAIN_KINDS: dict[str | None, type[VectorRecipe | ProgramRecipe]] = {KIND: VectorRecipe, PROGRAM_KIND: ProgramRecipe}


def _stored_value(name: str, value: Any, files: Mapping[tuple[str, str], KeptFile]) -> Any:
    if isinstance(value, list):
        return [_stored_value(name, each, files) for each in value]
    if not isinstance(value, dict):
        return value
    if name == "segmenter":
        return stored_segmenter(value)
    if name == "weights":
        return stored_weights(value)
    packages = NORMALIZER_PACKAGES.get(value.get("name", ""), ()) if name == "normalize" else ()
    if with_versions(value.get("name", ""), packages) == value:
        return value["name"]
    if packages:
        return stored(value, of_other_versions(value, packages))
    for kind, digest in value.items():
        if (kind, digest) in files:
            return files[kind, digest].part()
    named = {"stop_words": map(stop_list, STOP_LISTS), "dictionary": map(user_dictionary, USER_DICTIONARIES)}
    if name in named:
        return next((each for each in named[name] if each.as_dict() == value), stored(value))
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
    here, there = _documents(mine), _documents(other)
    if values == others and here is not None and there is not None and here != there:
        raise RecipeMismatch(
            f"{what} was made of {_NAMED[there]}, the other of {_NAMED[here]}: their features differ, and distances between them "
            "mean nothing. Make both of the same kind."
        )
    if values != others:
        raise RecipeMismatch(
            f"{what} was made by the recipe {digest_of(others)}, not by {digest_of(values)}, {than}: {difference(others, values)}. "
            "Distances between fingerprints of two recipes mean nothing. Make both with the same recipe."
        )


_NAMED = {TEXTS: "texts", ELEMENTS: "given lists (`elements`)"}


def _documents(recipe: AnyRecipe) -> str | None:
    """What a recipe is of; None where this is not recorded, or does not matter."""
    if isinstance(recipe, Mapping):
        found: str | None = recipe.get(OF)
        return found
    return recipe.documents if isinstance(recipe, Recipe) and recipe.could_be_of_elements else None


def _values(recipe: AnyRecipe) -> Mapping[str, Any]:
    known = recipe if isinstance(recipe, Mapping) else recipe.as_dict()
    known = {name: value for name, value in known.items() if name not in NOT_DECIDING}
    found: dict[str, Any] = json.loads(json.dumps(known))  # tuples are lists in a file
    return found
