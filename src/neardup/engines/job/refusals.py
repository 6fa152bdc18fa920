"""REFUSALS of what a run on many machines is given: options that it cannot have, and columns."""

from collections.abc import Iterable, Mapping
from typing import Any

from neardup.errors import InputError, OptionError
from neardup.options import DedupOptions


def demand_one_column(text: Any, engine: str, remedy: str) -> None:
    """Refuse several columns of texts.

    Raises:
        OptionError: `text` is no name.
    """
    if not isinstance(text, str):
        raise OptionError(f"`text={text!r}`: on {engine}, texts are in one column. {remedy}")


def demand_possible(given: Iterable[str], engine: str, not_taken: Mapping[str, str]) -> None:
    """Refuse options, by their names, that cannot be had. `not_taken`: with what to do instead.

    Raises:
        OptionError: some are given.
    """
    for name in given:
        if name in not_taken:
            raise OptionError(f"On {engine}, `{name}` is not taken. {not_taken[name]}")


def demand_columns_only(options: DedupOptions, engine: str, rows: str) -> None:
    """Refuse options that need functions or sources. `rows`: what holds the rows, in the words of the engine.

    Raises:
        OptionError: they do.
    """
    if options.functions:
        raise OptionError(
            f"On {engine}, `keep` and `within` name columns: functions are not taken. Add a column of their values."
        )
    if options.prefer_source:
        raise OptionError(
            f"On {engine}, `prefer_source` is not taken. Give the {rows} a column that says how good a source is, and `keep`."
        )


def demand_columns(found: Iterable[str], wanted: Iterable[str], called: str) -> None:
    """Refuse rows without some columns.

    Raises:
        InputError: they have not got one of them.
    """
    names = list(found)
    missing = [name for name in wanted if name not in names]
    if missing:
        raise InputError(f"{called} has no column {missing[0]!r}; it has {', '.join(map(repr, names)) or 'none'}.")


def demand_kind(name: str, kind: object, *, is_right: bool, role: str) -> None:
    """Refuse a column of another type. `role`: what it is for, one of `ROLES`.

    Raises:
        InputError: it has one.
    """
    if not is_right:
        raise InputError(f"The column {name!r} holds {kind}{ROLES[role]}")


ROLES = {
    "text": ", not strings. Name the column of the texts, or cast it.",
    "id": ". Ids are strings or integers: name another column, or cast it.",
    "order": ", which has no order. Name another.",
    "preferred": "; `keep` compares numbers, dates and strings. Name another.",
    "value": "; `keep` and `within` compare numbers, dates and strings. Name another.",
}
"""What columns are for, and what else is said of one that cannot be it."""
