"""Ids as JSON values, so that strings and integers keep their types; and as plain strings where a column has one type."""

from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

IDS_AT_ONCE = 1 << 18
"""Number of ids checked together for repeats."""

_decode = msgspec.json.Decoder().decode


def plain_ids(ids: Any) -> Any:
    """JSON values as strings: `"a1"` becomes a1, and 17 becomes 17."""
    return pa.array([None if token is None else str(_decode(token)) for token in ids.to_pylist()], pa.large_string())


def tokens_of_ids(ids: Any, is_string: Any) -> Any:
    """Plain strings back to JSON values: ids that were strings get their quotes; null stays null."""
    pairs = zip(ids.to_pylist(), is_string.to_pylist(), strict=True)
    return pa.array(
        [msgspec.json.encode(value).decode() if quoted and value is not None else value for value, quoted in pairs],
        pa.large_string(),
    )


def repeated_ids(ids: Any) -> int:
    """The number of ids that occur on an earlier row. Ids are checked in parts, so that the table of seen ids stays small."""
    present = ids.drop_null() if ids.null_count else ids  # drop_null would copy
    parts = 1 + len(present) // IDS_AT_ONCE
    if parts == 1:
        return len(present) - len(present.unique())
    _, offsets, data = present.buffers()
    begins = np.frombuffer(offsets, np.int64)[present.offset : present.offset + len(present)]
    end = np.frombuffer(offsets, np.int64)[present.offset + len(present)]
    sums = np.add.reduceat(np.frombuffer(data, np.uint8)[:end], begins, dtype=np.uint32)  # equal ids have equal sums
    part_of = sums % np.uint32(parts)
    return len(present) - sum(len(present.filter(pa.array(part_of == part)).unique()) for part in range(parts))
