"""ARGUMENTS of a store's calls: whole numbers, ids and other plain values as JSON, durations and times; and what is none."""

import json
import math
import re
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from numbers import Real
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from neardup.errors import OptionError, is_integer

_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
"""One for all: `json.dumps` makes one a call."""
_TOO_DEEP = "{} is nested too deeply to be kept. Give a flatter value."


def id_as_json(value: Any) -> str:
    """An id as JSON; an OptionError if it is neither an integer nor a string of valid Unicode."""
    if not isinstance(value, str | int | np.integer) or isinstance(value, bool):
        raise OptionError(f"The id {value!r} is a {type(value).__name__}. Give a string or an integer.")
    if not isinstance(value, str):
        try:
            return str(int(value))
        except ValueError:  # more digits than Python writes
            raise OptionError("An id has too many digits. Give a smaller integer, or a string.") from None
    if not value.isascii():
        _demand_unicode(value)
    return _ENCODE(value)


def _demand_unicode(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as problem:
        raise OptionError(f"{text!r} is not valid Unicode: {problem.reason} (character {problem.start}).") from None


def whole_number(option: str, given: Any, what: str, *, least: int = 0, below: int = 1 << 63) -> int:
    """An integer of Python or NumPy within limits, as one of Python; an OptionError if it is none (`what`: what to give)."""
    if not is_integer(given) or not least <= given < below:
        most = f", below 2**{below.bit_length() - 1}" if is_integer(given) and given >= below else ""
        raise OptionError(f"`{option}={reprlib.repr(given)}`: give {what}{most}.")
    return int(given)


def several(option: str, values: Any) -> Sequence[Any]:
    """One value for each document, in a list; an OptionError if it is a string or another single value."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise OptionError(f"`{option}={reprlib.repr(values)}` is one value: give a list, even of one.")
    if isinstance(values, pa.Array | pa.ChunkedArray):
        found: list[Any] = values.to_pylist()
        return found
    return values if isinstance(values, list | tuple) else list(values)


def plain(value: Any) -> Any:
    """A plain value, maybe given as JSON (`msgspec.Raw`), so that few are in memory at once; an OptionError if it is nested too
    deeply.
    """
    try:
        return msgspec.json.decode(value) if isinstance(value, msgspec.Raw) else value
    except RecursionError:
        raise OptionError(_TOO_DEEP.format("It")) from None


def as_json(value: Any) -> str:
    """A plain value as JSON; an OptionError if it is none."""
    given = plain(value)
    try:
        found = _ENCODE(given)
    except RecursionError:
        raise OptionError(_TOO_DEEP.format(reprlib.repr(value))) from None
    except (TypeError, ValueError) as problem:
        raise OptionError(f"{value!r} is no plain value, as JSON has them: {problem}.") from None
    _demand_unicode(found)
    return found


UNITS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
Duration = float | timedelta | str
YEAR_10000 = 253_402_300_800
"""Seconds since 1970: what comes later was meant in milliseconds, or less."""


def seconds_of(option: str, given: Duration) -> float:
    """Parse a duration, such as 90, `90s`, `15m`, `12h`, `30d`, `4w` or `timedelta(days=30)`.

    Raises:
        OptionError: the value is none, or is negative.

    >>> seconds_of("older_than", "1.5h")
    5400.0
    """
    seconds = _number(given)
    if isinstance(given, timedelta):
        seconds = given.total_seconds()
    elif isinstance(given, str) and (found := re.fullmatch(r"(\d+(?:\.\d+)?) *([smhdw]?)", given.strip(), re.ASCII)):
        seconds = float(found[1]) * UNITS[found[2]]
    if not 0 <= seconds < math.inf:
        shown = str(given) if isinstance(given, timedelta) else given
        raise OptionError(
            f"`{option}={shown!r}`: give seconds, 0 or more, as a number, or a duration such as 90s, 15m, 12h, 30d or 4w."
        )
    return seconds


def ends_of(expires: Any, ttl: Any, count: int) -> Callable[[float, float], list[float | None]]:
    """Check when documents expire. Returns a function of the clock, and of the latest time of the store or the clock, that makes
    the times: one of each document, or none at all.

    Raises:
        OptionError: a value is not allowed, or both are given for a document; later, if a time is past by the clock.
    """
    times = _of_each("expires", expires, count, time_of)
    durations = _of_each("ttl", ttl, count, seconds_of)
    for place, (time, duration) in enumerate(zip(times, durations, strict=False)):
        if time is not None and duration is not None:
            raise OptionError(f"Give either `expires` or `ttl`{_place(place, count)}.")

    def made(clock: float, now: float) -> list[float | None]:
        for place, time in enumerate(times):
            if time is not None and time <= clock:
                raise OptionError(
                    f"`expires={time!r}`{_place(place, count)} is in the past: it is a time in seconds since 1970. To let a "
                    "document expire some time from now, give `ttl`: seconds, or a duration such as 30d."
                )
        if not durations:
            return times
        ends = [None if each is None else now + each for each in durations]
        for place, (end, duration) in enumerate(zip(ends, durations, strict=True)):
            if end is not None and end >= YEAR_10000:
                raise OptionError(
                    f"`ttl={duration!r}`{_place(place, count)} ends after the year 9999: it is in seconds, not in milliseconds. To "
                    "keep a document for good, leave it out."
                )
        return [end if time is None else time for time, end in zip(times or [None] * count, ends, strict=True)]

    return made


def _of_each(option: str, given: Any, count: int, checked: Callable[[str, Any], float]) -> list[float | None]:
    """One value of each document; empty if there is none."""
    if given is None:
        return []
    if not isinstance(given, list | tuple):
        return [checked(option, given)] * count
    if len(given) != count:
        raise OptionError(f"{len(given)} values of `{option}` for {count} texts: give one each.")
    return [None if each is None else checked(option, each) for each in given]


def _place(place: int, count: int) -> str:
    return f" for document {place} (counted from 0)" if count > 1 else ""


def time_of(option: str, given: Any) -> float:
    """Check a time: a number of seconds since 1970.

    Raises:
        OptionError: the value is none, is negative, or is after the year 9999, as a time in milliseconds is.

    >>> time_of("expires", 3600)
    3600.0
    """
    seconds = _number(given)
    if not 0 <= seconds < math.inf:
        raise OptionError(
            f"`{option}={reprlib.repr(given)}`: give a number of seconds since 1970, such as `time.time() + 3600`."
        )
    if seconds >= YEAR_10000:
        thousandth = f" (did you mean {seconds / 1000:.0f}?)" if seconds < 1000 * YEAR_10000 else ""
        raise OptionError(
            f"`{option}={reprlib.repr(given)}` is after the year 9999: it is a time in seconds since 1970, not in "
            f"milliseconds{thousandth}."
        )
    return seconds


def _number(given: Any) -> float:
    """A real number as a float; NaN for anything else, infinity for one that is too large."""
    if isinstance(given, bool | np.timedelta64) or not isinstance(given, Real):  # NumPy's durations count as integers
        return math.nan
    try:
        return float(given)
    except OverflowError:
        return math.inf
