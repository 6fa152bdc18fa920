"""Convert the containers of vectors that the library accepts to dense or sparse rows of numbers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.arrays import Array, is_masked
from neardup.errors import DataError, OptionError

TAKEN = (
    "a 2-D array, a data frame, a list of lists, an Arrow column of lists, or a CSR matrix, of integers, float16, "
    "float32 or float64"
)


@dataclass(frozen=True, slots=True)
class SparseRows:
    """Rows as in a CSR matrix.

    Attributes:
        indptr: where each row begins in `indices` and `data`, int64[n + 1].
        indices: the dimension of each entry.
        data: the value of each entry.
        dimension: the number of dimensions.
    """

    indptr: Array
    indices: Array
    data: Array
    dimension: int

    def __len__(self) -> int:
        return len(self.indptr) - 1


Rows = Array | SparseRows


def rows_of(vectors: Any) -> Rows:
    """The rows: numbers[n, dimension], or SparseRows.

    Raises:
        OptionError: the type is not in TAKEN.
        DataError: vectors are missing or differ in length, or a CSR matrix is inconsistent.
    """
    if is_masked(vectors):
        raise DataError("The vectors are a masked array with masked values. Fill them: vectors.filled(0).")
    if hasattr(vectors, "tocsr"):
        vectors = vectors.tocsr()
    if all(hasattr(vectors, name) for name in ("indptr", "indices", "data", "shape")):
        return _sparse(vectors)
    if hasattr(vectors, "columns") and hasattr(vectors, "to_numpy"):
        return demand_numbers(np.asarray(vectors.to_numpy()))  # a data frame with a column for each number
    if not isinstance(vectors, np.ndarray):
        for name in ("__arrow_c_array__", "__arrow_c_stream__"):
            if hasattr(vectors, name):
                return _of_arrow(vectors, name)
    if isinstance(vectors, (str, bytes)):
        raise OptionError(f"A {type(vectors).__name__} was given. Give {TAKEN}.")
    try:
        found = np.asarray(vectors)
    except ValueError:
        raise DataError("The vectors have different lengths, or parts of different shapes. Make them equal.") from None
    return demand_numbers(found)


def demand_numbers(found: Array) -> Array:
    """Refuse an array unless it is two-dimensional, holds numbers and has at least one column."""
    check_type(found.dtype)
    if found.ndim != 2:
        hint = " For one vector, put it in a list." if found.ndim == 1 and len(found) else ""
        raise OptionError(f"The array has {found.ndim} dimensions, not 2: rows are vectors.{hint} Give {TAKEN}.")
    _check_dimension(found.shape[1])
    return found


def check_type(kind: Any) -> None:
    """Refuse types that are not numbers, or whose numbers float64 cannot hold."""
    if kind.kind not in "biuf" or kind.itemsize > 8:
        raise OptionError(f"The numbers are of type {kind}. Give {TAKEN}.")


def _check_dimension(dimension: int) -> None:
    if dimension < 1:
        raise OptionError("The vectors have no numbers at all. Give at least one column.")


def _of_arrow(vectors: Any, protocol: str) -> Array:
    import pyarrow as pa

    from neardup.io.formats.columnar.vector_columns import list_kind, vectors_of_column

    try:
        column = pa.array(vectors) if protocol == "__arrow_c_array__" else pa.chunked_array(vectors)
    except (pa.ArrowInvalid, TypeError, ValueError) as problem:
        raise OptionError(f"No column of vectors: {problem}. Give {TAKEN}.") from None
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    if list_kind(column.type) is None:
        raise OptionError(f"A column of {column.type} was given. Give {TAKEN}.")
    parts: list[Array] = []
    dimension, row = None, 0
    for chunk in chunks:
        found = vectors_of_column(chunk, dimension)
        if found.problems:
            first = min(found.problems)
            raise DataError(f"Row {row + first} (counted from 0): {found.problems[first]}. Mend or remove the row.")
        parts.append(found.values)
        dimension, row = found.dimension, row + len(chunk)
    if dimension is None:
        raise OptionError("The column has no vectors, so their dimension is not known. Give at least one.")
    return demand_numbers(np.concatenate([part for part in parts if part.shape[1] == dimension]))


def _sparse(matrix: Any) -> SparseRows:
    shape = tuple(matrix.shape)
    if len(shape) != 2:
        raise OptionError(f"The sparse array has {len(shape)} dimensions, not 2: rows are vectors. Give {TAKEN}.")
    n, dimension = map(int, shape)
    _check_dimension(dimension)
    indptr, indices, data = (np.asarray(part) for part in (matrix.indptr, matrix.indices, matrix.data))
    check_type(data.dtype)
    if any(part.ndim != 1 for part in (indptr, indices, data)) or {indptr.dtype.kind, indices.dtype.kind} - set("iu"):
        raise DataError("indptr and indices of a CSR matrix are 1-D arrays of integers, data is one of numbers.")
    indptr = indptr.astype(np.int64)
    rises = len(indptr) == n + 1 and indptr[0] == 0 and (np.diff(indptr) >= 0).all()
    if not rises or indptr[-1] > min(len(indices), len(data)):
        raise DataError(
            f"indptr of a CSR matrix of {n} rows has {n + 1} numbers that rise from 0 to at most the number of entries; "
            f"this has {len(indptr)}, for {len(indices)} indices and {len(data)} values. Make the matrix anew."
        )
    entries = int(indptr[-1])
    indices, data = indices[:entries], data[:entries]
    if entries and (int(indices.min()) < 0 or int(indices.max()) >= dimension):
        raise DataError(
            f"The CSR matrix has {dimension} columns, but indices from {indices.min()} to {indices.max()}. Make it anew."
        )
    return SparseRows(indptr, indices, data, dimension)


def refuse_row(row: int, values: Array) -> None:
    """Raise the error for a row whose numbers are NaN or infinite, or too large together."""
    bad = ~np.isfinite(values)
    if bad.any():
        what = f"holds {values[bad][0]}, which has no place in a direction"
    else:
        what = f"holds numbers up to {np.abs(values).max():g}: sums of these are beyond float64. Scale the vectors"
    raise DataError(f"Row {row} (counted from 0) {what}. Mend or remove the row.")


def blocks(n: int, size: int) -> Iterator[slice]:
    """Consecutive rows, `size` at a time."""
    return (slice(start, min(start + size, n)) for start in range(0, n, max(1, size)))
