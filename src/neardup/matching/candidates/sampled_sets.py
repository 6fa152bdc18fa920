"""Some documents of a corpus that stand for all: their elements, and pairs of them that tell how alike documents are."""

import math
from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.kernels.matching.similarities import JACCARD, similarities_of
from neardup.matching.candidates.costs import Size
from neardup.matching.candidates.elements import map_elements
from neardup.matching.candidates.task import Task
from neardup.matching.prefix_join.counts import ElementCounts, KnownCounts
from neardup.matching.prefix_join.prefixes import Prefixes, prefixes_of
from neardup.matching.similarities.table import Elements
from neardup.resources.held_spool import taken
from neardup.resources.scratch import parts_of

MIX = np.uint64(0x9E3779B97F4A7C15)
"""Mixes minima: minima of evenly distributed numbers are not evenly distributed, but their product with MIX modulo 2^64 is."""

SAMPLED_ELEMENTS = 1 << 18
"""About so many elements are in a sample; but it has this many documents of a corpus that has them, however long they are."""
MIN_SAMPLED_DOCUMENTS = 50
PAIRED_DOCUMENTS = 2_000
"""Of so many of the sample all pairs are looked at."""
MAX_SAMPLED_PAIRS, MIN_SAMPLED_PAIRS, PAIRED_ELEMENTS = 20_000, 200, 1 << 22
"""So many pairs of the sample are compared, fewer of long documents: about so many elements, but so many pairs in any case."""


def chosen_texts(elements: Elements, share: float) -> Array:
    """bool[n]: about this `share` of the texts that have elements, chosen by the smallest element of each.

    Each text is chosen with the same probability, however long. Two texts of Jaccard similarity J have the same smallest element
    with probability J, and are then chosen together. So nearly this share of the similar pairs remains, not its square.
    """
    sizes = np.diff(elements.offsets)
    chosen = np.zeros(len(sizes), np.bool_)
    some = sizes > 0
    chosen[some] = is_chosen(elements.values[elements.offsets[:-1][some]], share)  # elements ascend
    return chosen


def is_chosen(least: Array, share: float) -> Array:
    """bool[n]: about this `share` of texts, by their smallest elements (uint64[n])."""
    chosen: Array = least * MIX <= np.uint64(share * (2**64 - 2**11))
    return chosen


def sample_elements(elements: Elements, share: float) -> Elements:
    """Return the elements of the texts in `chosen_texts`."""
    chosen = chosen_texts(elements, share)
    starts, ends = elements.offsets[:-1][chosen], elements.offsets[1:][chosen]
    values, weights = taken(elements.values, starts, ends), elements.weights
    weights = taken(weights, starts, ends) if len(weights) else weights.copy()
    values.flags.writeable = weights.flags.writeable = False
    return Elements(values, weights, np.concatenate([np.zeros(1, np.int64), np.cumsum(ends - starts)]))


@dataclass(frozen=True, slots=True)
class SampledSets:
    """Some documents, and how frequent their elements are among all.

    Attributes:
        elements: of each; the numbers 0 … m - 1, in the order of the elements.
        frequency: int64[m], in how many documents of all each occurs.
        paired: int64[], of the sampled documents those whose pairs are looked at.
        documents: how many were counted, from which the sample was taken; pair_share: which part of them the paired ones are.
    """

    elements: Elements
    frequency: Array
    paired: Array
    documents: int
    pair_share: float

    @classmethod
    def of(cls, elements: Elements, counts: KnownCounts, share: float, size: Size) -> "SampledSets":
        """A `share` of the texts that were counted, chosen by `chosen_texts`; `size` is of all."""
        values = np.searchsorted(counts.known, elements.values).astype(np.uint64)
        values.flags.writeable = False
        texts, counted = len(elements.offsets) - 1, np.maximum(counts.counts, 1)
        distinct = float((1 / counted[values.astype(np.int64)]).sum()) * size.documents / max(1, texts)
        crowded = -math.expm1(-distinct / ElementCounts.cells_for(size.tokens))  # share a cell with another element
        alone = (counted == 1) & (counts.known * MIX > np.uint64(crowded * (2**64 - 2**11)))
        several = np.ceil(np.maximum(counted, 2) * np.where(counted > 1, size.growth, 1.0))
        frequency = np.where(alone, 1, several).astype(np.int64)
        part = min(1.0, PAIRED_DOCUMENTS / max(1, texts))
        paired = np.flatnonzero(chosen_texts(elements, share * part))
        read = round(size.documents / size.growth)
        return cls(Elements(values, elements.weights, elements.offsets), frequency, paired, read, share * part)

    def __len__(self) -> int:
        return len(self.elements.offsets) - 1

    def prefixes(self, code: int, min_similarity: float) -> Prefixes:
        """Of each document, as a join of all would have them."""
        counts = np.minimum(self.frequency, np.iinfo(np.uint16).max).astype(np.uint16)
        return prefixes_of(
            self.elements,
            code=code,
            min_similarity=min_similarity,
            counts=counts[self.elements.values.astype(np.int64)],
        )

    @property
    def most_pairs(self) -> int:
        """How many pairs are compared."""
        each = len(self.elements.values) / max(1, len(self))
        return max(MIN_SAMPLED_PAIRS, min(MAX_SAMPLED_PAIRS, int(PAIRED_ELEMENTS / max(1.0, each))))

    def jaccard(self, left: Array, right: Array) -> Array:
        """float64[p], of the documents left[i] and right[i]."""
        return jaccard(self.elements, left, right)

    def same_least(self) -> tuple[Array, Array, float]:
        """Pairs of those `paired` with the same least element, and of how many each is one: of many, some evenly spread."""
        least = self.elements.values[self.elements.offsets[self.paired]]
        order = np.argsort(least, kind="stable")
        _, sizes = np.unique(least, return_counts=True)
        after = np.repeat(np.cumsum(sizes), sizes) - np.arange(len(order)) - 1  # in its group
        ends = np.cumsum(after)
        total = int(after.sum())
        chosen = np.arange(0, total, max(1, total // self.most_pairs))
        first = np.searchsorted(ends, chosen, "right")
        second = first + 1 + chosen - (ends - after)[first]
        return self.paired[order[first]], self.paired[order[second]], total / max(1, len(chosen))

    def alike(self) -> list[tuple[Array, Array]]:
        """Jaccard similarities of pairs of the sample, and of how many pairs of those counted each is an example: by two ways.

        Pairs with the same least element, among which those of similarity J come with the probability J times the share: they
        tell of pairs that are rare. And pairs at random: they tell of families that are large.
        """
        first, second, each = self.same_least()
        near = self.jaccard(first, second)
        n, least = len(self), self.elements.values[self.elements.offsets[:-1]]
        left, right = np.random.default_rng(0).integers(0, max(1, n), (2, self.most_pairs if n > 1 else 0))
        chance = self.jaccard(left, right)
        apart = least[left] != least[right]  # others are among the sample for that
        pairs = self.documents * self.documents / 2
        return [
            (near, each / (np.maximum(near, 1e-6) * self.pair_share)),
            (chance[apart], np.full(int(apart.sum()), pairs / max(1, len(chance)))),
        ]


def jaccard(elements: Elements, left: Array, right: Array) -> Array:
    """float64[p], of the sets left[i] and right[i] (int64[p])."""
    found = np.empty(len(left))
    similarities_of(elements.stored(JACCARD), left, right, 0.0, found)
    return found


def sample_of(task: Task, size: Size) -> SampledSets:
    """Sample the documents of a task, always the same, and count their elements among all: a pass over all elements, or two."""
    read, tokens = int(task.wanted.sum()), int(task.documents.tokens[task.wanted].sum())
    share = min(1.0, max(SAMPLED_ELEMENTS / max(1, tokens), MIN_SAMPLED_DOCUMENTS / max(1, read)))
    elements = _sampled(task, share)
    counts = KnownCounts(elements.values)
    if share == 1.0:
        counts.add(elements.values)
    else:
        for _ in map_elements(task, lambda some: counts.add(some.values)):
            pass
    return SampledSets.of(elements, counts, share, size)


def _sampled(task: Task, share: float) -> Elements:
    """The elements of this share of the texts; of kept elements, only the first of each text is looked at before."""
    if task.kept is None:
        found = Elements.joined(list(map_elements(task, lambda some: sample_elements(some, share))))
        found.values.flags.writeable = found.weights.flags.writeable = False
        return found
    kept, rows = task.kept, np.flatnonzero(task.wanted)
    rows = rows[kept.ends[rows] > kept.starts[rows]]
    parts = (rows[part] for part in parts_of(len(rows)))
    return kept.elements(
        np.concatenate([rows[:0], *(part[is_chosen(kept.first_elements(part), share)] for part in parts)])
    )
