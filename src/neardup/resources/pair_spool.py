"""Pairs as they are found, in bounded memory: sorted runs in a temporary file, merged by ranges."""

import itertools
import math
from threading import Lock

import numpy as np

from neardup.arrays import Array
from neardup.kernels.hamming.candidates import drop_repeats
from neardup.resources.memory_use import MemoryUse
from neardup.resources.spool import Spool

PAIR_BYTES = 16
"""What a pair takes until it is one of the candidates: twice as an integer of 8 bytes, or once beside an index from both sides."""
SAMPLED = 1 << 10
"""Pairs of each run by which ranges of about equal size are cut."""


class PairSpool:
    """Pairs left << 32 | right (uint64), added by any thread: in memory, and what does not fit in a temporary file."""

    def __init__(self, *, memory: int, temp_dir: str | None, use: MemoryUse | None = None) -> None:
        """`memory`: bytes that the pairs may take at their height; `temp_dir`: where the file goes; `use`: where it is told."""
        self._parts: list[Array] = []
        self._held, self._most, self._lock = 0, max(1, memory // PAIR_BYTES), Lock()
        self._temp_dir, self._use = temp_dir, use
        self._spool: Spool | None = None
        self._ends = [0]

    def add(self, packed: Array) -> None:
        """Keep these; the array is the spool's from now on."""
        with self._lock:
            if self._held and self._held + len(packed) > self._most:
                self._spill()
            self._parts.append(packed)
            self._held += len(packed)
            if self._use is not None:
                self._use.record("pairs", PAIR_BYTES * self._held)
            if self._held > self._most:
                self._spill()

    def _spill(self) -> None:
        self._spool = self._spool or Spool(np.uint64, temp_dir=self._temp_dir)
        self.drop_repeats()
        self._spool.write(self._parts[0])
        self._ends.append(self._ends[-1] + self._held)
        self._parts, self._held = [], 0

    def drop_repeats(self) -> None:
        """Keep one of each pair of those in memory: a pair may be found in several passes."""
        self._parts = [_distinct(np.concatenate([np.empty(0, np.uint64), *self._parts]))]
        self._held = len(self._parts[0])

    def all(self) -> Array:
        """uint64[p], ascending, each once; in memory, or mapped from a file."""
        if self._spool is None:
            self.drop_repeats()
            return self._parts[0]
        self._spill()
        with self._spool as spool, Spool(np.uint64, temp_dir=self._temp_dir) as merged:
            spool.map()
            runs = [spool.values[first:last] for first, last in itertools.pairwise(self._ends)]
            starts = [0] * len(runs)
            for edge in [*_edges(runs, math.ceil(len(spool.values) / self._most)), None]:
                ends = [len(run) if edge is None else int(np.searchsorted(run, edge)) for run in runs]
                merged.write(
                    _distinct(np.concatenate([run[a:b] for run, a, b in zip(runs, starts, ends, strict=True)]))
                )
                starts = ends
                spool.release()
            runs.clear()
            return merged.changeable()


def _edges(runs: list[Array], parts: int) -> Array:
    """Values that cut the ascending `runs` into about as many, about equal `parts`."""
    some = np.sort(np.concatenate([run[:: max(1, len(run) // SAMPLED)] for run in runs]))
    return some[np.arange(1, parts) * len(some) // parts]


def _distinct(packed: Array) -> Array:
    packed.sort()
    return packed[: drop_repeats(packed)]
