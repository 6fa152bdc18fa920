"""From tokens to the weighted features that vote, over joined buffers, for recipes that the one-pass kernel cannot serve."""

from typing import Any

import numpy as np

from neardup.fingerprints.feature_arrays import WeightedFeatures, named_features, occurrences_of
from neardup.fingerprints.weights.fixed_point import ONE
from neardup.fingerprints.weights.table import CPPJIEBA, EXTRACTORS, most_keywords, voters, weights_of
from neardup.recipe.recipe import Recipe
from neardup.text.normalizers import FoldedTexts, normalized
from neardup.text.segmenters.table import tokens_of


def weighted_features(folded: FoldedTexts, recipe: Recipe) -> WeightedFeatures:
    """The features of normalized texts, with their weights; with the recipe's `keywords`, only the heaviest of each text.

    Raises:
        MissingExtra: a package that the recipe needs is not installed.
        OptionError: only the identity of a part of the recipe is known.
        DataError: the recipe's document frequencies are damaged.
    """
    if recipe.weights in EXTRACTORS:
        from neardup.fingerprints.weights.jieba_keywords import textrank_keywords, tfidf_keywords

        found = (tfidf_keywords if recipe.weights == "jieba_tfidf" else textrank_keywords)(folded, recipe)
    else:
        tokens = tokens_of(folded, recipe)
        occurrences = occurrences_of(tokens, recipe)
        found = WeightedFeatures(occurrences.features, weights_of(occurrences, recipe), np.diff(tokens.documents))
    lengths = np.diff(folded.offsets)
    if recipe.weights == CPPJIEBA:
        from neardup.fingerprints.weights.cppjieba_keywords import in_order_of_cppjieba

        return in_order_of_cppjieba(found, most_keywords(found.features, lengths, recipe))
    keep = voters(found.features, found.weights, lengths, recipe)
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
    return _features_by_profile(texts, recipe)


def _features_by_profile(texts: Any, recipe: Recipe) -> WeightedFeatures:
    """The features that another tool takes from texts; each weighs its count, and a null counts as an empty text.

    One tool makes an empty feature from texts without letters. It carries no information, so it is left out here.
    """
    from neardup.fingerprints.profiles.tools import PROFILES

    profile = PROFILES[recipe.profile or ""]
    found = [profile.features_of(text or "", recipe.profile_window) for text in texts.to_pylist()]
    whole = [[(name, count) for name, count in of_text if name] for of_text in found]
    counts = np.array([count for of_text in whole for _, count in of_text], np.int64)
    offsets = np.cumsum([0, *map(len, whole)], dtype=np.int64)
    features = named_features([name for of_text in whole for name, _ in of_text], counts, offsets)
    return WeightedFeatures(features, counts * ONE, np.diff(offsets))
