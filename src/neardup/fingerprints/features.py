"""From tokens to the weighted features that vote, over joined buffers, for recipes that the one-pass kernel cannot serve."""

from typing import Any

import numpy as np

from neardup.fingerprints.feature_arrays import WeightedFeatures
from neardup.fingerprints.occurrences import features_of, occurrences_of
from neardup.fingerprints.weights.table import CPPJIEBA, EXTRACTORS, most_keywords, voters, weights_of
from neardup.recipe.recipe import Recipe
from neardup.text.normalizers import FoldedTexts, normalized
from neardup.text.segmenters.table import tokens_of

__all__ = ["features_of", "features_of_texts", "occurrences_of", "weighted_features"]


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
    from neardup.fingerprints.profiles.features import features_by_profile

    return features_by_profile(texts, recipe)
