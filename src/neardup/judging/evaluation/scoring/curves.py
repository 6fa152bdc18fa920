"""CURVES: what each Hamming distance and each similarity would find; STRATA: what pairs at near to far distances look like."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from neardup.arrays import Array
from neardup.judging.evaluation.scoring.intervals import UNKNOWN, Share, clustered, f1_of, wilson
from neardup.judging.evaluation.scoring.sampled_corpus import SampledCorpus
from neardup.judging.evaluation.scoring.sampling import distance_counts, sample_pairs
from neardup.judging.evaluation.scoring.scores import DistanceScore, SimilarityCount, Stratum
from neardup.judging.evaluation.scoring.truth import Truth, reach
from neardup.matching.similarities.element_store import ElementStore, read_again
from neardup.progress import Progress

STEPS = 50
"""Steps in which similarities are counted."""


@dataclass(frozen=True, slots=True)
class DistanceHistogram:
    """Distances from sampled documents to all others, by one recipe.

    Attributes:
        rows: int64[n], the documents long enough for a fingerprint to be meaningful.
        chosen: int64[s], positions of the sampled documents in `rows`.
        counts: int64[s, distances], number of other documents at each distance.
        true: int64[s, distances], number of near-duplicates among them.
        reach: int64[p], `neardup.judging.evaluation.scoring.truth.reach` of the judged pairs.
    """

    rows: Array
    chosen: Array
    counts: Array
    true: Array
    reach: Array

    @property
    def scale(self) -> float:
        """Pairs in the corpus for each pair counted from one end."""
        return len(self.rows) / (2 * len(self.chosen)) if len(self.chosen) else 0.0


def distance_histogram(truth: Truth, corpus: SampledCorpus) -> DistanceHistogram:
    """Compare the sampled documents with all documents whose pairs count, by the corpus' fingerprints."""
    documents, recipe, threads = corpus.documents, corpus.recipe, corpus.options.threads
    rows = np.flatnonzero(corpus.among & (documents.tokens >= recipe.min_tokens))
    long_enough = documents.tokens[truth.sampled] >= recipe.min_tokens
    chosen = np.searchsorted(rows, truth.sampled[long_enough])
    counts = distance_counts(np.ascontiguousarray(documents.fingerprints[rows]), chosen, threads=threads)
    far = reach(truth, documents, recipe)
    both_long = np.minimum(documents.tokens[truth.left], documents.tokens[truth.right]) >= recipe.min_tokens
    near = truth.positive & both_long
    owner, pair = truth.ends(near)
    width = counts.shape[1]
    true = np.bincount(owner * width + far[near][pair], minlength=len(truth.sampled) * width)
    return DistanceHistogram(rows, chosen, counts, true.reshape(-1, width)[long_enough], far)


def distance_scores(truth: Truth, found: DistanceHistogram, bits: int) -> tuple[DistanceScore, ...]:
    """Score every distance from 0 to `bits`."""
    judged = truth.source == "labels" and not truth.complete
    any_false = not truth.positive.all()
    counts, true = found.counts.cumsum(axis=1), found.true.cumsum(axis=1)
    missed = true[:, -1:] - true
    scores = []
    for distance in range(bits + 1):
        within = found.reach <= distance
        precision = f1 = UNKNOWN
        if not judged:
            precision = clustered(true[:, distance], counts[:, distance], truth.sampled_share)
            everything = counts[:, distance] + missed[:, distance]
            f1 = f1_of(clustered(true[:, distance], everything, truth.sampled_share))
        elif any_false:
            precision, f1 = judged_scores(truth.positive, within)
        pairs = float(counts[:, distance].sum() * found.scale)
        unlabeled = max(0.0, pairs - float(within.sum())) if judged else 0.0
        scores.append(DistanceScore(distance, truth.recall(within), precision, f1, pairs, unlabeled))
    return tuple(scores)


def judged_scores(positive: Array, found: Array, false: int = 0) -> tuple[Share, Share]:
    """Precision and F1 of the found judged pairs (bool[p] both) and `false` further pairs known to be false."""
    true = int((positive & found).sum())
    all_found = int(found.sum()) + false
    missed = int(positive.sum()) - true
    return wilson(true, all_found), f1_of(wilson(true, all_found + missed))


def similarity_counts(similarity: Array, near: Array) -> tuple[SimilarityCount, ...]:
    """The distribution of similarities, float64[p], of pairs that are near-duplicates or not, bool[p], from the least one up."""
    if not len(similarity):
        return ()
    steps = np.minimum(np.floor(similarity * STEPS + 1e-9).astype(np.int64), STEPS - 1)
    counts = [np.bincount(steps[chosen], minlength=STEPS) for chosen in (near, ~near)]
    return tuple(
        SimilarityCount(step / STEPS, int(counts[0][step]), int(counts[1][step])) for step in range(steps.min(), STEPS)
    )


STRATUM_PAIRS = 200
"""Number of pairs per stratum whose texts are read."""
ANY = "any"


def edges(max_distance: int, bits: int) -> list[tuple[int, int]]:
    """First and last distance of each stratum: thirds of the distance in use up to twice that distance, then wider spans.

    >>> edges(18, 128)
    [(0, 0), (1, 6), (7, 12), (13, 18), (19, 24), (25, 30), (31, 36), (37, 54), (55, 128)]
    """
    lasts = [0, *(max_distance * third // 3 for third in (1, 2, 3, 4, 5, 6, 9)), bits]
    lasts = sorted({min(last, bits) for last in lasts})
    return [(0, 0)] + [(before + 1, last) for before, last in pairwise(lasts)]


def strata(
    corpus: SampledCorpus, truth: Truth, found: DistanceHistogram, *, max_distance: int, seed: int
) -> tuple[Stratum, ...]:
    """Count the pairs and near-duplicates in each stratum, and measure the similarity of a sample of its pairs.

    Args:
        corpus: source of the sampled texts.
        truth, found: of its sampled documents.
        max_distance: the distance in use, which divides the strata.
        seed: seed of the sample.
    """
    bits = corpus.recipe.bits
    spans = [*edges(max_distance, bits), (0, bits)]
    fingerprints = np.ascontiguousarray(corpus.documents.fingerprints[found.rows])
    drawn = [
        sample_pairs(fingerprints, found.chosen, found.counts, span, size=STRATUM_PAIRS, seed=seed) for span in spans
    ]
    wanted = np.zeros(len(corpus.documents), np.bool_)
    for left, right in drawn:
        wanted[found.rows[left]] = wanted[found.rows[right]] = True
    parts = []
    store = ElementStore.of_verification("jaccard", corpus.recipe, resources=corpus.options.resources)
    with read_again(store, corpus.corpus, wanted, progress=Progress()) as sets:
        for (first, last), (left, right) in zip(spans, drawn, strict=True):
            similarity = sets.similarities(found.rows[left], found.rows[right], 0.0)
            name = f"{first}" if first == last else f"{first}-{last}"
            parts.append(_stratum(ANY if (first, last) == spans[-1] else name, truth, found, (first, last), similarity))
    return tuple(parts)


def _stratum(name: str, truth: Truth, found: DistanceHistogram, span: tuple[int, int], similarity: Array) -> Stratum:
    """Build the stratum for a span of distances, both ends included; similarity: float64[p] of some of its pairs."""
    first, last = span
    counts, true = found.counts[:, first : last + 1].sum(axis=1), found.true[:, first : last + 1].sum(axis=1)
    read = len(similarity)
    return Stratum(
        distance=name,
        pairs=float(counts.sum() * found.scale),
        sampled=read,
        similar=clustered(true, counts, truth.sampled_share),
        median=float(np.median(similarity)) if read else None,
        highest=float(similarity.max()) if read else None,
    )
