"""CLUSTER, from pairs that were listed before: what `neardup.survivors.clusters` finds from candidates, without reading texts."""

from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.documents import Documents
from neardup.kernels.survivors.clusters import Forest
from neardup.kernels.survivors.listed_pairs import EarlierMatches, components_of_pairs, star_of_pairs
from neardup.matching.equal_texts import exact_representatives
from neardup.survivors.clusters import Clustering


@dataclass(frozen=True, slots=True)
class ListedPairs:
    """Matches of documents 0 … n - 1 in order of preference; every pair once, by the later, then the earlier.

    Attributes:
        rows: int64[n], the documents.
        later, earlier: int64[p], earlier < later.
        distance: int64[p].
        similarity: float64[p], NaN where matches are by distance alone.
    """

    rows: Array
    later: Array
    earlier: Array
    distance: Array
    similarity: Array


def pairs_of_representatives(
    documents: Documents,
    preferred: Array,
    representative: Array,
    groups: Array | None,
    left: Array,
    right: Array,
    distance: Array,
    similarity: Array,
) -> ListedPairs:
    """The matches among representatives of equal texts, from pairs of any of the documents that they stand for.

    Args:
        preferred, representative, groups: as in `neardup.survivors.decisions`.
        left, right, distance, similarity: of listed pairs, by row; one may be listed more than once, and a text equal to a listed
            one has the same matches.
    """
    n = len(documents)
    if groups is None:
        stands = np.full(n, -1, np.int64)
        stands[preferred] = representative
        a, b, at = stands[left], stands[right], np.arange(len(left))
    else:
        a, b, at = _in_groups(documents, preferred, representative, groups, left, right)
    differ = a != b
    a, b, at = a[differ], b[differ], at[differ]
    rank = np.empty(n, np.int64)
    rank[preferred] = np.arange(len(preferred))
    later, earlier = np.maximum(rank[a], rank[b]), np.minimum(rank[a], rank[b])
    packed, first = np.unique(later * n + earlier, return_index=True)
    later, earlier = packed // max(1, n), packed % max(1, n)
    near = np.unique(np.concatenate([later, earlier]))
    at = at[first]
    places = (np.searchsorted(near, later), np.searchsorted(near, earlier))
    return ListedPairs(preferred[near], *places, distance[at], similarity[at])


def _in_groups(
    documents: Documents, preferred: Array, representative: Array, groups: Array, left: Array, right: Array
) -> tuple[Array, Array, Array]:
    """The representatives of both texts in each group that has both; and which pair says so."""
    text = np.full(len(documents), -1, np.int64)
    text[preferred] = exact_representatives(documents, preferred)
    distinct = preferred[preferred == representative]
    width = int(groups.max(initial=0)) + 2  # from -1, no value
    keys = text[distinct] * width + groups[distinct] + 1
    order = np.argsort(keys)
    keys, distinct = keys[order], distinct[order]
    a, b = text[left], text[right]
    first, last = np.searchsorted(keys, a * width), np.searchsorted(keys, (a + 1) * width)
    counts = last - first
    at = np.repeat(np.arange(len(a)), counts)
    places = np.arange(len(at)) - np.repeat(np.cumsum(counts) - counts, counts) + first[at]
    wanted = b[at] * width + keys[places] % width
    found = np.searchsorted(keys, wanted)
    both = keys[np.minimum(found, len(keys) - 1)] == wanted if len(keys) else np.zeros(0, np.bool_)
    return distinct[places[both]], distinct[found[both]], at[both]


def _matches(pairs: ListedPairs, by_distance: bool) -> EarlierMatches:
    starts = np.searchsorted(pairs.later, np.arange(len(pairs.rows) + 1))
    grades = 1.0 / (1 + pairs.distance) if by_distance else np.ascontiguousarray(pairs.similarity)
    return EarlierMatches(starts, pairs.earlier, grades)


def star_of_listed(pairs: ListedPairs, *, by_distance: bool) -> Clustering:
    """As `neardup.survivors.clusters.cluster_star`."""
    n = len(pairs.rows)
    survivor, grades, counts = np.arange(n), np.full(n, -1.0), np.zeros(2, np.int64)
    star_of_pairs(_matches(pairs, by_distance), survivor, grades, counts)
    known = np.where((survivor != np.arange(n)) & (not by_distance), grades, np.nan)
    return Clustering(survivor, known, survivor, known, int(counts[0]), int(counts[1]))


def components_of_listed(pairs: ListedPairs, *, by_distance: bool) -> Clustering:
    """As `neardup.survivors.clusters.cluster_components`, but the similarity to a survivor is known only where that pair is listed.

    The match that connects a document may be another one of its cluster.
    """
    n = len(pairs.rows)
    forest, counts = Forest(np.arange(n), np.arange(n), np.full(n, -1.0)), np.zeros(2, np.int64)
    components_of_pairs(_matches(pairs, by_distance), forest, counts)
    survivor = forest.parents[forest.parents]
    while not np.array_equal(survivor, forest.parents[survivor]):
        survivor = forest.parents[survivor]
    similarity, matched_similarity = np.full(n, np.nan), np.full(n, np.nan)
    if not by_distance:
        removed = survivor != np.arange(n)
        matched_similarity[removed] = forest.grades[removed]
        listed = survivor[pairs.later] == pairs.earlier
        similarity[pairs.later[listed]] = pairs.similarity[listed]
    return Clustering(survivor, similarity, forest.links, matched_similarity, int(counts[0]), int(counts[1]))


LISTED_CLUSTERERS = {"star": star_of_listed, "components": components_of_listed}
