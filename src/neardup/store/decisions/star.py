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
from neardup.kernels.matching.similarities import Stored, similarities_of
from neardup.matching.similarities.table import Elements
from neardup.matching.text_features import Texts, some_elements
from neardup.progress import Progress
from neardup.resources.scratch import IN_MEMORY, Scratch
from neardup.store.answers import NEW, StoreAnswer, StoreMatch
from neardup.store.formats.segments import Found
from neardup.store.record.documents_table import DocumentRow
from neardup.store.record.record import Record
from neardup.store.session.backend import Documents
from neardup.survivors.clusters import cluster_star
from neardup.survivors.listed_pairs import best_first


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

    @classmethod
    def listed(cls, n: int, texts: Array, documents: Array, similarity: Array, distance: Array) -> "Decided":
        """Of all matches, text after text (int64[matches], ascending)."""
        counts = np.bincount(texts, minlength=n)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        return cls(counts == 0, starts, documents, similarity, distance)

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

    def __init__(self, elements: Elements, code: int) -> None:
        self._stored = elements.stored(code)

    def stored(self, rows: Array | None = None, *, scratch: Scratch = IN_MEMORY) -> Stored:  # noqa: ARG002
        """The elements of `rows` (int64[n], by default all), as kernels compare them."""
        found = self._stored
        return found if rows is None else found._replace(starts=found.starts[rows], ends=found.ends[rows])

    def was_read(self, places: int, values: int) -> None:
        """Nothing is mapped."""


def walk(
    files: Documents, texts: Texts, of_kept: Found, among: Found, min_similarity: float, *, keeps_all: bool = False
) -> Decided:
    """Decide texts that differ from one another and from all that are kept.

    Args:
        files: have the kept documents.
        texts: the texts.
        of_kept: pairs of a place in them and the number of a kept document.
        among: pairs of two places, the smaller first.
        min_similarity: the least similarity of a match; 0 if the distance alone decides.
        keeps_all: whether texts are kept that match others, so that later ones match them.
    """
    contents, code = files.contents, files.similarity.code
    of_kept = contents.sieved(texts, of_kept, code, min_similarity)
    if not len(of_kept.asked) and not len(among.asked):
        nothing = np.empty(0, np.int64)
        return Decided.listed(len(texts), nothing, nothing, np.empty(0), nothing)
    kept, concerned, pairs = _places(of_kept, among)
    rows = contents.rows(kept)
    prints = np.concatenate([contents.fingerprints(rows), texts.prints.values[concerned]])
    elements = None
    if min_similarity > 0:
        own = some_elements(texts.compared, concerned)
        elements = HeldElements(Elements.joined([contents.elements(kept, "compared", rows), own]), code)
    if len(among.asked) and not keeps_all:
        found = cluster_star(
            _graph(prints, pairs),
            np.arange(len(prints)),
            elements,
            min_similarity=min_similarity,
            progress=Progress(),
            fixed=len(kept),
            resources=files.resources,
        )
        is_survivor = found.survivor == np.arange(len(prints))
        with_survivor = is_survivor[pairs[0]] & ~is_survivor[pairs[1]]
        pairs = pairs[0][with_survivor], pairs[1][with_survivor]
    left, right = pairs
    distance, similarity = hamming_distances(prints, left, right), np.full(len(left), np.nan)
    if elements is not None:
        similarities_of(elements.stored(), left, right, float(min_similarity), similarity)
    order = best_first(right, left, similarity, distance, by_distance=elements is None)
    order = order[~(similarity[order] < 0)]
    names, of_texts = np.concatenate([kept, -1 - concerned]), concerned[right[order] - len(kept)]
    return Decided.listed(len(texts), of_texts, names[left[order]], similarity[order], distance[order])


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
