"""CLUSTER from listed pairs: what `neardup.survivors.clusters` computes from candidates, without reading texts."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.documents import Documents
from neardup.kernels.survivors.clusters import Forest
from neardup.kernels.survivors.listed_pairs import EarlierMatches, components_of_pairs, star_of_pairs
from neardup.matching.equal_texts import exact_representatives
from neardup.survivors.clusters import Clustering


@dataclass(frozen=True, slots=True)
class ListedPairs:
    """Matches of documents 0 … n - 1 in order of preference; every pair once, sorted by the later, then the earlier document.

    Attributes:
        rows: int64[n], the documents.
        later, earlier: int64[p], earlier < later.
        distance: int64[p].
        similarity: float64[p], NaN where matches depend on distance alone.
    """

    rows: Array
    later: Array
    earlier: Array
    distance: Array
    similarity: Array


class RowPairs(NamedTuple):
    """Matches between any documents, as they were listed; a match may be listed more than once.

    Attributes:
        left, right: int64[p], the rows.
        distance: int64[p].
        similarity: float64[p], NaN where matches depend on distance alone.
    """

    left: Array
    right: Array
    distance: Array
    similarity: Array


class EqualTexts(NamedTuple):
    """Documents whose normalized texts are equal, and the document that represents them.

    Attributes:
        preferred: int64[m], the rows that are documents, the most preferred first.
        representative: int64[m], the row that represents each of them.
        groups: int64[rows], a document represents only documents of its own group; None if there are no groups.
    """

    preferred: Array
    representative: Array
    groups: Array | None

    @property
    def unique(self) -> Array:
        """int64: the rows that represent themselves."""
        unique: Array = self.preferred[self.preferred == self.representative]
        return unique


def best_first(
    document: Array, match: Array, similarity: Array, distance: Array, *, by_distance: bool, equal: Array | None = None
) -> Array:
    """The order of matches, document after document: of each, equal texts first (bool[p]), then the most similar or the nearest
    ones, and of equally good ones the one that comes first.
    """
    keys = (match, distance if by_distance else -similarity)
    return np.lexsort((*keys, document) if equal is None else (*keys, ~equal, document))


def pairs_of_representatives(documents: Documents, equal: EqualTexts, listed: RowPairs) -> ListedPairs:
    """The matches among representatives of equal texts: a text that equals a listed one has the same matches."""
    n, preferred = len(documents), equal.preferred
    if equal.groups is None:
        representative = np.full(n, -1, np.int64)
        representative[preferred] = equal.representative
        a, b, pair = representative[listed.left], representative[listed.right], np.arange(len(listed.left))
    else:
        a, b, pair = _in_groups(documents, equal, equal.groups, listed)
    differ = a != b
    a, b, pair = a[differ], b[differ], pair[differ]
    rank = np.empty(n, np.int64)
    rank[preferred] = np.arange(len(preferred))
    later, earlier = np.maximum(rank[a], rank[b]), np.minimum(rank[a], rank[b])
    packed, first = np.unique(later * n + earlier, return_index=True)
    later, earlier = packed // max(1, n), packed % max(1, n)
    ranks = np.unique(np.concatenate([later, earlier]))
    positions = (np.searchsorted(ranks, later), np.searchsorted(ranks, earlier))
    pair = pair[first]
    return ListedPairs(preferred[ranks], *positions, listed.distance[pair], listed.similarity[pair])


def _in_groups(documents: Documents, equal: EqualTexts, groups: Array, listed: RowPairs) -> tuple[Array, Array, Array]:
    """The representatives of both texts in each group that contains both, and the listed pair that each match comes from."""
    text = np.full(len(documents), -1, np.int64)
    text[equal.preferred] = exact_representatives(documents, equal.preferred)
    width = int(groups.max(initial=0)) + 2  # -1 stands for no value
    unique = equal.unique
    keys = text[unique] * width + groups[unique] + 1
    order = np.argsort(keys)
    keys, unique = keys[order], unique[order]
    a, b = text[listed.left], text[listed.right]
    first, last = np.searchsorted(keys, a * width), np.searchsorted(keys, (a + 1) * width)
    counts = last - first
    pair = np.repeat(np.arange(len(a)), counts)
    of_a = np.arange(len(pair)) - np.repeat(np.cumsum(counts) - counts, counts) + first[pair]
    key_of_b = b[pair] * width + keys[of_a] % width
    of_b = np.searchsorted(keys, key_of_b)
    both = keys[np.minimum(of_b, len(keys) - 1)] == key_of_b if len(keys) else np.zeros(0, np.bool_)
    return unique[of_a[both]], unique[of_b[both]], pair[both]


def _matches(pairs: ListedPairs, by_distance: bool) -> EarlierMatches:
    starts = np.searchsorted(pairs.later, np.arange(len(pairs.rows) + 1))
    grades = 1.0 / (1 + pairs.distance) if by_distance else np.ascontiguousarray(pairs.similarity)
    return EarlierMatches(starts, pairs.earlier, grades)


def star_of_listed(pairs: ListedPairs, *, by_distance: bool) -> Clustering:
    """Like `neardup.survivors.clusters.cluster_star`."""
    n = len(pairs.rows)
    survivor, grades, counts = np.arange(n), np.full(n, -1.0), np.zeros(2, np.int64)
    star_of_pairs(_matches(pairs, by_distance), survivor, grades, counts)
    known = np.where((survivor != np.arange(n)) & (not by_distance), grades, np.nan)
    return Clustering(survivor, known, survivor, known, int(counts[0]), int(counts[1]))


def components_of_listed(pairs: ListedPairs, *, by_distance: bool) -> Clustering:
    """Like `neardup.survivors.clusters.cluster_components`, but the similarity to a survivor is known only if that pair is listed.

    A document may be connected by another match of its cluster.
    """
    n = len(pairs.rows)
    forest, counts = Forest(np.arange(n), np.arange(n), np.full(n, -1.0)), np.zeros(2, np.int64)
    components_of_pairs(_matches(pairs, by_distance), forest, counts)
    survivor = roots_of(forest)
    similarity, matched_similarity = np.full(n, np.nan), np.full(n, np.nan)
    if not by_distance:
        removed = survivor != np.arange(n)
        matched_similarity[removed] = forest.grades[removed]
        listed = survivor[pairs.later] == pairs.earlier
        similarity[pairs.later[listed]] = pairs.similarity[listed]
    return Clustering(survivor, similarity, forest.links, matched_similarity, int(counts[0]), int(counts[1]))


def roots_of(forest: Forest) -> Array:
    """int64[n]: the first document of the component of each one."""
    roots: Array = forest.parents[forest.parents]
    while not np.array_equal(roots, forest.parents[roots]):
        roots = forest.parents[roots]
    return roots


def connected(n: int, parts: Iterable[tuple[Array, Array]]) -> Array:
    """The components of n documents: int64[n], the first document of each one's.

    Args:
        n: the number of documents.
        parts: pairs, a part at a time: the earlier and the later documents, int64[p], by the later ones.
    """
    forest, counts = Forest(np.arange(n), np.arange(n), np.full(n, -1.0)), np.zeros(2, np.int64)
    for earlier, later in parts:
        starts = np.searchsorted(later, np.arange(n + 1))
        components_of_pairs(EarlierMatches(starts, earlier, np.ones(len(earlier))), forest, counts)
    return roots_of(forest)


LISTED_CLUSTERERS = {"star": star_of_listed, "components": components_of_listed}
