"""JOIN: which documents may match, as a graph of classes. A class holds equal documents, and edges join classes that are near.

A page repeated 100,000 times is therefore one class, not five billion pairs.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.hamming.unique import Unique
from neardup.io.resume.codecs import are_below, ascend, codec
from neardup.kernels.hamming.candidates import (
    Graph,
    count_candidates,
    count_refined,
    link_classes,
    link_refined,
    list_candidates,
)
from neardup.resources.resources import DEFAULTS, Resources
from neardup.resources.spool import mapped_array

PAIRS_AT_ONCE = 1 << 20
"""Pairs in memory at a time, when pairs are streamed."""


def _is_sound(found: "CandidateGraph") -> bool:
    """Whether all offsets and indexes lie within their arrays."""
    classes = len(found.starts) - 1
    return (
        ascend(found.starts, len(found.members))
        and ascend(found.near_starts, len(found.near))
        and are_below(found.class_of, classes)
        and are_below(found.members, len(found))
        and are_below(found.near, classes)
    )


@codec(
    "candidates",
    1,
    is_sound=_is_sound,
    fingerprints="uint64[n, words]",
    class_of="int64[n]",
    members="int64[n]",
    starts="int64[classes+1]",
    near="uint32[near]",
    near_starts="int64[classes+1]",
)
@dataclass(frozen=True, slots=True)
class CandidateGraph:
    """Documents 0 … n - 1, in order of preference, and which of them are near each other.

    Attributes:
        fingerprints: uint64[n, words].
        class_of: int64[n], the class of each document. Documents of a class have equal fingerprints, or equal sets of elements.
        members, starts: int64[n], int64[classes + 1]; class u has members[starts[u]:starts[u + 1]], ascending.
        near, near_starts: uint32[], int64[classes + 1]; the other classes near u are near[near_starts[u]:near_starts[u + 1]],
            ascending.
    """

    fingerprints: Array
    class_of: Array
    members: Array
    starts: Array
    near: Array
    near_starts: Array

    def __len__(self) -> int:
        return len(self.class_of)

    @property
    def graph(self) -> Graph:
        """The same arrays, as kernels take them."""
        return Graph(self.fingerprints, self.class_of, self.members, self.starts, self.near, self.near_starts)

    @property
    def has_any(self) -> Array:
        """bool[n]: whether each document has at least one candidate."""
        classes = (np.diff(self.starts) > 1) | (np.diff(self.near_starts) > 0)
        found: Array = classes[self.class_of]
        return found


def candidates_of(
    fingerprints: Array, equal: Unique, packed: Array, *, resources: Resources = DEFAULTS
) -> CandidateGraph:
    """The candidate graph, from the classes of equal documents and the pairs of classes that are near.

    `packed`: uint64[p], left << 32 | right with left < right, ascending, every pair once. Arrays that would exceed their share of
    the memory go to a temporary file.
    """
    scratch = resources.scratch
    classes = len(equal.starts) - 1
    class_of = equal.class_of(scratch)
    near_starts = scratch.zeros(classes + 1, np.int64)
    near = _links(2 * len(packed), resources)
    link_classes(packed, near_starts, near)
    return CandidateGraph(
        np.ascontiguousarray(fingerprints),
        class_of,
        np.ascontiguousarray(equal.order, np.int64),
        np.ascontiguousarray(equal.starts, np.int64),
        near,
        near_starts,
    )


def _links(n: int, resources: Resources) -> Array:
    """uint32[n], in memory or, if that exceeds the share of the candidates, in a temporary file."""
    if 4 * n > resources.share("candidates"):
        return mapped_array(n, np.uint32, files=resources.files)
    return resources.use.hold("candidates", np.empty(n, np.uint32))


def no_candidates() -> CandidateGraph:
    """The candidate graph of no documents."""
    none = np.empty(0, np.int64)
    return CandidateGraph(
        np.empty((0, 1), np.uint64), none, none, np.zeros(1, np.int64), np.empty(0, np.uint32), np.zeros(1, np.int64)
    )


def within_groups(candidates: CandidateGraph, groups: Array, *, resources: Resources = DEFAULTS) -> CandidateGraph:
    """Only candidates of the same group (`groups`: int64[n]). Each class becomes one class for each group in it."""
    names, group_of = np.unique(groups, return_inverse=True)
    keys, class_of = np.unique(candidates.class_of * len(names) + group_of, return_inverse=True)
    old, group = keys // max(1, len(names)), keys % max(1, len(names))
    scratch = resources.scratch
    class_of, members = scratch.keep(class_of), scratch.keep(np.argsort(class_of, kind="stable"))
    starts = np.concatenate(([0], np.cumsum(np.bincount(class_of, minlength=len(keys)))))
    firsts = np.searchsorted(old, np.arange(len(candidates.starts)))
    near_starts = np.zeros(len(keys) + 1, np.int64)
    count_refined(old, group, firsts, candidates.near, candidates.near_starts, near_starts)
    near = _links(int(near_starts[-1]), resources)
    link_refined(old, group, firsts, candidates.near, candidates.near_starts, near)
    return CandidateGraph(candidates.fingerprints, class_of, members, starts, near, near_starts)


def candidate_pairs(candidates: CandidateGraph) -> Iterator[tuple[Array, Array]]:
    """All pairs of positions p < q, p ascending, about PAIRS_AT_ONCE at a time (more if one document has more)."""
    counts = np.empty(len(candidates), np.int64)
    graph = candidates.graph
    count_candidates(graph, counts)
    ends = np.cumsum(counts)
    first = 0
    while first < len(counts):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + PAIRS_AT_ONCE, "right")))
        total = int(ends[last - 1]) - before
        left, right = np.empty(total, np.int64), np.empty(total, np.int64)
        list_candidates(first, last, graph, left, right)
        if total:
            yield left, right
        first = last
