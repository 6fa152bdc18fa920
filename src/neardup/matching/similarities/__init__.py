"""VERIFY: how alike texts are, by one of several similarities.

All compare texts after normalization, by their tokens: words, and Han and Kana characters one by one. A shingle is a window of 3
tokens from one that is a word, of 5 from one that is a Han or Kana character; a text shorter than one window has one shingle, all
of it. A and B are the shingles of two texts:

- jaccard: |A ∩ B| / |A ∪ B|, of the sets.
- weighted: the sum of the smaller counts of each shingle by the sum of the larger ones. This is the Jaccard coefficient of
  occurrences: the first, second, third … of a shingle in a text is an element of its own.
- containment: |A ∩ B| / min(|A|, |B|), of the sets: how much of the smaller is in the larger; 0 if one is empty.
- cosine: of the vectors of weights that the recipe gives to its own features.
- edit: 1 - d / n, d being the fewest tokens to insert, delete or replace (Levenshtein), n the tokens of the longer text.

Each is exact, and decides by one comparison of float64 numbers, which the bounds of joins (`neardup.kernels.matching.bounds`)
repeat.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from neardup.errors import OptionError
from neardup.kernels.matching.bounds import EDIT
from neardup.kernels.matching.edit import edit_memory
from neardup.kernels.matching.similarities import Stored, similarities_of
from neardup.matching.similarities.stored import SetFile, ShingleSets
from neardup.matching.similarities.table import (
    CJK_SHINGLE,
    SIMILARITY_TABLE,
    WORD_SHINGLE,
    Elements,
    Similarity,
    shingle_sets_of,
)
from neardup.recipe import Recipe, recipe_of
from neardup.text.columns import as_text_arrays
from neardup.text.normalizers import normalize

__all__ = [
    "CJK_SHINGLE",
    "SIMILARITY_TABLE",
    "WORD_SHINGLE",
    "Elements",
    "SetFile",
    "ShingleSets",
    "Similarity",
    "shingle_sets_of",
    "similarities_to",
    "similarity",
]

Array = np.ndarray[Any, np.dtype[Any]]


def similarity(a: str, b: str, *, kind: str = "jaccard", recipe: Recipe | None = None) -> float:
    """The similarity of two texts, from 0 to 1. Texts without any token have 1 if equal after normalization, else 0.

    Args:
        a, b: the texts.
        kind: jaccard, weighted, containment, cosine or edit: see `neardup.matching.similarities`.
        recipe: says what the features and weights of the cosine are; `Recipe()` if not given.

    Raises:
        OptionError: there is no such kind.
        DataError: a text is not valid Unicode.

    >>> similarity("to be or not to be", "To be, or not to be?")
    1.0
    >>> similarity("to be or not to be", "to be or not", kind="containment")
    1.0
    """
    if kind not in SIMILARITY_TABLE:
        raise OptionError(f"kind={kind!r}: give one of {', '.join(SIMILARITY_TABLE)}.")
    [texts] = as_text_arrays([b])
    return float(similarities_to(a, texts, kind=kind, recipe=recipe_of(recipe))[0])


def similarities_to(text: str, texts: Any, *, kind: str, recipe: Recipe) -> Array:
    """float64[n]: the similarity of one text to each of an Arrow `large_string` array; a null counts as an empty text."""
    chosen = SIMILARITY_TABLE[kind]
    [mine] = as_text_arrays([text])
    values, weights, offsets = chosen.stored(pa.concat_arrays([mine, texts]), recipe)
    out = np.empty(len(texts))
    memory = edit_memory(int(np.diff(offsets).max()) if chosen.code == EDIT else 0)
    stored = Stored(chosen.code, values, weights, offsets[:-1], offsets[1:], memory)
    similarities_of(stored, np.zeros(len(texts), np.int64), np.arange(1, len(texts) + 1), 0.0, out)
    if offsets[1] == 0:
        for i in np.flatnonzero(offsets[1:-1] == offsets[2:]).tolist():
            out[i] = normalize(text) == normalize(texts[i].as_py() or "")
    return out
