"""PREFERENCE: turn column values into numbers to sort by and into groups, for rules such as `max:score`."""

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.errors import DataError
from neardup.text.single_values import in_utc, instant_of, number_of

NO_VALUE = -1

_decode = msgspec.json.Decoder().decode
_PLAIN_INTEGER = r"^-?\d{1,18}$"


@dataclass(frozen=True, slots=True)
class Ranks:
    """The ranks of the values of one column.

    Attributes:
        ranks: int64[rows], 0 for the smallest value, equal for equal values; NO_VALUE where there is none.
        compared_as: numbers, dates or text.
    """

    ranks: Array
    compared_as: str


def ranks_of(tokens: Any, column: str) -> Ranks:
    """Rank values: Arrow large_string[rows], each a JSON value; null for none.

    Numbers are compared exactly, as numbers. Strings are compared as numbers if all of them are numbers. Otherwise they are
    compared as dates and times if all are in ISO 8601 (times without a zone count as UTC), and else by code points. NaN counts as
    no value.

    Raises:
        DataError: the column mixes numbers and text.
    """
    codes, distinct = _distinct(tokens)
    if len(distinct) and pc.all(pc.match_substring_regex(distinct, _PLAIN_INTEGER)).as_py():
        values: Any = distinct.cast(pa.int64()).to_numpy()
        return Ranks(_by_code(codes, np.unique(values, return_inverse=True)[1]), "numbers")
    found = [_decode(token) for token in distinct.to_pylist()]
    keys, compared_as = _keys(found, column)
    known = [i for i, key in enumerate(keys) if key is not None]
    order = sorted(known, key=lambda i: keys[i])
    ranks = np.full(len(keys), NO_VALUE, np.int64)
    last, rank = None, -1
    for i in order:
        rank += last is None or keys[i] != last
        ranks[i], last = rank, keys[i]
    return Ranks(_by_code(codes, ranks), compared_as)


def groups_of(tokens: Any) -> Array:
    """int64[rows]: equal for equal values (Arrow large_string, JSON values), whether text or numbers. No value is a group too."""
    codes, distinct = _distinct(tokens)
    texts = [str(_decode(token)) for token in distinct.to_pylist()]
    number: dict[str, int] = {}
    return _by_code(codes, np.array([number.setdefault(text, len(number)) for text in texts], np.int64))


def token_of(value: Any, what: str) -> str | None:
    """The return value of a user's function, as a JSON value.

    Raises:
        DataError: it is not a number, string, date, Boolean or None.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, datetime):
        value = in_utc(value).isoformat()
    try:
        token = msgspec.json.encode(value).decode()
    except (TypeError, msgspec.EncodeError, OverflowError):
        token = "["
    if token[0] in "[{":
        raise DataError(
            f"The function of {what} returned {str(value)[:60]!r}, a {type(value).__name__}. "
            "It must return a number, a string, a date or None."
        )
    return token


def _distinct(tokens: Any) -> tuple[Any, Any]:
    encoded = pc.dictionary_encode(tokens)
    codes = encoded.indices.fill_null(NO_VALUE).to_numpy(zero_copy_only=False)
    return codes, encoded.dictionary


def _by_code(codes: Array, values: Array) -> Array:
    found: Array = np.append(values, NO_VALUE).astype(np.int64)[codes]  # -1 selects the last one
    return found


def _keys(values: list[Any], column: str) -> tuple[list[Any], str]:
    """Sort keys, None for no value; and the kind of comparison."""
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) < len(values) or texts:
        numbers = [number_of(value) for value in values]
        if all(number is not None for number in numbers):
            return [None if number != number else number for number in numbers], "numbers"
    if len(texts) < len(values):
        number = next(value for value in values if not isinstance(value, str))
        text = next(value for value in texts if number_of(value) is None)
        raise DataError(
            f'Column "{column}" holds numbers, such as {number}, and text, such as {text[:60]!r}: these have no order. '
            "Make them all of one kind, or name another column."
        )
    instants = [instant_of(text) for text in texts]
    if texts and all(instant is not None for instant in instants):
        return instants, "dates"
    return list(texts), "text"
