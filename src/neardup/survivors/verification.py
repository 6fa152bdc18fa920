"""VERIFY: cluster candidates by the similarity of their texts, whose elements the first pass kept or which are read again."""

import contextlib
from functools import partial

import numpy as np

from neardup.arrays import Array
from neardup.hamming.candidate_graph import CandidateGraph
from neardup.matching.candidates.task import Task
from neardup.matching.similarities.element_store import ElementStore, read_again
from neardup.progress import Progress
from neardup.survivors.clusters import CLUSTERERS, Clustering


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
