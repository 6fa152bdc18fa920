"""REMOVAL: how many documents each threshold of similarity removes."""

import numpy as np

from neardup.arrays import Array
from neardup.judging.evaluation.scoring.intervals import Share, wilson
from neardup.judging.evaluation.scoring.sampled_corpus import SampledCorpus
from neardup.judging.evaluation.scoring.sampling import SimilarPairs
from neardup.judging.evaluation.scoring.scores import RemovedShare
from neardup.matching.equal_texts import exact_representatives
from neardup.matching.matches import Matches
from neardup.options import DedupOptions
from neardup.recipe.similarity import Similarity
from neardup.recipe.tables.similarities import SimilarityName
from neardup.survivors.decisions import in_order_of_preference
from neardup.survivors.listed_pairs import EqualTexts, RowPairs, pairs_of_representatives, star_of_listed

STEP_PERCENT = 5
"""Between thresholds, in percent."""


def thresholds_from(least: float) -> list[float]:
    """The thresholds for which removal is shown, ascending, `least` among them.

    >>> thresholds_from(0.87)
    [0.87, 0.9, 0.95, 1.0]
    """
    return sorted(
        {least, *(percent / 100 for percent in range(STEP_PERCENT, 101, STEP_PERCENT) if percent / 100 > least)}
    )


def removal_of_matches(
    corpus: SampledCorpus, matches: Matches, similarity: Similarity | SimilarityName, least: float
) -> list[RemovedShare]:
    """Decide as de-duplication does for each threshold; `matches`: all pairs of a similarity of at least `least`."""
    found = []
    for threshold in thresholds_from(least):
        removed = removed_documents(corpus, _reaching(matches, threshold))
        found.append(RemovedShare(str(similarity), threshold, float(removed), wilson(removed, corpus.counts.documents)))
    return found


def removed_documents(corpus: SampledCorpus, matches: Matches, *, by_distance: bool = False) -> int:
    """The number of documents that are not kept if these pairs match, among them all but the first of equal texts."""
    documents = corpus.documents
    preferred = in_order_of_preference(documents, DedupOptions())
    equal = EqualTexts(preferred, exact_representatives(documents, preferred), None)
    listed = RowPairs(matches.left, matches.right, matches.distance, matches.similarity)
    pairs = pairs_of_representatives(documents, equal, listed)
    stars = star_of_listed(pairs, by_distance=by_distance)
    near = np.count_nonzero(stars.survivor != np.arange(len(pairs.rows)))
    return int(near) + len(preferred) - len(equal.unique)


def removal_of_sample(corpus: SampledCorpus, similar: SimilarPairs) -> list[RemovedShare]:
    """Like `removal_of_matches`, from the pairs of sampled documents.

    If not every document was sampled, nothing says whether the earlier document of a pair is itself removed. So each sampled
    document with an earlier near-duplicate counts as removed: no more are.
    """
    distance = np.zeros(len(similar), np.int64)
    matches = Matches(similar.left, similar.right, distance, similar.similarity)
    if len(corpus.sampled) == np.count_nonzero(corpus.among):
        return removal_of_matches(corpus, matches, "jaccard", similar.least)
    documents, equal = corpus.counts.documents, corpus.counts.equal_texts
    found = []
    for threshold in thresholds_from(similar.least):
        later = np.isin(corpus.sampled, _reaching(matches, threshold).right)
        near = wilson(int(np.count_nonzero(later)), len(corpus.sampled))
        share = _of_all(near, documents, equal)
        found.append(RemovedShare("jaccard", threshold, (share.value or 0.0) * documents, share))
    return found


def _of_all(near: Share, documents: int, equal: int) -> Share:
    """The share of all documents, of which `equal` are equal to an earlier one, from the share of the others."""
    if near.value is None or near.low is None or near.high is None:
        return wilson(equal, documents)
    value, low, high = ((equal + part * (documents - equal)) / documents for part in (near.value, near.low, near.high))
    return Share(value, low, high, near.count, near.of)


def _reaching(matches: Matches, threshold: float) -> Matches:
    kept: Array = matches.similarity >= threshold
    return Matches(matches.left[kept], matches.right[kept], matches.distance[kept], matches.similarity[kept])
