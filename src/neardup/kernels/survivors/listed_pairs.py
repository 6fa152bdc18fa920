"""Clustering of listed pairs: as in clusters.py, but what matches is known, and is walked by position alone.

Documents are positions 0 … n - 1 in order of preference. Those before p that it matches are before[starts[p]:starts[p + 1]],
ascending, with the grades grade_of at the same places.
"""

from neardup.kernels.compilation import kernel
from neardup.kernels.survivors.clusters import link_trees, root


@kernel
def star_of_pairs(starts, before, grade_of, survivor, grades, counts):
    """Each document in turn survives unless it matches an earlier survivor; then it is its best match's, then the earlier's.

    int64[n + 1], int64[pairs], float64[pairs] -> survivor int64[n], grades float64[n]; counts: int64[2], pairs with a survivor,
    twice.
    """
    for p in range(len(survivor)):
        best, best_grade = p, -1.0
        for i in range(starts[p], starts[p + 1]):
            q = before[i]
            if survivor[q] == q:
                counts[0] += 1
                counts[1] += 1
                if grade_of[i] > best_grade:
                    best, best_grade = q, grade_of[i]
        survivor[p], grades[p] = best, best_grade


@kernel
def components_of_pairs(starts, before, grade_of, parents, links, grades, counts):
    """Connected components; parents, links and grades as in `neardup.kernels.survivors.clusters.components`, to begin with
    likewise.
    """
    for p in range(len(parents)):
        for i in range(starts[p], starts[p + 1]):
            q = before[i]
            mine, other = root(parents, p), root(parents, q)
            if mine == other:
                continue
            counts[0] += 1
            counts[1] += 1
            if mine < other:
                link_trees(links, grades, q, p, grade_of[i])
                parents[other] = mine
            else:
                link_trees(links, grades, p, q, grade_of[i])
                parents[mine] = other
