"""The whole of a document's fingerprint in one pass over its normalized bytes; the stages are the kernels beside this one."""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.fingerprints.character_pairs import MOST_TOKENS, PairMemory, pair_memory, votes_of_pairs
from neardup.kernels.fingerprints.shingles import any_cjk, shingle
from neardup.kernels.fingerprints.votes import (
    PLANE_SPARE,
    PLANES,
    SQRT,
    VECTOR,
    VOTES_BEHIND,
    add_weighted,
    majority,
    signs,
    square_root_weights,
    table_size,
    unit_votes,
    whole_vectors,
    widen,
)
from neardup.kernels.text.tokens import TokenArrays, code_tokens, most_tokens, spread_tokens, token_arrays
from neardup.kernels.xxh3 import xxh3_128


class FeatureForm(NamedTuple):
    """What votes on a fingerprint.

    Attributes:
        word_size, cjk_size: tokens of a feature that starts at a word, at a Han or Kana character.
        weighting: how a count becomes a weight, one of `neardup.kernels.fingerprints.votes.WEIGHTINGS`.
        top_mask: uint64, the bits that are used of the most significant word.
    """

    word_size: int
    cjk_size: int
    weighting: int
    top_mask: np.uint64


class FingerprintArrays(NamedTuple):
    """What a pass over n documents fills: uint64[n, words], uint64[n, 2] (XXH3-128 of the bytes), int64[n]."""

    values: Array
    digests: Array
    tokens: Array


class Scratch(NamedTuple):
    """Working memory for one document of up to a given length; pages that no document needs are never touched."""

    tokens: TokenArrays
    features: Array
    pairs: PairMemory
    keys: Array
    counts: Array
    votes: Array
    weights: Array
    lanes: Array
    planes: Array
    sums: Array
    pair: Array
    pair_bytes: Array


def scratch(longest: int, words: int) -> Scratch:
    """Working memory for documents of at most `longest` bytes and fingerprints of `words` words."""
    n = most_tokens(longest)
    pair = np.empty(2, np.uint64)
    return Scratch(
        tokens=token_arrays(longest),
        features=np.empty(n + VECTOR, np.uint64),
        pairs=pair_memory(n),
        keys=np.empty(table_size(n) + VECTOR, np.uint64),
        counts=np.empty(table_size(n), np.uint32),
        votes=np.empty(n + VECTOR, np.uint64),
        weights=np.empty(n, np.int64),
        lanes=np.empty((words, n + VOTES_BEHIND), np.uint64),
        planes=np.empty(PLANES + PLANE_SPARE, np.uint64),
        sums=np.empty(64 * words, np.int64),
        pair=pair,
        pair_bytes=pair.view(np.uint8),
    )


@kernel
def features_of_tokens(n, named, form, memory):
    """The features of n tokens that need not be characters of the codes, and how many there are."""
    tokens, features = memory.tokens, memory.features
    if form.word_size == 1 and n == named and not any_cjk(tokens.named_kinds, n):
        return tokens.named, n
    spread_tokens(n, named, tokens)
    return features, shingle(tokens, n, form.word_size, form.cjk_size, features)


@kernel
def fingerprint_tokens(n, named, form, memory, out):
    """The fingerprint of n tokens, as `code_tokens` leaves them in `memory`, so many of them named, into `out`, uint64[words]."""
    of_pairs = form.weighting != SQRT and form.word_size == 1 and form.cjk_size == 2
    if of_pairs and named < n <= MOST_TOKENS:
        v = votes_of_pairs(n, form.weighting, memory)
    else:
        features, m = features_of_tokens(n, named, form, memory)
        if form.weighting == SQRT:
            v = square_root_weights(features, m, memory.keys, memory.counts, memory.votes, memory.weights)
        else:
            v = unit_votes(features, m, form.weighting, memory.keys, memory.counts, memory.votes)
    widen(memory.votes, whole_vectors(v), memory.lanes, memory.pair, memory.pair_bytes)
    if form.weighting == SQRT:
        add_weighted(memory.lanes, memory.weights, v, memory.sums)
        signs(memory.sums, out)
    else:
        for w in range(memory.lanes.shape[0]):
            out[w] = majority(memory.lanes[w], v, memory.planes)
    out[0] &= form.top_mask


@kernel
def fingerprint_documents(data, offsets, form, memory, tables, out):
    """Fingerprint the normalized documents `data[offsets[d]:offsets[d + 1]]`.

    uint8[], int64[n + 1], `FeatureForm`, `Scratch` for the longest -> `FingerprintArrays`. A text without tokens has fingerprint 0.
    """
    for d in range(len(offsets) - 1):
        start, end = offsets[d], offsets[d + 1]
        out.digests[d, 0], out.digests[d, 1] = xxh3_128(data, start, end)
        n, named = code_tokens(data, start, end, memory.tokens, tables)
        out.tokens[d] = n
        fingerprint_tokens(n, named, form, memory, out.values[d])
