"""JOIN: which documents may match, kept as classes of equal fingerprints and the classes near one another.

So a page repeated 100,000 times is one class, not five billion pairs.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.errors import OptionError
from neardup.pairs import collapse, join_distinct, plan
from neardup.progress import Progress
from neardup.recipe import Recipe

Array = np.ndarray[Any, np.dtype[Any]]


LONG_JOIN_SECONDS = 600.0
"""A join that is expected to take longer is announced, with the estimate."""
REFUSED_JOIN_SECONDS = 7 * 86_400.0
"""A join that is expected to take longer is refused."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Documents 0 … n - 1, in order of preference, and who is near whom.

    Attributes:
        fingerprints: uint64[n, words].
        class_of: int64[n], the class of equal fingerprints that each document is in.
        members, starts: int64[n], int64[classes + 1]; class u has the members[starts[u]:starts[u + 1]], ascending.
        near, near_starts: int64[], int64[classes + 1]; the classes within the distance of u, but for itself, are
            near[near_starts[u]:near_starts[u + 1]], ascending.
    """

    fingerprints: Array
    class_of: Array
    members: Array
    starts: Array
    near: Array
    near_starts: Array

    def __len__(self) -> int:
        return len(self.class_of)

    @property
    def has_any(self) -> Array:
        """bool[n]: the document has at least one candidate."""
        classes = (np.diff(self.starts) > 1) | (np.diff(self.near_starts) > 0)
        found: Array = classes[self.class_of]
        return found


def find_candidates(fingerprints: Array, *, max_distance: int, threads: int | None) -> Candidates:
    """Every pair of `fingerprints` (uint64[n, words]) at Hamming distance `max_distance` or less, as classes."""
    distinct = collapse(fingerprints)
    classes = len(distinct.starts) - 1
    class_of = np.empty(len(fingerprints), np.int64)
    class_of[distinct.order] = np.repeat(np.arange(classes), np.diff(distinct.starts))
    pairs = join_distinct(distinct, max_distance=max_distance, threads=threads)
    left, right = np.concatenate([pairs.left, pairs.right]), np.concatenate([pairs.right, pairs.left])
    order = np.lexsort((right, left))
    near_starts = np.zeros(classes + 1, np.int64)
    near_starts[1:] = np.cumsum(np.bincount(left, minlength=classes))
    return Candidates(
        np.ascontiguousarray(fingerprints),
        class_of,
        np.ascontiguousarray(distinct.order, np.int64),
        np.ascontiguousarray(distinct.starts, np.int64),
        right[order],
        near_starts,
    )


def check_cost(n: int, recipe: Recipe, max_distance: int, progress: Progress) -> None:
    """Say when the join will take long, refuse when it would take for ever."""
    expected = plan(n, bits=64 * recipe.words, max_distance=max_distance).seconds
    if expected <= LONG_JOIN_SECONDS:
        return
    estimate = f"joining {n:,} fingerprints within distance {max_distance} of {recipe.bits} bits"
    if expected > REFUSED_JOIN_SECONDS:
        raise OptionError(
            f"By estimate, {estimate} takes {expected / 86_400:,.0f} days. Give a smaller max_distance, or split the corpus."
        )
    progress.say(f"{estimate} will take about {expected / 60:,.0f} minutes; a smaller --max-distance takes less")
