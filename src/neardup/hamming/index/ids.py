"""The ids of an index: int64[n], or an Arrow array of strings."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.errors import OptionError, is_integer
from neardup.text.columns import decoded
from neardup.text.nested import is_string


def as_ids(given: Any) -> Any:
    """Return integers as int64[n], without a copy if possible; strings as an Arrow `large_string` array.

    Raises:
        OptionError: the ids are neither, or are of both kinds.
    """
    if isinstance(given, str | bytes) or is_integer(given):
        raise OptionError(f"`ids={given!r}` is one id: give a list, even of one: [{given!r}].")
    try:
        if isinstance(given, np.ndarray) and given.dtype.kind in "iu":
            return _integers(given)
        found = given if isinstance(given, pa.Array | pa.ChunkedArray) else pa.array(given)
    except UnicodeEncodeError as problem:
        raise OptionError(f"An id is not valid Unicode: {problem.object!r}.") from None
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as problem:
        raise OptionError(f"ids are neither integers nor strings: {problem}.") from None
    if isinstance(found, pa.ChunkedArray):
        found = found.combine_chunks()
    found = decoded(found)
    if found.null_count:
        row = next(row for row, value in enumerate(found.to_pylist()) if value is None)
        raise OptionError(f"Id {row} is null. Give every document an id.")
    if pa.types.is_integer(found.type):
        return _integers(found.to_numpy(zero_copy_only=False))
    if is_string(found.type):
        return found.cast(pa.large_string())
    if len(found) == 0:
        return np.empty(0, np.int64)
    raise OptionError(f"ids are of the type {found.type}: give integers (of 64 bits, with sign) or strings.")


def _integers(values: Array) -> Array:
    if values.ndim != 1:
        raise OptionError(f"ids has the shape {values.shape}; allowed is [n].")
    if values.dtype == np.uint64 and len(values) and values.max() > np.iinfo(np.int64).max:
        raise OptionError(f"The id {values.max()} does not fit 64 bits with sign. Give strings.")
    return values.astype(np.int64, copy=False)


def own(ids: Any) -> Any:
    """Return the same ids, in memory that no caller can change."""
    return ids.copy() if isinstance(ids, np.ndarray) else ids


def concatenate(parts: list[Any]) -> Any:
    """Concatenate ids of one kind."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return pa.chunked_array(parts, pa.large_string()).combine_chunks()


def listed(ids: Any) -> list[Any]:
    """The ids as a list of Python's values."""
    found: list[Any] = ids.tolist() if isinstance(ids, np.ndarray) else ids.to_pylist()
    return found


def take(ids: Any, places: Array) -> Any:
    """Return the ids at some places, int64[]."""
    return ids[places] if isinstance(ids, np.ndarray) else ids.take(pa.array(places))


def are_in(ids: Any, wanted: Any) -> Array:
    """bool[n]: whether each of the ids is among the wanted ones."""
    if isinstance(ids, np.ndarray):
        return np.isin(ids, wanted)
    found: Array = pc.is_in(ids, value_set=wanted).to_numpy(zero_copy_only=False)
    return found
