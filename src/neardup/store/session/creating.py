"""CREATE: the record of a new store, with all that later versions must know to read it; and what follows from a record."""

import contextlib
import dataclasses
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from neardup.hamming.index.files.stored_recipe import fields_in_folder
from neardup.io.outputs.growing_file import to_disk
from neardup.kernels.matching.elements import WEIGHTS
from neardup.kernels.matching.similarities import BY_NORM
from neardup.matching.similarities.table import maker_of
from neardup.options import DedupOptions
from neardup.recipe.presets import RecipeLike
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import recipe_of_run
from neardup.recipe.short_rule import NAME as SHORT_FACT
from neardup.recipe.short_rule import SHORT_RULE
from neardup.store.candidates.proposing import Candidates, Plan
from neardup.store.candidates.table import CANDIDATES
from neardup.store.formats.contents import Layout
from neardup.store.formats.derived import nothing_derived
from neardup.store.record.record import Record
from neardup.store.rules import Rules, demand_keep_as, to_store
from neardup.store.session.folder import RECORD, REPLICA, is_store, make_folder, writing

SKIPPED = "skipped"
"""The fact that says since when skipped documents are remembered; of older versions, no record has it."""


@contextlib.contextmanager
def written(
    path: Path, wait: float, recipe: Recipe, rules: Rules, *, lasts: bool, first: Mapping[str, Any]
) -> Iterator[None]:
    """Hold the lock of the store in a folder, which is made with this recipe and these rules if there is none.

    Args:
        path: the folder.
        wait: seconds to wait until another process that writes has ended.
        recipe, rules: of a new store.
        lasts: whether a new store is to survive a crash.
        first: facts that a new store is to have, instead of its own or besides them.

    Raises:
        InputError, OptionError: see `Store`.
    """
    plan = None
    if not is_store(path):
        plan = plan_of(recipe, rules)  # refuses bad options before a folder is made
        make_folder(path)
    with writing(path, wait):
        with contextlib.closing(Record(path / RECORD, create=True, lasts=lasts)) as record:
            if not record.is_complete:
                facts = _first_facts(path, recipe, rules, plan or plan_of(recipe, rules), first)
                with record.changing():
                    if not record.is_complete:  # or another process has made it meanwhile, whom the lock has let in
                        record.set_facts(facts)
                        if rules.texts and REPLICA not in first:
                            record.make_texts()
        if lasts:
            to_disk(path)
        yield


def _first_facts(path: Path, recipe: Recipe, rules: Rules, plan: Plan, first: Mapping[str, Any]) -> dict[str, Any]:
    own = {
        "store": secrets.token_hex(8),
        "recipe": recipe.stored(),
        "max_distance": recipe.max_distance,
        "rules": to_store(rules),
        "plan": plan.to_store(),
        "documents": 0,
        "removed": 0,
        "ends": layout_of(recipe, rules, candidates_of(recipe, rules, plan)).no_ends,
        "generation": 0,
        "derived": nothing_derived(0),
        "state": None,
        SKIPPED: {"since": None, "generation": 0, "orphans": 0},
        SHORT_FACT: SHORT_RULE,
    }
    found = own | dict(first)
    return found | {"recipe": fields_in_folder(found["recipe"], path, None)}


def recipe_of_facts(facts: Mapping[str, Any], fields: Any, given: RecipeLike | None, shown: str) -> Recipe:
    """The recipe of a store or an export, by its facts and `fields`, whose files are in place; a RecipeMismatch if another is
    given.
    """
    found = recipe_of_run(fields, given, shown)
    return found if found.max_distance is not None else dataclasses.replace(found, max_distance=facts["max_distance"])


def plan_of(recipe: Recipe, rules: Rules) -> Plan:
    """The limits of candidates of a new store; an OptionError if the rules do not go with the recipe, or one another."""
    demand_keep_as(rules.keep_as, rules.keep)
    return CANDIDATES[rules.options.method].plan_of(recipe, _asked(rules))


def candidates_of(recipe: Recipe, rules: Rules, plan: Plan) -> Candidates:
    """What finds candidates, before it is opened."""
    return CANDIDATES[rules.options.method](recipe, _asked(rules), plan)


def layout_of(recipe: Recipe, rules: Rules, candidates: Candidates) -> Layout:
    """What is kept of each document."""
    similarity = maker_of(rules.options.compared_by)
    kinds = ["compared"] if rules.options.min_similarity > 0 else []
    is_same = similarity.row.joined == similarity.row.verified
    if kinds and rules.options.method == "exact" and not is_same:
        kinds.append("joined")
    bounded = len(kinds) == (1 if is_same else 2) and similarity.code not in BY_NORM
    return Layout(
        recipe.words,
        tuple(kinds),
        similarity.verified == WEIGHTS,
        candidates.signing,
        bounded,
        rules.options.guard is not None,
    )


def _asked(rules: Rules) -> DedupOptions:
    """The options by which candidates are found."""
    return dataclasses.replace(rules.options, min_similarity=rules.least)
