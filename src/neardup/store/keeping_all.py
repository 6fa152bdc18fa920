"""KEEP ALL: the answers of a store that keeps every document: all matches of each, the equal ones first."""

import numpy as np

from neardup.arrays import Array
from neardup.store.answers import StoreAnswer
from neardup.store.files import Files
from neardup.store.given import Given
from neardup.store.postings import NOTHING_FOUND, Found
from neardup.store.texts import Texts
from neardup.store.walk import Decided, walk


def ask_all(files: Files, texts: Texts) -> list[StoreAnswer]:
    """The answers to texts, each for itself."""
    decided, equal = _all_matches(files, texts, np.zeros(len(texts), np.bool_))
    return decided.answers(files.record, {}, equal)


def add_all(files: Files, texts: Texts, given: Given) -> list[StoreAnswer]:
    """Answer documents with different ids that are not kept, or with equal texts, in order; and keep those that are not."""
    there, first = files.known.of_ids(given.names), len(files.contents)
    keeps = np.array([name not in there for name in given.names], np.bool_)
    decided, equal = _all_matches(files, texts, keeps)
    kept = np.flatnonzero(keeps)
    rows = given.rows(kept.tolist(), first)
    best = decided.documents[decided.starts[:-1][~decided.is_new]]
    seen = {*best[best < first].tolist(), *(row.number for row in there.values())}
    files.keep(texts[kept], rows, [], seen, given.now)
    return decided.answers(files.record, {row.number: row for row in rows}, equal)


def _all_matches(files: Files, texts: Texts, keeps: Array) -> tuple[Decided, Array]:
    """What texts match: kept documents, and those before them that will be kept (bool[n]); and bool[matches], which are equal."""
    of_kept, equal_kept = files.candidates.of_kept(texts), files.known.all_kept(texts.prints)
    among = equal = NOTHING_FOUND
    if keeps.any() and len(texts) > 1:
        among, equal = (_from(pairs, keeps) for pairs in (files.candidates.among(texts), _equal_among(texts)))
    least = float(files.rules.options.min_similarity)
    found = walk(
        texts,
        _without(of_kept, equal_kept),
        _without(among, equal),
        files.contents,
        files.similarity,
        min_similarity=least,
        keeps_all=True,
        resources=files.resources,
    )
    numbers = len(files.contents) + np.cumsum(keeps) - 1
    found, n = found.named(numbers), len(equal_kept.asked) + len(equal.asked)
    places = np.concatenate([np.repeat(np.arange(len(texts)), np.diff(found.starts)), equal_kept.asked, equal.found])
    documents = np.concatenate([found.documents, equal_kept.found, numbers[equal.asked]])
    similarity = np.concatenate([found.similarity, np.ones(n)])
    distance = np.concatenate([found.distance, np.zeros(n, np.int64)])
    is_equal = np.arange(len(places)) >= len(found.documents)
    order = np.lexsort((documents, distance if least == 0 else -similarity, ~is_equal, places))
    starts = np.zeros(len(texts) + 1, np.int64)
    counts = np.bincount(places, minlength=len(texts))
    np.cumsum(counts, out=starts[1:])
    return Decided(counts == 0, starts, documents[order], similarity[order], distance[order]), is_equal[order]


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
