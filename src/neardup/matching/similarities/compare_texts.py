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
from neardup.recipe.similarities import Similarity, normalizers_only
from neardup.text.columns import as_text_arrays
from neardup.text.normalizers import normalize


def similarity(a: str, b: str, *, kind: Similarity = "jaccard", recipe: RecipeLike | None = None) -> float:
    """The similarity of two texts, from 0 to 1, as `deduplicate` computes it with the same recipe.

    For texts without tokens it is 1 if they are equal after normalization, else 0.

    Args:
        a, b: the texts.
        kind: jaccard, weighted, containment, cosine or edit: see `neardup.matching.similarities`.
        recipe: its normalizers are applied to both texts first; by default, those of `Recipe()`. The cosine compares the
            recipe's features and weights. The other kinds have shingles of their own, and refuse a recipe with another
            segmenter, other shingles, stop words, weights or a profile, which they would ignore.

    Raises:
        OptionError: there is no such kind, or the kind would ignore a part of the recipe; or a part is not available.
        MissingExtra: the package of a normalizer is not installed.
        DataError: a text is not valid Unicode.

    >>> similarity("to be or not to be", "To be, or not to be?")
    1.0
    >>> similarity("to be or not to be", "to be or not", kind="containment")
    1.0
    >>> similarity("page 12 of 30", "page 13 of 30", recipe=Recipe(normalize=["nfkc_casefold", "digits"]))
    1.0
    """
    if kind not in SIMILARITY_TABLE:
        raise OptionError(f"`kind={kind!r}`: give one of {', '.join(SIMILARITY_TABLE)}.")
    used = recipe_of(recipe)
    if recipe is not None and SIMILARITY_TABLE[kind].shingles is not None:
        normalizers_only(used, f"`kind={kind!r}` is")
    [texts] = as_text_arrays([b])
    return float(similarities_to(a, texts, kind=kind, recipe=used)[0])


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
            out[i] = normalize(text, recipe.normalize) == normalize(texts[i].as_py() or "", recipe.normalize)
    return out
