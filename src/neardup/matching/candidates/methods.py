"""Find candidates by the method in the options; its finder is imported on use."""

import dataclasses
from importlib import import_module

from neardup.hamming.candidate_graph import within_groups
from neardup.matching.candidates.task import Finder, Found, Task
from neardup.recipe.methods import FINDERS, METHODS


def finder_of(method: str) -> Finder:
    """Import the function that a method's row names."""
    module, _, function = METHODS[method].finder.partition(":")
    finder: Finder = getattr(import_module(f"{FINDERS}.{module}"), function)
    return finder


def find_candidates(task: Task) -> Found:
    """Find candidates by the method that the options name, or that `auto` chooses."""
    found = finder_of(task.options.taken())(task)
    if task.groups is None:
        return found
    return dataclasses.replace(
        found, candidates=within_groups(found.candidates, task.groups[found.rows], resources=task.resources)
    )
