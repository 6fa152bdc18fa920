"""Recipes by name, and recipes in files."""

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from neardup.display import as_code
from neardup.errors import OptionError
from neardup.recipe.files.document_frequencies import BACKGROUND
from neardup.recipe.files.toml_file import toml_values
from neardup.recipe.files.word_lists import STOP_LISTS, USER_DICTIONARIES, DictionaryName
from neardup.recipe.kinds import FingerprintRecipe
from neardup.recipe.programs import ProgramRecipe
from neardup.recipe.recipe import ImpossibleRecipe, Recipe
from neardup.recipe.tables.parts import BY_LENGTH, VERSION, HashName
from neardup.recipe.tables.profiles import DISTANCES, PROFILES, ProfileName
from neardup.recipe.tables.spellings import meant
from neardup.recipe.vectors import VectorRecipe

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Made = TypeVar("Made", bound="DataclassInstance")


@dataclass(frozen=True)
class NamedRecipe:
    """A recipe with its purpose."""

    recipe: Recipe
    purpose: str


RecipeName = Literal[
    "default",
    "default-64",
    "all-scripts",
    "all-scripts-64",
    "unmarked",
    "textbook",
    "cppjieba",
    "fnv1a",
    "go-fnv1a",
    ProfileName,
]
RecipeLike = Recipe | NamedRecipe | RecipeName | str | os.PathLike[str]
"""The allowed values of `recipe`: a recipe, an entry of RECIPES or its name, or the path of a .toml file; see `recipe_of`.

The names are listed for editors: they complete them, although any string may be a path.
"""


def _of_keywords(hash_of_features: HashName, dictionary: DictionaryName | None, purpose: str) -> NamedRecipe:
    recipe = Recipe(
        normalize=(),
        segmenter="cppjieba",
        dictionary=dictionary,
        weights="cppjieba",
        keywords=BY_LENGTH,
        hash=hash_of_features,
        bits=64,
        min_tokens=1,
        max_distance=3,
    )
    return NamedRecipe(recipe, purpose)


RECIPES: dict[RecipeName | str, NamedRecipe] = {
    "default": NamedRecipe(
        Recipe(max_distance=18),
        "words and pairs of Han or Kana characters, logarithmic weights, 128 bits: texts in any language",
    ),
    "default-64": NamedRecipe(
        Recipe(bits=64, max_distance=10),
        "the same in 64 bits, for stores and tools limited to 64: more false candidates",
    ),
    "all-scripts": NamedRecipe(
        Recipe(version=2, max_distance=18),
        "as default, and for Thai, Khmer, Lao, Burmese and other scripts without spaces, and for emoji: version 2",
    ),
    "all-scripts-64": NamedRecipe(Recipe(version=2, bits=64, max_distance=10), "the same in 64 bits"),
    "unmarked": NamedRecipe(
        Recipe(version=2, normalize=("marks", "letters", "nfkc_casefold"), max_distance=18),
        "as all-scripts, without accents, Arabic vowel signs and Hebrew points; variants of a letter are one letter",
    ),
    "textbook": NamedRecipe(
        Recipe(word_shingle=3, cjk_shingle=3, weights="tf", bits=64, max_distance=3),
        "windows of three tokens, 64 bits, distance 3, as in most descriptions: finds little except near-identical texts",
    ),
    "cppjieba": _of_keywords(
        "lookup3", None, "yanyiwu/simhash and gosimhash: keywords of Chinese texts by cppjieba, Jenkins' hash"
    ),
    "fnv1a": _of_keywords(
        "fnv1a_64", "gojieba", "the same with gojieba's user dictionary and FNV-1a, as intended by the Go program"
    ),
    "go-fnv1a": _of_keywords(
        "go-fnv1a", "gojieba", "the same as the Go program computes it: half of its hashes are those of another number"
    ),
    **{
        name: NamedRecipe(
            Recipe(profile=name, bits=widths[0], min_tokens=1, max_distance=DISTANCES.get(name, 3)), purpose
        )
        for name, (widths, purpose) in PROFILES.items()
    },
}


def find_recipe(name: str) -> Recipe:
    """Find a recipe by its name, or read it from a TOML file with fields of `Recipe`; missing fields have their defaults."""
    if name in RECIPES:
        return RECIPES[name].recipe
    if not name.endswith(".toml"):
        raise OptionError(
            f"There is no recipe {name!r}{meant(name, RECIPES)}. Give one of {', '.join(RECIPES)}, or a file that ends in .toml."
        )
    values = toml_values(name, "recipe file", "Give an existing file, or a name that `neardup recipes` lists.")
    return from_file(Recipe, "a recipe", name, values)


def recipe_of(given: RecipeLike | None, version: int = VERSION) -> Recipe:
    """Resolve the argument `recipe` to a recipe of texts.

    The argument is a recipe, an entry of RECIPES or its name, or the path of a .toml file. None gives `Recipe()`, of the `version`
    of the similarity that goes with it.

    Raises:
        OptionError: the argument is not a recipe of texts, or no recipe has this name.
        InputError: the file is missing or cannot be read.

    >>> recipe_of("textbook").bits
    64
    """
    if given is None:
        return Recipe(version=version)
    found = any_recipe_of(given)
    if not isinstance(found, Recipe):
        raise OptionError(
            f"`recipe={given!r}`: this recipe is for {found.as_dict()['kind']}. Give one for texts, such as 'default'."
        )
    return found


def any_recipe_of(given: RecipeLike | VectorRecipe | ProgramRecipe) -> FingerprintRecipe:
    """Resolve the argument `recipe` to a recipe of texts or of vectors; see `recipe_of`.

    Raises:
        OptionError, InputError: as in `recipe_of`.
    """
    if isinstance(given, FingerprintRecipe):
        return given
    if isinstance(given, NamedRecipe):
        return given.recipe
    if isinstance(given, str | os.PathLike):
        return find_recipe(os.fspath(given))
    raise OptionError(
        f"`recipe={given!r}`: give a Recipe, the name of one, such as 'default', or the path of a .toml file."
    )


def usual_distance(recipe: FingerprintRecipe) -> int | None:
    """The recipe's own distance, or that of the named recipe with the same bits, or None."""
    if recipe.max_distance is not None:
        return recipe.max_distance
    digest = recipe.digest()
    return next((named.recipe.max_distance for named in RECIPES.values() if named.recipe.digest() == digest), None)


def from_file(made: type[Made], what: str, name: str, values: dict[str, Any]) -> Made:
    """Make a recipe or a similarity from the fields in a file; paths among them are relative to the file's folder.

    Args:
        made: `Recipe` or `Similarity`.
        what: what it is, with its article, for messages.
        name: the path of the file.
        values: the values in the file.
    """
    folder, known = Path(name).parent, [field.name for field in dataclasses.fields(made)]
    problems = [
        f"{what} has no `{each}`{meant(f'`{each}`', [f'`{field}`' for field in known])}. It has {as_code(known)}"
        for each in sorted(set(values) - set(known))
    ]
    fields = {each: value for each, value in values.items() if each in known}
    for each, names in (("document_frequencies", (BACKGROUND,)), ("dictionary", USER_DICTIONARIES)):
        if isinstance(fields.get(each), str) and fields[each] not in names:
            fields[each] = folder / fields[each]
    if isinstance(fields.get("stop_words"), list):
        fields["stop_words"] = [_in_folder(each, folder) for each in fields["stop_words"]]
    try:
        found = made(**fields)
    except ImpossibleRecipe as impossible:
        problems += impossible.problems
    if problems:
        raise ImpossibleRecipe(problems, f"{name}:")
    return found


def _in_folder(stop_words: Any, folder: Path) -> Any:
    """The path of a stop list in the folder; names, and paths without a file there, are returned unchanged."""
    is_path = isinstance(stop_words, str) and stop_words not in STOP_LISTS and (folder / stop_words).exists()
    return folder / stop_words if is_path else stop_words
