"""Arrays by row that are too large for the memory lie in temporary files that are mapped."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.resources.memory_use import MemoryUse
from neardup.resources.spool import mapped_array

_ROWS_AT_ONCE = 1 << 18


def parts_of(rows: int) -> Iterator[slice]:
    """All rows, so many at a time that what is made of them on the way is small."""
    for first in range(0, rows, _ROWS_AT_ONCE):
        yield slice(first, min(rows, first + _ROWS_AT_ONCE))


@dataclass(frozen=True, slots=True)
class Scratch:
    """Where arrays are made.

    Attributes:
        largest: bytes of an array that is in memory; a larger one is in a file. No limit if None.
        temp_dir: the folder of these files; the system's if None.
        use, name: where arrays in memory are counted, if anywhere, and as what.
    """

    largest: int | None = None
    temp_dir: str | None = None
    use: MemoryUse | None = None
    name: str = "arrays"

    def zeros(self, shape: int | tuple[int, ...], dtype: Any) -> Array:
        """Zeros, C-contiguous."""
        kind = np.dtype(dtype)
        shape = (shape,) if isinstance(shape, int) else shape
        items = int(np.prod(shape, dtype=np.int64))
        if self.largest is None or items * kind.itemsize <= self.largest:
            made = np.zeros(shape, kind)
            return made if self.use is None else self.use.hold(self.name, made)
        return mapped_array(items, kind, temp_dir=self.temp_dir).reshape(shape)

    def full(self, shape: int | tuple[int, ...], value: Any, dtype: Any) -> Array:
        """All of one value."""
        made = self.zeros(shape, dtype)
        made[...] = value
        return made

    def range(self, n: int) -> Array:
        """int64[n]: 0 … n - 1."""
        made = self.zeros(n, np.int64)
        for part in parts_of(n):
            made[part] = np.arange(part.start, part.stop)
        return made

    def take(self, values: Array, rows: Array) -> Array:
        """values[rows]."""
        made = self.zeros((len(rows), *values.shape[1:]), values.dtype)
        for part in parts_of(len(rows)):
            made[part] = values[rows[part]]
        return made

    def keep(self, values: Array) -> Array:
        """The same, moved to a file if it is too large."""
        if self.largest is None or values.nbytes <= self.largest:
            return values
        made = self.zeros(values.shape, values.dtype)
        made[...] = values
        return made


IN_MEMORY = Scratch()
