"""FINGERPRINT as another tool computes it."""

from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.profiles.tools import PROFILES
from neardup.kernels.digests import digest_documents
from neardup.recipe.recipe import Recipe
from neardup.text.normalizers import fold_texts, utf8_buffers
from neardup.text.segmenters.tokens import words_of


def fingerprint_by_profile(texts: Any, recipe: Recipe) -> tuple[Array, Array, Array]:
    """For an Arrow `large_string` array: fingerprints uint64[n, words], digests uint64[n, 2], numbers of tokens int64[n].

    Digests are of the unchanged texts, because only the other tool knows which texts it takes for equal. Tokens are the default
    ones, at least one per text; 0 where the tool finds no features. All such texts have one fingerprint, and are `short` rather
    than alike.
    """
    assert recipe.profile is not None  # callers have checked this
    given = [text or "" for text in texts.to_pylist()]
    values, counts = PROFILES[recipe.profile].with_counts(given, recipe.bits, recipe.profile_window)
    data, offsets = utf8_buffers(texts)
    digests = np.empty((len(texts), 2), np.uint64)
    digest_documents(data if len(data) else np.zeros(1, np.uint8), offsets, digests)
    tokens = np.maximum(np.diff(words_of(fold_texts(texts)).documents), 1)
    return values, digests, np.where(counts > 0, tokens, 0)
