"""SEEN: which minimizers were seen more than once, in memory that does not grow with the corpus."""

from typing import Protocol

import numpy as np

from neardup.arrays import Array
from neardup.kernels.repeats.windows import see
from neardup.resources.resources import Resources

MIN_BITS, MAX_BITS = 16, 40
CELLS_PER_VALUE = 32
"""Where memory allows: of 250 values that were seen once, one is then taken for one that was seen again."""
CELLS_PER_BYTE = 4
HELD = 8
"""Minimizers are held up to this part of the share, before all of it becomes cells."""


class Cells(Protocol):
    """Which values were seen more than once, see `neardup.kernels.repeats.windows.see`."""

    @property
    def cells(self) -> Array:
        """uint64[2^bits / 32]."""
        ...

    @property
    def shift(self) -> np.uint64:
        """64 - bits."""
        ...


class SeenMinimizers:
    """Cells of two bits, seen and seen again, two for each value. Where both are those of other values, too, a value looks as if it
    had been seen again, which costs work and loses nothing. The order of the values does not matter.

    Attributes:
        cells: uint64[2^bits / 32], empty as long as few values were added; shift: 64 - bits.
    """

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._held: list[Array] = []
        self._count = 0
        self.cells: Array = np.zeros(0, np.uint64)
        self.shift = np.uint64(0)

    def add(self, values: Array) -> None:
        """Note minimizers (uint64[]); one call after another."""
        self._count += len(values)
        if len(self.cells):
            self._see(values)
            return
        self._held.append(values)
        if 8 * self._count > self._resources.share("seen") // HELD:
            self._make(CELLS_PER_BYTE * self._resources.share("seen"))

    def finish(self) -> None:
        """Nothing more is added."""
        if not len(self.cells):
            self._make(CELLS_PER_VALUE * max(1, self._count))

    def _make(self, cells: int) -> None:
        """Make at most so many cells, and note what is held."""
        most = max(1, min(cells, CELLS_PER_BYTE * self._resources.share("seen")))
        bits = min(max(most.bit_length() - 1, MIN_BITS), MAX_BITS)
        self.cells, self.shift = np.zeros(1 << (bits - 5), np.uint64), np.uint64(64 - bits)
        self._resources.use.hold("seen", self.cells)
        for values in self._held:
            self._see(values)
        self._held.clear()

    def _see(self, values: Array) -> None:
        see(values, 0, len(values), self.shift, self.cells)
