"""PREFERENCE: turn column values into numbers to sort by and into groups, for rules such as `max:score`."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
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
_COMPLEMENT = str.maketrans("0123456789", "9876543210")


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
    compared_as = kinds_of(values).compared_as(column)
    return [_key(value, compared_as) for value in values], compared_as


def _key(value: Any, compared_as: str) -> Any:
    """What a value is sorted by; None for no value."""
    if compared_as == "numbers":
        number = number_of(value)
        return number if number == number else None
    return instant_of(value) if compared_as == "dates" else value


@dataclass(frozen=True)
class Kinds:
    """Which kinds of values a column has, or a part of it: an example of each, or None.

    Attributes:
        number: a value that is no string.
        text: a string that tells no number.
        undated: a string that tells no date.
    """

    number: Any = None
    text: str | None = None
    undated: str | None = None

    def __or__(self, other: "Kinds") -> "Kinds":
        """Those of two parts together."""
        mine, theirs = (self.number, self.text, self.undated), (other.number, other.text, other.undated)
        return Kinds(*(one if one is not None else another for one, another in zip(mine, theirs, strict=True)))

    def compared_as(self, column: str) -> str:
        """How the values of a column are compared: as numbers, dates or text.

        Raises:
            DataError: the column mixes numbers and text.
        """
        if self.text is None:
            return "numbers"
        if self.number is not None:
            raise DataError(
                f'Column "{column}" holds numbers, such as {self.number}, and text, such as {self.text[:60]!r}: these have no '
                "order. Make them all of one kind, or name another column."
            )
        return "dates" if self.undated is None else "text"


def kinds_of(values: Iterable[Any]) -> Kinds:
    """The kinds of values that JSON told."""
    number = text = undated = None
    for value in values:
        if not isinstance(value, str):
            number = value if number is None else number
            continue
        text = value if text is None and number_of(value) is None else text
        undated = value if undated is None and instant_of(value) is None else undated
        if number is not None and text is not None and undated is not None:
            break
    return Kinds(number, text, undated)


def kinds_in(tokens: Any) -> Kinds:
    """Those of a part of a column: Arrow large_string[rows], each a JSON value; null for none."""
    return kinds_of(map(_decode, _distinct(tokens)[1].to_pylist()))


def sort_keys(tokens: Any, compared_as: str) -> Any:
    """Strings whose bytes have the order of the values, equal for equal ones; null for none. So what sorts strings sorts values.

    Args:
        tokens: Arrow large_string[rows], each a JSON value; null for none.
        compared_as: what the kinds of all parts of the column tell.
    """
    codes, distinct = _distinct(tokens)
    found = [_sortable(_key(_decode(token), compared_as)) for token in distinct.to_pylist()]
    return pa.array(found, pa.large_string()).take(pa.array(codes, mask=codes == NO_VALUE))


def _sortable(key: Any) -> str | None:
    if key is None or isinstance(key, str):
        return key
    if isinstance(key, datetime):
        return key.isoformat(timespec="microseconds")
    if isinstance(key, float) and math.isinf(key):
        return "3" if key > 0 else "/"
    sign, figures, exponent = Decimal(key).as_tuple()
    digits = "".join(map(str, figures)).rstrip("0")
    if not digits:
        return "1"
    power = len(figures) + int(exponent) + 10**6
    if not sign:
        return f"2{power:08d}{digits}"
    return f"0{10**8 - power:08d}{digits.translate(_COMPLEMENT)}~"  # the tilde comes after all digits
