"""WALK: decide new texts in their order, each new or a duplicate of its best match among the texts that are kept before it.

The decision is that of `neardup.survivors.clusters`, the star of `dedup`, over the kept texts that are candidates, in the order in
which they were added, and then the new ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.hamming.candidate_graph import CandidateGraph
from neardup.kernels.matching.similarities import Stored, similarities_of, working_memory
from neardup.matching.similarities.table import ElementMaker, Elements
from neardup.progress import Progress
from neardup.resources.scratch import IN_MEMORY, Scratch
from neardup.survivors.clusters import cluster_star


@dataclass(frozen=True, slots=True)
class Near:
    """A text that matches: its number in the store, its id as JSON, its similarity (None by distance alone), its distance."""

    number: int
    name: str | None
    similarity: float | None
    distance: int


@dataclass(frozen=True, slots=True)
class Walked:
    """The outcome of a new text: its number and id, and the texts that it matches, best first, then the one added first."""

    number: int
    name: str | None
    matches: tuple[Near, ...]

    @property
    def is_new(self) -> bool:
        """Whether it is kept."""
        return not self.matches


class HeldElements:
    """Elements in memory, as the star reads them."""

    def __init__(self, elements: Elements, similarity: ElementMaker) -> None:
        self._code, self._values, self._weights = similarity.code, elements.values.copy(), elements.weights.copy()
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
    others: Sequence[tuple[int, str | None]],
    kept: int,
    prints: Array,
    elements: HeldElements | None,
    pairs: tuple[Array, Array],
    *,
    min_similarity: float,
) -> list[Walked]:
    """Decide new texts.

    Args:
        others: numbers and ids of m + n texts.
        kept: m, how many of them are kept already; they come first.
        prints: uint64[m + n, words].
        elements: of all texts; None if the distance alone decides.
        pairs: candidates, places of two texts, the smaller first: kept ones with new ones, and new ones with one another.
        min_similarity: the least similarity of a match; 0 if the distance alone decides.
    """
    found = cluster_star(
        _graph(prints, pairs),
        np.arange(len(prints)),
        elements,
        min_similarity=min_similarity,
        progress=Progress(),
        fixed=kept,
    )
    left, right = pairs
    to_survivor = (found.survivor[left] == left) & (found.survivor[right] != right)
    left, right = left[to_survivor], right[to_survivor]
    distances = np.bitwise_count(prints[left] ^ prints[right]).sum(axis=1, dtype=np.int64)
    similarity = np.full(len(left), np.nan)
    if elements is not None:
        similarities_of(elements.stored(), left, right, float(min_similarity), similarity)
    grades = similarity if elements is not None else -distances.astype(np.float64)
    matches: dict[int, list[Near]] = {}
    for at in np.lexsort((left, -grades)).tolist():
        if elements is None or grades[at] >= 0:
            number, name = others[int(left[at])]
            alike = None if elements is None else float(similarity[at])
            matches.setdefault(int(right[at]), []).append(Near(number, name, alike, int(distances[at])))
    return [Walked(*others[place], tuple(matches.get(place, ()))) for place in range(kept, len(prints))]


def _graph(prints: Array, pairs: tuple[Array, Array]) -> CandidateGraph:
    """Every text is a class of its own."""
    n = len(prints)
    left, right = np.concatenate(pairs), np.concatenate(pairs[::-1])
    order = np.lexsort((right, left))
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(left, minlength=n), out=starts[1:])
    one = np.arange(n)
    return CandidateGraph(
        np.ascontiguousarray(prints), one, one.copy(), np.arange(n + 1), right[order].astype(np.uint32), starts
    )
