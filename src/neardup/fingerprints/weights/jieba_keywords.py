"""The keywords of the package jieba by kernels: the words that count, and their weights as `extract_tags` has them."""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.feature_arrays import Features, WeightedFeatures
from neardup.fingerprints.occurrences import occurrences_of
from neardup.fingerprints.weights.fixed_point import fixed
from neardup.fingerprints.weights.jieba_package import float_table
from neardup.fingerprints.weights.table import FINE
from neardup.kernels.fingerprints.keywords import choose_keywords
from neardup.kernels.text.jieba_words import EVERY, GUESS
from neardup.recipe.recipe import Recipe
from neardup.text.normalizers import FoldedTexts
from neardup.text.segmenters.jieba import tokens_by, word_tables
from neardup.text.segmenters.tokens import Tokens
from neardup.text.unicode_tables import fold_tables

STOP_WORDS = tuple(
    "an and are as at be by can for from have if in is it not of on one or that the then this to we which with you all has".split()
)
"""jieba's own stop words; it has no Chinese ones."""
_PACKED = np.array([int.from_bytes(word.encode(), "little") for word in STOP_WORDS], np.uint64)


class Chosen(NamedTuple):
    """The tokens of texts that count.

    Attributes:
        keep: bool[t], which of all tokens count.
        lettered: int64[n], the number of tokens of each text that have a letter, mark or number.
    """

    keep: Array
    lettered: Array


def chosen(tokens: Tokens) -> Chosen:
    """The tokens of two characters or more that are no stop words."""
    keep, lettered = np.empty(len(tokens.starts), np.bool_), np.empty(len(tokens.documents) - 1, np.int64)
    choose_keywords(
        tokens.data, tokens.starts, tokens.ends, tokens.documents, _PACKED, fold_tables(), keep, lettered
    )
    return Chosen(keep, lettered)


def tfidf_keywords(folded: FoldedTexts, recipe: Recipe) -> WeightedFeatures:
    """All keywords of normalized texts, the heaviest first, of equal ones those that occur first: as jieba's `extract_tags`.

    Raises:
        MissingExtra: jieba is not installed.
        DataError: a file of jieba is damaged.
    """
    tokens = tokens_by(word_tables(), folded, GUESS | EVERY)
    keep, lettered = chosen(tokens)
    features = occurrences_of(tokens.only(keep), recipe).features
    documents = features.documents
    total = np.bincount(documents, features.counts, len(lettered))
    idf = float_table().of(features.hashes).view(np.float64)
    weights = features.counts * (idf / total[documents])
    return in_order(features, weights, lettered)


def in_order(features: Features, weights: Array, lettered: Array) -> WeightedFeatures:
    """Features with their weights (float64[f]), the heaviest of each text first, of equal ones those that come first now."""
    order = np.lexsort((-weights, features.documents))
    sorted_features = features._replace(
        hashes=features.hashes[order],
        counts=features.counts[order],
        firsts=features.firsts[order],
        sizes=features.sizes[order],
    )
    return WeightedFeatures(sorted_features, fixed(weights[order], FINE), lettered)
