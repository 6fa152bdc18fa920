"""Numbers that are read several times: in memory up to a share of it, and all in a temporary file beyond."""

from collections.abc import Callable
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.kernels.matching.element_counts import gather_runs
from neardup.resources.resources import Resources
from neardup.resources.spool import Spool

ASKED_FROM_SHARE = 1 / 32
"""The part of the memory from which it is asked whether all values will fit."""
Share = Callable[[], float | None]
"""The fraction of all values that was written, from 0 to 1; None while unknown."""


def unknown() -> None:
    """The share where nothing tells."""


def _room(values: int, dtype: Any) -> Array:
    """The system gives an array its pages when they are written, so it may be as large as a share from the beginning."""
    return np.empty(values, dtype)


def taken(values: Array, starts: Array, ends: Array) -> Array:
    """The runs values[starts[i]:ends[i]] for each i (int64[n]), one after another; not copied if nothing lies between them."""
    if len(starts) and np.array_equal(starts[1:], ends[:-1]):
        return values[starts[0] : ends[-1]]
    found = np.empty((ends - starts).sum(), values.dtype)
    gather_runs(values, starts, ends, found)
    return found


class HeldSpool:
    """A `Spool` that needs no file while its values fit the memory; then its system calls and copies are saved.

    Attributes:
        values: all written values in order; empty before `map` is called.
    """

    def __init__(self, dtype: Any, *, memory: int, resources: Resources, use: str, share: Share = unknown) -> None:
        """Hold up to `memory` bytes, counted as what this use has of the `resources`.

        If the `share` says that the values will not fit, a file is begun at once: values that were held until the memory is full
        would be copied, all of them.
        """
        self._dtype, self._resources, self._use, self._share = np.dtype(dtype), resources, use, share
        self._total = 0
        try:
            self._held = _room(memory // self._dtype.itemsize, self._dtype)
        except MemoryError:  # a limit of the address space
            self._held = self._none
        self._asked_at = int(ASKED_FROM_SHARE * len(self._held))
        self._spool: Spool | None = None
        self.values: Array = self._none

    @property
    def is_in_memory(self) -> bool:
        """Whether there is no file."""
        return self._spool is None

    @property
    def _none(self) -> Array:
        return np.empty(0, self._dtype)

    def write(self, values: Array) -> None:
        """Append values, converted to the spool's dtype."""
        total = self._total + len(values)
        if self._spool is None and (total > len(self._held) or self._will_not_fit(total)):
            self._spool = Spool(self._dtype, files=self._resources.files)
            self._spool.write(self._held[: self._total])
            self._drop()
        if self._spool is not None:
            self._spool.write(values)
        else:
            self._held[self._total : total] = values
            self._resources.use.add(self._use, len(values) * self._dtype.itemsize)
        self._total = total

    def _will_not_fit(self, total: int) -> bool:
        """Whether all values, at the rate so far, need more than the memory; asked at each doubling of those written."""
        if total < self._asked_at:
            return False
        self._asked_at = 2 * total
        share = self._share()
        return share is not None and 0 < share < 1 and total / share > len(self._held)

    def map(self) -> None:
        """End writing, so that `values` can be read."""
        if self._spool is None:
            self.values = self._held[: self._total]
            self.values.flags.writeable = False
        else:
            self._spool.map()
            self.values = self._spool.values

    def take(self, starts: Array, ends: Array) -> Array:
        """The runs values[starts[i]:ends[i]] for each i (int64[n]), one after another; after `map`. Not to be changed."""
        if self._spool is not None:
            return self._spool.take(starts, ends)
        return taken(self.values, starts, ends)

    def release(self) -> None:
        """Let the operating system drop the pages of a file that were read."""
        if self._spool is not None:
            self._spool.release()

    def close(self) -> None:
        self.values = self._none
        if self._spool is not None:
            self._spool.close()
        elif len(self._held):
            self._drop()

    def _drop(self) -> None:
        """Free what is in memory."""
        self._held = self._none
        self._resources.use.add(self._use, -self._total * self._dtype.itemsize)
