"""PREFERENCE: turn column values into numbers to sort by and into groups, for rules such as `max:score`."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import partial
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


def ranks_of(tokens: Any, column: str, ids: Any = None) -> Ranks:
    """Rank values: Arrow large_string[rows], each a JSON value; null for none.

    Numbers are compared exactly, as numbers, and strings too if all of them are numbers. Strings that are all dates or times in
    ISO 8601 are compared as these (times without a zone count as UTC). Strings of which none is a number or a date are compared by
    code points. NaN counts as no value.

    Args:
        tokens, column: the values, and the name of their column.
        ids: Arrow large_string[rows], of which some may be null: messages name rows, and ids that are known. If None, neither.

    Raises:
        DataError: some values are numbers or dates, and others are not.
    """
    codes, distinct = _distinct(tokens)
    if len(distinct) and _are_plain_integers(distinct):
        values: Any = distinct.cast(pa.int64()).to_numpy()
        return Ranks(_by_code(codes, np.unique(values, return_inverse=True)[1]), "numbers")
    found = [_decode(token) for token in distinct.to_pylist()]
    compared_as = _kinds_of(codes, found, partial(_place, ids)).compared_as(column)
    keys = [_key(value, compared_as) for value in found]
    known = [i for i, key in enumerate(keys) if key is not None]
    order = sorted(known, key=lambda i: keys[i])
    ranks = np.full(len(keys), NO_VALUE, np.int64)
    last, rank = None, -1
    for i in order:
        rank += last is None or keys[i] != last
        ranks[i], last = rank, keys[i]
    return Ranks(_by_code(codes, ranks), compared_as)


def comparison_of(tokens: Any, column: str) -> str | None:
    """How `ranks_of` compares values: as numbers, dates or text; None if there is no value."""
    distinct = _distinct(tokens)[1]
    if not len(distinct):
        return None
    return "numbers" if _are_plain_integers(distinct) else kinds_in(distinct).compared_as(column)


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


def _are_plain_integers(distinct: Any) -> bool:
    found: bool = pc.all(pc.match_substring_regex(distinct, _PLAIN_INTEGER)).as_py()
    return found


def _by_code(codes: Array, values: Array) -> Array:
    found: Array = np.append(values, NO_VALUE).astype(np.int64)[codes]  # -1 selects the last one
    return found


def _place(ids: Any, row: int) -> str:
    """A row in a message, with its id if it is known; nothing without `ids`."""
    if ids is None:
        return ""
    known = ids[row].as_py()
    return f"row {row}" if known is None else f"row {row}, id {known}"


def _key(value: Any, compared_as: str) -> Any:
    """What a value is sorted by; None for no value."""
    if compared_as == "numbers":
        number = number_of(value)
        return number if number == number else None
    return instant_of(value) if compared_as == "dates" else value


@dataclass(frozen=True, slots=True)
class Kinds:
    """Which kinds of values a column, or a part of it, has.

    Attributes:
        found: an example of each kind (a key of KINDS), and where it is: `row 3, id "a"`; empty if that is not known.
    """

    found: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def __or__(self, other: "Kinds") -> "Kinds":
        """Those of two parts together."""
        return Kinds({**other.found, **self.found})

    def compared_as(self, column: str) -> str:
        """How the values of a column are compared: as numbers, dates or text.

        Raises:
            DataError: some values are numbers or dates, and others are not.
        """
        kinds = self.found.keys()
        for compared_as in ("numbers", "dates", "text"):
            if all(compared_as in KINDS[kind] for kind in kinds):
                return compared_as
        odd, others = (next(kind for kind in order if kind in kinds) for order in (list(KINDS), list(KINDS)[::-1]))
        what = f"The function of `{column[:-2]}`" if column.endswith("()") else f'Column "{column}"'
        raise DataError(
            f"{what} has {self._example(odd)}, among {self._example(others)}: these have no common order. Values must be all "
            "numbers, all dates and times in ISO 8601, or all text. Correct them or make them null, or name another column."
        )

    def _example(self, kind: str) -> str:
        value, place = self.found[kind]
        shown = repr(value[:60]) if isinstance(value, str) else value
        return f"{KINDS[kind][0]}, such as {shown}" + (f" ({place})" if place else "")


KINDS = {
    "text": ("text",),
    "date": ("dates",),
    "date or digits": ("dates", "numbers"),
    "digits": ("numbers",),
    "number": ("numbers",),
}
"""The kinds of values, and what each can be compared as. The first three and `digits` are strings; 20240131 is `date or digits`."""


def _kind(value: Any) -> str | None:
    """The kind of a value that JSON gave; None for NaN, which is no value."""
    if not isinstance(value, str):
        return "number"
    number = number_of(value)
    if number is not None and number != number:
        return None
    is_date = (number is None or len(value) >= len("20240131")) and instant_of(value) is not None
    if number is None:
        return "date" if is_date else "text"
    return "date or digits" if is_date else "digits"


def kinds_in(tokens: Any, place: Callable[[int], str] = lambda _: "") -> Kinds:
    """The kinds of values of a part of a column: Arrow large_string[rows], each a JSON value; null for none.

    `place`: says where a row is.
    """
    codes, distinct = _distinct(tokens)
    return _kinds_of(codes, map(_decode, distinct.to_pylist()), place)


def place_by_id(ids: Any, row: int) -> str:
    """Where a row is whose number is not known: its id, of an Arrow array; nothing if it has none."""
    known = ids[row].as_py()
    return "" if known is None else f"id {msgspec.json.encode(known).decode()}"


def _kinds_of(codes: Array, values: Iterable[Any], place: Callable[[int], str]) -> Kinds:
    """The kinds of distinct values. `codes`: the value of each row."""
    found: dict[str, Any] = {}
    for code, value in enumerate(values):
        kind = _kind(value)
        if kind is not None and kind not in found:
            found[kind] = value, place(int(np.argmax(codes == code)))
    return Kinds(found)


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
