"""FACTS of a store in PostgreSQL: its recipe with the files that it needs, and its rules, which stay as they were made."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from neardup.errors import InputError
from neardup.hamming.index.files.stored_recipe import fields_with_files
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.recipe.short_rule import NAME, SHORT_RULE, short_rule_of
from neardup.recipe.tables.keeps import KeepAs
from neardup.store.postgresql.connection import Database
from neardup.store.postgresql.log import Log
from neardup.store.postgresql.places import DatabasePlace
from neardup.store.postgresql.schema import demand_version, make_tables, version_of
from neardup.store.rules import KEEP_AS, demand_same, rules_of, stored_rules, to_store
from neardup.store.session.creating import plan_of, recipe_of_facts


@dataclass(frozen=True)
class SharedFacts:
    """What every replica of a store has from it.

    Attributes:
        id, rows: see `Head`.
        recipe: how fingerprints are made.
        fields: the same as plain values, with the contents of files.
        plan: the limits of candidates, as plain values.
        rules: the options of the store, with floor and keep.
        keep_as: how `keep` compares values, as far as that was known.
        short_rule: the version of the rule of short texts.
    """

    id: str
    rows: int
    recipe: Recipe
    fields: dict[str, Any]
    plan: dict[str, Any]
    rules: dict[str, Any]
    keep_as: KeepAs | None
    short_rule: int


def shared_facts(
    database: Database,
    log: Log,
    recipe: RecipeLike | None,
    given: Mapping[str, Any],
    *,
    reads_only: bool,
    plan: Mapping[str, Any] | None = None,
) -> SharedFacts:
    """Read the facts of a store, which is made if it is not there; with a `plan`, it must not be there.

    Raises:
        InputError: it is not there, and nothing is to be made.
        OptionError: what is given is not what the store has, or not allowed.
        RecipeMismatch: the store has another recipe.
        OtherVersionError: the tables are of another version.
    """
    place = database.place
    found = database.run(lambda connection: _read(connection, database, log))
    if found is None:
        if reads_only:
            raise InputError(
                f"{place.shown} is no store: there is none of the name {place.store}. Make it with `neardup store create`."
            )
        made = json.dumps(_first_facts(recipe, given, plan), sort_keys=True)
        identity = secrets.token_hex(8)

        def create(connection: Any) -> None:
            if version_of(connection, place) is None:
                make_tables(connection, place)
            log.create(connection, identity, made)

        database.run(create)
        found = database.run(lambda connection: _read(connection, database, log))
        if found is None:
            raise InputError(f"{place.shown} was removed while it was made.")
    facts, identity, rows = found
    made_by = recipe_of_facts(facts, facts["recipe"], recipe, place.shown)
    rules = stored_rules(facts["rules"])
    demand_same(place.shown, rules, given, facts)
    keep_as, rule = rules.keep_as or facts.get(KEEP_AS), short_rule_of(facts)
    return SharedFacts(identity, rows, made_by, facts["recipe"], facts["plan"], rules.given, keep_as, rule)


def is_there(place: DatabasePlace) -> bool:
    """Whether there is a store at a place.

    Raises:
        TransferError, InputError: the database cannot be reached, or entered.
        OtherVersionError: the tables are of another version.
    """
    database = Database(place, 0)
    try:
        return database.run(lambda connection: _read(connection, database, Log(place))) is not None
    finally:
        database.drop()


def _read(connection: Any, database: Database, log: Log) -> tuple[dict[str, Any], str, int] | None:
    """The facts as they are; None if there is no such store."""
    version = version_of(connection, database.place)
    if version is None:
        return None
    demand_version(database.place, version)
    facts, head = log.facts(connection), log.head(connection)
    return None if facts is None or head is None else (json.loads(facts), head.id, head.rows)


def _first_facts(
    made_by: RecipeLike | None, given: Mapping[str, Any], plan: Mapping[str, Any] | None
) -> dict[str, Any]:
    """What is written of a new store; an OptionError if the rules are not allowed, or do not go with the recipe."""
    rules = rules_of(given)
    recipe = recipe_of(made_by, rules.options.version)
    return {
        "recipe": fields_with_files(recipe.stored()),
        "max_distance": recipe.max_distance,
        "rules": to_store(rules),
        "plan": plan_of(recipe, rules).to_store() if plan is None else dict(plan),
        NAME: SHORT_RULE,
    }
