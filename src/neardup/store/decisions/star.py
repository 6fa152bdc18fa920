"""WALK: decide new texts in their order, each new or a duplicate of its best match among the documents that are kept before it.

The decision is that of `neardup.survivors.clusters`, the star of `dedup`, over the kept documents that are candidates, in the
order in which they were added, and then the new texts.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from neardup.arrays import Array
from neardup.hamming.candidate_graph import CandidateGraph
from neardup.hamming.near import hamming_distances
from neardup.kernels.matching.similarities import Stored, similarities_of, working_memory
from neardup.matching.similarities.table import ElementMaker, Elements
from neardup.matching.text_features import Texts, after, some_elements
from neardup.progress import Progress
from neardup.resources.resources import DEFAULTS, Resources
from neardup.resources.scratch import IN_MEMORY, Scratch
from neardup.store.answers import NEW, StoreAnswer, StoreMatch
from neardup.store.formats.contents import Contents
from neardup.store.formats.segments import Found
from neardup.store.record.documents_table import DocumentRow
from neardup.store.record.record import Record
from neardup.survivors.clusters import cluster_star


@dataclass(frozen=True, slots=True)
class Decided:
    """The outcome of n texts.

    Attributes:
        is_new: bool[n].
        starts: int64[n + 1]; text i matches the documents from starts[i] on, before starts[i + 1]: the best first, and of equally
            good ones the one that was added first.
        documents: int64[matches], the numbers of kept documents; below 0 for those of these texts that are new: -1 - place.
        similarity: float64[matches]; NaN where the distance alone decides.
        distance: int64[matches].
    """

    is_new: Array
    starts: Array
    documents: Array
    similarity: Array
    distance: Array

    def named(self, numbers: Array) -> "Decided":
        """The same with numbers (int64[n]) for those of the texts that are matched."""
        own = self.documents < 0
        documents = self.documents.copy()
        documents[own] = numbers[-1 - documents[own]]
        return Decided(self.is_new, self.starts, documents, self.similarity, self.distance)

    def matches(self, rows: Mapping[int, DocumentRow]) -> list[StoreMatch]:
        """All matches of all texts, with the ids of the documents, whose rows are given by number."""
        columns = (self.documents.tolist(), self.similarity.tolist(), self.distance.tolist())
        return [
            StoreMatch(json.loads(rows[number].id), None if alike != alike else alike, distance)
            for number, alike, distance in zip(*columns, strict=True)
        ]

    def answers(self, record: Record, own: Mapping[int, DocumentRow], equal: Array | None = None) -> list[StoreAnswer]:
        """The answers, with the ids of the documents.

        Args:
            record: has the rows of the documents.
            own: rows that were added just now, by number.
            equal: bool[matches], which of them are equal texts; none by default.
        """
        others = [number for number in dict.fromkeys(self.documents.tolist()) if number not in own]
        matches = self.matches({**record.documents(others), **own})
        is_equal = [False] * len(matches) if equal is None else equal.tolist()
        return [
            NEW if begin == end else StoreAnswer(False, tuple(matches[begin:end]), exact=is_equal[begin])
            for begin, end in pairwise(self.starts.tolist())
        ]


class HeldElements:
    """Elements in memory, as the star reads them."""

    def __init__(self, elements: Elements, similarity: ElementMaker) -> None:
        self._code, self._values, self._weights = similarity.code, elements.values.view(), elements.weights.view()
        self._values.flags.writeable = self._weights.flags.writeable = False
        self._offsets, self._longest = elements.offsets, int(np.diff(elements.offsets).max(initial=0))

    def stored(self, rows: Array | None = None, *, scratch: Scratch = IN_MEMORY) -> Stored:  # noqa: ARG002
        """The elements of `rows` (int64[n], by default all), as kernels compare them."""
        starts, ends = self._offsets[:-1], self._offsets[1:]
        starts, ends = (starts.copy(), ends.copy()) if rows is None else (starts[rows], ends[rows])
        return Stored(self._code, self._values, self._weights, starts, ends, working_memory(self._code, self._longest))

    def was_read(self, places: int, values: int) -> None:
        """Nothing is mapped."""


def walk(
    texts: Texts,
    of_kept: Found,
    among: Found,
    contents: Contents,
    similarity: ElementMaker,
    *,
    min_similarity: float,
    keeps_all: bool = False,
    resources: Resources = DEFAULTS,
) -> Decided:
    """Decide texts that differ from one another and from all that are kept.

    Args:
        texts: the texts.
        of_kept: pairs of a place in them and the number of a kept document.
        among: pairs of two places, the smaller first.
        contents: of the kept documents.
        similarity: what is compared.
        min_similarity: the least similarity of a match; 0 if the distance alone decides.
        keeps_all: whether texts are kept that match others, so that later ones match them.
        resources: threads.
    """
    of_kept = contents.sieved(texts, of_kept, similarity.code, min_similarity)
    if not len(of_kept.asked) and not len(among.asked):
        return all_new(len(texts))
    kept, concerned, pairs = _places(of_kept, among)
    rows = contents.rows(kept)
    prints = np.concatenate([contents.fingerprints(rows), texts.prints.values[concerned]])
    elements = None
    if min_similarity > 0:
        own = some_elements(texts.compared, concerned)
        elements = HeldElements(after(contents.elements(kept, "compared", rows), own), similarity)
    if len(among.asked) and not keeps_all:
        found = cluster_star(
            _graph(prints, pairs),
            np.arange(len(prints)),
            elements,
            min_similarity=min_similarity,
            progress=Progress(),
            fixed=len(kept),
            resources=resources,
        )
        is_survivor = found.survivor == np.arange(len(prints))
        with_survivor = is_survivor[pairs[0]] & ~is_survivor[pairs[1]]
        pairs = pairs[0][with_survivor], pairs[1][with_survivor]
    return _decided(len(texts), kept, concerned, pairs, prints, elements, min_similarity)


def _places(of_kept: Found, among: Found) -> tuple[Array, Array, tuple[Array, Array]]:
    """The kept documents and the places of texts in pairs, each once; and the pairs by where these are, one after another."""
    asked = of_kept.asked
    if not len(among.asked) and asked[0] == asked[-1]:  # one text, and its candidates ascend: no need to sort
        at = np.arange(len(asked))
        return of_kept.found, asked[:1], (at, np.full(len(asked), len(asked)))
    kept, at = np.unique(of_kept.found, return_inverse=True)
    concerned, of_pairs = np.unique(np.concatenate([asked, *among]), return_inverse=True)
    asked, left, right = np.split(of_pairs + len(kept), np.cumsum([len(asked), len(among.asked)]))
    return kept, concerned, (np.concatenate([at, left]), np.concatenate([asked, right]))


def all_new(n: int) -> Decided:
    """The outcome of texts that match nothing."""
    nothing = np.empty(0, np.int64)
    return Decided(np.ones(n, np.bool_), np.zeros(n + 1, np.int64), nothing, np.empty(0), nothing)


def _decided(
    n: int,
    kept: Array,
    concerned: Array,
    pairs: tuple[Array, Array],
    prints: Array,
    elements: HeldElements | None,
    min_similarity: float,
) -> Decided:
    """The outcome by all pairs of a document that is kept, or a text that is, and another text."""
    left, right = pairs
    distance = hamming_distances(prints, left, right)
    if elements is None:
        similarity = np.full(len(left), np.nan)
        order = np.lexsort((left, distance, right))
    else:
        similarity = np.empty(len(left))
        similarities_of(elements.stored(), left, right, float(min_similarity), similarity)
        order = np.lexsort((left, -similarity, right))
        order = order[similarity[order] >= 0]
    left, right = left[order], concerned[right[order] - len(kept)]
    starts = np.zeros(n + 1, np.int64)
    counts = np.bincount(right, minlength=n)
    np.cumsum(counts, out=starts[1:])
    names = np.concatenate([kept, -1 - concerned])
    return Decided(counts == 0, starts, names[left], similarity[order], distance[order])


def _graph(prints: Array, pairs: tuple[Array, Array]) -> CandidateGraph:
    """Every text is a class of its own."""
    n = len(prints)
    left, right = np.concatenate(pairs), np.concatenate(pairs[::-1])
    by_left = np.sort(left << 32 | right)
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(left, minlength=n), out=starts[1:])
    one = np.arange(n)
    return CandidateGraph(
        np.ascontiguousarray(prints), one, one.copy(), np.arange(n + 1), by_left.astype(np.uint32), starts
    )
