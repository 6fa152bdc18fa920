"""Ids as JSON values, so that strings and integers both stay what they are; and as plain strings where a column has one type."""

from typing import Any

import msgspec
import pyarrow as pa

_decode = msgspec.json.Decoder().decode


def plain_ids(ids: Any) -> Any:
    """JSON values as strings: `"a1"` becomes a1, and 17 becomes 17."""
    return pa.array([None if token is None else str(_decode(token)) for token in ids.to_pylist()], pa.large_string())


def json_ids(ids: Any) -> Any:
    """Strings as JSON values, quotes and all."""
    return pa.array([msgspec.json.encode(value).decode() for value in ids.to_pylist()], pa.large_string())
