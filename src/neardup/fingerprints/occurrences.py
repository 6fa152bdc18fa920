"""From tokens to features: the unique windows of tokens of each text, and where they occur."""

import numpy as np

from neardup.fingerprints.feature_arrays import Features, Occurrences
from neardup.kernels.fingerprints import features as kernels
from neardup.kernels.fingerprints.votes import table_size
from neardup.recipe.recipe import Recipe
from neardup.text.segmenters.tokens import Tokens


def features_of(tokens: Tokens, recipe: Recipe) -> Features:
    """The unique windows of tokens of each text."""
    return occurrences_of(tokens, recipe).features


def occurrences_of(tokens: Tokens, recipe: Recipe) -> Occurrences:
    """The unique windows of tokens of each text, and where they occur."""
    n, total = len(tokens.documents) - 1, len(tokens.starts)
    hashes = tokens.hashes()
    firsts, sizes, offsets = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(n + 1, np.int64)
    kernels.find_windows(
        tokens.kinds, tokens.documents, recipe.word_shingle, recipe.cjk_shingle, firsts, sizes, offsets
    )
    m = offsets[-1]
    found = np.empty(m, np.uint64)
    kernels.hash_windows(hashes, hashes.view(np.uint8), firsts[:m], sizes[:m], found)
    size = table_size(int(np.diff(offsets).max(initial=0)))
    counts, windows, feature_of = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64)
    feature_offsets = np.empty(n + 1, np.int64)
    kernels.name_distinct_windows(
        found,
        offsets,
        np.empty(size, np.uint64),
        np.full(size, -1, np.int64),
        counts,
        windows,
        feature_of,
        feature_offsets,
    )
    first = windows[: feature_offsets[-1]]
    features = Features(
        found[first],
        counts[: len(first)],
        feature_offsets,
        firsts[first],
        sizes[first],
        tokens,
        int(recipe.segmenter != "characters"),
    )
    return Occurrences(features, feature_of, offsets)
