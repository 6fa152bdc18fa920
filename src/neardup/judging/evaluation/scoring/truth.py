"""TRUTH: pairs known to be near-duplicates or not, from labels or a random sample; and recall measured on them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.documents import Documents
from neardup.hamming.near import hamming_distances
from neardup.judging.evaluation.labels import LabelRows, read_labels
from neardup.judging.evaluation.scoring.intervals import Share, Z, clustered, wilson
from neardup.judging.evaluation.scoring.sampled_corpus import SampledCorpus
from neardup.judging.evaluation.scoring.sampling import SimilarPairs, similar_pairs
from neardup.matching.similarities.element_store import ElementStore, read_again
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import Similarity
from neardup.recipe.tables.similarities import SimilarityName

BANDS = {"0.5-0.8": (0.5, 0.8), "0.8-0.95": (0.8, 0.95), "0.95-1": (0.95, np.inf)}
"""Bands of similarity; pairs between 0.8 and 0.95 are the hard ones to find."""

ROUNDED, MOST_ALIKE = 0.01, 0.95
"""Labels state the similarity that is compared if so many of theirs, at least the second, differ from ours by the first or less."""

LEAST_SHOWN = 0.5
"""From here on the removed share is shown, whatever the similarity of near-duplicates."""
MAX_COMPARED_PAIRS = 4_000 * 100_000
"""For more pairs of a sampled document and another, nothing is looked for below the similarity of near-duplicates."""


@dataclass(frozen=True)
class Truth:
    """Judged pairs.

    Attributes:
        source: "labels" or "sample".
        complete: no unjudged pair is a near-duplicate; for a sample, no unjudged pair that has a sampled document.
        left, right: int64[p], rows, left < right, ordered by both.
        positive: bool[p], whether the pair is a near-duplicate.
        similarity: float64[p], of the texts by our own definition.
        score: float64[p], the similarity that assigns bands: the labels' if they state one, else our own.
        sampled: int64[s], the rows that were compared with all others, ascending.
        population: number of rows that the sample was drawn from.
        judged_by: what says which pairs are near-duplicates; see `Evaluation`.
    """

    source: str
    complete: bool
    left: Array
    right: Array
    positive: Array
    similarity: Array
    score: Array
    sampled: Array
    population: int
    judged_by: str = "similarity"

    def __len__(self) -> int:
        return len(self.left)

    @property
    def sampled_share(self) -> float:
        """Sampled share of the population, from 0 to 1."""
        return len(self.sampled) / self.population if self.population else 1.0

    @cached_property
    def _all_ends(self) -> tuple[Array, Array]:
        documents, pairs = [], []
        for side in (self.left, self.right):
            at = np.searchsorted(self.sampled, side)
            at[at == len(self.sampled)] = 0
            known = self.sampled[at] == side if len(self.sampled) else np.zeros(len(side), np.bool_)
            documents.append(at[known])
            pairs.append(np.flatnonzero(known))
        return np.concatenate(documents), np.concatenate(pairs)

    def ends(self, chosen: Array) -> tuple[Array, Array]:
        """For each sampled end of a `chosen` (bool[p]) pair: its document's number in `sampled`, its pair's among the chosen."""
        documents, pairs = self._all_ends
        inside = chosen[pairs]
        return documents[inside], (np.cumsum(chosen) - 1)[pairs[inside]]

    def recall(self, found: Array, among: Array | None = None) -> Share:
        """Share of near-duplicates, or of those in `among`, that were found; bool[p] each."""
        true = self.positive if among is None else self.positive & among
        if self.source == "labels":
            return wilson(int((found & true).sum()), int(true.sum()))
        size = len(self.sampled)
        totals = np.bincount(self.ends(true)[0], minlength=size)
        return clustered(np.bincount(self.ends(found & true)[0], minlength=size), totals, self.sampled_share)

    def pairs(self) -> tuple[float, float, float]:
        """Number of near-duplicates in the corpus with its 95 % interval: those labeled, or an estimate from the sample."""
        size, population = len(self.sampled), self.population
        if self.source == "labels" or size in (0, population):
            return (float(self.positive.sum()),) * 3
        each = np.bincount(self.ends(self.positive)[0], minlength=size)
        value = population / 2 * float(each.mean())
        spread = float(each.std(ddof=1)) if size > 1 else 0.0
        half = Z * population / 2 * spread / size**0.5 * (1 - size / population) ** 0.5
        return value, max(float(len(self)), value - half), value + half

    def in_band(self, name: str) -> Array:
        """Which pairs are in the band: bool[p]."""
        low, high = BANDS[name]
        inside: Array = (self.score >= low) & (self.score < high)
        return inside


def labeled_truth(
    corpus: SampledCorpus, labels: LabelRows, ids: Iterable[str | None], *, complete: bool = False
) -> Truth:
    """Read the truth from labels, with our own similarity for each pair.

    Args:
        corpus: the labeled documents.
        labels: pairs of ids; `complete`: they include every near-duplicate.
        ids: the documents' ids, by row; None where a row could not be read.

    Raises:
        InputError, DataError: as `read_labels`.
    """
    documents, options = corpus.documents, corpus.options
    pairs = read_labels(labels, ids, min_similarity=options.min_similarity)
    order = np.lexsort((pairs.right, pairs.left))
    left, right, score = pairs.left[order], pairs.right[order], pairs.score[order]
    similarity = similarities_of_rows(corpus, left, right, options.compared_by)
    return Truth(
        source="labels",
        complete=complete,
        left=left,
        right=right,
        positive=pairs.positive[order],
        similarity=similarity,
        score=np.where(np.isnan(score), similarity, score),
        sampled=corpus.sampled,
        population=int(np.count_nonzero(documents.valid)),
        judged_by=_judged_by(pairs.judged_by, score, similarity),
    )


def _judged_by(of_labels: str, score: Array, similarity: Array) -> str:
    """What says which pairs are near-duplicates: as the labels have it, but a similarity that is not ours is another one."""
    alike = len(score) > 0 and float((np.abs(score - similarity) <= ROUNDED).mean()) >= MOST_ALIKE
    return "other similarity" if of_labels == "similarity" and not alike else of_labels


def similarities_of_rows(
    corpus: SampledCorpus, left: Array, right: Array, similarity: Similarity | SimilarityName
) -> Array:
    """float64[p]: the similarity of the rows left[i] and right[i]; 1 if their normalized texts are equal."""
    documents = corpus.documents
    wanted = np.zeros(len(documents), np.bool_)
    wanted[left] = wanted[right] = True
    store = ElementStore.of_verification(similarity, corpus.recipe, resources=corpus.options.resources)
    with read_again(store, corpus.corpus, wanted, progress=Progress()) as sets:
        found = sets.similarities(left, right, 0.0)
    found[(documents.digests[left] == documents.digests[right]).all(axis=1)] = 1.0
    return found


def sampled_truth(corpus: SampledCorpus) -> tuple[Truth, SimilarPairs]:
    """Find every pair of a sampled document that is similar enough; and those from LEAST_SHOWN up, if they are worth the time."""
    options = corpus.options
    is_small = len(corpus.sampled) * int(np.count_nonzero(corpus.among)) <= MAX_COMPARED_PAIRS
    below = similar_pairs(
        corpus.corpus,
        corpus.sampled,
        corpus.among,
        least=min(options.min_similarity, LEAST_SHOWN) if is_small else options.min_similarity,
        recipe=corpus.recipe,
        compared_by=options.compared_by,
        resources=options.resources,
    )
    found = below.of_at_least(options.min_similarity)
    truth = Truth(
        source="sample",
        complete=True,
        left=found.left,
        right=found.right,
        positive=np.ones(len(found), np.bool_),
        similarity=found.similarity,
        score=found.similarity,
        sampled=corpus.sampled,
        population=int(np.count_nonzero(corpus.among)),
    )
    return truth, below


def reach(truth: Truth, documents: Documents, recipe: Recipe) -> Array:
    """int64[p]: the distance from which fingerprints find each pair.

    0 if the normalized texts are equal; if they differ and either is short, one more than the number of bits.
    """
    left, right = truth.left, truth.right
    found = hamming_distances(documents.fingerprints, left, right)
    found[np.minimum(documents.tokens[left], documents.tokens[right]) < recipe.min_tokens] = 64 * recipe.words + 1
    found[(documents.digests[left] == documents.digests[right]).all(axis=1)] = 0
    return found
