"""Read one line of JSON lines into a text and an id with Python's own parser: the definition, and the reasons for refusals.

`neardup.io.formats.json.json_blocks` is fast, and passes unusual rows to this module.
"""

import dataclasses
import json
import re
from collections.abc import Sequence
from typing import Any

from neardup.io.corpora.batch import Columns
from neardup.io.formats.json.json_values import quote, value_token
from neardup.text.given_elements import text_of
from neardup.text.lists.paths import NO_TEXT, SEPARATOR, Step, column_of, list_path, texts_in_value

Row = tuple[str, str | None, list[str | None]]
"""The text, the id as a JSON value (None if there is none), and the values of further columns as JSON values."""

_ABSENT = object()
_HUGE = object()  # an integer with more digits than Python converts
_MAYBE_LONE_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_MAX_LISTED_KEYS = 20
_KINDS = {
    type(None): "null",
    bool: "true or false",
    int: "an integer",
    float: "a floating-point number",
    str: "a string",
    list: "an array",
}


class BadRow(Exception):  # noqa: N818
    """The row cannot be read; the message is the reason."""


class BadJson(BadRow):
    """The row is not JSON, or Python's parser cannot decide."""


class Pairs(list[tuple[str, Any]]):
    """A JSON object as its keys and values in order, including repeated keys."""


def parse_object(line: bytes) -> Pairs:
    """The keys and values of a line that must be one JSON object.

    As in most parsers, NaN, Infinity and -Infinity may stand for a number, because many programs write them.

    Raises:
        BadRow: the line is not one.
    """
    try:
        text = line.decode()
        value = _DECODER.decode(text)
        if _MAYBE_LONE_SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeDecodeError as error:
        raise BadRow(f"it is not UTF-8: {error.reason} (byte {error.start})") from None
    except UnicodeEncodeError:
        raise BadRow("it has half of a surrogate pair (such as \\ud83d alone), which is no character") from None
    except json.JSONDecodeError as error:
        if text.startswith("\ufeff"):
            raise BadJson("malformed JSON: it begins with a byte-order mark") from None
        raise BadJson(f"malformed JSON: {error.msg} (character {error.pos})") from None
    except RecursionError:
        raise BadJson("malformed JSON, or nested too deeply") from None
    if not isinstance(value, Pairs):
        raise BadRow(f"it is not a JSON object, but {_kind(value)}")
    return value


def _integer(digits: str) -> Any:
    try:
        return int(digits)
    except ValueError:
        return _HUGE


_DECODER = json.JSONDecoder(object_pairs_hook=Pairs, parse_int=_integer)


def _kind(value: Any) -> str:
    if value is _HUGE:
        return "an integer of thousands of digits"
    return "an object" if isinstance(value, Pairs) else _KINDS[type(value)]


def read_row(line: bytes, columns: Columns) -> Row:
    """The text, the id, which is None if the row has none, and the values.

    Raises:
        BadRow: with the reason.
    """
    pairs = parse_object(line)
    texts = []
    for name in columns.text:
        value = look_up(pairs, name)
        if columns.of_elements:
            texts.append(_elements(pairs, name, value))
            continue
        if value is _ABSENT and (steps := list_path(name)):
            texts.append(_joined(pairs, name, steps))
            continue
        if type(value) is not str:
            raise BadRow(_unfit(pairs, name, value, "a string"))
        texts.append(value)
    value = look_up(pairs, columns.id_or_default)
    token = quote(value) if type(value) is str else str(value) if type(value) is int else None
    if token is None and columns.id is not None and value is not None and value is not _ABSENT:
        raise BadRow(_unfit(pairs, columns.id, value, "a string or an integer"))
    return columns.separator.join(texts), token, [_value(pairs, name) for name in columns.values]


def _elements(pairs: Pairs, name: str, value: Any) -> str:
    """The text of a list of strings and integers."""
    if type(value) is not list:
        raise BadRow(_unfit(pairs, name, value, "an array of strings or integers"))
    for element in value:
        if type(element) not in (str, int):
            raise BadRow(f'its column "{name}" has {_kind(element)} among its elements, not a string or an integer')
    return text_of(value)


def _joined(pairs: Pairs, name: str, steps: Sequence[Step]) -> str:
    """The texts of a path into lists."""
    if found := _texts_at(pairs, name, steps):
        return SEPARATOR.join(found)
    raise BadRow(f'its column "{name}" is {NO_TEXT}')


def _texts_at(pairs: Pairs, name: str, steps: Sequence[Step]) -> list[str]:
    column = column_of(steps)
    value = _follow(pairs, list(column))
    if value is _ABSENT:
        raise BadRow(_unfit(pairs, ".".join(column), value, "a list"))
    try:
        return list(texts_in_value({steps[0].key: _fields(value)} if len(column) == 1 else _fields(pairs), steps))
    except TypeError as problem:
        raise BadRow(f'its column "{name}" {problem}') from None
    except RecursionError:
        raise BadRow("malformed JSON, or nested too deeply") from None


class _Fields(dict[str, Any]):
    """An object whose keys may be repeated, as long as nobody asks for one of these."""

    def __init__(self, pairs: Pairs) -> None:
        super().__init__((key, _fields(value)) for key, value in pairs)
        self._repeated = len(self) < len(pairs)
        self._pairs = pairs

    def get(self, key: str, _: Any = None) -> Any:
        if self._repeated:
            _follow(self._pairs, [key])
        return super().get(key)


def _fields(value: Any) -> Any:
    if isinstance(value, Pairs):
        return _Fields(value)
    return [_fields(item) for item in value] if isinstance(value, list) else value


def _value(pairs: Pairs, name: str) -> str | None:
    value = look_up(pairs, name)
    if value is _HUGE or isinstance(value, list):
        raise BadRow(_unfit(pairs, name, value, "a string, a number, true, false or null"))
    return None if value is _ABSENT else value_token(value)


def look_up(pairs: Pairs, name: str) -> Any:
    """The value of a column: by its name or, where that is missing or null, by its dotted path.

    Raises:
        BadRow: a key on the way occurs twice.
    """
    value = _follow(pairs, [name])
    if (value is _ABSENT or value is None) and "." in name:
        nested = _follow(pairs, name.split("."))
        return value if nested is _ABSENT else nested
    return value


def kinds_of_values(line: bytes, names: Sequence[str]) -> list[type]:
    """The types of some columns of a row.

    Raises:
        BadRow: it is not an object, or it is unclear which value is meant.
    """
    pairs = parse_object(line)
    return [type(look_up(pairs, name)) for name in names]


def has_column(pairs: Pairs, name: str) -> bool:
    """Whether `look_up` finds a value, even null, or finds too many."""
    steps = list_path(name)
    try:
        if look_up(pairs, name) is not _ABSENT:
            return True
        if steps is None or _follow(pairs, list(column_of(steps))) is _ABSENT:
            return False
        return bool(_texts_at(pairs, name, [dataclasses.replace(step, field=None) for step in steps]))
    except BadRow:
        return True


def _follow(value: Any, keys: list[str]) -> Any:
    for key in keys:
        values = [found for name, found in value if name == key] if isinstance(value, Pairs) else []
        if len(values) > 1:
            raise BadRow(f'its key "{key}" occurs {len(values)} times, so it is not clear which one is meant')
        if not values:
            return _ABSENT
        value = values[0]
    return value


def keys_of(*objects: Pairs) -> str:
    """The keys of some objects, as a list for a message."""
    keys = list(dict.fromkeys(key for pairs in objects for key, _ in pairs))
    return ", ".join(keys[:_MAX_LISTED_KEYS] + ["…"] * (len(keys) > _MAX_LISTED_KEYS)) or "nothing"


def _unfit(pairs: Pairs, name: str, value: Any, allowed: str) -> str:
    if value is _ABSENT:
        return f'it has no column "{name}", but {keys_of(pairs)}'
    return f'its column "{name}" is {_kind(value)}, not {allowed}'
