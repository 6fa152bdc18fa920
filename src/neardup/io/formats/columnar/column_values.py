"""Arrow columns as JSON values: numbers, quoted strings, true and false, dates and times as ISO 8601 in UTC."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InputError
from neardup.io.formats.json.json_values import number_tokens, quoted

_TEXT = pa.large_string()
_TESTS = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_boolean,
    pa.types.is_date,
    pa.types.is_timestamp,
    pa.types.is_time,
    pa.types.is_null,
)
_FRACTIONS = {"s": ".000000000", "ms": "000000", "us": "000", "ns": ""}
"""Digits that times of each unit lack to nine; times of equal width sort as texts."""


def is_value(kind: Any) -> bool:
    """Whether JSON can hold the values of a column of this type."""
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return any(test(kind) for test in _TESTS)


def demand_value_type(kind: Any, name: str, what: str = "values") -> None:
    """Refuse a column whose type fails `is_value`. `name`: of the column; `what`: what it holds.

    Raises:
        InputError: it does.
    """
    if not is_value(kind):
        raise InputError(
            f"The column {name!r} of the {what} is {kind}, but strings, numbers, dates or truth values are needed."
        )


def value_tokens(column: Any) -> Any:
    """A column that passes `is_value`, as JSON values; null and NaN become null, infinities as in `value_token`.

    Times get nine digits of a second whatever their unit, and those without a time zone count as UTC.
    """
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_floating(kind):
        return number_tokens(column)
    if pa.types.is_decimal(kind):
        return pa.array([None if value is None else _plain(value) for value in column.to_pylist()], _TEXT)
    if pa.types.is_timestamp(kind):
        utc = column.cast(pa.timestamp(kind.unit))
        return _with_fraction(pc.strftime(utc, format="%Y-%m-%dT%H:%M:%S"), kind.unit, "Z")
    if pa.types.is_time(kind):
        return _with_fraction(column.cast(pa.string()), kind.unit, "")
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return column.cast(_TEXT)
    return quoted(column.cast(_TEXT))


def _plain(value: Decimal) -> str:
    """A decimal without exponent and trailing zeros: equal numbers give equal texts."""
    text = format(value, "f")
    return "0" if not value else text.rstrip("0").rstrip(".") if "." in text else text


def _with_fraction(times: Any, unit: str, zone: str) -> Any:
    parts = ['"', times.cast(_TEXT), f'{_FRACTIONS[unit]}{zone}"']
    return pc.binary_join_element_wise(
        *(pa.scalar(part, _TEXT) if isinstance(part, str) else part for part in parts), pa.scalar("", _TEXT)
    )
