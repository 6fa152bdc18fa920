"""The whole of a document's fingerprint in one pass over its normalized bytes; the stages are the kernels beside this one."""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.fingerprints.shingles import any_cjk, shingle
from neardup.kernels.fingerprints.votes import (
    PLANES,
    SQRT,
    add_weighted,
    majority,
    signs,
    square_root_weights,
    table_size,
    unit_votes,
    widen,
)
from neardup.kernels.text.tokens import most_tokens, token_spare, tokenize
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

    token_spare: Array
    hashes: Array
    hash_bytes: Array
    kinds: Array
    features: Array
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
    hashes, pair = np.empty(n, np.uint64), np.empty(2, np.uint64)
    return Scratch(
        token_spare=np.empty(token_spare(longest), np.int64),
        hashes=hashes,
        hash_bytes=hashes.view(np.uint8),
        kinds=np.empty(n, np.uint8),
        features=np.empty(n, np.uint64),
        keys=np.empty(table_size(n), np.uint64),
        counts=np.empty(table_size(n), np.uint32),
        votes=np.empty(n, np.uint64),
        weights=np.empty(n, np.int64),
        lanes=np.empty((words, n + 15), np.uint64),
        planes=np.empty(PLANES, np.uint64),
        sums=np.empty(64 * words, np.int64),
        pair=pair,
        pair_bytes=pair.view(np.uint8),
    )


@kernel
def fingerprint_tokens(n, form, memory, out):
    """The fingerprint of the n tokens that `memory` has the hashes and kinds of, into `out`, uint64[words]."""
    features, m = memory.hashes, n
    if form.word_size != 1 or any_cjk(memory.kinds, n):
        features = memory.features
        m = shingle(memory.hashes, memory.hash_bytes, memory.kinds, n, form.word_size, form.cjk_size, features)
    if form.weighting == SQRT:
        v = square_root_weights(features, m, memory.keys, memory.counts, memory.votes, memory.weights)
    else:
        v = unit_votes(features, m, form.weighting, memory.keys, memory.counts, memory.votes)
    widen(memory.votes, v, memory.lanes, memory.pair, memory.pair_bytes)
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
        n = tokenize(data, start, end, memory.token_spare, memory.hashes, memory.kinds, tables)
        out.tokens[d] = n
        fingerprint_tokens(n, form, memory, out.values[d])
