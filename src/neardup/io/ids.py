"""IDS: strings or integers, in every input. What other types become, or how they are refused; ids as JSON values, so that strings
and integers keep their types; and as plain strings where a column has one type.
"""

import itertools
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import DataError, InputError, is_integer
from neardup.io.formats.json.json_values import is_utf8
from neardup.text.columns import decoded, surrogate_in
from neardup.text.frames import UNREADABLE
from neardup.text.nested import is_string

IDS_AT_ONCE = 1 << 18
"""Number of ids checked together for repeats."""

_decode = msgspec.json.Decoder().decode


_ALLOWED = "strings or integers"


def ids_of_column(column: Any, name: str) -> Any:
    """The ids of a column as an Arrow array of strings or of integers. `column`: Arrow, or a list of Python's values.

    Dictionaries, run ends and string views are read as the strings or integers that they encode; an extension of strings (such as
    JSON) as strings. A row without an id is named by its number, or by the next number that is no other row's id.

    Raises:
        InputError: the column has another type.
        DataError: a row has a value of another type, or one that is not valid Unicode; or some rows have strings, others integers.
    """
    found = _array_of(column, name) if isinstance(column, list) else column
    found = found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
    if isinstance(found.type, pa.BaseExtensionType) and is_string(found.type.storage_type):
        found = found.storage
    found = decoded(found)
    if found.null_count == len(found):
        return pa.array(np.arange(len(found)))
    demand_id_type(found.type, name)
    if is_string(found.type) and not is_utf8(found):
        row = next(row for row in range(len(found)) if not is_utf8(found.slice(row, 1)))
        raise DataError(f"The id of row {row} is not valid UTF-8. Correct it, or name another column.")
    return _with_row_numbers(found) if found.null_count else found


def demand_id_type(kind: Any, name: str) -> None:
    """Refuse an Arrow type of ids that holds neither strings nor integers. `name`: of the column.

    Raises:
        InputError: it is another type.
    """
    if not is_string(kind) and not pa.types.is_integer(kind):
        floats = " Pandas makes floats of integers where one is missing; cast them to Int64."
        raise InputError(
            f"The column {name!r} of the ids is {kind}, but {_ALLOWED} are needed."
            f"{floats if pa.types.is_floating(kind) else ''}"
        )


def _array_of(values: list[Any], name: str) -> Any:
    """A list of strings or of integers as an Arrow array; it may have nulls."""
    for kind in (None, pa.uint64()):
        try:
            found = pa.array(values, kind, from_pandas=True)
        except UNREADABLE:
            continue
        if (
            kind is None
            and found.null_count < len(found)
            and not is_string(found.type)
            and not pa.types.is_integer(found.type)
        ):
            break
        return found
    raise _problem(values, name)


def _problem(values: list[Any], name: str) -> DataError:
    """Why a list does not hold ids."""
    rows: dict[type, int] = {}
    for row, value in enumerate(values):
        where = f"The column {name!r}, row {row}, has an id that"
        if isinstance(value, str):
            rows.setdefault(str, row)
            if surrogate := surrogate_in(value):
                return DataError(
                    f"{where} contains a lone surrogate, {surrogate!a}. Correct it, or name another column."
                )
        elif is_integer(value):
            rows.setdefault(int, row)
            if not -(1 << 63) <= value < 1 << 64:
                return DataError(f"{where} has more than 64 bits. Make the ids strings.")
        elif value is not None and value == value:  # NaN is no id
            return DataError(
                f"{where} is a {type(value).__name__}, but {_ALLOWED} are needed. Make the ids all strings."
            )
    if len(rows) == 2:
        return DataError(
            f"The ids are not all of one kind: row {rows[str]} has a string, and row {rows[int]} an integer. Make them all strings."
        )
    return DataError(
        f"The ids in the column {name!r} are neither all strings nor all integers of 64 bits. Make them all strings."
    )


def _with_row_numbers(ids: Any) -> Any:
    """Ids with the row's number instead of null, or the next number that is no other row's id."""
    values = ids.to_pylist()
    kind = str if is_string(ids.type) else int
    taken = set(values)
    free = (number for number in map(kind, itertools.count(len(values))) if number not in taken)
    for row, value in enumerate(values):
        if value is None:
            values[row] = kind(row) if kind(row) not in taken else next(free)
    return pa.array(values, ids.type if kind is str or ids.type == pa.uint64() else pa.int64())


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


def shared_ids(ids: Any, kept: Any, first: int) -> int:
    """How many kept rows before `first` have the id of a kept row from there on. `kept`: bool[rows]."""
    mask = pa.array(kept)
    own, others = ids.slice(0, first).filter(mask.slice(0, first)), ids.slice(first).filter(mask.slice(first))
    return pc.sum(pc.is_in(own.drop_null(), others.drop_null())).as_py() or 0
