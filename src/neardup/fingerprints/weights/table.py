"""WEIGH: a family of weights behind one table; each computes the weight of every feature of some texts, in fixed point.

Other tools add floating-point numbers: EXTRACTORS are rounded last, in `neardup.fingerprints.weights.jieba_keywords`, where texts
are cut as by the package jieba; cppjieba's stay as they are, see `neardup.fingerprints.weights.cppjieba_keywords`.
"""

from typing import cast

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.feature_arrays import Features, Occurrences
from neardup.fingerprints.weights.fixed_point import ONE, fixed
from neardup.fingerprints.weights.idf import load_idf
from neardup.kernels.fingerprints.keywords import keep_heaviest
from neardup.kernels.fingerprints.textrank import count_neighbors, list_neighbors, rank_features
from neardup.recipe.files.document_frequencies import DocumentFrequencies
from neardup.recipe.recipe import Recipe
from neardup.recipe.stored_parts import available

WINDOW, DAMPING, ROUNDS = 5, 0.85, 30
"""Features in a window of this many are neighbors; DAMPING is PageRank's; the number of rounds is fixed, so that the result
depends on the text alone."""

EXTRACTORS = ("jieba_tfidf", "jieba_textrank")
CPPJIEBA = "cppjieba"
FINE = 1 << 40
"""The weight 1 for EXTRACTORS, whose weights are small: the jieba_tfidf weights of a text add up to at most 14."""
BYTES_PER_KEYWORD, MIN_KEYWORDS, MAX_KEYWORDS = 120, 5, 200
"""cppjieba's rule: one keyword per this many bytes of a text, and the bounds of that number."""


def unit(recipe: Recipe) -> int:
    """The number that represents the weight 1."""
    if recipe.weights == CPPJIEBA:
        return 1
    return FINE if recipe.weights in EXTRACTORS else ONE


def _uniform(found: Occurrences, _: Recipe) -> Array:
    return np.full(len(found.features.counts), ONE, np.int64)


def _tf(found: Occurrences, _: Recipe) -> Array:
    return found.features.counts * ONE


def _log(found: Occurrences, _: Recipe) -> Array:
    return (np.frexp(found.features.counts.astype(np.float64))[1] * ONE).astype(np.int64)


def _sqrt(found: Occurrences, _: Recipe) -> Array:
    return fixed(np.sqrt(found.features.counts.astype(np.float64)))


def _tfidf(found: Occurrences, recipe: Recipe) -> Array:
    named = cast(DocumentFrequencies, available(recipe.document_frequencies, "document_frequencies"))
    return found.features.counts * load_idf(named, tuple(recipe.normalize)).of(found.features.hashes)


def _textrank(found: Occurrences, _: Recipe) -> Array:
    """Like the rank of a page in PageRank (TextRank, Mihalcea and Tarau 2004); the mean is 1 if all features have neighbors."""
    f = len(found.features.counts)
    degrees, shares, scores = np.zeros(f, np.int64), np.empty(f), np.empty(f)
    count_neighbors(found.feature_of, found.offsets, WINDOW, degrees)
    places = np.cumsum(degrees) - degrees
    neighbors = np.empty(int(degrees.sum()), np.int64)
    list_neighbors(found.feature_of, found.offsets, WINDOW, places, neighbors)
    rank_features(neighbors, places, degrees, DAMPING, ROUNDS, shares, scores)
    return fixed(scores)


def _cppjieba(found: Occurrences, recipe: Recipe) -> Array:
    from neardup.fingerprints.weights.cppjieba_keywords import count_times_idf
    from neardup.fingerprints.weights.jieba_package import keyword_table

    return count_times_idf(found.features, keyword_table(tuple(recipe.normalize)))


WEIGHT_TABLE = {
    "uniform": _uniform,
    "tf": _tf,
    "log": _log,
    "sqrt": _sqrt,
    "tfidf": _tfidf,
    "textrank": _textrank,
    CPPJIEBA: _cppjieba,
}
"""The weights by the names in `neardup.recipe.tables.parts.WEIGHTS`, except EXTRACTORS."""


def weights_of(found: Occurrences, recipe: Recipe) -> Array:
    """The weight of each feature: int64[f], in 1 / `unit`; float64[f] for CPPJIEBA.

    Raises:
        OptionError: only the identity of the weights, or of the document frequencies, is known.
    """
    return WEIGHT_TABLE[available(recipe.weights, "weights")](found, recipe)


def most_keywords(features: Features, lengths: Array, recipe: Recipe) -> Array:
    """int64[n]: how many features of each text may vote. `lengths`: of the normalized texts, int64[n], in bytes."""
    if recipe.keywords is None:
        return np.diff(features.offsets)
    if isinstance(recipe.keywords, int):
        return np.full(len(lengths), recipe.keywords, np.int64)
    by_length: Array = np.clip(lengths // BYTES_PER_KEYWORD, MIN_KEYWORDS, MAX_KEYWORDS)
    return by_length


def heaviest(features: Features, weights: Array, most: Array) -> Array:
    """bool[f]: the most[d] heaviest features of each text d (int64[n]); among equal weights, those that occur first."""
    offsets = features.offsets
    room = min(int(most.max(initial=0)), int(np.diff(offsets).max(initial=0)))
    keep = np.empty(len(weights), np.bool_)
    keep_heaviest(weights, most, offsets, np.empty(room, np.int64), keep)
    return keep


def voters(features: Features, weights: Array, lengths: Array, recipe: Recipe) -> Array:
    """bool[f]: the features that vote; weight 0 does not vote. `lengths`: of the normalized texts, int64[n], in bytes."""
    keep: Array = weights != 0
    if recipe.keywords is None:
        return keep
    return keep & heaviest(features, weights, most_keywords(features, lengths, recipe))
