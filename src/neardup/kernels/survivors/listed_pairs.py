"""Clustering of listed pairs: as in clusters.py, but what matches is known, and is walked by position alone.

Documents are positions 0 … n - 1 in order of preference.
"""

from typing import NamedTuple

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.survivors.clusters import connect, root


class EarlierMatches(NamedTuple):
    """The matches of each document with those before it.

    Attributes:
        starts, earlier: int64[n + 1], int64[pairs]; document p matches earlier[starts[p]:starts[p + 1]], ascending.
        grades: float64[pairs], how alike the two are.
    """

    starts: Array
    earlier: Array
    grades: Array


@kernel
def star_of_pairs(matches, survivor, grades, counts):
    """Each document in turn survives unless it matches an earlier survivor; then it is its best match's, then the earlier's.

    -> survivor int64[n], grades float64[n]; counts: int64[2], pairs with a survivor, twice.
    """
    for p in range(len(survivor)):
        best, best_grade = p, -1.0
        for i in range(matches.starts[p], matches.starts[p + 1]):
            q = matches.earlier[i]
            if survivor[q] == q:
                counts[0] += 1
                counts[1] += 1
                if matches.grades[i] > best_grade:
                    best, best_grade = q, matches.grades[i]
        survivor[p], grades[p] = best, best_grade


@kernel
def components_of_pairs(matches, forest, counts):
    """Connected components, into a `Forest` of single documents; `counts` as above, pairs that connect."""
    for p in range(len(forest.parents)):
        for i in range(matches.starts[p], matches.starts[p + 1]):
            q = matches.earlier[i]
            roots = root(forest.parents, p), root(forest.parents, q)
            if roots[0] == roots[1]:
                continue
            counts[0] += 1
            counts[1] += 1
            connect(forest, p, q, roots, matches.grades[i])
