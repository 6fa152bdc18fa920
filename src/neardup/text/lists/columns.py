"""The texts of lists in columns of Arrow, by a path."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import OptionError
from neardup.text.lists.paths import SEPARATOR, Step, texts_in_value
from neardup.text.nested import as_text, is_string

_TEXT = pa.large_string()


def type_problem(kind: Any, steps: Sequence[Step]) -> str | None:
    """Why a type of Arrow has no such texts below a path whose first step is done; None if it has."""
    if pa.types.is_null(kind):
        return None
    step, *rest = steps
    if step.is_list:
        if not _is_list(kind):
            return f"{step.key!r} is {kind}, not a list"
        kind = kind.value_type
        if step.field is not None and (not pa.types.is_struct(kind) or kind.get_field_index(step.field) < 0):
            return f"the elements of {step.key!r} have no field {step.field!r}, but are {kind}"
    if not rest:
        return None if _is_text(kind) or pa.types.is_null(kind) else f"{step.key!r} is {kind}, not a string"
    if pa.types.is_null(kind):
        return None
    if not pa.types.is_struct(kind) or kind.get_field_index(rest[0].key) < 0:
        return f"there is no field {rest[0].key!r} in {kind}"
    return type_problem(kind.field(rest[0].key).type, rest)


def texts_in_column(column: Any, steps: Sequence[Step], separator: str = SEPARATOR) -> Any:
    """large_string[rows]: the texts of an Arrow array of lists, by a path whose first step is the array itself."""
    rows, owners = len(column), np.arange(len(column))
    counts = np.ones(rows, np.bool_)  # elements are only taken at the end: Arrow cannot filter structs of all types
    for place, step in enumerate(steps):
        if place and not pa.types.is_null(column.type):
            column = pc.struct_field(column, step.key)
        if pa.types.is_null(column.type):
            return pa.nulls(rows, _TEXT)
        if not step.is_list:
            continue
        parents = pc.list_parent_indices(column).to_numpy()
        owners, counts, column = owners[parents], counts[parents], pc.list_flatten(column)
        if step.field is not None and not pa.types.is_null(column.type):
            field = pc.struct_field(column, step.field)
            if pa.types.is_null(field.type):
                return pa.nulls(rows, _TEXT)
            counts &= pc.is_in(as_text(field), pa.array(step.values, _TEXT)).to_numpy(zero_copy_only=False)
    if pa.types.is_null(column.type):
        return pa.nulls(rows, _TEXT)
    counts &= column.is_valid().to_numpy(zero_copy_only=False)
    texts, owners = as_text(column).filter(pa.array(counts)), owners[counts]
    sizes = np.bincount(owners, minlength=rows)
    offsets = pa.array(np.concatenate([[0], np.cumsum(sizes)]), pa.int64())
    found = pc.binary_join(pa.LargeListArray.from_arrays(offsets, texts), pa.scalar(separator, _TEXT))
    return pc.if_else(pa.array(sizes > 0), found, pa.scalar(None, _TEXT))


def texts_of_lists_at(values: Any, name: str, steps: Sequence[Step]) -> Any:
    """The texts of a column of lists, Arrow or a list of values; null, or None, for rows without any.

    Raises:
        OptionError: there are none; `name` is the path.
    """
    if isinstance(values, pa.Array | pa.ChunkedArray):
        if problem := type_problem(values.type, steps):
            raise OptionError(f"The column {name!r}: {problem}.")
        chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
        return pa.chunked_array([texts_in_column(chunk, steps) for chunk in chunks], _TEXT)
    try:
        found = [list(texts_in_value({steps[0].key: value}, steps)) for value in values]
    except TypeError as problem:
        raise OptionError(f"The column {name!r} {problem}.") from None
    return [SEPARATOR.join(texts) if texts else None for texts in found]


def _is_list(kind: Any) -> bool:
    return any(test(kind) for test in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list))


def _is_text(kind: Any) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    return is_string(kind.value_type if pa.types.is_dictionary(kind) else kind)
