"""Candidates by SIMHASH: every pair of fingerprints within the Hamming distance."""

import dataclasses
from typing import Any

import numpy as np

from neardup.errors import OptionError
from neardup.hamming.classes import Candidates, candidates_of
from neardup.hamming.pairs import collapse, plan, spool_near
from neardup.matching.candidates.task import Found, Task
from neardup.options import distance_limit, memory_bytes
from neardup.progress import Progress
from neardup.recipe import Recipe
from neardup.recipe.vectors import VectorRecipe
from neardup.resources.pair_spool import PairSpool
from neardup.resources.scratch import SHARE, Scratch

Array = np.ndarray[Any, np.dtype[Any]]

LONG_JOIN_SECONDS = 600.0
"""A join that is expected to take longer is announced, with the estimate."""
REFUSED_JOIN_SECONDS = 7 * 86_400.0
"""A join that is expected to take longer is refused."""


def find_by_simhash(task: Task) -> Found:
    """Every pair of fingerprints within the distance; texts of fewer tokens than the recipe's minimum are left out."""
    options = dataclasses.replace(task.options, method="simhash")
    max_distance = distance_limit(task.recipe, options)
    assert max_distance is not None  # simhash has one
    task = task.at_least(task.recipe.min_tokens)
    check_cost(len(task.rows), task.recipe, max_distance, task.progress)
    with task.progress.stage("join"):
        found = near_fingerprints(
            task.fingerprints,
            max_distance=max_distance,
            threads=options.threads,
            memory=memory_bytes(options.memory),
            temp_dir=options.temp_dir,
        )
    return Found(task.rows, found, task.recipe.min_tokens, "simhash", max_distance=max_distance)


def near_fingerprints(
    fingerprints: Array,
    *,
    max_distance: int,
    threads: int | None,
    memory: int | None = None,
    temp_dir: str | None = None,
) -> Candidates:
    """Every pair of `fingerprints` (uint64[n, words]) at Hamming distance `max_distance` or less, as classes.

    Pairs that take more than about half of `memory` (half of the machine's) go to temporary files in `temp_dir`.
    """
    memory = memory_bytes(memory)
    scratch = Scratch(memory // SHARE, temp_dir)
    distinct = collapse(fingerprints, scratch=scratch)
    spool = PairSpool(memory=memory // 4, temp_dir=temp_dir)
    spool_near(distinct, spool, max_distance=max_distance, threads=threads, memory=memory // 4)
    return candidates_of(fingerprints, distinct, spool.all(), memory=memory // 8, temp_dir=temp_dir, scratch=scratch)


def check_cost(n: int, recipe: Recipe | VectorRecipe, max_distance: int, progress: Progress) -> None:
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
