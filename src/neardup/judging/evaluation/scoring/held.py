"""HELD: documents that stay in memory, so that each similarity compares pairs of them without reading the corpus again."""

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.documents import Documents
from neardup.io.corpora.batch import Batch
from neardup.judging.evaluation.scoring.sampled_corpus import SampledCorpus
from neardup.judging.evaluation.scoring.truth import Truth
from neardup.matching.similarities.element_store import ElementStore
from neardup.matching.similarities.table import Elements
from neardup.recipe.similarity import Similarity
from neardup.recipe.tables.similarities import SimilarityName

HELD_TOKENS = 2_500_000
"""Of the documents that are held, for labeled pairs and once more for pairs at random; about 12 MB of English, 8 of Chinese."""


@dataclass(frozen=True)
class Held:
    """Documents in memory.

    Attributes:
        corpus: whose documents they are.
        rows: int64[h], ascending.
        drawn: int64[d], those drawn at random, as places in `rows`, in the order of drawing; the first of them are a sample, too.
        population: the number of documents that they were drawn from.
        judged: int64[p], the labeled pairs of which both documents are held, as places in the truth; at random.
        batches: their texts, each with the places in `rows` that it fills.
    """

    corpus: SampledCorpus
    rows: Array
    drawn: Array
    population: int
    judged: Array
    batches: tuple[tuple[Array, Batch], ...]

    def elements(self, similarity: Similarity | SimilarityName) -> Elements:
        """What a similarity compares, of all of them, in the order of `rows`.

        Raises:
            OptionError: the similarity does not go with the recipe.
        """
        if isinstance(similarity, Similarity):
            similarity.check_recipe(self.corpus.recipe)
        with ElementStore.of_verification(
            similarity, self.corpus.recipe, resources=self.corpus.options.resources
        ) as store:
            parts = [store.of_batch(batch)[1] for _, batch in self.batches]
        return Elements.joined(parts)

    @cached_property
    def classes(self) -> Array:
        """int64[h]: the same number for equal texts."""
        digests = self.corpus.documents.digests[self.rows]
        found: Array = np.unique(digests, axis=0, return_inverse=True)[1].reshape(-1)
        return found


def hold(corpus: SampledCorpus, truth: Truth, seed: int) -> Held:
    """Read documents of labeled pairs, and some at random, into memory: all, if they are few."""
    documents, generator = corpus.documents, np.random.default_rng((seed, 1))
    population = np.flatnonzero(documents.valid)
    drawn = _first(documents, generator.permutation(population))
    shuffled = generator.permutation(len(truth))
    ends = np.stack([truth.left[shuffled], truth.right[shuffled]], axis=1).reshape(-1)
    wanted = np.zeros(len(documents), np.bool_)
    wanted[_first(documents, _unique_in_order(ends))] = True
    wanted[drawn] = True
    judged = shuffled[wanted[truth.left[shuffled]] & wanted[truth.right[shuffled]]]
    rows, batches = np.flatnonzero(wanted), []
    for first, batch in corpus.corpus.map(_with_text, wanted=wanted):
        present, kept = batch
        if len(present):
            batches.append((np.searchsorted(rows, first + present), kept))
    return Held(corpus, rows, np.searchsorted(rows, drawn), len(population), judged, tuple(batches))


def _first(documents: Documents, rows: Array) -> Array:
    """The first of some rows, as many as HELD_TOKENS allows, at least two."""
    total = np.cumsum(documents.tokens[rows])
    return rows[: max(2, int(np.searchsorted(total, HELD_TOKENS, "right")))]


def _unique_in_order(rows: Array) -> Array:
    _, first = np.unique(rows, return_index=True)
    found: Array = rows[np.sort(first)]
    return found


def _with_text(batch: Batch) -> tuple[Array, Batch]:
    """The rows of a batch that have a text, and the batch of these alone."""
    valid = batch.texts.is_valid()
    present = np.flatnonzero(valid.to_numpy(zero_copy_only=False))
    if batch.made is not None:  # of such rows alone
        return present, batch
    return present, dataclasses.replace(batch, texts=batch.texts.filter(valid), ids=None, values=())
