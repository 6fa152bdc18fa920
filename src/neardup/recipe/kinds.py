"""The kinds of recipes that a fingerprint file or an index can have."""

from neardup.recipe.programs import ProgramRecipe
from neardup.recipe.recipe import Recipe
from neardup.recipe.vectors import VectorRecipe

FingerprintRecipe = Recipe | VectorRecipe | ProgramRecipe
"""What made some fingerprints: a recipe of texts or of vectors, or another program."""
