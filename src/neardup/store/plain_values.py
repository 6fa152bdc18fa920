"""Ids and other plain values as JSON, and what is none."""

import json
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from neardup.errors import OptionError

_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
"""One for all: `json.dumps` makes one a call."""
_TOO_DEEP = "{} is nested too deeply to be kept. Give a flatter value."


def id_as_json(value: Any) -> str:
    """An id as JSON.

    Raises:
        OptionError: it is neither an integer nor a string of valid Unicode.
    """
    if type(value) is int:
        return str(value)
    if not isinstance(value, str | int | np.integer) or isinstance(value, bool):
        raise OptionError(f"The id {value!r} is a {type(value).__name__}. Give a string or an integer.")
    if not isinstance(value, str):
        return str(int(value))
    if not value.isascii():
        _demand_unicode(value)
    return _ENCODE(value)


def _demand_unicode(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as problem:
        raise OptionError(f"{text!r} is not valid Unicode: {problem.reason} (character {problem.start}).") from None


def several(option: str, values: Any) -> Sequence[Any]:
    """One value for each document, in a list.

    Raises:
        OptionError: it is a string or another single value.
    """
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise OptionError(f"`{option}={reprlib.repr(values)}` is one value: give a list, even of one.")
    if isinstance(values, pa.Array | pa.ChunkedArray):
        found: list[Any] = values.to_pylist()
        return found
    return values if isinstance(values, list | tuple) else list(values)


def plain(value: Any) -> Any:
    """A plain value, which may be given as JSON (`msgspec.Raw`), so that many need not be in memory at once.

    Raises:
        OptionError: it is nested too deeply.
    """
    try:
        return msgspec.json.decode(value) if isinstance(value, msgspec.Raw) else value
    except RecursionError:
        raise OptionError(_TOO_DEEP.format("It")) from None


def as_json(value: Any) -> str:
    """A plain value as JSON.

    Raises:
        OptionError: it is none.
    """
    given = plain(value)
    try:
        found = _ENCODE(given)
    except RecursionError:
        raise OptionError(_TOO_DEEP.format(reprlib.repr(value))) from None
    except (TypeError, ValueError) as problem:
        raise OptionError(f"{value!r} is no plain value, as JSON has them: {problem}.") from None
    _demand_unicode(found)
    return found
