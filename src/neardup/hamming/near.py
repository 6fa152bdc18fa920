"""Find every pair of fingerprints within a Hamming distance, as a candidate graph; and the distances of listed pairs."""

import numpy as np

from neardup.arrays import Array
from neardup.hamming.candidate_graph import CandidateGraph, candidates_of
from neardup.hamming.distances import distances
from neardup.hamming.pairs import spool_near
from neardup.hamming.unique import collapse
from neardup.resources.resources import DEFAULTS, Resources
from neardup.resources.scratch import Scratch

EXPECTED_FROM, SAMPLED, COMPARED = 1 << 12, 256, 1 << 26
"""From EXPECTED_FROM fingerprints on, pairs are estimated from at most SAMPLED fingerprints and about COMPARED comparisons."""


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
    pairs = expected_pairs(unique.values, max_distance)
    resources.check_pairs(
        pairs,
        work=f"a join of {len(unique):,} fingerprints within distance {max_distance} would find about {pairs:,} pairs, which",
        instead="a smaller `max_distance`",
    )
    spool, held = resources.pair_spool(), resources.share("blocks") // 2
    spool_near(
        unique,
        spool,
        max_distance=max_distance,
        threads=resources.threads,
        memory=held,
        scratch=Scratch(held, resources.temp_dir, resources.use, "blocks"),
    )
    return candidates_of(fingerprints, unique, spool.all(), resources=resources)


def expected_pairs(fingerprints: Array, max_distance: int) -> int:
    """Estimate the pairs within the distance among unique rows, uint64[n, words], from an evenly spread sample; 0 for few."""
    n = len(fingerprints)
    if n < EXPECTED_FROM:
        return 0
    some = fingerprints[:: max(1, n // max(1, min(SAMPLED, COMPARED // n)))]
    near = sum(int(np.count_nonzero(distances(row, fingerprints) <= max_distance)) - 1 for row in some)
    return near * n // (2 * len(some))


def hamming_distances(fingerprints: Array, left: Array, right: Array) -> Array:
    """int64[p]: the distance of each pair (`left[i]`, `right[i]`) of rows of `fingerprints` (uint64[n, words])."""
    found: Array = np.bitwise_count(fingerprints[left] ^ fingerprints[right]).sum(axis=1, dtype=np.int64)
    return found
