"""Read lines of audits as values, and check them against the schema."""

import json
from collections.abc import Iterable
from typing import Annotated, Any, NotRequired, TypedDict

import msgspec

from neardup.errors import DECODER_ERRORS
from neardup.survivors.records.audit_schema import (
    BY_INDEX,
    BY_STORE,
    COLUMNS,
    DOCUMENTS,
    REPLACING,
    UNITS,
    Column,
    columns_of,
    columns_of_filter,
)

Line = dict[str, Any]
"""A line of an audit: column names and their values."""

LAYOUTS = [
    columns_of(kind, with_matched=with_matched, with_reference=with_reference, with_later=with_later)
    for kind in (DOCUMENTS, UNITS)
    for with_later in (True, False)
    for with_matched in (False, True)
    for with_reference in ((False, True) if kind == DOCUMENTS else (False,))
]
"""The combinations of columns that a line may have."""


def _names(columns: Iterable[Column[Any]]) -> frozenset[str]:
    return frozenset(column.name for column in columns)


def kind_of(parsed: Any) -> Any:
    """The type of a value, for integers with the limits of int64."""
    return Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)] if parsed is int else parsed


_NAMES = frozenset(map(_names, LAYOUTS))
_IN_ALL = frozenset.intersection(*_NAMES)
_TYPES = {
    column.name: kind_of(column.type.parsed) | None if column.nullable else kind_of(column.type.parsed)
    for column in COLUMNS
    if any(column in layout for layout in LAYOUTS)
}
_make: Any = TypedDict  # made from a table; type checkers expect a literal
_decode = msgspec.json.Decoder(
    _make("_Line", {name: kind if name in _IN_ALL else NotRequired[kind] for name, kind in _TYPES.items()})
).decode


def read_line(text: bytes) -> Line:
    """Parse a line of an audit of documents or units; fields outside the schema are left out.

    Raises:
        ValueError: the text is not such a line. The message gives the reason, as the end of a sentence.
    """
    try:
        line: Line = _decode(text)
    except (msgspec.DecodeError, *DECODER_ERRORS):
        raise ValueError(_problem(text)) from None
    if frozenset(line) not in _NAMES:
        raise ValueError(_problem(text))
    return line


def _problem(text: bytes) -> str:
    """What is wrong with a line."""
    try:
        line = json.loads(text)
    except DECODER_ERRORS:
        return "it is no JSON"
    if not isinstance(line, dict):
        return "it is no JSON object"
    of_filter = [(kind, later) for kind in (BY_INDEX, BY_STORE, REPLACING) for later in (True, False)]
    if line.keys() in [_names(columns_of_filter(kind, with_later=later)) for kind, later in of_filter]:
        return "it was written by `neardup filter`, which names what a document matched, but decides on no clusters"
    present = line.keys() & _TYPES.keys()
    columns = min(LAYOUTS, key=lambda layout: (len(present - _names(layout)), len(_names(layout) - present)))
    for column in columns:
        if column.name not in line:
            return f"it lacks {column.name!r}"
        try:
            msgspec.convert(line[column.name], _TYPES[column.name])
        except msgspec.ValidationError:
            null = " or null" if column.nullable else ""
            return (
                f"{column.name!r} is {json.dumps(line[column.name], ensure_ascii=False)}, not {column.type.name}{null}"
            )
    return f"it has {min(present - _names(columns))!r}, which is not together with its other columns in any audit"
