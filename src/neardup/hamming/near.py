"""Find every pair of fingerprints within a Hamming distance, as a candidate graph; and the distances of listed pairs."""

import numpy as np

from neardup.arrays import Array
from neardup.hamming.candidate_graph import CandidateGraph, candidates_of
from neardup.hamming.pairs import spool_near
from neardup.hamming.unique import collapse
from neardup.resources.resources import DEFAULTS, Resources


def near_fingerprints(
    fingerprints: Array,
    *,
    max_distance: int,
    resources: Resources = DEFAULTS,
) -> CandidateGraph:
    """Every pair of `fingerprints` (uint64[n, words]) at Hamming distance `max_distance` or less, as a candidate graph.

    Pairs that exceed their share of the memory go to temporary files.
    """
    unique = collapse(fingerprints, scratch=resources.scratch)
    spool = resources.pair_spool()
    spool_near(unique, spool, max_distance=max_distance, threads=resources.threads, memory=resources.share("blocks"))
    return candidates_of(fingerprints, unique, spool.all(), resources=resources)


def hamming_distances(fingerprints: Array, left: Array, right: Array) -> Array:
    """int64[p]: the distance of each pair (`left[i]`, `right[i]`) of rows of `fingerprints` (uint64[n, words])."""
    found: Array = np.bitwise_count(fingerprints[left] ^ fingerprints[right]).sum(axis=1, dtype=np.int64)
    return found
