"""Candidates by SIMHASH: every pair of fingerprints within the Hamming distance."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from neardup.arrays import Array
from neardup.errors import OptionError
from neardup.hamming.block_plan import plan_join
from neardup.hamming.candidate_graph import CandidateGraph
from neardup.hamming.near import hamming_distances, near_pairs
from neardup.hamming.unique import Unique, collapse
from neardup.matching.candidates.candidate_join import SketchJoin
from neardup.matching.candidates.task import Found, Task
from neardup.matching.distance_limit import distance_limit
from neardup.progress import Progress
from neardup.recipe.kinds import FingerprintRecipe

LONG_JOIN_SECONDS = 600.0
"""A join expected to take longer is announced, with the estimate."""
REFUSED_JOIN_SECONDS = 7 * 86_400.0
"""A join expected to take longer is refused."""


@contextmanager
def open_simhash(task: Task) -> Iterator["SimHashJoin"]:
    """Prepare to find every pair of fingerprints within the distance, of texts with no fewer tokens than the recipe's minimum."""
    max_distance = distance_limit(task.recipe, replace(task.options, method="simhash"))
    assert max_distance is not None  # simhash has one
    task = task.at_least(task.min_tokens("simhash"))
    check_cost(len(task.rows), task.recipe, max_distance, task.progress)
    equal = collapse(task.fingerprints, threads=task.resources.threads, scratch=task.scratch)
    yield SimHashJoin(task, equal, max_distance)


class SimHashJoin(SketchJoin):
    """Fingerprints; documents with equal ones are one class."""

    method = "simhash"

    def __init__(self, task: Task, equal: Unique, max_distance: int) -> None:
        super().__init__(task, equal)
        self._max_distance = max_distance

    def pairs(
        self, classes: Array | None = None, across: int = 0, *, names: Array | None = None, most: int | None = None
    ) -> Array:
        values = self.equal.values
        return near_pairs(
            values if classes is None else values[classes],
            across,
            max_distance=self._max_distance,
            names=names,
            most=most,
            resources=self.task.resources,
        )

    def proposes(self, left: Array, right: Array) -> Array:
        rows = self.task.rows
        near: Array = hamming_distances(self.task.documents.fingerprints, rows[left], rows[right]) <= self._max_distance
        return near

    def found(self, candidates: CandidateGraph) -> Found:
        least = self.task.min_tokens("simhash")
        return Found(self.task.rows, candidates, least, self.method, max_distance=self._max_distance)


def check_cost(n: int, recipe: FingerprintRecipe, max_distance: int, progress: Progress) -> None:
    """Announce a join that will take long; refuse one that would take too long."""
    expected = plan_join(n, bits=64 * recipe.words, max_distance=max_distance).seconds
    if expected <= LONG_JOIN_SECONDS:
        return
    estimate = f"joining {n:,} fingerprints within distance {max_distance} of {recipe.bits} bits"
    if expected > REFUSED_JOIN_SECONDS:
        raise OptionError(
            f"By estimate, {estimate} takes {expected / 86_400:,.0f} days. Give a smaller `max_distance`, or split the corpus."
        )
    progress.say(f"{estimate} will take about {expected / 60:,.0f} minutes; a smaller `max_distance` takes less")
