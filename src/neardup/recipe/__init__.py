"""RECIPE: all that decides a fingerprint's bits.

`parts.py` has what a recipe may name, `recipe.py` the recipe, `problems.py` and `named_files.py` what is checked and read when one
is made, `named.py` recipes by name and in files, `stored.py` those that come with fingerprints. None of it loads compiled code.
"""

from neardup.recipe.named import RECIPES, NamedRecipe, find_recipe, recipe_of, usual_distance
from neardup.recipe.parts import BY_LENGTH, HASHES, NORMALIZER_PACKAGES, NORMALIZERS, UNICODE, VERSION, WEIGHTS
from neardup.recipe.recipe import ImpossibleRecipe, Recipe, digest_of
from neardup.recipe.stored import any_stored_recipe, check_same, difference, stored_recipe

__all__ = [
    "BY_LENGTH",
    "HASHES",
    "NORMALIZERS",
    "NORMALIZER_PACKAGES",
    "RECIPES",
    "UNICODE",
    "VERSION",
    "WEIGHTS",
    "ImpossibleRecipe",
    "NamedRecipe",
    "Recipe",
    "any_stored_recipe",
    "check_same",
    "difference",
    "digest_of",
    "find_recipe",
    "recipe_of",
    "stored_recipe",
    "usual_distance",
]
