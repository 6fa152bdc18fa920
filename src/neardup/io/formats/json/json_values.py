"""Arrow columns as JSON values: `"a1"` with its quotes, 17, true, null."""

import json
import math
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import is_integer

JSON_TOKEN = {b"neardup.json": b"token"}
"""Arrow field metadata: marks a column of strings that are JSON values already.

JSON lines receive them unchanged. Parquet, whose columns have one type each, receives strings: `a1`, `17`.
"""

EXACT_INTEGERS = 1 << 53
"""Below it, every integer has a floating-point number of its own."""

_TEXT = pa.large_string()
_QUOTE, _NOTHING, _NULL = (pa.scalar(text, _TEXT) for text in ('"', "", "null"))


def unique_members(pairs: "list[tuple[str, Any]]") -> dict[str, Any]:
    """A JSON object whose keys are different: for `object_pairs_hook` of `json.loads`, which takes the last of equal keys.

    Raises:
        ValueError: a key occurs several times.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"the key {quote(twice)} occurs {names.count(twice)} times, so it is not clear which one is meant"
        )
    return found


def is_token(field: Any) -> bool:
    """Whether a field carries the mark JSON_TOKEN."""
    return bool(field.metadata) and JSON_TOKEN.items() <= field.metadata.items()


def quote(text: str) -> str:
    """A string as a JSON value."""
    return msgspec.json.encode(text).decode()


def value_token(value: str | int | float | None) -> str | None:
    """A value as a JSON value; equal values give equal texts (1.0 gives 1, -0.0 gives 0). None for null and NaN.

    JSON has no infinity: it is the string "inf" or "-inf", which is compared as this number.
    """
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if not math.isfinite(value):
            return None if math.isnan(value) else f'"{value}"'
        return str(int(value)) if value.is_integer() and abs(value) < EXACT_INTEGERS else repr(value)
    is_integer(value)  # refuses what cannot be printed
    return None if value is None else str(value)


def number_tokens(column: Any) -> Any:
    """A column of floating-point numbers as JSON values; see `value_token`."""
    return pa.array([value_token(value) for value in column.to_pylist()], _TEXT)


def _has_special(texts: Any) -> bool:
    """Whether any character of a large_string array must be escaped in JSON."""
    offsets = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1]
    if texts.buffers()[2] is None or offsets[0] == offsets[-1]:
        return False
    data = np.frombuffer(texts.buffers()[2], np.uint8)[offsets[0] : offsets[-1]]
    return bool(((data < ord(" ")) | (data == ord('"')) | (data == ord("\\"))).any())


def quoted(texts: Any) -> Any:
    """Each string of a large_string array as a JSON value; nulls stay."""
    if _has_special(texts):
        return pa.array([None if text is None else quote(text) for text in texts.to_pylist()], _TEXT)
    return pc.binary_join_element_wise(_QUOTE, texts, _QUOTE, _NOTHING)


def default_ids(shard_name: str, rows: Any) -> Any:
    """`"<shard name>:<row>"` for each row number."""
    prefix = pa.scalar(quote(f"{shard_name}:")[:-1], _TEXT)
    return pc.binary_join_element_wise(prefix, pa.array(rows, pa.int64()).cast(_TEXT), _QUOTE, _NOTHING)


def count_default_ids(ids: Any, shard_name: str) -> int:
    """How many of the ids of all rows of a shard, in order, are the default ones."""
    begins = pc.starts_with(ids, quote(f"{shard_name}:")[:-1])
    if not pc.any(begins).as_py():
        return 0
    return pc.sum(pc.equal(ids, default_ids(shard_name, np.arange(len(ids))))).as_py() or 0


def json_values(column: Any, field: Any) -> Any:
    """Any column of strings, numbers, Booleans or lists as JSON values; nulls, NaN and infinities become null."""
    kind = column.type
    if pa.types.is_list(kind):
        return pa.array([msgspec.json.encode(value).decode() for value in column.to_pylist()], _TEXT)
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_finite(column), column, pa.scalar(None, kind))
        texts = pc.replace_substring_regex(column.cast(_TEXT), r"^(-?\d+)$", r"\1.0")
    elif is_token(field) or not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        texts = column.cast(_TEXT)
    else:
        texts = quoted(column.cast(_TEXT))
    return pc.fill_null(texts, _NULL)


def json_members(table: Any) -> list[bytes]:
    """The inside of each row's JSON object: `"cluster_id":3,"is_duplicate":true`."""
    parts: list[Any] = []
    for field, chunks in zip(table.schema, table.columns, strict=True):
        column = chunks.combine_chunks()
        comma = "," if parts else ""
        parts += [pa.scalar(f"{comma}{quote(field.name)}:", _TEXT), json_values(column, field)]
    joined = pc.binary_join_element_wise(*parts, _NOTHING)
    return joined.cast(pa.large_binary()).to_pylist()  # type: ignore[no-any-return]


def plain_column(field: Any, column: Any) -> tuple[Any, Any]:
    """The field and the column for Parquet: JSON values become strings."""
    if not is_token(field):
        return field, column
    texts = [None if value is None else str(json.loads(value)) for value in column.to_pylist()]
    return pa.field(field.name, pa.string()), pa.chunked_array([pa.array(texts, pa.string())])


def only(texts: Any, mask: "np.ndarray[Any, np.dtype[Any]]") -> Any:
    """A large_string array, null where `mask` (bool[rows]) is False."""
    return texts if mask.all() else pc.if_else(pa.array(mask), texts, pa.scalar(None, _TEXT))


def joined(texts: "list[Any]", separator: str, rows: int) -> Any:
    """The texts of several columns as one; without any column, as many empty strings as there are rows."""
    if not texts:
        return pa.repeat(_NOTHING, rows)
    return texts[0] if len(texts) == 1 else pc.binary_join_element_wise(*texts, pa.scalar(separator, _TEXT))


def spread(columns: "list[Any]", rows: "np.ndarray[Any, np.dtype[Any]]", size: int) -> "list[Any]":
    """Expand Arrow arrays for some rows (int64[≤ size]) to arrays of `size` rows, null elsewhere."""
    if len(rows) == size:
        return columns
    places, absent = np.zeros(size, np.int64), np.ones(size, np.bool_)
    places[rows], absent[rows] = np.arange(len(rows)), False
    indices = pa.array(places, mask=absent)
    return [column.take(indices) for column in columns]


def is_utf8(texts: Any) -> bool:
    """Whether all strings of an Arrow array are valid UTF-8; Arrow does not check that when it reads."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
