"""Find every pair of fingerprints within a Hamming distance, as a candidate graph; and the distances of listed pairs."""

import numpy as np

from neardup.arrays import Array
from neardup.hamming.candidate_graph import CandidateGraph, candidates_of
from neardup.hamming.distances import distances
from neardup.hamming.pairs import spool_near
from neardup.hamming.unique import collapse
from neardup.resources.pair_spool import check_few
from neardup.resources.resources import DEFAULTS, Resources
from neardup.resources.scratch import Scratch

EXPECTED_FROM_FINGERPRINTS, SAMPLED_FINGERPRINTS, COMPARISONS = 1 << 12, 256, 1 << 26
"""From so many fingerprints on, pairs are estimated from at most so many of them and about so many comparisons."""


def near_fingerprints(
    fingerprints: Array,
    *,
    max_distance: int,
    resources: Resources = DEFAULTS,
) -> CandidateGraph:
    """Find every pair of `fingerprints` (uint64[n, words]) at Hamming distance `max_distance` or less, as a candidate graph.

    Pairs that exceed their share of the memory go to temporary files.

    Raises:
        OptionError: a sample predicts more pairs than fit the memory and the disk.
    """
    unique = collapse(fingerprints, threads=resources.threads, scratch=resources.scratch)
    packed = near_pairs(unique.values, max_distance=max_distance, resources=resources)
    return candidates_of(fingerprints, unique, packed, resources=resources)


def near_pairs(
    values: Array,
    across: int = 0,
    *,
    max_distance: int,
    names: Array | None = None,
    most: int | None = None,
    resources: Resources = DEFAULTS,
) -> Array:
    """The pairs of `values` within the distance, as `PairSpool.all` gives them.

    Args:
        values: uint64[n, words], fingerprints, all different.
        across: if above 0, look for pairs of one of the first so many and one of the others, which may be equal; else, all.
        max_distance: Hamming distance, inclusive.
        names: int64[n], what the pairs are of; by default, the numbers of the fingerprints.

    Raises:
        ManyPairs: a sample predicts more than `most` pairs.
        OptionError: a sample predicts more pairs than fit the memory and the disk.
    """
    others = values[across:] if across else values
    pairs = expected_pairs(values[:across] if across else values, others, max_distance)
    check_few(pairs, most)
    resources.check_pairs(
        pairs,
        work=f"a join of {len(values):,} fingerprints within distance {max_distance} would find about {pairs:,} pairs, which",
        instead="a smaller `max_distance`",
    )
    spool, held = resources.pair_spool(names), resources.share("blocks") // 2
    spool_near(
        values,
        spool,
        across,
        max_distance=max_distance,
        threads=resources.threads,
        memory=held,
        scratch=Scratch(held, resources.files, resources.use, "blocks"),
    )
    return spool.all()


def expected_pairs(fingerprints: Array, others: Array, max_distance: int) -> int:
    """Estimate the pairs within the distance from an evenly spread sample of the fingerprints; 0 for few.

    uint64[n, words], uint64[m, words], the same array for the pairs within it.
    """
    n, same = len(others), others is fingerprints
    if max(n, len(fingerprints)) < EXPECTED_FROM_FINGERPRINTS or len(fingerprints) == 0:
        return 0
    some = fingerprints[:: max(1, len(fingerprints) // max(1, min(SAMPLED_FINGERPRINTS, COMPARISONS // max(1, n))))]
    near = sum(int(np.count_nonzero(distances(row, others) <= max_distance)) - same for row in some)
    return near * len(fingerprints) // ((1 + same) * len(some))


def hamming_distances(fingerprints: Array, left: Array, right: Array) -> Array:
    """int64[p]: the distance of each pair (`left[i]`, `right[i]`) of rows of `fingerprints` (uint64[n, words])."""
    return row_distances(fingerprints[left], fingerprints[right])


def row_distances(left: Array, right: Array) -> Array:
    """int64[n]: the distance of `left[i]` and `right[i]`, uint64[n, words] each; one of the two may be a single row."""
    found: Array = np.bitwise_count(left ^ right).sum(axis=1, dtype=np.int64)
    return found
