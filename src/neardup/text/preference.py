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
from neardup.display import shortened
from neardup.errors import DataError
from neardup.recipe.tables.keeps import KeepAs
from neardup.text.single_values import COMPARED_AS, IN_WORDS, KINDS, common_way, fits, in_utc, kind_of, sort_key

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


def ranks_of(
    tokens: Any, column: str, ids: Any = None, *, keep_as: KeepAs | None = None, skips: bool | None = None
) -> Ranks:
    """Rank values: Arrow large_string[rows], each a JSON value; null for none.

    Numbers are compared exactly, as numbers, and strings too if all of them are numbers. Strings that are all dates or times in
    ISO 8601 are compared as these (times without a zone count as UTC). Strings of which none is a number or a date are compared by
    code points. NaN counts as no value.

    Args:
        tokens, column: the values, and the name of their column.
        ids: Arrow large_string[rows], of which some may be null: messages name rows, and ids that are known. If None, neither.
        keep_as: how values are compared, if their kind does not tell.
        skips: whether values that do not fit `keep_as` count as none, instead of being refused; None if no option asks for that.

    Raises:
        DataError: a value does not fit `keep_as`; or without it, some values are numbers or dates, and others are not.
    """
    codes, distinct = _distinct(tokens)
    if keep_as in (None, "number") and len(distinct) and _are_plain_integers(distinct):
        values: Any = distinct.cast(pa.int64()).to_numpy()
        return Ranks(_by_code(codes, np.unique(values, return_inverse=True)[1]), "numbers")
    found = [_decode(token) for token in distinct.to_pylist()]
    compared_as = "" if keep_as is None else COMPARED_AS[keep_as]
    if keep_as is None or not skips:
        compared_as = _kinds_of(codes, found, partial(_place, ids)).compared_as(
            column, keep_as, can_skip=skips is not None
        )
    keys = [sort_key(value, compared_as) for value in found]
    known = [i for i, key in enumerate(keys) if key is not None]
    order = sorted(known, key=lambda i: keys[i])
    ranks = np.full(len(keys), NO_VALUE, np.int64)
    last, rank = None, -1
    for i in order:
        rank += last is None or keys[i] != last
        ranks[i], last = rank, keys[i]
    return Ranks(_by_code(codes, ranks), compared_as)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How values were compared.

    Attributes:
        compared_as: numbers, dates or text; None if there are no values.
        unfit: how many did not fit, and counted as missing.
    """

    compared_as: str | None = None
    unfit: int = 0


def comparison_of(tokens: Any, column: str, keep_as: KeepAs | None = None) -> Comparison:
    """How `ranks_of` compares values, and which it skips."""
    codes, distinct = _distinct(tokens)
    if not len(distinct):
        return Comparison()
    if keep_as is None:
        return Comparison("numbers" if _are_plain_integers(distinct) else kinds_in(distinct).compared_as(column))
    is_unfit = np.array([not fits(_decode(token), keep_as) for token in distinct.to_pylist()])
    return Comparison(COMPARED_AS[keep_as], int(is_unfit[codes[codes != NO_VALUE]].sum()))


def groups_of(tokens: Any) -> Array:
    """int64[rows]: equal for equal values (Arrow large_string, JSON values), whether text or numbers. No value is a group too."""
    return named_groups(tokens)[0]


def named_groups(tokens: Any) -> tuple[Array, list[str]]:
    """The same, with the name of each group; a row without a value is in group NO_VALUE, which has none."""
    codes, distinct = _distinct(tokens)
    texts = [group_name(token) for token in distinct.to_pylist()]
    number: dict[str, int] = {}
    found = _by_code(codes, np.array([number.setdefault(text, len(number)) for text in texts], np.int64))
    return found, list(number)


def group_name(token: str) -> str:
    """A JSON value as a text, equal for equal values: a number and a string that is written the same way are equal.

    >>> group_name("-0.0"), group_name("0"), group_name('"0"'), group_name("1e3")
    ('0', '0', '0', '1000')
    """
    value = _decode(token)
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


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
    if isinstance(value, float) and math.isinf(value):
        value = str(value)
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
    return f"row {row}" if known is None else f"row {row}, id {shortened(known)}"


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

    def compared_as(self, column: str, keep_as: KeepAs | None = None, *, can_skip: bool = False) -> str:
        """How the values of a column are compared: as numbers, dates or text.

        `keep_as`: if that is not left to the values; `can_skip`: an option skips those that do not fit.

        Raises:
            DataError: a value does not fit `keep_as`; or without it, some values are numbers or dates, and others are not.
        """
        what = f"The function of `{column[:-2]}`" if column.endswith("()") else f'Column "{column}"'
        if keep_as is not None:
            for kind in self.found:
                if COMPARED_AS[keep_as] not in KINDS[kind].fits:
                    raise DataError(
                        f"{what} has {self._example(kind)}, and is compared as {IN_WORDS[keep_as]} (`keep_as={keep_as!r}`). "
                        "Correct such values or make them null"
                        + (", or skip them with `on_error='skip'`: then they count as missing." if can_skip else ".")
                    )
            return COMPARED_AS[keep_as]
        if (told := common_way(self.found)) is not None:
            return COMPARED_AS[told]
        odd, others = (next(kind for kind in order if kind in self.found) for order in (list(KINDS), list(KINDS)[::-1]))
        raise DataError(
            f"{what} has {self._example(odd)}, among {self._example(others)}: these have no common order. Values must be all "
            "numbers, all dates and times in ISO 8601, or all text. Correct them or make them null, name another column, or say "
            "with `keep_as` how they are compared."
        )

    def _example(self, kind: str) -> str:
        value, place = self.found[kind]
        shown = repr(value[:60]) if isinstance(value, str) else shortened(value)
        return f"{KINDS[kind].name}, such as {shown}" + (f" ({place})" if place else "")


def kinds_in(tokens: Any, place: Callable[[int], str] = lambda _: "") -> Kinds:
    """The kinds of values of a part of a column: Arrow large_string[rows], each a JSON value; null for none.

    `place`: says where a row is.
    """
    codes, distinct = _distinct(tokens)
    return _kinds_of(codes, map(_decode, distinct.to_pylist()), place)


def place_by_id(ids: Any, row: int) -> str:
    """Where a row is whose number is not known: its id, of an Arrow array; nothing if it has none."""
    known = ids[row].as_py()
    return "" if known is None else f"id {shortened(msgspec.json.encode(known).decode())}"


def _kinds_of(codes: Array, values: Iterable[Any], place: Callable[[int], str]) -> Kinds:
    """The kinds of distinct values. `codes`: the value of each row."""
    found: dict[str, Any] = {}
    for code, value in enumerate(values):
        kind = kind_of(value)
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
    found = [_sortable(sort_key(_decode(token), compared_as)) for token in distinct.to_pylist()]
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
