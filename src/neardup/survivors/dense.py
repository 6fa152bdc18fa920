"""DENSE: where nearly all texts are nearly alike, decide while joining. Each document is held against the survivors so far.

The star walk keeps a document unless it matches an earlier survivor; then it belongs to the best such match, and of equally good
ones to the earlier. A join that lists all pairs that may match pays five times for each: it is found, stored, sorted, read and
verified. Here a pair is verified as soon as it meets, and what does not match is forgotten; what is left is each document's best
survivor.

Documents are walked in order of preference, in blocks: first all documents of a block are held against the survivors before it;
then those without a match among themselves, half by half; last the others against the survivors of their own block. So every
document meets each survivor that comes before it, and need not meet any other document: the decisions are those of the walk among
all candidates.

Components are found by the matches that connect them: documents that are connected already are not compared.
"""

import itertools
from collections.abc import Iterator

import numpy as np

from neardup.arrays import Array
from neardup.matching.candidates.candidate_join import CandidateJoin
from neardup.matching.candidates.dense import DenseMatches, graph_of
from neardup.matching.candidates.task import Found
from neardup.matching.frequent_bits import TiledSets
from neardup.survivors.clusters import Verification

MIN_BLOCK, MAX_BLOCK = 256, 4096
"""Documents of a block: few at first, as hardly a survivor is known."""
FEW = 256
"""Up to so many documents are compared with all earlier ones among them."""


def best_survivors(join: CandidateJoin, verification: Verification, *, fixed: int, pairs: float) -> Found | None:
    """Find the best survivor of each document that does not survive, as the candidates of a join.

    The first `fixed` documents always survive, and are not compared with one another. Takes some operations of the processor for
    each document and survivor before it, and memory or temporary files for the bits of all documents, twice. None if listing
    `pairs`, those expected that may match, takes less.
    """
    task = join.task
    verification.read(task.rows)
    with task.progress.stage("families", len(task.rows)):
        matches = DenseMatches(join, verification.elements)
        if not matches.is_worthwhile(pairs):
            return None
        walk = _Walk(matches)
        for done in walk.blocks(fixed):
            task.progress.advance(done)
        places = np.flatnonzero(walk.best >= 0)
        found = join.found(graph_of(join, places, walk.best[places]))
    found.costs["survivors_first"] = len(walk.survivors)
    return found


def connecting_pairs(join: CandidateJoin, verification: Verification, *, fixed: int, pairs: float) -> Found | None:
    """Find as many pairs that match as connect all documents that matches connect, as the candidates of a join.

    The first `fixed` documents are not compared with one another. On one thread: what is compared depends on what was. None if
    listing `pairs`, those expected that may match, takes less.
    """
    task = join.task
    verification.read(task.rows)
    with task.progress.stage("families", len(task.rows)):
        matches = DenseMatches(join, verification.elements)
        if not matches.is_worthwhile(pairs):
            return None
        forest = matches.forest(fixed, task.progress.advance)
        links = forest.links
        found = join.found(graph_of(join, np.arange(len(links)), links))
    found.costs["connecting"] = int(np.count_nonzero(links != np.arange(len(links))))
    return found


class _Walk:
    """The walk through documents, which are positions in the order of preference.

    Attributes:
        survivors: those so far.
        best: int64[n], the best survivor that a document matches; -1 if it has none.
    """

    def __init__(self, matches: DenseMatches) -> None:
        n = len(matches)
        self._matches = matches
        self.survivors = matches.tiles(n)
        self.best = np.full(n, -1, np.int64)
        self._similarity = np.full(n, -1.0)

    def blocks(self, fixed: int) -> Iterator[int]:
        """Walk all documents, of which the first `fixed` survive; yields how many a block had."""
        self.survivors.add(np.arange(fixed))
        begin, size, n = fixed, MIN_BLOCK, len(self.best)
        while begin < n:
            block = np.arange(begin, min(n, begin + size))
            before = len(self.survivors)
            self._meet(block, self.survivors)
            self._among(block[self.best[block] < 0])
            self._meet(block[self.best[block] >= 0], self.survivors, since=before)
            yield len(block)
            begin, size = begin + size, min(2 * size, MAX_BLOCK)

    def _among(self, places: Array) -> None:
        """Find the survivors among documents that match no survivor before all of them; the others get some `best`."""
        if len(places) == 0:
            return
        if len(places) <= FEW:
            survives, near = np.ones(len(self.best), np.bool_), self._matches.tiles(len(places))
            near.add(places)
            pairs = (np.column_stack(part[:2]).tolist() for part in self._matches.of(places, near))
            for p, q in sorted(itertools.chain.from_iterable(pairs)):
                survives[p] &= not survives[q]  # q is before p, and decided
            self.survivors.add(places[survives[places]])
            self.best[places[~survives[places]]] = places[0]
            return
        before, half = len(self.survivors), len(places) // 2
        self._among(places[:half])
        others = places[half:]
        for left, _, _ in self._matches.of(others, self.survivors, since=before):
            self.best[left] = places[0]
        self._among(others[self.best[others] < 0])

    def _meet(self, places: Array, others: TiledSets, since: int = 0) -> None:
        """Note the best match of each document among some survivors, which come after those that it has met."""
        for left, right, similarity in self._matches.of(places, others, since):
            order = np.lexsort((right, -similarity, left))
            left, right, similarity = left[order], right[order], similarity[order]
            first = np.flatnonzero(np.diff(left, prepend=-1))
            left, right, similarity = left[first], right[first], similarity[first]
            known, best = self._similarity[left], self.best[left]
            better = (similarity > known) | ((similarity == known) & (right < best))
            self.best[left[better]], self._similarity[left[better]] = right[better], similarity[better]
