"""The functions that compute the hashes of features, for the rows of `neardup.recipe.tables.hashes`."""

import hashlib
import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

from neardup.arrays import Array
from neardup.fingerprints.hashes.distinct import hash_distinct
from neardup.recipe.tables.hashes import HASH_ROWS

Fill = Callable[[Array, Array, Array], None]


@cache
def hash_function(name: str) -> Fill:
    """The function of a hash, by name; see `neardup.recipe.tables.hashes.HashRow.kernel`."""
    row = HASH_ROWS[name]
    if row.kernel is None:
        return _digest(name, row.bits)
    module, _, function = row.kernel.partition(":")
    found: Fill = getattr(importlib.import_module(f"neardup.kernels.{module}"), function)
    return found


def _digest(name: str, bits: int) -> Fill:
    """A hash of the standard library: the digest is a big-endian integer."""
    make: Any = getattr(hashlib, name)

    def fill(data: Array, offsets: Array, out: Array) -> None:
        hash_distinct(data, offsets, lambda feature: make(feature, usedforsecurity=False).digest(), bits // 8, out)

    return fill
