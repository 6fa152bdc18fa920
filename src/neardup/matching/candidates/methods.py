"""Find candidates by the method in the options; what joins the documents is imported on use."""

from importlib import import_module

from neardup.matching.candidates.candidate_join import Opener
from neardup.matching.candidates.narrowed import list_candidates
from neardup.matching.candidates.task import Found, Task
from neardup.recipe.tables.methods import JOINS, METHODS


def opener_of(method: str) -> Opener:
    """Import the function that a method's row names."""
    module, _, function = METHODS[method].opener.partition(":")
    opener: Opener = getattr(import_module(f"{JOINS}.{module}"), function)
    return opener


def find_candidates(task: Task) -> Found:
    """Find all candidates by the method that the options name, or that `auto` chooses."""
    with opener_of(task.options.taken())(task) as join:
        return list_candidates(join)
