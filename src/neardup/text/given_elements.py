"""Sets and lists that the caller gives, as texts whose tokens between white space are exactly their elements.

The element `a` becomes the token `s:a`, and the integer 1 becomes `i:1`: a string and an integer are never equal, and every token
has a letter, without which the segmenter `whitespace` would drop it. In strings, percent signs, white space and control
characters are written as the percent-encoded bytes of their UTF-8, so different elements are different tokens. Nothing else is
changed: `A` is not `a`.
"""

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import DataError, is_integer
from neardup.text.nested import is_string

STRING, INTEGER = "s:", "i:"
_RANGES = (
    (0, 0x20),
    (0x25, 0x25),
    (0x7F, 0xA0),
    (0x1680, 0x1680),
    (0x180E, 0x180E),
    (0x2000, 0x200F),
    (0x2028, 0x202F),
    (0x205F, 0x206F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
)
"""Code points that are percent-encoded, first and last: a fixed list, as the bits of fingerprints depend on it."""
_ENCODED = re.compile("[" + "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in _RANGES) + "]")
_ENCODED_IN_ARROW = "[" + "".join(f"\\x{{{first:x}}}-\\x{{{last:x}}}" for first, last in _RANGES) + "]"
_TEXT = pa.large_string()


class BadElements(DataError):  # noqa: N818
    """The value is no set or list of strings and integers; the message is the reason, as a phrase."""


def token_of(element: Any) -> str:
    """The token of one element.

    Raises:
        BadElements: it is neither a string nor an integer.

    >>> token_of("New York"), token_of(7)
    ('s:New%20York', 'i:7')
    """
    if isinstance(element, str):
        if not is_valid(element):
            raise BadElements(f"{_shown(element)} has half of a surrogate pair, which is no character")
        return STRING + _ENCODED.sub(lambda found: quote(found[0], safe=""), element)
    if is_integer(element):
        return INTEGER + str(int(element))
    raise BadElements(f"{_shown(element)} is {_kind(element)}, not a string or an integer")


def is_valid(text: str) -> bool:
    """Whether a string can be written in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def text_of(elements: Any) -> str:
    """The text of a set or list. The tokens of a set are sorted, as it has no order.

    Raises:
        BadElements: it is no set or list, or has something other than strings and integers.

    >>> text_of({"d", "a"}), text_of(["d", "a", "d"])
    ('s:a s:d', 's:d s:a s:d')
    """
    if not is_collection(elements):
        raise BadElements(f"it is {_kind(elements)}, not a list")
    tokens = [token_of(element) for element in elements]
    return " ".join(sorted(tokens) if isinstance(elements, set | frozenset) else tokens)


def elements_of(text: str) -> list[str | int]:
    """The elements of a text that `text_of` made, for display.

    >>> elements_of("s:New%20York i:7")
    ['New York', 7]
    """
    tokens = (token.partition(":") for token in text.split())
    return [int(value) if kind == INTEGER[0] else unquote(value) for kind, _, value in tokens]


def is_collection(value: Any) -> bool:
    """Whether a value is a set or a list of elements, or looks like one: strings and bytes do not."""
    return isinstance(value, set | frozenset | list | tuple | np.ndarray)


def have_sets(items: Iterable[Any]) -> bool:
    """Whether one of the items is a set, which has no order."""
    return any(isinstance(item, set | frozenset) for item in items)


def is_list_type(kind: Any) -> bool:
    """Whether an Arrow type is of lists whose items may be elements: strings or integers."""
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        return False
    item = kind.value_type.value_type if pa.types.is_dictionary(kind.value_type) else kind.value_type
    return bool(is_string(item) or pa.types.is_integer(item) or pa.types.is_null(item))


def texts_of_lists(lists: Any) -> tuple[Any, list[tuple[int, str]]]:
    """The texts of an Arrow array of lists for which `is_list_type` is true.

    Returns:
        Arrow large_string[n], null for rows that cannot be read, and these rows with the reasons.
    """
    if pa.types.is_fixed_size_list(lists.type):
        lists = lists.cast(pa.large_list(lists.type.value_type))
    lists = lists.cast(pa.large_list(lists.type.value_type)) if pa.types.is_list(lists.type) else lists
    values = lists.flatten()
    if pa.types.is_integer(values.type):
        tokens = pc.binary_join_element_wise(pa.scalar(INTEGER, _TEXT), values.cast(_TEXT), pa.scalar("", _TEXT))
    else:
        tokens = _string_tokens(values.cast(_TEXT))
    sizes = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)]))
    joined = pc.binary_join(pa.LargeListArray.from_arrays(offsets, tokens), pa.scalar(" ", _TEXT))
    is_null = lists.is_null().to_numpy(zero_copy_only=False)
    if is_null.any():
        joined = pc.if_else(pa.array(is_null), pa.scalar(None, _TEXT), joined)
    bad = np.flatnonzero(joined.is_null().to_numpy(zero_copy_only=False))
    return joined, [(row, "it is null" if is_null[row] else "one of its elements is null") for row in bad.tolist()]


def _string_tokens(strings: Any) -> Any:
    if pc.any(pc.match_substring_regex(strings, _ENCODED_IN_ARROW)).as_py():
        return pa.array([None if each is None else token_of(each) for each in strings.to_pylist()], _TEXT)
    return pc.binary_join_element_wise(pa.scalar(STRING, _TEXT), strings, pa.scalar("", _TEXT))


def texts_of_items(items: Iterable[Any], where: str = "") -> Any:
    """The texts of sets and lists, as an Arrow `large_string` array. `where`: the column, for messages.

    Raises:
        DataError: one of them is no set or list of strings and integers.
    """
    found = []
    for row, item in enumerate(items):
        try:
            found.append(text_of(item))
        except BadElements as problem:
            raise DataError(f"Row {row}{where}: {problem}. Give sets or lists of strings or integers.") from None
    return pa.array(found, _TEXT)


def _kind(value: Any) -> str:
    return "null" if value is None else f"a {type(value).__name__}"


def _shown(value: Any) -> str:
    return repr(value)[:60]
