"""Weights as integers, so that a sum does not depend on the order of its terms."""

import numpy as np

from neardup.arrays import Array

ONE = 1 << 16
"""The weight 1."""


def fixed(values: Array, one: int = ONE) -> Array:
    """Round to the nearest multiple of 1 / one, halves up: float64[] -> int64[].

    >>> fixed(np.array([1.0, 0.5, 1e-5])).tolist()
    [65536, 32768, 1]
    """
    return np.floor(values * one + 0.5).astype(np.int64)
