"""From tokens to the weighted features that vote, over joined buffers: the way of recipes that the one-pass kernel cannot serve."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from neardup.fingerprints.weights import EXTRACTORS, voters, weights_of
from neardup.kernels.fingerprints import features as kernels
from neardup.kernels.fingerprints.votes import table_size
from neardup.kernels.text.tokens import WORD
from neardup.recipe import Recipe
from neardup.text.normalizers import FoldedTexts, normalized
from neardup.text.segmenters import tokens_of
from neardup.text.segmenters.tokens import SPARE, Tokens

Array = np.ndarray[Any, np.dtype[Any]]


class Features(NamedTuple):
    """The distinct features of n texts, one text after another, in the order in which they first occur.

    Attributes:
        hashes: uint64[f], by which features are told apart; of one token, or of a window's.
        counts: int64[f], how often each occurs in its text.
        offsets: int64[n + 1]; text d has the features from offsets[d] to offsets[d + 1].
        firsts, sizes: int64[f], the token that each begins with where it first occurs, and how many tokens it has.
        tokens: the tokens of the texts, stop words left out.
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
        """Those where `keep` (bool[f]) holds."""
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(keep, dtype=np.int64)])[self.offsets]
        parts = (self.hashes[keep], self.counts[keep], offsets, self.firsts[keep], self.sizes[keep])
        return Features(*parts, self.tokens, self.between)

    def names(self) -> tuple[Array, Array]:
        """The names of all, joined: uint8[], and int64[f + 1], where each begins."""
        spans = (self.tokens.starts, self.tokens.ends, self.firsts, self.sizes, self.between)
        offsets = np.empty(len(self.hashes) + 1, np.int64)
        kernels.name_lengths(*spans, offsets)
        out = np.empty(offsets[-1], np.uint8)
        kernels.write_names(self.tokens.data, *spans, out, offsets)
        return out, offsets

    @property
    def documents(self) -> Array:
        """int64[f]: which text each is of."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


def named_features(names: Sequence[bytes], counts: Array, offsets: Array) -> Features:
    """Features that are known by name alone: each is one token, as it is.

    Args:
        names: of all texts, one text after another; those of one text are distinct.
        counts: int64[f], how often each occurs in its text.
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
        features: the distinct ones.
        feature_of: int64[m], which feature each window of tokens is, in the order of the texts.
        offsets: int64[n + 1]; text d has the windows from offsets[d] to offsets[d + 1].
    """

    features: Features
    feature_of: Array
    offsets: Array


class WeightedFeatures(NamedTuple):
    """Features that vote.

    Attributes:
        features: those that are left.
        weights: int64[f], in units of 1 / `neardup.fingerprints.weights.unit(recipe)`: fixed-point, so that no sum depends on
            its order.
        tokens: int64[n], the tokens of each text, stop words left out.
    """

    features: Features
    weights: Array
    tokens: Array


def features_of(tokens: Tokens, recipe: Recipe) -> Features:
    """The distinct windows of tokens of each text."""
    return occurrences_of(tokens, recipe).features


def occurrences_of(tokens: Tokens, recipe: Recipe) -> Occurrences:
    """The distinct windows of tokens of each text, and where they occur."""
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
    """The features of normalized texts, with their weights; if the recipe has `keywords`, only the heaviest of each text.

    Raises:
        MissingExtra: a package that the recipe needs is not installed.
        OptionError: of a part of the recipe only the identity is known.
        DataError: its document frequencies are damaged.
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
    """The weighted features of an Arrow `large_string` array's texts by any recipe; of a profile, those of its tool.

    Raises:
        as `weighted_features`.
    """
    if recipe.profile is None:
        return weighted_features(normalized(texts, recipe.normalize), recipe)
    from neardup.fingerprints.profiles.features import features_by_profile

    return features_by_profile(texts, recipe)
