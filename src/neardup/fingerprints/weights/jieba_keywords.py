"""The keywords of the package jieba by kernels: the words that count, and their weights as `extract_tags` has them."""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.feature_arrays import Features, WeightedFeatures, occurrences_of
from neardup.fingerprints.weights.fixed_point import fixed
from neardup.fingerprints.weights.jieba_package import float_table
from neardup.fingerprints.weights.table import FINE
from neardup.kernels.fingerprints.jieba_textrank import GraphScratch, rank_documents
from neardup.kernels.fingerprints.keywords import choose_keywords, order_by_weight
from neardup.kernels.text.jieba_words import EVERY, GUESS
from neardup.recipe.files.jieba_files import EXTRA, JIEBA
from neardup.recipe.recipe import Recipe
from neardup.recipe.stored_parts import check_installed
from neardup.text.normalizers import FoldedTexts
from neardup.text.segmenters.jieba import tokens_by, word_tables
from neardup.text.segmenters.jieba_tagging import tagged_tokens
from neardup.text.segmenters.tokens import Tokens
from neardup.text.unicode_tables import fold_tables

# fmt: off
STOP_WORDS = (
    "an", "and", "are", "as", "at", "be", "by", "can", "for", "from", "have", "if", "in", "is", "it", "not", "of",
    "on", "one", "or", "that", "the", "then", "this", "to", "we", "which", "with", "you", "all", "has",
)
# fmt: on
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
    choose_keywords(tokens.data, tokens.starts, tokens.ends, tokens.documents, _PACKED, fold_tables(), keep, lettered)
    return Chosen(keep, lettered)


def tfidf_keywords(folded: FoldedTexts, recipe: Recipe) -> WeightedFeatures:
    """All keywords of normalized texts, the heaviest first, of equal ones those that occur first: as jieba's `extract_tags`.

    Raises:
        MissingExtra: jieba is not installed.
        DataError: a file of jieba is damaged.
    """
    check_installed("`weights='jieba_tfidf'`", (JIEBA,), EXTRA)
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
    order = np.empty(len(weights), np.int64)
    order_by_weight(weights, features.offsets, order, np.empty_like(order))
    return WeightedFeatures(features.taken(order, features.offsets), fixed(weights[order], FINE), lettered)


TAGS = ("n", "ns", "v", "vn")
"""The parts of speech that jieba's `textrank` keeps."""


def textrank_keywords(folded: FoldedTexts, recipe: Recipe) -> WeightedFeatures:
    """All keywords of normalized texts that stand near another, the most central first: as jieba's `textrank`.

    Raises:
        MissingExtra: jieba is not installed.
        DataError: a file of jieba is damaged.
    """
    check_installed("`weights='jieba_textrank'`", (JIEBA,), EXTRA)
    tokens, wanted = tagged_tokens(folded, TAGS)
    keep, lettered = chosen(tokens)
    keep &= wanted
    positions = np.flatnonzero(keep)
    features, feature_of, offsets = occurrences_of(tokens.only(keep), recipe)
    most = int(np.diff(offsets).max(initial=0))
    nodes, ranks = np.empty(len(features.counts), np.int64), np.empty(len(features.counts))
    starts, ends = features.tokens.starts[features.firsts], features.tokens.ends[features.firsts]
    rank_documents(
        tokens.data, feature_of, positions, offsets, starts, ends, features.offsets, _graph(most), nodes, ranks
    )
    near = nodes >= 0
    order = np.lexsort((nodes[near], features.documents[near]))
    in_graph = features.only(near)
    return in_order(in_graph.taken(order, in_graph.offsets), ranks[near][order], lettered)


def _graph(words: int) -> GraphScratch:
    size = 8
    while size < 8 * words:
        size *= 2
    edges, features = 4 * words, words + 1
    return GraphScratch(
        np.empty(size, np.int64),
        np.full(size, -1, np.int64),
        np.empty(edges, np.int64),
        np.empty(edges, np.int64),
        np.empty(edges),
        np.empty(features, np.int64),
        np.empty(features, np.int64),
        np.empty(2 * edges, np.int64),
        np.empty(2 * edges),
        np.empty(features),
        np.empty(features),
        np.empty(features, np.int64),
        np.empty(features, np.int64),
    )
