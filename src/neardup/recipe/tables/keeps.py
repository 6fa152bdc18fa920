"""KEEPS: the rules that say which of matching documents is preferred, and what each compares. Imports no compiled code."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

Keep = Literal["first", "last", "longest", "shortest"] | str | Callable[[str], Any]
"""A key of KEEPS, where COLUMN in `max:COLUMN` and `min:COLUMN` may be any column; or a function of the text."""
KEEPS = {
    "first": "the one that comes first in the input",
    "last": "the one that comes last",
    "longest": "the one with the most characters, then the first",
    "shortest": "the one with the fewest characters, then the first",
    "max:COLUMN": "the one with the largest value in the column (numbers, dates or text); missing values come last",
    "min:COLUMN": "the one with the smallest value in the column",
}

KeepAs = Literal["number", "time", "text"]
KEEP_AS = {
    "number": "as numbers",
    "time": "as dates and times in ISO 8601",
    "text": "as text, by code points",
}
"""How `keep` may compare the values of a column."""


class By(Enum):
    """What a rule compares."""

    ORDER = "the order of the input"
    LENGTH = "the number of characters"
    VALUE = "the values of a column, or of a function of the text"


@dataclass(frozen=True, slots=True)
class Preference:
    """A rule, resolved. Of equally good documents, the first is preferred.

    Attributes:
        by: what is compared.
        greatest_first: whether the last, longest or largest is preferred.
        column: the column whose values are compared; None if none are, or those of a function.
    """

    by: By
    greatest_first: bool
    column: str | None = None


_FIXED = {
    "first": Preference(By.ORDER, greatest_first=False),
    "last": Preference(By.ORDER, greatest_first=True),
    "longest": Preference(By.LENGTH, greatest_first=True),
    "shortest": Preference(By.LENGTH, greatest_first=False),
}


def preference_of(keep: Any) -> Preference | None:
    """The preference that a rule means; None if it is no rule. Of a function, the largest result is preferred."""
    if callable(keep):
        return Preference(By.VALUE, greatest_first=True)
    if not isinstance(keep, str):
        return None
    kind, _, column = keep.partition(":")
    if column and kind in ("max", "min"):
        return Preference(By.VALUE, kind == "max", column)
    return _FIXED.get(keep)
