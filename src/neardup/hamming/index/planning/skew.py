"""How real fingerprints share buckets. They are unevenly spread, so a query meets more than n / 2^b of them.

A query distributed like the documents falls into a bucket of share p with probability p, and meets n p documents there: n Σ p²
per table.
"""

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np

from neardup.arrays import Array
from neardup.errors import OptionError
from neardup.hamming.index.keyed_tables import KeyPlan, bucket_bits_for, tables_of
from neardup.hamming.unique import collapse
from neardup.kernels.hamming import index_tables as kernels

SAMPLE_ROWS = 1 << 18
"""Maximum number of unique fingerprints in a sample; more would not improve the estimate."""
PAIRED_ROWS = 1 << 12
"""Number of rows whose pairs are all compared, for keys that are probed within a radius."""


def observed_skew(fingerprints: Array, *, seed: int = 0) -> Callable[[KeyPlan, int], float]:
    """Estimate, from fingerprints uint64[n, words], the candidates of a query by keys and number of documents.

    Raises:
        OptionError: there are fewer than two different fingerprints.
    """
    values = collapse(fingerprints).values
    if len(values) < 2:
        raise OptionError(f"{len(values)} different fingerprints: give at least two to see how they are spread.")
    values = np.random.default_rng(seed).permutation(values)[:SAMPLE_ROWS]

    def candidates(plan: KeyPlan, rows: int) -> float:
        buckets = buckets_of(plan, values, bucket_bits_for(plan, rows))
        return rows * math.fsum(
            _meeting(buckets[t]) if radius == 0 else _near(values[:PAIRED_ROWS], plan, t, rows)
            for t, radius in enumerate(plan.radii)
        )

    return candidates


def buckets_of(plan: KeyPlan, values: Array, bucket_bits: int) -> Array:
    """The bucket of each fingerprint of uint64[n, words] in each table of a plan: uint32[T, n]."""
    words = values.shape[1]
    tables = len(plan.chosen)
    empty, starts = (
        np.empty((tables, words, 0), np.uint64),
        np.broadcast_to(np.int64(0), (tables, (1 << bucket_bits) + 1)),
    )
    keys = tables_of(plan, empty, starts, empty)
    out, row, columns = (
        np.empty((tables, len(values)), np.uint32),
        np.empty(words, np.uint64),
        np.ascontiguousarray(values.T),
    )
    for t in range(tables):
        moves = (keys.moves, keys.move_starts[t], keys.move_starts[t + 1], keys.key_bits[t], bucket_bits)
        kernels.buckets_of(columns, *moves, row, out[t])
    return out


def _meeting(buckets: Array) -> float:
    """The share of pairs of different rows that share a bucket: an unbiased estimate of Σ p²."""
    n, sizes = len(buckets), np.unique(buckets, return_counts=True)[1].astype(float)
    return float((sizes * (sizes - 1)).sum()) / (n * (n - 1))


def _near(values: Array, plan: KeyPlan, table: int, rows: int) -> float:
    """The share of pairs whose keys are within the table's radius, plus those that share a bucket because keys are hashed."""
    mask = key_mask(plan.chosen[table], plan.bits)
    n, radius, near = len(values), plan.radii[table], 0
    for i in range(n - 1):
        apart = np.bitwise_count((values[i + 1 :] ^ values[i]) & mask).sum(axis=1)
        near += int((apart <= radius).sum())
    key_bits, buckets = min(64, len(plan.chosen[table])), bucket_bits_for(plan, rows)
    probes = sum(math.comb(key_bits, r) for r in range(radius + 1))
    shared = 0.0 if key_bits <= buckets else probes * 2.0**-buckets
    return near / (n * (n - 1) / 2) + shared


def key_mask(key: tuple[int, ...], bits: int) -> Array:
    """The bits of a key in a fingerprint, at most 64 of them: uint64[words]."""
    mask = np.zeros(bits // 64, np.uint64)
    for bit in sorted(key[:64]):
        mask[bit // 64] |= np.uint64(1) << np.uint64(63 - bit % 64)
    return mask


def counted_candidates(plan: KeyPlan, starts: Array, queries: Array) -> float:
    """The mean number of rows in the buckets that a query visits, counted one by one.

    `starts`: int64[T, buckets + 1], as in the tables.
    """
    bucket_bits, words = (starts.shape[1] - 1).bit_length() - 1, queries.shape[1]
    total = 0
    for t, (key, radius) in enumerate(zip(plan.chosen, plan.radii, strict=True)):
        bits = sorted(key[:64])
        flips = [flip for r in range(radius + 1) for flip in combinations(bits, r)]
        masks = np.array([key_mask(flip, 64 * words) for flip in flips], np.uint64).reshape(-1, words)
        one = KeyPlan(plan.bits, (key,), (0,))
        for query in queries:
            buckets = buckets_of(one, masks ^ query, bucket_bits)[0].astype(np.int64)
            total += int((starts[t, buckets + 1] - starts[t, buckets]).sum())
    return total / len(queries)
