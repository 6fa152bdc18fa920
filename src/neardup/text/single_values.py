"""SINGLE VALUES of columns as numbers and as dates; loads nothing heavy."""

import math
from datetime import UTC, datetime
from typing import Any


def rank_value(value: Any) -> float | None:
    """A number that orders a value alone, without the others of its column: a number, or a text that tells one, as it is; a date or
    time in ISO 8601 as seconds since 1970. None for anything else.

    >>> rank_value("4.5"), rank_value("1970-01-02"), rank_value("many")
    (4.5, 86400.0, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    number = number_of(value)
    if number is None:
        instant = instant_of(str(value))
        number = None if instant is None else instant.timestamp()
    try:
        return None if number is None or not math.isfinite(number) else float(number)
    except OverflowError:
        return None


def number_of(value: Any) -> Any:
    """A text as a number, None if it tells none; other values as they are."""
    if not isinstance(value, str):
        return value
    try:
        return int(value) if value.strip().lstrip("+-").isdigit() else float(value)
    except ValueError:
        return None


def instant_of(text: str) -> datetime | None:
    """A text in ISO 8601 as a time in UTC; None if it is none."""
    try:
        return in_utc(datetime.fromisoformat(text.strip()))
    except ValueError:
        return None


def in_utc(value: datetime) -> datetime:
    """A time in UTC, as which one without a zone counts."""
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
