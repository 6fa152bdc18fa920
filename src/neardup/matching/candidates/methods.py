"""The methods of finding candidates, and the choice among them."""

import dataclasses

from neardup.hamming.candidate_graph import within_groups
from neardup.matching.candidates.auto import find_by_choice
from neardup.matching.candidates.exact import find_exact
from neardup.matching.candidates.minhash import find_by_minhash
from neardup.matching.candidates.simhash import find_by_simhash
from neardup.matching.candidates.task import Finder, Found, Task

FINDERS: dict[str, Finder] = {
    "auto": find_by_choice,
    "exact": find_exact,
    "minhash": find_by_minhash,
    "simhash": find_by_simhash,
}


def find_candidates(task: Task) -> Found:
    """Candidates by the method that the options name or leave to be chosen."""
    found = FINDERS[task.options.taken()](task)
    if task.groups is None:
        return found
    return dataclasses.replace(found, candidates=within_groups(found.candidates, task.groups[found.rows]))
