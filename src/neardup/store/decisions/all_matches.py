"""EVERY MATCH of texts, the best first: not only what a walk decides by, but all that is so similar, and all that is equal.

And how similar a text is to one document, whether they match or not.
"""

import numpy as np

from neardup.arrays import Array
from neardup.hamming.near import row_distances
from neardup.matching.text_features import Texts
from neardup.store.decisions.star import Decided, walk
from neardup.store.formats.segments import NOTHING_FOUND, Found
from neardup.store.session.backend import Backend
from neardup.survivors.listed_pairs import best_first

ANYTHING_IN_COMMON = 1e-9
"""A similarity that all texts have except those with nothing in common."""


def every_match(files: Backend, texts: Texts, least: float, keeps: Array | None = None) -> tuple[Decided, Array]:
    """All documents that texts match: kept ones, and those of the texts before them that will be kept (bool[n], by default
    none); and bool[matches], which are equal. Equal texts come first, also the short ones that the candidates lack.
    """
    if keeps is None:
        keeps = np.zeros(len(texts), np.bool_)
    of_kept, equal_kept = files.candidates.of_kept(texts), files.known.all_kept(texts.prints)
    among = equal = NOTHING_FOUND
    if keeps.any() and len(texts) > 1:
        among, equal = (_from(pairs, keeps) for pairs in (files.candidates.among(texts), _equal_among(texts)))
    found = walk(files, texts, _without(of_kept, equal_kept), _without(among, equal), least, keeps_all=True)
    numbers = len(files.contents) + np.cumsum(keeps) - 1
    found, n = found.named(numbers), len(equal_kept.asked) + len(equal.asked)
    places = np.concatenate([np.repeat(np.arange(len(texts)), np.diff(found.starts)), equal_kept.asked, equal.found])
    documents = np.concatenate([found.documents, equal_kept.found, numbers[equal.asked]])
    similarity = np.concatenate([found.similarity, np.ones(n)])
    distance = np.concatenate([found.distance, np.zeros(n, np.int64)])
    is_equal = np.arange(len(places)) >= len(found.documents)
    order = best_first(places, documents, similarity, distance, by_distance=least == 0, equal=is_equal)
    columns = (column[order] for column in (places, documents, similarity, distance))
    return Decided.listed(len(texts), *columns), is_equal[order]


def similarity_to(files: Backend, text: Texts, number: int) -> tuple[float | None, int]:
    """The similarity and the distance of one text and a kept document; no similarity if the store decides by distance alone."""
    at = np.array([number])
    rows = files.contents.rows(at)
    distance = int(row_distances(files.contents.fingerprints(rows), text.prints.values)[0])
    if files.rules.options.min_similarity == 0:
        return None, distance
    if (files.contents.digests(rows) == text.prints.digests).all():
        return 1.0, 0
    found = walk(files, text, Found(np.array([0]), at), NOTHING_FOUND, ANYTHING_IN_COMMON, keeps_all=True)
    return (float(found.similarity[0]) if len(found.similarity) else 0.0), distance


def _equal_among(texts: Texts) -> Found:
    """All pairs of two places whose texts are equal, the smaller first."""
    _, group, counts = np.unique(texts.prints.digests, axis=0, return_inverse=True, return_counts=True)
    left, right = [NOTHING_FOUND.asked], [NOTHING_FOUND.found]
    for each in np.flatnonzero(counts > 1).tolist():
        places = np.flatnonzero(group.ravel() == each)
        earlier, later = np.triu_indices(len(places), 1)
        left.append(places[earlier])
        right.append(places[later])
    return Found(np.concatenate(left), np.concatenate(right))


def _from(pairs: Found, keeps: Array) -> Found:
    """The pairs whose first place will be kept."""
    kept = keeps[pairs.asked]
    return Found(pairs.asked[kept], pairs.found[kept])


def _without(pairs: Found, others: Found) -> Found:
    """The pairs that are none of some others."""
    if not len(pairs.asked) or not len(others.asked):
        return pairs
    left = ~np.isin(pairs.asked << 32 | pairs.found, others.asked << 32 | others.found)
    return Found(pairs.asked[left], pairs.found[left])
