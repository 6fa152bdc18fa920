"""REFUSALS of what a run on many machines is given: options that it cannot have, and columns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from neardup.errors import InputError, OptionError, refuse_unprinted
from neardup.io.formats.columnar.column_values import demand_value_type
from neardup.io.ids import demand_id_type
from neardup.options import DedupOptions
from neardup.text.columns import decoded_type, demand_text_type
from neardup.text.frames import demand_one, missing_column


def demand_one_column(text: Any, engine: str, remedy: str) -> None:
    """Refuse several columns of texts.

    Raises:
        OptionError: `text` is no name.
    """
    refuse_unprinted(text)
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


def demand_columns(
    found: Sequence[str], wanted: Iterable[tuple[str, str]], *, capitals_count: bool = True, advice: str = ""
) -> None:
    """Refuse rows without some columns, or with several of the same name.

    Args:
        found: the names of the columns that there are.
        wanted: the names of columns, and what each is needed for.
        capitals_count: whether names that differ in capitals alone are two.
        advice: what to do about such names, if they are one.

    Raises:
        InputError: rows have not got one of them, or have several.
    """
    for name, what in wanted:
        if name not in found:
            raise missing_column(name, what, found)
        demand_one(name, what, found)
        same = [] if capitals_count else [each for each in found if each.lower() == name.lower()]
        if len(same) > 1:
            raise InputError(f"The columns {' and '.join(map(repr, same))} for the {what} are one: {advice}")


def demand_types(types: Mapping[str, Any], text: str, id: str | None, values: Iterable[str]) -> None:  # noqa: A002
    """Refuse columns of other types than one process takes, in its words.

    Args:
        types: those of Arrow by the names of columns.
        text, id: the columns of texts and of ids, if there are such.
        values: those whose values are compared, where there are such.

    Raises:
        OptionError: texts are no strings.
        InputError: ids are no strings or integers, or values have no order.
    """
    kinds = {name: decoded_type(kind) for name, kind in types.items()}
    demand_text_type(kinds[text], text)
    if id is not None and kinds[id] != pa.null():
        demand_id_type(kinds[id], id)
    for name in values:
        if name in kinds:
            demand_value_type(kinds[name], name)


def demand_order(name: str, kind: object, *, has_order: bool) -> None:
    """Refuse a column by which documents cannot be in order.

    Raises:
        InputError: it is one.
    """
    if not has_order:
        raise InputError(f"The column {name!r} holds {kind}, which has no order. Name another.")
