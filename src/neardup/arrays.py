"""Types of arrays, by what they hold; shapes are stated where they are used, as in `uint64[n, words]`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""An array of any kind, where the kind depends on the caller or may be one of several."""

Bools = NDArray[np.bool_]
UInt16s = NDArray[np.uint16]
UInt64s = NDArray[np.uint64]
Int64s = NDArray[np.int64]
Float64s = NDArray[np.float64]
