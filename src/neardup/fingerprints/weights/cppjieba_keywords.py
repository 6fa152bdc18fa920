"""The keywords of cppjieba: weights in doubles, which the tool adds up in the order in which its sort leaves the keywords.

Words that the tool does not know all weigh the same. So in short texts, many sums of votes are 0 but for their rounding, which
decides the bit: the fingerprints are the tool's only if doubles are added, and in its order.
"""

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.feature_arrays import Features, WeightedFeatures
from neardup.fingerprints.weights.fixed_point import fixed
from neardup.fingerprints.weights.jieba_package import keyword_table
from neardup.fingerprints.weights.partial_sort import partial_sort
from neardup.recipe.recipe import Recipe


def cppjieba_keywords(features: Features, tokens: Array, most: int | Array | None, recipe: Recipe) -> WeightedFeatures:
    """The keywords of each text, the heaviest first, in the tool's order.

    Args:
        features: all features of the texts.
        tokens: int64[n], the number of tokens of each text.
        most: how many of each text: int, int64[n], or None for all.

    Raises:
        MissingExtra: jieba is not installed.
        DataError: a file of jieba is damaged.
    """
    weights = _weights(features, recipe)
    order, offsets = _order(features, weights, most)
    kept = weights[order]
    return WeightedFeatures(features.taken(order, offsets), fixed(kept), tokens, kept)


def _weights(features: Features, recipe: Recipe) -> Array:
    """float64[f]; 0 of single characters, which are no keywords."""
    first, last = features.tokens.starts[features.firsts], features.tokens.ends[features.firsts]
    begins = features.tokens.data[first]
    single = last - first == 1 + (begins >= 0xC0) + (begins >= 0xE0) + (begins >= 0xF0)
    idf = keyword_table(tuple(recipe.normalize)).of(features.hashes).view(np.float64)
    return np.where(single, 0.0, features.counts * idf)


def _order(features: Features, weights: Array, most: int | Array | None) -> tuple[Array, Array]:
    """int64[k]: the features that are kept, in the tool's order; and where those of each text begin, int64[n + 1].

    The tool holds the words in the order of their bytes, and sorts so many of the heaviest to the front.
    """
    order, offsets = list[int](), [0]
    data, places = features.names()
    for d, (first, last) in enumerate(zip(features.offsets[:-1].tolist(), features.offsets[1:].tolist(), strict=True)):
        known = first + np.flatnonzero(weights[first:last])
        names = {int(i): data[places[i] : places[i + 1]].tobytes() for i in known}
        words = sorted(names, key=names.__getitem__)
        size = len(words) if most is None else most if isinstance(most, int) else int(most[d])
        order += [words[i] for i in partial_sort(weights[words].tolist(), size)]
        offsets.append(len(order))
    return np.array(order, np.int64), np.array(offsets, np.int64)
