"""FINGERPRINT by named features, for any segmenter, weight and hash.

`neardup.kernels.fingerprints.simhash` is the kernel that works without names.
"""

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.feature_arrays import Features
from neardup.fingerprints.features import weighted_features
from neardup.fingerprints.hashes import hash_features
from neardup.kernels.digests import digest_documents
from neardup.kernels.fingerprints.features import vote
from neardup.kernels.fingerprints.votes import widen
from neardup.recipe.recipe import Recipe
from neardup.recipe.stored_parts import StoredPart
from neardup.text.normalizers import FoldedTexts


def hashes_of(features: Features, recipe: Recipe) -> Array:
    """The hash of each feature at the fingerprint's width: uint64[f, words]; unused top bits of word 0 are 0."""
    if isinstance(recipe.hash, StoredPart):
        recipe.hash.refuse("hash")
    if recipe.hash != "xxh3":
        return hash_features(*features.names(), recipe.hash, recipe.bits)
    lanes = np.empty((recipe.words, len(features.hashes)), np.uint64)
    pair = np.empty(2, np.uint64)
    widen(features.hashes, len(features.hashes), lanes, pair, pair.view(np.uint8))
    lanes[0] &= np.uint64((1 << (recipe.bits - 64 * (recipe.words - 1))) - 1)
    return np.ascontiguousarray(lanes.T)


def fingerprint_folded(folded: FoldedTexts, recipe: Recipe) -> tuple[Array, Array, Array]:
    """For normalized texts: fingerprints uint64[n, words], digests of the texts uint64[n, 2], numbers of tokens int64[n].

    A text in which no feature votes counts as one without tokens: all such texts have the same fingerprint, which says nothing.
    """
    n = len(folded)
    found = weighted_features(folded, recipe)
    values, digests = np.empty((n, recipe.words), np.uint64), np.empty((n, 2), np.uint64)
    vote(
        hashes_of(found.features, recipe),
        found.weights,
        found.features.offsets,
        0,
        np.empty(64 * recipe.words, found.weights.dtype),
        values,
    )
    digest_documents(folded.data, folded.offsets, digests)
    votes = np.concatenate([[0], np.cumsum(found.weights != 0)])[found.features.offsets]
    return values, digests, np.where(np.diff(votes) > 0, found.tokens, 0)
