"""Candidates by SIMHASH: every pair of fingerprints within the Hamming distance."""

import dataclasses

from neardup.errors import OptionError
from neardup.hamming.block_plan import plan_join
from neardup.hamming.near import near_fingerprints
from neardup.matching.candidates.task import Found, Task
from neardup.matching.distance_limit import distance_limit
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.recipe.vectors import VectorRecipe

LONG_JOIN_SECONDS = 600.0
"""A join expected to take longer is announced, with the estimate."""
REFUSED_JOIN_SECONDS = 7 * 86_400.0
"""A join expected to take longer is refused."""


def find_by_simhash(task: Task) -> Found:
    """Find every pair of fingerprints within the distance; texts with fewer tokens than the recipe's minimum are left out."""
    options = dataclasses.replace(task.options, method="simhash")
    max_distance = distance_limit(task.recipe, options)
    assert max_distance is not None  # simhash has one
    task = task.at_least(task.min_tokens("simhash"))
    check_cost(len(task.rows), task.recipe, max_distance, task.progress)
    with task.progress.stage("join"):
        found = near_fingerprints(
            task.fingerprints,
            max_distance=max_distance,
            resources=task.resources,
        )
    return Found(task.rows, found, task.min_tokens("simhash"), "simhash", max_distance=max_distance)


def check_cost(n: int, recipe: Recipe | VectorRecipe, max_distance: int, progress: Progress) -> None:
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
