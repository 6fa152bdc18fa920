"""Make arrays by row: in memory, or mapped from temporary files if they are too large."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.resources.memory_use import MemoryUse
from neardup.resources.spool import mapped_array
from neardup.resources.temporary_files import TemporaryFiles

_ROWS_AT_ONCE = 1 << 18


def parts_of(rows: int) -> Iterator[slice]:
    """Slices of all rows, small enough for the intermediate values of each."""
    for first in range(0, rows, _ROWS_AT_ONCE):
        yield slice(first, min(rows, first + _ROWS_AT_ONCE))


@dataclass(frozen=True, slots=True)
class Scratch:
    """Makes arrays in memory or in temporary files.

    Attributes:
        largest: the largest array in memory, in bytes; a larger one is in a file. None for no limit.
        files: these files.
        use: where arrays in memory are counted; None to count nothing.
        name: the share that they are counted under.
    """

    largest: int | None = None
    files: TemporaryFiles = field(default_factory=TemporaryFiles)
    use: MemoryUse | None = None
    name: str = "arrays"

    def zeros(self, shape: int | tuple[int, ...], dtype: Any) -> Array:
        """A C-contiguous array of zeros."""
        kind = np.dtype(dtype)
        shape = (shape,) if isinstance(shape, int) else shape
        items = int(np.prod(shape, dtype=np.int64))
        if self.largest is None or items * kind.itemsize <= self.largest:
            return self.held(np.zeros(shape, kind))
        return mapped_array(items, kind, files=self.files).reshape(shape)

    def held(self, array: Array) -> Array:
        """The array itself, which stays in memory, counted as long as it lives."""
        return array if self.use is None else self.use.hold(self.name, array)

    def full(self, shape: int | tuple[int, ...], value: Any, dtype: Any) -> Array:
        """An array filled with one value."""
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
        """The array values[rows]."""
        made = self.zeros((len(rows), *values.shape[1:]), values.dtype)
        for part in parts_of(len(rows)):
            made[part] = values[rows[part]]
        return made

    def keep(self, values: Array) -> Array:
        """The array itself, or a copy in a file if it is too large."""
        if self.largest is None or values.nbytes <= self.largest:
            return self.held(values)
        made = mapped_array(values.size, values.dtype, files=self.files).reshape(values.shape)
        made[...] = values
        return made


IN_MEMORY = Scratch()
