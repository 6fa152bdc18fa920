"""What every candidate method makes of the documents once, to join all of them, or some with others, as often as needed."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np

from neardup.arrays import Array
from neardup.hamming.candidate_graph import CandidateGraph, candidates_of
from neardup.hamming.unique import Unique
from neardup.matching.candidates.task import Found, Task
from neardup.resources.pair_spool import ManyPairs


class CandidateJoin(ABC):
    """Documents ready to be joined by a method. Use it within a `with` block: it may hold temporary files.

    Attributes:
        task: the documents that are long enough for the method.
        equal: classes of documents that are all candidates of each other, by their positions in `task.rows`. Classes are joined,
            not documents.
        method: its name; `reason`: why it was taken, if it was chosen automatically.
        proposes_all: whether every pair that matches is a candidate.
    """

    method: str
    proposes_all = False
    reason: str | None = None

    def __init__(self, task: Task, equal: Unique) -> None:
        self.task, self.equal = task, equal

    @property
    def firsts(self) -> Array:
        """int64[classes]: the first document of each class, by its position in `task.rows`."""
        firsts: Array = self.equal.order[self.equal.starts[:-1]]
        return firsts

    @abstractmethod
    def pairs(
        self, classes: Array | None = None, across: int = 0, *, names: Array | None = None, most: int | None = None
    ) -> Array:
        """Find the pairs of classes that are candidates.

        Args:
            classes: int64[m], the classes to join, ascending; by default, all.
            across: if above 0, join the first so many of `classes` with the others, both ascending; a class may be on either side.
            names: int64[m], what the pairs are of; by default, places in `classes`. Pairs of one name are left out.
            most: raise ManyPairs if more pairs are expected by a sample.

        Returns:
            uint64[p], left << 32 | right with left < right, ascending, every pair once.

        Raises:
            OptionError: by a sample, there are more pairs than fit the memory and the disk.
        """

    @abstractmethod
    def proposes(self, left: Array, right: Array) -> Array:
        """bool[p]: whether two documents that match are candidates; int64[p], positions in `task.rows`."""

    @abstractmethod
    def found(self, candidates: CandidateGraph) -> Found:
        """The outcome of the method: these candidates, and what finding them took."""

    def graph(self, packed: Array) -> CandidateGraph:
        """The candidates among all documents, from pairs of classes; of the same group only, if the task has groups."""
        task = self.task
        candidates = candidates_of(task.fingerprints, self.equal, packed, resources=task.resources)
        return task.of_groups(candidates, task.rows)


class SketchJoin(CandidateJoin):
    """A join by sketches of the texts, signatures or fingerprints, which may propose pairs that are far from the similarity."""


def all_candidates(join: CandidateJoin, *, most: int | None = None) -> Found:
    """Find all candidates among the documents of a join, of the same group if there are groups.

    Raises:
        ManyPairs: by a sample, there are more pairs than `most`, or documents of equal sketches have more.
    """
    if most is not None and most >= 0 and isinstance(join, SketchJoin):  # of equal sets, one survives
        sizes = join.equal.sizes.astype(np.float64)
        if (within := float((sizes * (sizes - 1)).sum() / 2)) > most:
            raise ManyPairs(within)
    with join.task.progress.stage("join"):
        return join.found(join.graph(join.pairs(most=most)))


Opener = Callable[[Task], AbstractContextManager[CandidateJoin]]
