"""The features of texts with their weights, heaviest first, for people and other programs."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from neardup.fingerprints.features import features_of_texts
from neardup.fingerprints.weights.table import unit
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.resources.threads import in_order, thread_count
from neardup.text.columns import in_chunks
from neardup.text.frames import text_arrays


def keywords(
    texts: Any, *, text: str | Iterable[str] = "text", recipe: RecipeLike | None = None, threads: int | None = None
) -> list[list[tuple[str, float]]]:
    """The features of each text that vote, with their weights, heaviest first.

    Equal weights are in order of first occurrence, or, with weights="cppjieba", in the order of that tool.

    Args:
        texts: a list or an iterator of strings, a column or a table: any input of `deduplicate`.
        text: the column of the texts in a table, or several columns; as in `deduplicate`.
        recipe: defines the features and their weights; its `keywords` limits how many are kept. `Recipe()` by default.
        threads: all processors by default. The result does not depend on it.

    Returns:
        For each text, its (feature, weight) pairs. Weights are exactly those that vote: multiples of 2^-16, or of 2^-40 for the
        extractors of the package jieba; those of cppjieba are any floating-point numbers.

    Raises:
        OptionError: `texts` is one string, or holds something other than strings.
        DataError: a text is null, or not valid Unicode.
        MissingExtra: a package that the recipe needs is not installed.

    >>> keywords(["red red red green"], recipe=Recipe(weights="tf", keywords=1))
    [[('red', 3.0)]]
    """
    recipe = recipe_of(recipe)
    chunks = (chunk for array in text_arrays(texts, text) for chunk in in_chunks(array))
    return [
        found for part in in_order(partial(_of_chunk, recipe=recipe), chunks, thread_count(threads)) for found in part
    ]


def _of_chunk(texts: Any, recipe: Recipe) -> list[list[tuple[str, float]]]:
    features, weights, _ = features_of_texts(texts, recipe)
    data, offsets = features.names()
    order = np.lexsort((-weights, features.documents))  # stable: equal weights stay in order
    real = weights / unit(recipe)
    pairs = [
        (data[offsets[i] : offsets[i + 1]].tobytes().decode("utf-8", "backslashreplace"), float(real[i])) for i in order
    ]
    return [pairs[first:last] for first, last in zip(features.offsets[:-1], features.offsets[1:], strict=True)]
