"""CLUSTER: walk the documents in order of preference, verify what is near, and say which survivor each belongs to."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.candidates import Candidates
from neardup.kernels import clusters as kernels
from neardup.kernels.jaccard import similarities
from neardup.progress import Progress
from neardup.similarities import ShingleSets

Array = np.ndarray[Any, np.dtype[Any]]

STEP = 16_384
"""Documents walked between two looks at the clock and the memory."""
MAPPED_BYTES = 128 << 20
"""Shingle sets are released from memory once so many bytes of them may have been looked at."""


@dataclass(frozen=True, slots=True)
class Clustering:
    """Who belongs to whom, for documents 0 … n - 1 in order of preference.

    Attributes:
        survivor: int64[n], the document itself where it survives.
        similarity: float64[n], to the survivor; NaN for survivors, and where matches are by distance alone.
        matched: int64[n], the document whose match brought this one in; itself where it survives.
        matched_similarity: float64[n], to that document; NaN as above.
        compared, matches: pairs looked at and pairs that matched; pairs that could change nothing were not looked at.
    """

    survivor: Array
    similarity: Array
    matched: Array
    matched_similarity: Array
    compared: int
    matches: int


@dataclass(frozen=True, slots=True)
class _Sets:
    """Shingle sets by position in the order of preference; empty where matches are by distance alone."""

    values: Array
    starts: Array
    ends: Array


def _steps(n: int, sets: ShingleSets | None, by_position: _Sets, progress: Progress) -> Iterator[tuple[int, int]]:
    looked_at = 0
    for first in range(0, n, STEP):
        last = min(first + STEP, n)
        yield first, last
        looked_at += 8 * int((by_position.ends[first:last] - by_position.starts[first:last]).sum())
        if sets is not None and looked_at > MAPPED_BYTES:
            sets.release()
            looked_at = 0
        progress.advance(last - first)


def _sets_by_position(rows: Array, sets: ShingleSets | None) -> _Sets:
    if sets is None:
        nothing = np.zeros(len(rows), np.int64)
        return _Sets(np.frombuffer(b"", np.uint64), nothing, nothing)
    return _Sets(sets.values, sets.starts[rows], sets.ends[rows])


def cluster_star(
    candidates: Candidates, rows: Array, sets: ShingleSets | None, *, min_similarity: float, progress: Progress
) -> Clustering:
    """Each document survives unless it matches an earlier survivor, and is then its best match's duplicate."""
    n, by_position = len(candidates), _sets_by_position(rows, sets)
    survivor, grades, counts = np.arange(n), np.full(n, -1.0), np.zeros(2, np.int64)
    kept, kept_count = np.empty(n, np.int64), np.zeros(len(candidates.starts) - 1, np.int64)
    for first, last in _steps(n, sets, by_position, progress):
        kernels.star(
            first,
            last,
            candidates.class_of,
            candidates.starts,
            candidates.near,
            candidates.near_starts,
            candidates.fingerprints,
            by_position.values,
            by_position.starts,
            by_position.ends,
            float(min_similarity),
            kept,
            kept_count,
            survivor,
            grades,
            counts,
        )
    known = np.where((survivor != np.arange(n)) & (sets is not None), grades, np.nan)
    return Clustering(survivor, known, survivor, known, int(counts[0]), int(counts[1]))


def cluster_components(
    candidates: Candidates, rows: Array, sets: ShingleSets | None, *, min_similarity: float, progress: Progress
) -> Clustering:
    """Documents connected by matches are one cluster; its most preferred one survives."""
    n, by_position = len(candidates), _sets_by_position(rows, sets)
    parents, links, grades, counts = np.arange(n), np.arange(n), np.full(n, -1.0), np.zeros(2, np.int64)
    for first, last in _steps(n, sets, by_position, progress):
        kernels.components(
            first,
            last,
            candidates.class_of,
            candidates.members,
            candidates.starts,
            candidates.near,
            candidates.near_starts,
            candidates.fingerprints,
            by_position.values,
            by_position.starts,
            by_position.ends,
            float(min_similarity),
            parents,
            links,
            grades,
            counts,
        )
    survivor = parents[parents]
    while not np.array_equal(survivor, parents[survivor]):
        survivor = parents[survivor]
    similarity, matched_similarity = np.full(n, np.nan), np.full(n, np.nan)
    if sets is not None:
        duplicates = np.flatnonzero(survivor != np.arange(n))
        matched_similarity[duplicates] = grades[duplicates]
        similarity[duplicates] = similarities_of(sets, rows, duplicates, survivor[duplicates], 0.0)
    return Clustering(survivor, similarity, links, matched_similarity, int(counts[0]), int(counts[1]))


def similarities_of(sets: ShingleSets, rows: Array, left: Array, right: Array, least: float) -> Array:
    """float64[p]: the similarity of each pair of positions, or -1 where below `least`."""
    out = np.empty(len(left))
    a, b = rows[left], rows[right]
    similarities(sets.values, sets.starts, sets.ends, a, b, float(least), out)
    return out


CLUSTERERS = {"star": cluster_star, "components": cluster_components}
