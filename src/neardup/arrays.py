"""Types of arrays, by what they hold; shapes are stated where they are used, as in `uint64[n, words]`. And what an integer is."""

from numbers import Integral
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""An array of any kind, where the kind depends on the caller or may be one of several."""

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
UInt16s = NDArray[np.uint16]
UInt64s = NDArray[np.uint64]
Int64s = NDArray[np.int64]
Float64s = NDArray[np.float64]


def is_integer(value: object) -> TypeGuard[int]:
    """Whether a value is an integer of Python or numpy; booleans are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)
