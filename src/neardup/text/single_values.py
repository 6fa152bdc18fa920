"""SINGLE VALUES of columns as numbers, as dates and as text; loads nothing heavy."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from neardup.recipe.tables.keeps import KeepAs

COMPARED_AS: dict[KeepAs, str] = {"number": "numbers", "time": "dates", "text": "text"}
"""What `keep_as` compares, as summaries say it."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of values.

    Attributes:
        name: in messages.
        tells: what values of this kind are compared as if nothing says how.
        fits: what they can be compared as.
    """

    name: str
    tells: tuple[str, ...]
    fits: tuple[str, ...]


KINDS = {
    "text": Kind("text", ("text",), ("text",)),
    "date": Kind("dates", ("dates",), ("dates", "text")),
    "date or digits": Kind("dates", ("dates", "numbers"), ("dates", "numbers", "text")),
    "digits": Kind("numbers", ("numbers",), ("numbers", "text")),
    "date or number": Kind("numbers", ("dates", "numbers"), ("dates", "numbers", "text")),
    "number": Kind("numbers", ("numbers",), ("numbers", "text")),
}
"""The kinds of values. The first four are strings; 20240131 is a date, too, whether it is a string or a number."""

IN_WORDS: dict[KeepAs, str] = {"number": "a number", "time": "a date or time in ISO 8601", "text": "text"}
"""What `keep_as` needs."""


def kind_of(value: Any) -> str | None:
    """The kind of a value that JSON gave; None for NaN, which is no value."""
    if isinstance(value, list | dict):
        return "text"
    is_text = isinstance(value, str)
    number = number_of(value)
    if isinstance(number, float) and math.isnan(number):
        return None
    is_date = (number is None or _has_eight_digits(value)) and instant_of(str(value)) is not None
    if not is_text:
        return "date or number" if is_date else "number"
    if number is None:
        return "date" if is_date else "text"
    return "date or digits" if is_date else "digits"


def _has_eight_digits(value: Any) -> bool:
    """Whether a number is written as 20240131 is: others are no dates, but can be read as some, such as 1206121511230."""
    written = str(value).strip()
    return len(written) == len("20240131") and written.isdigit()


def common_way(kinds: Iterable[str]) -> KeepAs | None:
    """What values of these kinds are compared as if nothing says how; None if there is no such way."""
    found = set(kinds)
    ways = (way for way, name in COMPARED_AS.items() if all(name in KINDS[kind].tells for kind in found))
    return next(ways, None)


def fits(value: Any, keep_as: KeepAs) -> bool:
    """Whether a value, as JSON gave it, can be compared so, or is no value."""
    kind = kind_of(value)
    return kind is None or COMPARED_AS[keep_as] in KINDS[kind].fits


def kind_alone(value: Any) -> KeepAs | None:
    """How a value alone is compared if nothing says how; None if it is no value."""
    kind = None if value is None else kind_of(value)
    return None if kind is None else common_way((kind,))


def value_key(value: Any, keep_as: KeepAs) -> Any:
    """What a value, as JSON gave it, is sorted by, compared so: None for no value, and for one that does not fit."""
    return sort_key(value, COMPARED_AS[keep_as])


def sort_key(value: Any, compared_as: str) -> Any:
    """What a value is sorted by; None for no value, and for one that does not fit."""
    if compared_as == "text":  # of which "nan" is one, too
        if value is None or isinstance(value, str):
            return value
        whole = int(value) if isinstance(value, float) and value.is_integer() else value  # 1.0 is 1, as in files
        return json.dumps(whole)
    kind = None if value is None else kind_of(value)
    if kind is None or compared_as not in KINDS[kind].fits:
        return None
    return number_of(value) if compared_as == "numbers" else instant_of(str(value))


def number_of(value: Any) -> Any:
    """A text as a number, None if it tells none; other values as they are."""
    if not isinstance(value, str):
        return value
    try:
        return None if "_" in value else int(value) if value.strip().lstrip("+-").isdigit() else float(value)
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
