"""The hashes of the shingles of texts, for similarities that are not of the shingles that kernels make of folded texts."""

from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.kernels.fingerprints import features as kernels
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import Similarity
from neardup.recipe.tables.parts import FOLDING, folds_last
from neardup.text.normalizers import compared_form, normalized
from neardup.text.segmenters.table import tokens_of


def features_compared(similarity: Similarity, recipe: Recipe) -> Recipe:
    """The recipe of the shingles that a similarity compares, with its normalizers or else those of `recipe`, then folding; the
    tokens are of the version of `recipe`.
    """
    if similarity.normalize is not None:
        return similarity.features(similarity.normalize, recipe.version)
    steps = tuple(recipe.normalize)
    return similarity.features(steps if folds_last(steps) else (*steps, *FOLDING), recipe.version)


def shingle_hashes(texts: Any, similarity: Similarity, recipe: Recipe) -> tuple[Array, Array]:
    """The shingles of each text of an Arrow `large_string` array, in order and however often: uint64[total], offsets int64[n + 1].

    Raises:
        OptionError: only the identity of a part of the similarity is known.
        MissingExtra: a package that the similarity needs is not installed.
    """
    similarity.check_available()
    made = features_compared(similarity, recipe)
    given = similarity.normalize is not None
    folded = normalized(texts, made.normalize) if given else compared_form(texts, recipe.normalize)
    tokens = tokens_of(folded, made)
    hashes, total = tokens.hashes(), len(tokens.starts)
    firsts, sizes = np.empty(total, np.int64), np.empty(total, np.int64)
    offsets = np.empty(len(tokens.documents), np.int64)
    kernels.find_windows(tokens.kinds, tokens.documents, made.word_shingle, made.cjk_shingle, firsts, sizes, offsets)
    m = offsets[-1]
    found = np.empty(m, np.uint64)
    kernels.hash_windows(hashes, hashes.view(np.uint8), firsts[:m], sizes[:m], found)
    return found, offsets
