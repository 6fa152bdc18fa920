"""Clustering in one walk over the documents, most preferred first, comparing only what can still change the answer.

Documents are positions 0 … n - 1 in order of preference; who may match whom is a `Graph` (kernels/hamming/candidates.py). What the
similarity compares of document p is text p of `texts`, a `Stored` (kernels/matching/similarities.py). `threshold` is what a
similarity must reach; 0: candidates match by their distance, which the graph has kept to. `counts`: int64[2], pairs compared and
pairs matched, added to.
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.fingerprints.shingles import sort_hashes
from neardup.kernels.intrinsics import popcount
from neardup.kernels.matching.similarities import similarity_of


class SurvivorState(NamedTuple):
    """Which documents survive so far, and to which of them each other one belongs.

    Attributes:
        kept, kept_count: int64[n], int64[classes]; the survivors of class u are the first kept_count[u] from kept[starts[u]] on,
            ascending.
        survivor: int64[n], the best match among the survivors of each document; the document itself if it has none.
        grades: float64[n], the grade with it, or -1.
    """

    kept: Array
    kept_count: Array
    survivor: Array
    grades: Array


class Forest(NamedTuple):
    """Connected documents, as union-find; and the matches that connect them.

    The matches are those that come first if documents are walked in order, and the documents before each in order, too: the same
    for every way to find them.

    Attributes:
        parents: int64[n], union-find: a root is the smallest of its component.
        links, grades: int64[n], float64[n], the match that connects each document towards the root, and its grade; a root has
            itself and -1.
    """

    parents: Array
    links: Array
    grades: Array


@kernel
def grade(p, q, graph, texts, threshold):
    """How alike p and q are, below 0 if they do not match: their similarity, or 1 / (1 + distance) where `threshold` is 0."""
    if threshold > 0:
        return similarity_of(texts, p, q, threshold)
    distance = 0
    for w in range(graph.fingerprints.shape[1]):
        distance += np.int64(popcount(graph.fingerprints[p, w] ^ graph.fingerprints[q, w]))
    return 1.0 / (1 + distance)


@kernel
def look(p, since, graph, texts, threshold, state, counts):
    """Make survivor[p] and grades[p] those of a better match among the survivors from document `since` on, if there is one.

    Of equally good ones the earlier is taken, in whatever order they are looked at.
    """
    starts, near_starts, kept = graph.starts, graph.near_starts, state.kept
    u = graph.class_of[p]
    best, best_grade = state.survivor[p], state.grades[p]
    for j in range(near_starts[u] - 1, near_starts[u + 1]):
        v = u if j < near_starts[u] else np.int64(graph.near[j])
        i = starts[v] + state.kept_count[v] - 1
        while i >= starts[v] and kept[i] >= since:
            q = kept[i]
            q_grade = grade(p, q, graph, texts, threshold)
            counts[0] += 1
            if q_grade >= 0:
                counts[1] += 1
                if q_grade > best_grade or (q_grade == best_grade and q < best):
                    best, best_grade = q, q_grade
            i -= 1
    state.survivor[p], state.grades[p] = best, best_grade


@kernel
def has_candidates(p, graph):
    """Whether another document may match p; most have none, and a call less for these nearly halves the time of a walk."""
    u = graph.class_of[p]
    return graph.starts[u + 1] - graph.starts[u] > 1 or graph.near_starts[u + 1] > graph.near_starts[u]


@kernel
def nearest_survivors(first, last, graph, texts, threshold, state, counts):
    """The best match of each document p from `first` to `last` - 1 among the survivors so far, then the earlier one.

    survivor[p] becomes that or p, grades[p] the grade with it or -1. Nothing else changes, so threads may share the documents of a
    step among them.
    """
    for p in range(first, last):
        state.survivor[p], state.grades[p] = p, -1.0
        if has_candidates(p, graph):
            look(p, np.int64(0), graph, texts, threshold, state, counts)


@kernel
def star(first, last, graph, texts, threshold, state, counts):
    """Each document in turn survives unless it matches an earlier survivor; then it is its best match's, then the earlier's.

    Walks p from `first` to `last` - 1, after `nearest_survivors` did, and looks at those only that survive since then; call with
    growing ranges.
    """
    for p in range(first, last):
        if has_candidates(p, graph):
            look(p, first, graph, texts, threshold, state, counts)
        if state.survivor[p] == p:
            u = graph.class_of[p]
            state.kept[graph.starts[u] + state.kept_count[u]] = p
            state.kept_count[u] += 1


@kernel
def root(parents, p):
    """The root of p's tree; the path to it is halved."""
    while parents[p] != p:
        parents[p] = parents[parents[p]]
        p = parents[p]
    return p


@kernel
def link_trees(links, grades, p, q, match_grade):
    """Hang p's tree under q: p becomes its root, and the links from p up to the old root turn round."""
    while True:
        above, above_grade = links[p], grades[p]
        links[p], grades[p] = q, match_grade
        if above == p:
            return
        p, q, match_grade = above, p, above_grade


@kernel
def connect(forest, p, q, roots, match_grade):
    """Make one component of those of p and q, whose roots are given, by their match."""
    if roots[0] < roots[1]:
        link_trees(forest.links, forest.grades, q, p, match_grade)
        forest.parents[roots[1]] = roots[0]
    else:
        link_trees(forest.links, forest.grades, p, q, match_grade)
        forest.parents[roots[0]] = roots[1]


@kernel
def earlier_candidates(p, graph, found):
    """The documents before p that may match it, ascending, at the front of found[0] (uint64[2, room]). Returns how many."""
    count, is_sorted = 0, True
    starts, near_starts, u = graph.starts, graph.near_starts, graph.class_of[p]
    for j in range(near_starts[u] - 1, near_starts[u + 1]):
        v = u if j < near_starts[u] else np.int64(graph.near[j])
        for i in range(starts[v], starts[v + 1]):
            q = graph.members[i]
            if q >= p:
                break
            is_sorted &= count == 0 or found[0, count - 1] < q
            found[0, count] = q
            count += 1
    if not is_sorted:
        sort_hashes(found[0, :count], found[1])
    return count


@kernel
def components(first, last, graph, texts, threshold, forest, found, counts):
    """Connected components of the matches; pairs already connected are not compared.

    Walks p from `first` to `last` - 1, and the documents before each ascending, so that the matches that connect are the first in
    that order, whichever classes and candidates there are. Call with growing ranges. found: uint64[2, sort_spare(n)].
    """
    for p in range(first, last):
        if not has_candidates(p, graph):
            continue
        for i in range(earlier_candidates(p, graph, found)):
            q = np.int64(found[0, i])
            roots = root(forest.parents, p), root(forest.parents, q)
            if roots[0] == roots[1]:
                continue
            match_grade = grade(p, q, graph, texts, threshold)
            counts[0] += 1
            if match_grade >= 0:
                counts[1] += 1
                connect(forest, p, q, roots, match_grade)
