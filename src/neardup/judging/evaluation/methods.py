"""METHODS: each is run, and what it found is compared with what is known."""

import dataclasses

import numpy as np

from neardup.fingerprints.documents import Documents
from neardup.io.corpora import Corpus
from neardup.judging.evaluation.curves import judged_scores
from neardup.judging.evaluation.intervals import UNKNOWN
from neardup.judging.evaluation.result import MethodScore
from neardup.judging.evaluation.truth import BANDS, Truth
from neardup.matching.matches import list_matches
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.methods import METHODS, MeasuredMethod
from neardup.recipe.recipe import Recipe


def method_score(
    method: MeasuredMethod,
    corpus: Corpus,
    documents: Documents,
    recipe: Recipe,
    truth: Truth,
    *,
    max_distance: int,
    options: DedupOptions,
) -> MethodScore:
    """Run a method on a corpus.

    With truth from a sample only on the sampled documents and their near-duplicates: whether a pair is found does not depend on
    others, and of others nothing is known. `max_distance` is for a method by distance.
    """
    n = len(documents)
    by_sample = truth.source == "sample"
    sampled = np.zeros(n, np.bool_)
    sampled[truth.sampled] = True
    if by_sample:
        known = sampled.copy()
        known[truth.left] = known[truth.right] = True
        documents = dataclasses.replace(documents, tokens=np.where(known, documents.tokens, -1))
    keys = truth.left * n + truth.right
    found = np.zeros(len(truth), np.bool_)
    total = 0
    chosen = dataclasses.replace(
        options, method=method, max_distance=max_distance if METHODS[method].is_by_distance else None
    )
    for part in list_matches(corpus, documents, recipe, options=chosen, progress=Progress()):
        looked_at = sampled[part.left] | sampled[part.right] if by_sample else np.ones(len(part), np.bool_)
        total += int(looked_at.sum())
        these = part.left[looked_at] * n + part.right[looked_at]
        at = np.searchsorted(keys, these)
        inside = at < len(keys)
        at, these = at[inside], these[inside]
        found[at[keys[at] == these]] = True
    unlabeled = total - int(found.sum())
    precision = f1 = UNKNOWN
    if by_sample or truth.complete:
        precision, f1 = judged_scores(truth.positive, found, unlabeled)
        unlabeled = 0
    elif not truth.positive.all():
        precision, f1 = judged_scores(truth.positive, found)
    bands = {name: truth.recall(found, truth.in_band(name)) for name in BANDS}
    return MethodScore(method, truth.recall(found), precision, f1, total, unlabeled, bands)
