"""METHODS: run each one and compare what it found with the truth."""

import dataclasses
from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.judging.evaluation.scoring.curves import judged_scores
from neardup.judging.evaluation.scoring.intervals import UNKNOWN, Share
from neardup.judging.evaluation.scoring.sampled_corpus import SampledCorpus
from neardup.judging.evaluation.scoring.scores import MethodScore
from neardup.judging.evaluation.scoring.truth import BANDS, Truth
from neardup.matching.matches import list_matches
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.tables.methods import METHODS, MeasuredMethod


def method_score(method: MeasuredMethod, corpus: SampledCorpus, truth: Truth, *, max_distance: int) -> MethodScore:
    """Run a method on a corpus and count what it found; `max_distance` applies to methods by distance."""
    options = dataclasses.replace(
        corpus.options, method=method, max_distance=max_distance if METHODS[method].is_by_distance else None
    )
    found, total = found_with(options, corpus, truth)
    scores = scores_of(truth, found, total)
    bands = {name: truth.recall(found, truth.in_band(name)) for name in BANDS}
    return MethodScore(method, scores.recall, scores.precision, scores.f1, total, scores.unlabeled, bands)


class Scores(NamedTuple):
    """Recall, precision and F1 of the pairs that were found, and how many of them nobody judged."""

    recall: Share
    precision: Share
    f1: Share
    unlabeled: int


def scores_of(truth: Truth, found: Array, total: int) -> Scores:
    """Score `total` pairs, among them the judged ones in `found`, bool[p]."""
    unlabeled = total - int(found.sum())
    precision = f1 = UNKNOWN
    if truth.source == "sample" or truth.complete:
        precision, f1 = judged_scores(truth.positive, found, unlabeled)
        unlabeled = 0
    elif not truth.positive.all():
        precision, f1 = judged_scores(truth.positive, found)
    return Scores(truth.recall(found), precision, f1, unlabeled)


def found_with(options: DedupOptions, corpus: SampledCorpus, truth: Truth) -> tuple[Array, int]:
    """Return which judged pairs the options find, bool[p], and how many pairs they find among the documents that take part.

    With truth from a sample, only the sampled documents and their near-duplicates take part: other documents do not affect
    whether a pair is found, and nothing is known about them.
    """
    documents, n = corpus.documents, len(corpus.documents)
    looked_at = np.ones(n, np.bool_)
    if truth.source == "sample":
        looked_at[:] = False
        looked_at[truth.sampled] = True
        known = looked_at.copy()
        known[truth.left] = known[truth.right] = True
        documents = documents.only(known)
    found, total = np.zeros(len(truth), np.bool_), 0
    matches = list_matches(
        corpus.corpus, documents, corpus.recipe, options=options, progress=Progress(), every_empty=True
    )
    for part in matches:
        counted = looked_at[part.left] | looked_at[part.right]
        total += int(counted.sum())
        at = judged_places(truth, part.left[counted], part.right[counted], n)
        found[at[at >= 0]] = True
    return found, total


def judged_places(truth: Truth, left: Array, right: Array, rows: int) -> Array:
    """int64[p]: the place of each pair among the judged ones, -1 if it is none of them; `rows`: of the corpus."""
    keys, pairs = truth.left * rows + truth.right, left * rows + right
    at = np.searchsorted(keys, pairs)
    at[at == len(keys)] = 0
    return np.where(keys[at] == pairs, at, -1) if len(keys) else np.full(len(pairs), -1, np.int64)
