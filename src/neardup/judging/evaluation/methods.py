"""METHODS: run each one and compare what it found with the truth."""

import dataclasses

import numpy as np

from neardup.arrays import Array
from neardup.judging.evaluation.curves import judged_scores
from neardup.judging.evaluation.intervals import UNKNOWN
from neardup.judging.evaluation.result import MethodScore
from neardup.judging.evaluation.sampled_corpus import SampledCorpus
from neardup.judging.evaluation.truth import BANDS, Truth
from neardup.matching.matches import list_matches
from neardup.progress import Progress
from neardup.recipe.methods import METHODS, MeasuredMethod


def method_score(method: MeasuredMethod, corpus: SampledCorpus, truth: Truth, *, max_distance: int) -> MethodScore:
    """Run a method on a corpus and count what it found; `max_distance` applies to methods by distance."""
    found, total = _found(method, corpus, truth, max_distance)
    unlabeled = total - int(found.sum())
    precision = f1 = UNKNOWN
    if truth.source == "sample" or truth.complete:
        precision, f1 = judged_scores(truth.positive, found, unlabeled)
        unlabeled = 0
    elif not truth.positive.all():
        precision, f1 = judged_scores(truth.positive, found)
    bands = {name: truth.recall(found, truth.in_band(name)) for name in BANDS}
    return MethodScore(method, truth.recall(found), precision, f1, total, unlabeled, bands)


def _found(method: MeasuredMethod, corpus: SampledCorpus, truth: Truth, max_distance: int) -> tuple[Array, int]:
    """Return which judged pairs a method finds, bool[p], and how many pairs it finds among the documents that take part.

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
        documents = dataclasses.replace(documents, tokens=np.where(known, documents.tokens, -1))
    keys = truth.left * n + truth.right
    found, total = np.zeros(len(truth), np.bool_), 0
    options = dataclasses.replace(
        corpus.options, method=method, max_distance=max_distance if METHODS[method].is_by_distance else None
    )
    matches = list_matches(
        corpus.corpus, documents, corpus.recipe, options=options, progress=Progress(), every_empty=True
    )
    for part in matches:
        counted = looked_at[part.left] | looked_at[part.right]
        total += int(counted.sum())
        pairs = part.left[counted] * n + part.right[counted]
        at = np.searchsorted(keys, pairs)
        inside = at < len(keys)
        at, pairs = at[inside], pairs[inside]
        found[at[keys[at] == pairs]] = True
    return found, total
