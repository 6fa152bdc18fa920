"""Ids as JSON values, so that strings and integers both stay what they are; and as plain strings where a column has one type."""

from typing import Any

import msgspec
import pyarrow as pa

_decode = msgspec.json.Decoder().decode


def plain_ids(ids: Any) -> Any:
    """JSON values as strings: `"a1"` becomes a1, and 17 becomes 17."""
    return pa.array([None if token is None else str(_decode(token)) for token in ids.to_pylist()], pa.large_string())


def tokens_of_ids(ids: Any, is_string: Any) -> Any:
    """Plain strings back to JSON values: what was a string gets its quotes; null stays null."""
    pairs = zip(ids.to_pylist(), is_string.to_pylist(), strict=True)
    return pa.array(
        [msgspec.json.encode(value).decode() if quoted and value is not None else value for value, quoted in pairs],
        pa.large_string(),
    )
