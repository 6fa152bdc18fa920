"""Every pair of fingerprints within a Hamming distance, as a graph of classes of equal ones; and the distances of listed pairs."""

import numpy as np

from neardup.arrays import Array
from neardup.hamming.candidate_graph import CandidateGraph, candidates_of
from neardup.hamming.pairs import spool_near
from neardup.hamming.unique import collapse
from neardup.resources.limits import memory_bytes
from neardup.resources.pair_spool import PairSpool
from neardup.resources.scratch import SHARE, Scratch


def near_fingerprints(
    fingerprints: Array,
    *,
    max_distance: int,
    threads: int | None,
    memory: int | None = None,
    temp_dir: str | None = None,
) -> CandidateGraph:
    """Every pair of `fingerprints` (uint64[n, words]) at Hamming distance `max_distance` or less, as classes.

    Pairs that take more than about half of `memory` (half of the machine's) go to temporary files in `temp_dir`.
    """
    memory = memory_bytes(memory)
    scratch = Scratch(memory // SHARE, temp_dir)
    unique = collapse(fingerprints, scratch=scratch)
    spool = PairSpool(memory=memory // 4, temp_dir=temp_dir)
    spool_near(unique, spool, max_distance=max_distance, threads=threads, memory=memory // 4)
    return candidates_of(fingerprints, unique, spool.all(), memory=memory // 8, temp_dir=temp_dir, scratch=scratch)


def hamming_distances(fingerprints: Array, left: Array, right: Array) -> Array:
    """int64[p]: the distance of each pair of rows of uint64[n, words]."""
    found: Array = np.bitwise_count(fingerprints[left] ^ fingerprints[right]).sum(axis=1, dtype=np.int64)
    return found
