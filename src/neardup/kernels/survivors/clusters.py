"""Clustering in one walk over the documents, most preferred first, comparing only what can still change the answer.

Documents are positions 0 … n - 1 in order of preference. Those of one fingerprint are a class: document p is in class_of[p],
class u has the members[starts[u]:starts[u + 1]], ascending. The classes within the distance of class u are
near[near_starts[u]:near_starts[u + 1]]. What the similarity compares of p is text p of `stored` (similarities.py).
"""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import popcount
from neardup.kernels.matching.similarities import similarity_of


@kernel
def hamming(fingerprints, p, q):
    distance = 0
    for w in range(fingerprints.shape[1]):
        distance += np.int64(popcount(fingerprints[p, w] ^ fingerprints[q, w]))
    return distance


@kernel
def grade(p, q, fingerprints, stored, least):
    """How near p and q are; below 0 is no match: their similarity, or, where matches are by distance (`least` 0), 1 / (1 + d)."""
    if least > 0:
        return similarity_of(stored, p, q, least)
    return 1.0 / (1 + hamming(fingerprints, p, q))


@kernel
def look(
    p, since, class_of, starts, near, near_starts, fingerprints, stored, least, kept, kept_count, survivor, grades, counts
):  # fmt: skip
    """Make survivor[p] and grades[p] those of a better match among the survivors from document `since` on, if there is one.

    Of equally good ones the earlier is taken, in whatever order they are looked at. Arguments as in `nearest_survivors`.
    """
    u = class_of[p]
    best, best_grade = survivor[p], grades[p]
    for j in range(near_starts[u] - 1, near_starts[u + 1]):
        v = u if j < near_starts[u] else np.int64(near[j])
        i = starts[v] + kept_count[v] - 1
        while i >= starts[v] and kept[i] >= since:
            q = kept[i]
            found = grade(p, q, fingerprints, stored, least)
            counts[0] += 1
            if found >= 0:
                counts[1] += 1
                if found > best_grade or (found == best_grade and q < best):
                    best, best_grade = q, found
            i -= 1
    survivor[p], grades[p] = best, best_grade


@kernel
def nearest_survivors(
    first, last, class_of, starts, near, near_starts, fingerprints, stored, least,
    kept, kept_count, survivor, grades, counts,
):  # fmt: skip
    """The best match of each document p from `first` to `last` - 1 among the survivors so far, then the earlier one.

    survivor[p] (int64) becomes that or p, grades[p] the grade with it or -1. Nothing else changes, so threads may share the
    documents of a step among them. kept: int64[n], the survivors of class u from starts[u] on, ascending; kept_count:
    int64[classes]. counts: int64[2], pairs compared and pairs matched, added to.
    """
    for p in range(first, last):
        survivor[p], grades[p] = p, -1.0
        look(
            p, np.int64(0), class_of, starts, near, near_starts, fingerprints, stored, least,
            kept, kept_count, survivor, grades, counts,
        )  # fmt: skip


@kernel
def star(
    first, last, class_of, starts, near, near_starts, fingerprints, stored, least,
    kept, kept_count, survivor, grades, counts,
):  # fmt: skip
    """Each document in turn survives unless it matches an earlier survivor; then it is its best match's, then the earlier's.

    Walks p from `first` to `last` - 1, after `nearest_survivors` did, and looks at those only that survive since then; call with
    growing ranges. Arguments as there; kept and kept_count grow.
    """
    for p in range(first, last):
        look(
            p, first, class_of, starts, near, near_starts, fingerprints, stored, least,
            kept, kept_count, survivor, grades, counts,
        )  # fmt: skip
        if survivor[p] == p:
            u = class_of[p]
            kept[starts[u] + kept_count[u]] = p
            kept_count[u] += 1


@kernel
def root(parents, p):
    """The root of p's tree; the path to it is halved."""
    while parents[p] != p:
        parents[p] = parents[parents[p]]
        p = parents[p]
    return p


@kernel
def link_trees(links, grades, p, q, found):
    """Hang p's tree under q: p becomes its root, and the links from p up to the old root turn round."""
    while True:
        above, above_grade = links[p], grades[p]
        links[p], grades[p] = q, found
        if above == p:
            return
        p, q, found = above, p, above_grade


@kernel
def components(
    first, last, class_of, members, starts, near, near_starts, fingerprints, stored, least,
    parents, links, grades, counts,
):  # fmt: skip
    """Connected components of the matches; pairs already connected are not compared.

    Walks p from `first` to `last` - 1; call with growing ranges. parents: union-find, the root is the smallest of its
    component. links[p] and grades[p]: the match that connects p towards the root, and its grade; a root has itself and -1.
    """
    for p in range(first, last):
        u = class_of[p]
        for j in range(near_starts[u] - 1, near_starts[u + 1]):
            v = u if j < near_starts[u] else np.int64(near[j])
            for i in range(starts[v], starts[v + 1]):
                q = members[i]
                if q >= p:
                    break
                mine, other = root(parents, p), root(parents, q)
                if mine == other:
                    continue
                found = grade(p, q, fingerprints, stored, least)
                counts[0] += 1
                if found >= 0:
                    counts[1] += 1
                    if mine < other:
                        link_trees(links, grades, q, p, found)
                        parents[other] = mine
                    else:
                        link_trees(links, grades, p, q, found)
                        parents[mine] = other
