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
def fingerprint_tokens(n, word_size, cjk_size, weights, memory, out):
    """The fingerprint of the n tokens that `memory` has the hashes and kinds of, into `out`, uint64[words]."""
    features, m = memory.hashes, n
    if word_size != 1 or any_cjk(memory.kinds, n):
        features = memory.features
        m = shingle(memory.hashes, memory.hash_bytes, memory.kinds, n, word_size, cjk_size, features)
    if weights == SQRT:
        v = square_root_weights(features, m, memory.keys, memory.counts, memory.votes, memory.weights)
    else:
        v = unit_votes(features, m, weights, memory.keys, memory.counts, memory.votes)
    widen(memory.votes, v, memory.lanes, memory.pair, memory.pair_bytes)
    if weights == SQRT:
        add_weighted(memory.lanes, memory.weights, v, memory.sums)
        signs(memory.sums, out)
    else:
        for w in range(memory.lanes.shape[0]):
            out[w] = majority(memory.lanes[w], v, memory.planes)


@kernel
def fingerprint_documents(
    data, offsets, word_size, cjk_size, weights, top_mask, memory, tables, fingerprints, digests, tokens
):
    """Fingerprint the normalized documents `data[offsets[d]:offsets[d + 1]]`.

    uint8[], int64[n + 1] -> fingerprints uint64[n, words], digests uint64[n, 2] (XXH3-128 of the bytes), tokens int64[n].
    `top_mask` keeps the bits that are used of the most significant word. A text without tokens has fingerprint 0.
    """
    for d in range(len(offsets) - 1):
        start, end = offsets[d], offsets[d + 1]
        digests[d, 0], digests[d, 1] = xxh3_128(data, start, end)
        n = tokenize(data, start, end, memory.token_spare, memory.hashes, memory.kinds, tables)
        tokens[d] = n
        fingerprint_tokens(n, word_size, cjk_size, weights, memory, fingerprints[d])
        fingerprints[d, 0] &= top_mask
