"""SAMPLING: compare a random sample of documents with all others, so that nothing grows with the square of the corpus.

For each sampled document this yields its near-duplicates (two sets of Jaccard t or more share one of the first
|A| - ceil(t |A|) + 1 shingles of A under any order, Chaudhuri, Ganti and Kaushik 2006), and how many documents are at each
Hamming distance. A sample of pairs would yield neither: among the pairs of a million documents perhaps one in a hundred
million is near.
"""

from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.protocol import Corpus
from neardup.kernels.hamming.comparisons import distances_to
from neardup.kernels.matching.sampling import SampledSets, SimilarSets, count_distances, find_similar
from neardup.matching.similarities.element_store import ElementStore, read_again
from neardup.matching.similarities.table import maker_of
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import Similarity
from neardup.recipe.tables.similarities import SimilarityName
from neardup.resources.resources import DEFAULTS, Resources
from neardup.resources.threads import in_order, thread_count
from neardup.text.columns import in_chunks

MARK_BITS = 22
"""2^22 bytes; they rule out most shingles that are in no sampled document's prefix."""

DOCUMENTS_PER_SCAN = 16
"""Documents that a thread compares with all others at a time."""


@dataclass(frozen=True, slots=True)
class SimilarPairs:
    """Pairs of a sampled document and another that are similar enough, each pair once.

    Attributes:
        left, right: int64[p], rows, left < right.
        similarity: float64[p].
        least: all pairs of at least this similarity are here.
    """

    left: Array
    right: Array
    similarity: Array
    least: float

    def __len__(self) -> int:
        return len(self.left)

    def of_at_least(self, least: float) -> "SimilarPairs":
        """The pairs of this similarity or more."""
        kept = self.similarity >= least
        return SimilarPairs(self.left[kept], self.right[kept], self.similarity[kept], least)


def choose(rows: Array, size: int, seed: int) -> Array:
    """Draw `size` of `rows` at random, or return all if there are no more; ascending."""
    if len(rows) <= size:
        return rows
    drawn = np.random.default_rng(seed).choice(len(rows), size, replace=False, shuffle=False)
    found: Array = rows[np.sort(drawn)]
    return found


def distance_counts(fingerprints: Array, chosen: Array, *, threads: int | None) -> Array:
    """Count the other rows at each distance from the `chosen` ones: int64[chosen, 64 * words + 1].

    fingerprints: uint64[n, words]; chosen: int64[chosen], positions.
    """
    out = np.zeros((len(chosen), 64 * fingerprints.shape[1] + 1), np.int64)

    def scan(first: int) -> None:
        count_distances(fingerprints, chosen, first, min(first + DOCUMENTS_PER_SCAN, len(chosen)), out)

    for _ in in_order(scan, range(0, len(chosen), DOCUMENTS_PER_SCAN), thread_count(threads)):
        pass
    return out


def _sampled_sets(sets: ElementStore, sampled: Array, least: float) -> SampledSets:
    """For each set, take as many shingles as the theorem needs, those rarest among the sampled sets first."""
    sizes = sets.ends[sampled] - sets.starts[sampled]
    owner = np.repeat(np.arange(len(sampled)), sizes)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    shingles = sets.values[np.repeat(sets.starts[sampled], sizes) + within]
    _, which, frequency = np.unique(shingles, return_inverse=True, return_counts=True)
    order = np.lexsort((shingles, frequency[which], owner))
    lengths = np.minimum(sizes, sizes - np.ceil(least * sizes - 1e-6).astype(np.int64) + 1)
    order = order[within < np.repeat(lengths, sizes)]
    hashes, which, counts = np.unique(shingles[order], return_inverse=True, return_counts=True)
    starts = np.zeros(len(hashes) + 1, np.int64)
    starts[1:] = np.cumsum(counts)
    marks = np.zeros(1 << MARK_BITS, np.uint8)
    marks[(hashes & np.uint64(len(marks) - 1)).astype(np.int64)] = 1
    postings = owner[order][np.argsort(which, kind="stable")]
    return SampledSets(marks, hashes, starts, postings, sets.values, sets.starts[sampled], sets.ends[sampled])


def similar_pairs(
    corpus: Corpus,
    sampled: Array,
    among: Array,
    *,
    least: float,
    recipe: Recipe,
    compared_by: Similarity | SimilarityName = "jaccard",
    resources: Resources = DEFAULTS,
) -> SimilarPairs:
    """Find every pair of a sampled row and a row in `among` (bool[rows]) with a similarity of at least `least`, above 0.

    `recipe`: its normalizers come first. `compared_by`: a Jaccard coefficient of sets.
    """
    maker = maker_of(compared_by)
    wanted = np.zeros(len(among), np.bool_)
    wanted[sampled] = True
    store = ElementStore.of_verification(compared_by, recipe, resources=resources)
    with read_again(store, corpus, wanted, progress=Progress()) as sets:
        sought = _sampled_sets(sets, sampled, least)

        def search(batch: Batch) -> list[tuple[Array, Array, Array]]:
            present = np.flatnonzero(batch.texts.is_valid().to_numpy(zero_copy_only=False))
            parts, first = [], 0
            for texts in in_chunks(batch.texts.drop_null()):
                a, b, similarity = _search(maker.elements(texts, recipe)[::2], sought, least)
                parts.append((sampled[a], present[first + b], similarity))
                first += len(texts)
            return parts

        found = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
        for first, parts in corpus.map(search, wanted=among):
            found += [(a, first + b, similarity) for a, b, similarity in parts]
    a, b, similarity = (np.concatenate(column) for column in zip(*found, strict=True))
    pairs = np.stack([np.minimum(a, b), np.maximum(a, b)], axis=1)
    pairs, at = np.unique(pairs, axis=0, return_index=True)
    other = pairs[:, 0] != pairs[:, 1]
    return SimilarPairs(pairs[other, 0], pairs[other, 1], similarity[at][other], least)


def _search(batch: tuple[Array, Array], sampled: SampledSets, least: float) -> SimilarSets:
    """Numbers of similar sets, sampled and of the batch, and their similarity."""
    values, offsets = batch
    room = 1024
    while True:
        pairs = SimilarSets(np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room))
        met = np.full(len(sampled.starts), -1)
        count = find_similar(values, offsets, sampled, float(least), met, pairs)
        if count <= room:
            return SimilarSets(*(column[:count] for column in pairs))
        room = count


def sample_pairs(
    fingerprints: Array, chosen: Array, counts: Array, span: tuple[int, int], *, size: int, seed: int
) -> tuple[Array, Array]:
    """Sample up to `size` pairs of a `chosen` position and another within a span of distances, or all if there are no more.

    A pair of two chosen positions is twice as likely to be drawn.

    Args:
        fingerprints: uint64[n, words].
        chosen: int64[c], positions.
        counts: int64[c, distances], from `distance_counts`.
        span: first and last distance.
        size: maximum number of pairs.
        seed: decides, with the span, which pairs are drawn.

    Returns:
        Positions, int64[p] twice, left < right, each pair once.
    """
    first, last = span
    there = counts[:, first : last + 1].sum(axis=1)
    ends = np.cumsum(there)
    total = int(ends[-1]) if len(ends) else 0
    generator = np.random.default_rng((seed, first, last))
    drawn = np.unique(generator.integers(0, total, size)) if total > size else np.arange(total)
    left, right = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    owners = np.searchsorted(ends, drawn, "right")
    out = np.empty(len(fingerprints), np.uint16)
    for owner in np.unique(owners):
        here = chosen[owner]
        distances_to(fingerprints[here], fingerprints, out)
        near = np.flatnonzero((out >= first) & (out <= last))
        near = near[near != here]
        ranks = drawn[owners == owner] - (ends[owner] - there[owner])
        left.append(np.minimum(here, near[ranks]))
        right.append(np.maximum(here, near[ranks]))
    pairs = np.unique(np.stack([np.concatenate(left), np.concatenate(right)], axis=1), axis=0)
    return pairs[:, 0], pairs[:, 1]
