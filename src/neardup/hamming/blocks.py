"""Cut the bits of fingerprints into the blocks of a plan, by the entropy of each bit."""

import math

import numpy as np

from neardup.arrays import Array
from neardup.hamming.block_plan import BlockPlan
from neardup.kernels.hamming.comparisons import Table

SAMPLE_ROWS = 1 << 16
"""Rows sampled to count the ones of each bit."""

CLEAR_DEVIATIONS = 4.5
"""One word suffices for the first comparison if the mean of unrelated rows lies this many deviations above the distance:
all but one in 300,000 then exceed it."""

MULTIPLIERS = np.array([math.isqrt(prime << 128) % 2**64 | 1 for prime in (5, 2, 3, 7, 11, 13, 17, 19)], np.uint64)
"""Multipliers of the hash of a block, one for each word: odd, with the irregular bits of square roots of primes."""


def bit_entropy(left: Array, right: Array) -> Array:
    """The entropy of each bit: -log2 of the probability that a row of `left` and a row of `right` have the same value there.

    float64[bits], most significant first, from 0 (never changes) to 1 (even), estimated from rows spread over both sides.
    """
    ones = []
    for rows in (left, right):
        sample = rows[:: max(1, -(-len(rows) // SAMPLE_ROWS))]
        ones.append(np.unpackbits(sample.astype(">u8").view(np.uint8), axis=1).sum(axis=0) / max(1, len(sample)))
    equal = ones[0] * ones[1] + (1 - ones[0]) * (1 - ones[1])
    entropy: Array = np.abs(np.log2(np.maximum(equal, 0.5)))
    return entropy


def cut_blocks(chosen: BlockPlan, entropy: Array) -> list[Table]:
    """Cut the bits into the blocks of a plan, contiguous runs of equal total `entropy` (float64[bits]).

    Returns one table, not yet scattered, for each part. Every bit belongs to exactly one block, so the guarantee holds even if the
    estimates are wrong.
    """
    share = entropy if entropy.any() else np.ones(chosen.bits)
    middles = (np.cumsum(share) - share / 2) / share.sum()
    block = np.minimum((middles * chosen.blocks).astype(np.int64), chosen.blocks - 1)
    members = block == np.arange(chosen.blocks)[:, None]
    masks = np.packbits(members, axis=1).view(">u8").astype(np.uint64)
    spans = np.zeros((chosen.blocks, 2), np.int64)
    for b, mask in enumerate(masks):
        words = np.flatnonzero(mask)
        if len(words):
            spans[b] = words[0], words[-1] + 1
    widths = np.array([min(20, math.ceil(entropy[m].sum()) + 1) for m in members], np.int64)
    budgets = np.array(chosen.budgets, np.int64)
    part_starts = np.concatenate(([0], np.cumsum(budgets + chosen.key_blocks)))
    tables = []
    for part in range(chosen.parts):
        outside = np.where(members[part_starts[part] : part_starts[part + 1]].any(axis=0), 0.0, entropy)
        word, second = telling_words(outside if outside.any() else entropy, chosen.max_distance)
        blocks = (masks, spans, widths, MULTIPLIERS, part_starts, budgets)
        prefix, limit = np.empty(0, np.int64), np.uint64(chosen.max_distance)
        tables.append(Table(*blocks, part, prefix, chosen.key_blocks, limit, word, second))
    return tables


def no_blocks(words: int, max_distance: int, entropy: Array) -> Table:
    """The table of brute force: one part without blocks, so that any two rows agree in it."""
    none = np.zeros(2, np.int64)
    blocks = (np.empty((0, words), np.uint64), np.empty((0, 2), np.int64), none, MULTIPLIERS, none, none)
    return Table(*blocks, 0, none[:0], 0, np.uint64(max_distance), *telling_words(entropy, max_distance))


def telling_words(entropy: Array, max_distance: int) -> tuple[int, int]:
    """The word to compare first, and a second word if the first does not rule out most unrelated rows (-1: none)."""
    differs = (1 - 2.0**-entropy).reshape(-1, 64)
    means, deviations = differs.sum(axis=1), np.sqrt((differs * (1 - differs)).sum(axis=1))
    word, *others = np.argsort(-means, kind="stable").tolist()
    clear = means[word] - max_distance >= CLEAR_DEVIATIONS * deviations[word]
    return word, others[0] if others and not clear else -1
