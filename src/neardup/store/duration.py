"""A DURATION: seconds, a `timedelta`, or text such as 30d. A TIME: seconds since 1970."""

import math
import re
import reprlib
from datetime import timedelta
from numbers import Real
from typing import Any

import numpy as np

from neardup.errors import OptionError

UNITS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
Duration = float | timedelta | str


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


def time_of(option: str, given: Any) -> float:
    """Check a time: a number of seconds since 1970.

    Raises:
        OptionError: the value is none, or is negative.

    >>> time_of("expires", 3600)
    3600.0
    """
    seconds = _number(given)
    if not 0 <= seconds < math.inf:
        raise OptionError(
            f"`{option}={reprlib.repr(given)}`: give a number of seconds since 1970, such as `time.time() + 3600`."
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
