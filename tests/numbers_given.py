"""Numbers that a caller may give where a number is taken: some are answered, the others refused, and none breaks anything."""

import math

import numpy as np

WHOLE = [-1, 0, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64, 10**30, 10**400, -(10**30)]
UNPRINTED = [10**5000, -(10**5000), [10**5000], {"a": 10**5000}, {10**5000: "a"}]
"""Integers of more digits than Python prints."""
NOT_WHOLE = [0.5, 1e30, 1e308, -1e308, 5e-324]
IN_PYTHON = [
    *WHOLE,
    *NOT_WHOLE,
    math.nan,
    math.inf,
    -math.inf,
    3.0,
    True,
    np.int64(3),
    np.uint64(2**64 - 1),
    np.float64(1e308),
    np.float32(0.5),
]
IN_WORDS = [*map(str, WHOLE), *map(str, NOT_WHOLE), "nan", "inf", "-inf", "1e999", "9" * 5000]
IN_JSON = [*map(str, WHOLE), *map(str, NOT_WHOLE), "1e999", "9" * 5000, "true"]
