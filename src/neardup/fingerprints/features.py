"""From tokens to the weighted features that vote, over joined buffers, for recipes that the one-pass kernel cannot serve."""

from typing import Any

import numpy as np

from neardup.fingerprints.feature_arrays import Features, Occurrences, WeightedFeatures
from neardup.fingerprints.weights.table import EXTRACTORS, voters, weights_of
from neardup.kernels.fingerprints import features as kernels
from neardup.kernels.fingerprints.votes import table_size
from neardup.recipe.recipe import Recipe
from neardup.text.normalizers import FoldedTexts, normalized
from neardup.text.segmenters.table import tokens_of
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


def weighted_features(folded: FoldedTexts, recipe: Recipe) -> WeightedFeatures:
    """The features of normalized texts, with their weights; with the recipe's `keywords`, only the heaviest of each text.

    Raises:
        MissingExtra: a package that the recipe needs is not installed.
        OptionError: only the identity of a part of the recipe is known.
        DataError: the recipe's document frequencies are damaged.
    """
    if recipe.weights in EXTRACTORS:
        from neardup.fingerprints.weights.jieba_extractors import extracted

        found = extracted(folded, recipe)
    else:
        tokens = tokens_of(folded, recipe)
        occurrences = occurrences_of(tokens, recipe)
        found = WeightedFeatures(occurrences.features, weights_of(occurrences, recipe), np.diff(tokens.documents))
    keep = voters(found.features, found.weights, np.diff(folded.offsets), recipe)
    if keep.all():
        return found
    return WeightedFeatures(found.features.only(keep), found.weights[keep], found.tokens)


def features_of_texts(texts: Any, recipe: Recipe) -> WeightedFeatures:
    """The weighted features of texts in an Arrow `large_string` array, for any recipe; a profile gives those of its tool.

    Raises:
        as in `weighted_features`.
    """
    if recipe.profile is None:
        return weighted_features(normalized(texts, recipe.normalize), recipe)
    from neardup.fingerprints.profiles.features import features_by_profile

    return features_by_profile(texts, recipe)
