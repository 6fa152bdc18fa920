"""CHECKS of options that a run on many machines cannot have."""

from collections.abc import Iterable, Mapping
from typing import Any

from neardup.errors import OptionError
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
