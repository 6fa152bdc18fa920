"""Arrow columns of lists as matrices, with the problems of single rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array

MAX_NUMBER = 1e300
"""Sums of larger numbers may exceed float64."""


@dataclass(frozen=True, slots=True)
class ColumnVectors:
    """The vectors of an Arrow column.

    Attributes:
        values: number[rows, dimension]; rows with problems are 0.
        dimension: numbers per vector; None if unknown, and `values` then has no columns.
        problems: the problem of each bad row, by row.
    """

    values: Array
    dimension: int | None
    problems: dict[int, str]

    def as_lists(self, usable: Array) -> Any:
        """An Arrow array of lists of fixed size, null where `usable` (bool[rows]) is False."""
        mask = None if usable.all() else pa.array(~usable)
        flat = pa.array(np.ascontiguousarray(self.values).reshape(-1))
        return pa.FixedSizeListArray.from_arrays(flat, self.values.shape[1], mask=mask)


def list_kind(kind: Any) -> Any:
    """The type of the numbers in a list type; None if it is another type, or its lists hold something else."""
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if not any(test(kind) for test in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)):
        return None
    inner = kind.value_type
    return inner if pa.types.is_integer(inner) or pa.types.is_floating(inner) else None


def fixed_dimension(kind: Any) -> int | None:
    """The length of a fixed-size list type, otherwise None."""
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    return int(kind.list_size) if pa.types.is_fixed_size_list(kind) else None


def vectors_of_column(column: Any, dimension: int | None) -> ColumnVectors:
    """The vectors of an Arrow array for whose type `list_kind` is not None, or of nulls. `dimension`: of earlier vectors, if known.

    If it is unknown, the first vector that is not null sets it.
    """
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    if pa.types.is_null(column.type):
        column = column.cast(pa.list_(pa.float64()))
    null = np.asarray(column.is_null().to_numpy(zero_copy_only=False))
    lengths = _lengths(column, null)
    if dimension is None and not null.all():
        dimension = int(lengths[~null][0])
    if dimension is None:
        return ColumnVectors(np.empty((len(column), 0)), None, dict.fromkeys(range(len(column)), "its vector is null"))
    problems = {int(i): "its vector is null" for i in np.flatnonzero(null)}
    ragged = ~null & (lengths != dimension)
    problems |= {
        int(i): f"its vector has {lengths[i]} numbers, others have {dimension}" for i in np.flatnonzero(ragged)
    }
    good = ~null & ~ragged
    numbers = pc.list_flatten(column if good.all() else column.filter(pa.array(good)))
    kept = np.flatnonzero(good)
    if numbers.null_count:
        for i in np.unique(np.flatnonzero(numbers.is_null().to_numpy(zero_copy_only=False)) // dimension):
            problems[int(kept[i])] = "its vector holds null"
        numbers = pc.fill_null(numbers, 0)
    flat = numbers.to_numpy(zero_copy_only=False)
    matrix = flat.reshape(len(kept), dimension)
    if flat.dtype.kind == "f":
        for i in np.flatnonzero(~np.isfinite(matrix).all(axis=1)):
            problems[int(kept[i])] = f"its vector holds {matrix[i][~np.isfinite(matrix[i])][0]}"
    if flat.dtype == np.float64:
        for i in np.flatnonzero((np.isfinite(matrix) & (np.abs(matrix) > MAX_NUMBER)).any(axis=1)):
            problems.setdefault(int(kept[i]), f"its vector holds numbers beyond {MAX_NUMBER:g}: scale it")
    if problems:
        whole = np.zeros((len(column), dimension), flat.dtype)
        whole[kept] = matrix
        whole[list(problems)] = 0
        matrix = whole
    return ColumnVectors(matrix, dimension, problems)


def _lengths(column: Any, null: Array) -> Array:
    """int64[rows]: the length of each list; 0 for null."""
    fixed = fixed_dimension(column.type)
    if fixed is not None:
        return np.where(null, 0, fixed)
    return np.asarray(pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)).astype(np.int64)
