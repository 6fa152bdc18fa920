"""CLUSTER: walk the documents in order of preference, verify candidates by the texts, and assign each document to its survivor."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from neardup.arrays import Array
from neardup.hamming.candidate_graph import CandidateGraph
from neardup.kernels.fingerprints.shingles import sort_spare
from neardup.kernels.matching.similarities import JACCARD, Stored, similarities_of, working_memory
from neardup.kernels.survivors import clusters as kernels
from neardup.matching.candidates.task import Task
from neardup.matching.similarities.element_store import ElementStore, read_again
from neardup.progress import Progress
from neardup.resources.resources import DEFAULTS, Resources
from neardup.resources.scratch import Scratch
from neardup.resources.threads import in_order

DOCUMENTS_PER_STEP = 16_384
"""Documents walked between two checks of the clock and the memory; threads share the documents of a step."""
PARTS_PER_THREAD = 4
"""Parts of a step per thread: some documents have far more candidates than others."""


class ComparedElements(Protocol):
    """What verification reads of texts: an `ElementStore`, or elements in memory."""

    def stored(self, rows: Array | None = None, *, scratch: Scratch = ...) -> Stored:
        """The elements of `rows` (int64[n]), as kernels compare them."""

    def was_read(self, places: int, values: int) -> None:
        """Say that so many values at so many places were read."""


@dataclass(frozen=True, slots=True)
class Clustering:
    """The survivor of each of the documents 0 … n - 1, which are in order of preference.

    Attributes:
        survivor: int64[n], the document itself if it survives.
        similarity: float64[n], to the survivor; NaN for survivors, and where matches depend on distance alone.
        matched: int64[n], the document whose match brought this one in; the document itself if it survives.
        matched_similarity: float64[n], to that document; NaN as above.
        compared, matches: numbers of pairs compared and of pairs that matched. Pairs that could change nothing are not compared.
    """

    survivor: Array
    similarity: Array
    matched: Array
    matched_similarity: Array
    compared: int
    matches: int


def _steps(
    begin: int, n: int, sets: ComparedElements | None, texts: Stored, counts: Array, progress: Progress
) -> Iterator[tuple[int, int]]:
    """Yield ranges of documents. `counts` (int64[…, 2]) holds the pairs compared and matched so far."""
    compared = 0
    for first in range(begin, n, DOCUMENTS_PER_STEP):
        last = min(first + DOCUMENTS_PER_STEP, n)
        yield first, last
        if sets is not None:
            now = int(counts[..., 0].sum())
            sets.was_read(now - compared, int((texts.ends[first:last] - texts.starts[first:last]).sum()))
            compared = now
        progress.advance(last - first)


def _texts_by_position(rows: Array, sets: ComparedElements | None, scratch: Scratch) -> Stored:
    """The elements to compare, by position in the order of preference; empty where matches depend on distance alone."""
    if sets is not None:
        return sets.stored(rows, scratch=scratch)
    nothing = np.zeros(len(rows), np.int64)
    values, weights = np.frombuffer(b"", np.uint64), np.frombuffer(b"", np.float64)  # read-only, like mapped memory
    return Stored(JACCARD, values, weights, nothing, nothing, working_memory(JACCARD, 0))


def _first_survivors(candidates: CandidateGraph, fixed: int, scratch: Scratch) -> kernels.SurvivorState:
    """The initial state: documents 0 … fixed - 1 are survivors of their classes, and nothing else is known."""
    n, classes = len(candidates), len(candidates.starts) - 1
    kept, kept_count = scratch.zeros(n, np.int64), scratch.zeros(classes, np.int64)
    class_of = candidates.class_of[:fixed]
    by_class = np.argsort(class_of, kind="stable")
    kept_count[:] = np.bincount(class_of, minlength=classes)
    before = np.cumsum(kept_count) - kept_count
    kept[candidates.starts[class_of[by_class]] + np.arange(fixed) - before[class_of[by_class]]] = by_class
    return kernels.SurvivorState(kept, kept_count, scratch.range(n), scratch.full(n, -1.0, np.float64))


def cluster_star(
    candidates: CandidateGraph,
    rows: Array,
    sets: ComparedElements | None,
    *,
    min_similarity: float,
    progress: Progress,
    fixed: int = 0,
    resources: Resources = DEFAULTS,
) -> Clustering:
    """Keep each document unless it matches an earlier survivor; then it is a duplicate of its best match.

    The first `fixed` documents, those of a reference, always survive.
    """
    scratch, threads, threshold = resources.scratch, resources.thread_count, float(min_similarity)
    n, texts = len(candidates), _texts_by_position(rows, sets, scratch)
    graph, state = candidates.graph, _first_survivors(candidates, fixed, scratch)
    counts = np.zeros((PARTS_PER_THREAD * threads, 2), np.int64)
    copies = [texts._replace(memory=texts.memory.copy()) for _ in counts]  # each thread needs working memory of its own

    def look(part: tuple[int, int, int]) -> None:
        number, first, last = part
        kernels.nearest_survivors(first, last, graph, copies[number], threshold, state, counts[number])

    for first, last in _steps(fixed, n, sets, texts, counts, progress):
        edges = [first + (last - first) * i // len(counts) for i in range(len(counts) + 1)]
        for _ in in_order(look, zip(range(len(counts)), edges, edges[1:], strict=False), threads):
            pass
        kernels.star(first, last, graph, texts, threshold, state, counts[0])
    survivor, grades = state.survivor, state.grades
    grades[(survivor == np.arange(n)) | (sets is None)] = np.nan
    compared, matches = counts.sum(axis=0).tolist()
    return Clustering(survivor, grades, survivor, grades, compared, matches)


def cluster_components(
    candidates: CandidateGraph,
    rows: Array,
    sets: ComparedElements | None,
    *,
    min_similarity: float,
    progress: Progress,
    fixed: int = 0,
    resources: Resources = DEFAULTS,
) -> Clustering:
    """Make one cluster of all documents that matches connect; its most preferred document survives.

    The first `fixed` documents, those of a reference, are not compared with one another. Where others connect two of them, the
    first stands for both.
    """
    scratch = resources.scratch  # on one thread: each comparison depends on those before it
    n, texts = len(candidates), _texts_by_position(rows, sets, scratch)
    forest = kernels.Forest(scratch.range(n), scratch.range(n), scratch.full(n, -1.0, np.float64))
    graph, found, counts = candidates.graph, scratch.zeros((2, sort_spare(n)), np.uint64), np.zeros(2, np.int64)
    for first, last in _steps(fixed, n, sets, texts, counts, progress):
        kernels.components(first, last, graph, texts, float(min_similarity), forest, found, counts)
    survivor = scratch.take(forest.parents, forest.parents)
    while not np.array_equal(survivor, forest.parents[survivor]):
        survivor = scratch.take(forest.parents, survivor)
    similarity, matched_similarity = (scratch.full(n, np.nan, np.float64) for _ in range(2))
    if sets is not None:
        duplicates = np.flatnonzero(survivor != np.arange(n))
        matched_similarity[duplicates] = forest.grades[duplicates]
        to_survivor = np.empty(len(duplicates))
        similarities_of(texts, duplicates, survivor[duplicates], 0.0, to_survivor)
        similarity[duplicates] = to_survivor
    return Clustering(survivor, similarity, forest.links, matched_similarity, int(counts[0]), int(counts[1]))


CLUSTERERS = {"star": cluster_star, "components": cluster_components}


class Verification(contextlib.ExitStack):
    """Clusters the candidates of a task, as its options say; within a `with` block, as texts that are read again go to files."""

    def __init__(self, task: Task) -> None:
        super().__init__()
        self._task = task
        self._elements = task.kept if task.kept is not None and task.kept.serves_verification else None

    def read(self, rows: Array) -> None:
        """Make the elements of `rows` (int64[n]) ready, if they are needed and none are: read these texts again."""
        task = self._task
        if self._elements is not None or task.options.min_similarity == 0:
            return
        wanted = np.zeros(len(task.documents), np.bool_)
        wanted[rows] = True
        with task.progress.stage("read again", int(wanted.sum())):
            store = ElementStore.of_verification(task.options.compared_by, task.recipe, resources=task.resources)
            self._elements = read_again(
                store, task.corpus, wanted, progress=task.progress, checkpoints=task.checkpoints
            )
            self.enter_context(store)

    @property
    def elements(self) -> ElementStore:
        """What is compared, after `read`."""
        assert self._elements is not None
        return self._elements

    def some(self, candidates: CandidateGraph, rows: Array, fixed: int) -> Clustering:
        """Cluster some documents whose elements are ready, beside other work. `fixed`: the first so many survive."""
        return self._cluster(candidates, rows, fixed, Progress())

    def all(self, candidates: CandidateGraph, rows: Array, fixed: int) -> Clustering:
        """Cluster all documents, as a stage of the run. `fixed`: the first so many survive."""
        self.read(rows[candidates.has_any])
        progress, n = self._task.progress, len(rows)
        by_distance = self._task.options.min_similarity == 0
        with progress.stage("cluster", n) if by_distance else progress.stage("verify", n):
            return self._cluster(candidates, rows, fixed, progress)

    def _cluster(self, candidates: CandidateGraph, rows: Array, fixed: int, progress: Progress) -> Clustering:
        options = self._task.options
        cluster = partial(CLUSTERERS[options.cluster], resources=options.resources, fixed=fixed, progress=progress)
        least = options.min_similarity
        return cluster(candidates, rows, self._elements if least else None, min_similarity=least)
