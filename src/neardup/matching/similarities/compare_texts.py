"""VERIFY: the similarity of two texts, and of one text to each of many."""

from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.errors import OptionError
from neardup.kernels.matching.similarities import Stored, similarities_of, working_memory
from neardup.matching.similarities.table import SIMILARITY_TABLE
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarities import Similarity
from neardup.text.columns import as_text_arrays
from neardup.text.normalizers import normalize


def similarity(a: str, b: str, *, kind: Similarity = "jaccard", recipe: RecipeLike | None = None) -> float:
    """The similarity of two texts, from 0 to 1. For texts without tokens it is 1 if they are equal after normalization, else 0.

    Args:
        a, b: the texts.
        kind: jaccard, weighted, containment, cosine or edit: see `neardup.matching.similarities`.
        recipe: defines the features and weights of the cosine; by default, `Recipe()`. The other kinds have shingles of their own
            and refuse a recipe.

    Raises:
        OptionError: there is no such kind, or you give a recipe for a kind that does not use one.
        DataError: a text is not valid Unicode.

    >>> similarity("to be or not to be", "To be, or not to be?")
    1.0
    >>> similarity("to be or not to be", "to be or not", kind="containment")
    1.0
    """
    if kind not in SIMILARITY_TABLE:
        raise OptionError(f"`kind={kind!r}`: give one of {', '.join(SIMILARITY_TABLE)}.")
    if recipe is not None and kind != "cosine":
        raise OptionError(
            f"`kind={kind!r}` has shingles of its own, and would ignore the recipe. Leave out `recipe`, or give `kind='cosine'`."
        )
    [texts] = as_text_arrays([b])
    return float(similarities_to(a, texts, kind=kind, recipe=recipe_of(recipe))[0])


def similarities_to(text: str, texts: Any, *, kind: str, recipe: Recipe) -> Array:
    """float64[n]: the similarity of one text to each text of an Arrow `large_string` array. A null counts as an empty text."""
    chosen = SIMILARITY_TABLE[kind]
    [mine] = as_text_arrays([text])
    values, weights, offsets = chosen.stored(pa.concat_arrays([mine, texts]), recipe)
    out = np.empty(len(texts))
    memory = working_memory(chosen.code, int(np.diff(offsets).max()))
    stored = Stored(chosen.code, values, weights, offsets[:-1], offsets[1:], memory)
    similarities_of(stored, np.zeros(len(texts), np.int64), np.arange(1, len(texts) + 1), 0.0, out)
    if offsets[1] == 0:
        for i in np.flatnonzero(offsets[1:-1] == offsets[2:]).tolist():
            out[i] = normalize(text) == normalize(texts[i].as_py() or "")
    return out
