"""Features of texts as arrays: which features there are, where they occur and what they weigh."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.fingerprints import features as kernels
from neardup.kernels.fingerprints.votes import table_size
from neardup.kernels.text.tokens import WORD
from neardup.recipe.recipe import Recipe
from neardup.text.segmenters.tokens import SPARE, Tokens


class Features(NamedTuple):
    """The unique features of n texts, one text after another, in the order of their first occurrence.

    Attributes:
        hashes: uint64[f], which distinguish features; each is the hash of one token or of a window.
        counts: int64[f], how often each feature occurs in its text.
        offsets: int64[n + 1]; text d has the features from offsets[d] to offsets[d + 1].
        firsts, sizes: int64[f], the token at which each feature first occurs, and how many tokens it has.
        tokens: the tokens of the texts, without stop words.
        between: bytes between the tokens in a feature's name: 1, a space; 0 for characters.
    """

    hashes: Array
    counts: Array
    offsets: Array
    firsts: Array
    sizes: Array
    tokens: Tokens
    between: int

    def only(self, keep: Array) -> "Features":
        """The features where `keep` (bool[f]) is true."""
        return self.taken(keep, np.concatenate([np.zeros(1, np.int64), np.cumsum(keep, dtype=np.int64)])[self.offsets])

    def taken(self, places: Array, offsets: Array) -> "Features":
        """The features at `places` (int64[k], or bool[f]); text d has those from offsets[d] to offsets[d + 1]."""
        parts = (self.hashes[places], self.counts[places], offsets, self.firsts[places], self.sizes[places])
        return Features(*parts, self.tokens, self.between)

    def names(self) -> tuple[Array, Array]:
        """The names of all features, joined: uint8[], and where each begins, int64[f + 1]."""
        spans = (self.tokens.starts, self.tokens.ends, self.firsts, self.sizes, self.between)
        offsets = np.empty(len(self.hashes) + 1, np.int64)
        kernels.name_lengths(*spans, offsets)
        out = np.empty(offsets[-1], np.uint8)
        kernels.write_names(self.tokens.data, *spans, out, offsets)
        return out, offsets

    @property
    def documents(self) -> Array:
        """int64[f]: the text of each feature."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


def named_features(names: Sequence[bytes], counts: Array, offsets: Array) -> Features:
    """Features known by name alone: each is one token, unchanged.

    Args:
        names: the names of all texts, one text after another; those of one text are unique.
        counts: int64[f], how often each feature occurs in its text.
        offsets: int64[n + 1]; text d has the features from offsets[d] to offsets[d + 1].
    """
    sizes = np.array([len(name) for name in names], np.int64)
    ends = np.cumsum(sizes, dtype=np.int64)
    data = np.frombuffer(b"".join(names) + bytes(SPARE), np.uint8)
    tokens = Tokens(data, ends - sizes, ends, np.full(len(names), WORD, np.uint8), offsets)
    return Features(tokens.hashes(), counts, offsets, np.arange(len(names)), np.ones(len(names), np.int64), tokens, 1)


class Occurrences(NamedTuple):
    """The features of n texts, and where they occur.

    Attributes:
        features: the unique features.
        feature_of: int64[m], the feature of each window of tokens, in the order of the texts.
        offsets: int64[n + 1]; text d has the windows from offsets[d] to offsets[d + 1].
    """

    features: Features
    feature_of: Array
    offsets: Array


class WeightedFeatures(NamedTuple):
    """Features that vote.

    Attributes:
        features: the features that remain.
        weights: int64[f], in units of 1 / `neardup.fingerprints.weights.table.unit(recipe)`. They are fixed-point, so that a sum
            does not depend on the order of its terms. Those of cppjieba are float64[f], to be added in the order of the
            features, which is that of the tool.
        tokens: int64[n], the number of tokens of each text, without stop words.
    """

    features: Features
    weights: Array
    tokens: Array


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
