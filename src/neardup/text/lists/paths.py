"""Texts in lists, such as the messages of a chat, by a path: `messages[].content`, `parts[]`, `messages[role=user].content`.

They are joined by a newline. Elements without a text (null, or no such field) are left out; a row without any text is null.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SEPARATOR = "\n"
NO_TEXT = "empty: no element has a text"
"""What is told of a row without any of the texts, after the name of its column."""
_STEP = re.compile(r"(?P<key>[^\[\]=.]+)(?:\[(?:(?P<field>[^\[\]=.]+)=(?P<values>[^\[\]]+))?\])?")
_ANY = re.sub(r"\?P<\w+>", "?:", _STEP.pattern)
_PATH = re.compile(rf"{_ANY}(?:\.{_ANY})*")


@dataclass(frozen=True, slots=True)
class Step:
    """A part of a path.

    Attributes:
        key: the column, or the field of a struct.
        is_list: it holds lists; the path goes on in their elements.
        field, values: only elements whose field has one of these values count; None and () for all.
    """

    key: str
    is_list: bool
    field: str | None = None
    values: tuple[str, ...] = ()


def list_path(name: str) -> tuple[Step, ...] | None:
    """The steps of a path that leads into lists; None if the name is that of a column, or of a field nested in structs.

    >>> [step.key for step in list_path("messages[].content")]
    ['messages', 'content']
    >>> list_path("messages[role=user,system].content")[0].values
    ('user', 'system')
    >>> list_path("meta.body") is None
    True
    """
    if "[" not in name or not _PATH.fullmatch(name):
        return None
    return tuple(
        Step(
            found["key"],
            found[0].endswith("]"),
            found["field"],
            tuple(value.strip() for value in found["values"].split(",")) if found["values"] else (),
        )
        for found in _STEP.finditer(name)
    )


def lists_problem(names: Sequence[str]) -> str | None:
    """Why texts of these columns cannot be rewritten; None if they can."""
    found = next((name for name in names if list_path(name)), None)
    return (
        found and f"`text={found!r}`: texts in lists are read, but not rewritten. Put them into a column of their own"
    )


def column_of(steps: Sequence[Step]) -> tuple[str, ...]:
    """The path of the first list: a column, or a field nested in it."""
    first = next(place for place, step in enumerate(steps) if step.is_list)
    return tuple(step.key for step in steps[: first + 1])


def texts_in_value(value: Any, steps: Sequence[Step]) -> Iterator[str]:
    """The texts in a value of Python: dicts and lists.

    Raises:
        TypeError: a list is no list, or a text no string; with what it is.
    """
    if value is None:
        return
    if not steps:
        if not isinstance(value, str):
            raise TypeError(f"has {_kind(value)}, not a string")
        yield value
        return
    step, *rest = steps
    if not isinstance(value, Mapping):
        raise TypeError(f"has {_kind(value)}, not an object with {step.key!r}")
    yield from _texts_in_field(value.get(step.key), step, rest)


def _texts_in_field(value: Any, step: Step, rest: Sequence[Step]) -> Iterator[str]:
    if not step.is_list or value is None:
        yield from texts_in_value(value, rest)
        return
    if not _is_list(value):
        raise TypeError(f"has {_kind(value)}, not a list, at {step.key!r}")
    for item in value:
        if step.field is None or (isinstance(item, Mapping) and item.get(step.field) in step.values):
            yield from texts_in_value(item, rest)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) or type(value).__name__ == "ndarray"  # pandas has arrays in its cells


def _kind(value: Any) -> str:
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if _is_list(value) else f"a {type(value).__name__}"
