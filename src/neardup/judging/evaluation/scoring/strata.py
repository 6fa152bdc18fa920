"""STRATA: what pairs at near to far distances, and at any distance, look like, by reading a sample of them."""

from itertools import pairwise

import numpy as np

from neardup.arrays import Array
from neardup.judging.evaluation.scoring.curves import DistanceHistogram
from neardup.judging.evaluation.scoring.intervals import clustered
from neardup.judging.evaluation.scoring.sampled_corpus import SampledCorpus
from neardup.judging.evaluation.scoring.sampling import sample_pairs
from neardup.judging.evaluation.scoring.scores import Stratum
from neardup.judging.evaluation.scoring.truth import Truth
from neardup.matching.similarities.element_store import ElementStore, read_again
from neardup.progress import Progress

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
