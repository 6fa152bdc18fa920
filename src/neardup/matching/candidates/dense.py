"""DENSE: the pairs that match where nearly all texts are nearly alike, without listing those that might.

A pair is verified as soon as the bits of its frequent elements meet (matching/frequent_bits.py), and forgotten if it does not
match. A pair of a sketch (MinHash, SimHash) counts only if the sketch proposes it, which is asked for the few pairs that match.
"""

import contextlib
from collections.abc import Callable, Iterator

import numpy as np

from neardup.arrays import Array
from neardup.hamming.candidate_graph import CandidateGraph, candidates_of
from neardup.hamming.unique import Unique
from neardup.kernels.matching.frequent_bits import TILE
from neardup.kernels.matching.similarities import Stored, similarities_of
from neardup.kernels.survivors.clusters import Forest
from neardup.kernels.survivors.dense_components import Apart, LinkMemory, join_found, link, link_all
from neardup.matching.candidates.candidate_join import CandidateJoin
from neardup.matching.candidates.costs import all_pairs
from neardup.matching.candidates.task import Found, Task
from neardup.matching.frequent_bits import FrequentBits, TiledSets
from neardup.matching.similarities.element_store import ElementStore, read_again
from neardup.resources.threads import in_order

DOCUMENTS_PER_STEP = 1024
"""Documents that are connected between two looks at the clock."""
SAMPLED_DOCUMENTS, SAMPLED_OTHERS = 256, 4096
"""Documents whose matches tell how many pairs would be listed, or whose bits tell how many come through; and others for that."""
MEETINGS_PER_PAIR = 2
"""If more pairs than this come through for each that a join would list, listing takes less: hardly an element is frequent."""


@contextlib.contextmanager
def compared_elements(task: Task) -> Iterator[ElementStore]:
    """What verification compares of the documents of a task: kept, or read again into temporary files."""
    if task.kept is not None and task.kept.serves_verification:
        yield task.kept
        return
    wanted = task.wanted
    with task.progress.stage("read again", int(wanted.sum())):
        store = ElementStore.of_verification(task.options.compared_by, task.recipe, resources=task.resources)
        read_again(store, task.corpus, wanted, progress=task.progress, checkpoints=task.checkpoints)
    with store:
        yield store


class DenseMatches:
    """Finds the documents of a join that match others. Documents are positions in the task's rows."""

    def __init__(self, join: CandidateJoin, compared: ElementStore) -> None:
        """`compared`: what verification compares of all documents of the join."""
        task, options = join.task, join.task.options
        self._join, self._task, self._compared = join, task, compared
        self._threshold = float(options.min_similarity)
        self._bits = FrequentBits.of(
            compared if task.kept is None else task.kept,
            task.rows,
            similarity=options.compared_by,
            min_similarity=options.min_similarity,
            resources=task.resources,
        )
        self._texts = compared.stored(task.rows, scratch=task.scratch)

    def __len__(self) -> int:
        return len(self._bits)

    def tiles(self, room: int) -> TiledSets:
        """No documents yet, and room for so many."""
        return self._bits.tiles(room)

    def is_worthwhile(self, expected: float) -> bool:
        """Whether the bits tell most documents apart, by a sample, where a join is expected to list so many pairs.

        They do not where most elements are in several documents and none is frequent: each pair would be verified.
        """
        n = len(self)
        others = np.arange(0, n, max(1, n // SAMPLED_OTHERS))
        probes, tiles = others[:: max(1, len(others) // SAMPLED_DOCUMENTS)], self.tiles(len(others))
        tiles.add(others)
        met = sum(len(left) for part in tiles.meetings(probes) for left, _ in part)
        held = int(np.searchsorted(others, probes).sum())
        return met * all_pairs(n) <= MEETINGS_PER_PAIR * expected * held

    def of(self, places: Array, others: TiledSets, since: int = 0) -> Iterator[tuple[Array, Array, Array]]:
        """Yield the pairs of `places` (int64[m]) and earlier documents, added as number `since` or later, that match.

        left, right: int64[p], right < left, and their similarity, float64[p]; in any order.
        """
        parts = others.meetings(places, since)
        for matches, met in in_order(self._matching, parts, self._task.resources.thread_count):
            self._compared.was_read(2 * met, 0)
            yield from matches

    def _matching(self, part: Iterator[tuple[Array, Array]]) -> tuple[list[tuple[Array, Array, Array]], int]:
        """Those of one part of the meetings that match; and how many there were."""
        texts: Stored = self._texts._replace(memory=self._texts.memory.copy())
        matches, met = [], 0
        for left, right in part:
            met += len(left)
            needed = self._is_needed(left, right)
            left, right = left[needed], right[needed]
            similarity = np.empty(len(left))
            similarities_of(texts, left, right, self._threshold, similarity)
            like = similarity >= 0
            left, right, similarity = left[like], right[like], similarity[like]
            if not self._join.proposes_all and len(left):
                proposed = self._join.proposes(left, right)
                left, right, similarity = left[proposed], right[proposed], similarity[proposed]
            matches.append((left, right, similarity))
        return matches, met

    def forest(self, fixed: int, done: Callable[[int], None]) -> Forest:
        """The matches that connect documents; the first `fixed` are not compared with one another. `done` is told of documents."""
        task, n, zeros = self._task, len(self), self._task.scratch.zeros
        groups = np.empty(0, np.int64) if task.groups is None else task.scratch.take(task.groups, task.rows)
        sides = np.empty(0, np.uint8) if task.sides is None else task.scratch.take(task.sides, task.rows)
        common, needs, differ = (zeros(TILE, np.int32) for _ in range(3))
        tiles, memory = self.tiles(n), LinkMemory(common, needs, differ, zeros(5, np.int64))
        tiles.add(np.arange(n))
        forest = Forest(task.scratch.range(n), task.scratch.range(n), task.scratch.full(n, -1.0, np.float64))
        memory.state[0], memory.state[3] = fixed, fixed + 1
        for first in range(fixed, n, DOCUMENTS_PER_STEP):
            last = min(n, first + DOCUMENTS_PER_STEP)
            given = last, *tiles.arrays, self._texts, self._threshold, Apart(groups, sides), forest, memory
            if not self._join.proposes_all:
                while link(*given):
                    if self._join.proposes(memory.state[:1], memory.state[4:]).all():
                        join_found(forest, memory)
            else:
                link_all(*given)
            self._compared.was_read(2 * (last - first), 0)
            done(last - first)
        return forest

    def _is_needed(self, left: Array, right: Array) -> Array:
        """Whether pairs are of one group, and across the sides."""
        task, needed = self._task, np.ones(len(left), np.bool_)
        if task.groups is not None:
            needed &= task.groups[task.rows[left]] == task.groups[task.rows[right]]
        if task.sides is not None:
            needed &= (task.sides[task.rows[left]] | task.sides[task.rows[right]]) == 3
        return needed


def graph_of(join: CandidateJoin, one: Array, other: Array) -> CandidateGraph:
    """The candidates that are these pairs of documents (int64[p], int64[p]; each pair of two once, those of one left out).

    Each document is a class of its own: those of one class, such as equal fingerprints, would all be candidates of each other.
    """
    apart = one != other
    low, high = np.minimum(one, other)[apart].astype(np.uint64), np.maximum(one, other)[apart].astype(np.uint64)
    packed, task, n = np.unique(low << np.uint64(32) | high), join.task, len(join.task.rows)
    alone = Unique(task.fingerprints[:0], np.arange(n), np.arange(n + 1))
    return task.of_groups(candidates_of(task.fingerprints, alone, packed, resources=task.resources), task.rows)


def list_dense(join: CandidateJoin, pairs: float) -> Found | None:
    """List all pairs that match, as the candidates of a join; None if listing `pairs`, those expected that may match, takes less.

    Raises:
        OptionError: by a sample, there are more pairs than fit the memory and the disk.
    """
    with compared_elements(join.task) as compared, join.task.progress.stage("join"):
        matches = DenseMatches(join, compared)
        if not matches.is_worthwhile(pairs):
            return None
        everything, tiles = np.arange(len(matches)), matches.tiles(len(matches))
        tiles.add(everything)
        some = everything[:: max(1, len(everything) // SAMPLED_DOCUMENTS)]
        expected = sum(len(left) for left, _, _ in matches.of(some, tiles)) * len(everything) // max(1, len(some))
        join.task.resources.check_pairs(
            expected,
            work=f"`method={join.method!r}` would list about {expected:,} pairs, which",
            instead="a higher `min_similarity`",
        )
        spool = join.task.resources.pair_spool(join.equal.class_of(join.task.scratch))
        for left, right, _ in matches.of(everything, tiles):
            spool.add(right.astype(np.uint64) << np.uint64(32) | left.astype(np.uint64))
        return join.found(join.graph(spool.all()))
