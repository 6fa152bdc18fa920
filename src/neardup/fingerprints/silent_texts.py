"""SILENT TEXTS, in which no feature votes, by version 1 of `neardup.recipe.short_rule`: what was made by it goes on so."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from neardup.fingerprints.features import weighted_features
from neardup.fingerprints.simhash import Fingerprints
from neardup.recipe.kinds import FingerprintRecipe
from neardup.recipe.recipe import Recipe
from neardup.text.normalizers import fold_texts, normalized
from neardup.text.segmenters.tokens import words_of


def may_be_silent(recipe: FingerprintRecipe) -> bool:
    """Whether a text may have tokens of which none votes; by other recipes, all do."""
    return isinstance(recipe, Recipe) and (recipe.profile is not None or recipe.needs_names)


def count_silent_tokens(found: Fingerprints, texts: Sequence[str | None], recipe: Recipe) -> None:
    """Give texts in which no feature votes the number of their tokens, instead of 0."""
    rows = np.flatnonzero(found.tokens == 0)
    if not len(rows) or not may_be_silent(recipe):
        return
    silent = pa.array([texts[row] or "" for row in rows.tolist()], pa.large_string())
    if recipe.profile is None:
        found.tokens[rows] = weighted_features(normalized(silent, recipe.normalize), recipe).tokens
    else:
        found.tokens[rows] = np.maximum(np.diff(words_of(fold_texts(silent)).documents), 1)
