"""IMPORT what a store has exported into a database, as a store that appears when it is complete."""

import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

from neardup.errors import InputError, TransferError
from neardup.store.postgresql.facts import is_there
from neardup.store.postgresql.places import DatabasePlace
from neardup.store.postgresql.problems import LostError
from neardup.store.postgresql.shared_files import SharedFiles
from neardup.store.rules import DECIDING, stored_rules
from neardup.store.upkeep import restore as restoring


def import_shared(place: DatabasePlace, exported: Path, threads: int | None) -> None:
    """Make a store of an export; see `Store.from_export`. Until it is complete, it has another name.

    Raises:
        InputError: there is a store of the name, or no export.
        DataError: the export is damaged.
    """
    facts = restoring.read_export(exported)
    if is_there(place):
        raise InputError(f"{place.shown} is a store already. Give the new one another name: `store=NAME`.")
    rules = stored_rules(facts["rules"])
    given: dict[str, Any] = {name: getattr(rules.options, name) for name in DECIDING}
    given |= rules.own
    unfinished = replace(place, store=f"unfinished {secrets.token_hex(4)}", replica=None)
    recipe = restoring.recipe_of_export(exported, facts)
    files = SharedFiles(
        unfinished, mode="w", wait=0, durable="batch", threads=threads, recipe=recipe, given=given, plan=facts["plan"]
    )
    try:
        with files.in_use(changes=True):
            restoring.fill(files, exported, facts)
        files.database.run(lambda connection: files.log.rename(connection, place.store))
    except LostError as problem:
        raise TransferError(place.shown, "importing", 1, str(problem)) from None
    except BaseException:
        files.database.run(files.log.drop)
        raise
    finally:
        files.close()
