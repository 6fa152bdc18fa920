"""Types of arrays, by what they hold, with shapes where they are used (`uint64[n, words]`); and callers' arrays for kernels."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""An array of any kind, where the kind depends on the caller or may be one of several."""

Bools = NDArray[np.bool_]
UInt16s = NDArray[np.uint16]
UInt64s = NDArray[np.uint64]
Int64s = NDArray[np.int64]
Float64s = NDArray[np.float64]


def is_of(array: Array, *kinds: Any) -> bool:
    """Whether the numbers are of one of these types, in any order of bytes."""
    return array.dtype.newbyteorder("=") in [np.dtype(kind) for kind in kinds]


def for_kernels(array: Array, kind: Any, *more: Literal["W"]) -> Array:
    """The array as kernels take it: of this type, in this machine's order of bytes, aligned, C-contiguous.

    It is copied only if necessary. `more`: "W" if a kernel writes to it.
    """
    found: Array = np.require(array, np.dtype(kind), ["C", "A", *more])
    return found


def is_masked(array: Any) -> bool:
    """Whether some values of a masked array are masked; every conversion to a plain array would bring them back."""
    return isinstance(array, np.ma.MaskedArray) and bool(np.ma.is_masked(array))
