"""Gather pairs in bounded memory: sorted runs in a temporary file, merged by ranges."""

import itertools
import math
from threading import Lock

import numpy as np

from neardup.arrays import Array
from neardup.kernels.hamming.candidates import drop_repeats, pack_pairs
from neardup.resources.memory_use import MemoryUse
from neardup.resources.spool import Spool
from neardup.resources.temporary_files import TemporaryFiles

PAIR_BYTES = 16
"""Peak bytes of a pair until it is a candidate: two copies as an integer of 8 bytes, or one beside an index from both sides."""
SAMPLED_PAIRS = 1 << 10
"""The number of pairs sampled from each run to cut ranges of about equal size."""


class ManyPairs(Exception):  # noqa: N818 - caught by whoever gave `most`
    """More pairs are expected than the caller asked to list.

    Attributes:
        expected: how many, by a sample; without one, more than can be.
    """

    def __init__(self, expected: float = math.inf) -> None:
        super().__init__(expected)
        self.expected = expected


def check_few(pairs: int, most: int | None) -> None:
    """Raise ManyPairs if more are expected than `most`."""
    if most is not None and pairs > most:
        raise ManyPairs(pairs)


class PairSpool:
    """Pairs as left << 32 | right (uint64), added by any thread; those that do not fit in memory go to a temporary file."""

    def __init__(
        self, *, memory: int, files: TemporaryFiles, use: MemoryUse | None = None, names: Array | None = None
    ) -> None:
        """`memory` is the peak size of the pairs in bytes, `files` where the others go; pairs are counted in `use`.

        `names` (int64[]): what the numbers that are added stand for, if not for themselves. The pairs are of names, the smaller on
        the left; pairs of one name are dropped.
        """
        self._names = names
        self._parts: list[Array] = []
        self._held, self._most, self._lock = 0, max(1, memory // PAIR_BYTES), Lock()
        self._files, self._use = files, use
        self._spool: Spool | None = None
        self._ends = [0]

    def add(self, packed: Array) -> None:
        """Add pairs; the spool owns the array from now on."""
        if self._names is not None:
            packed = _named(packed, self._names)
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
        self._spool = self._spool or Spool(np.uint64, files=self._files)
        self.drop_repeats()
        self._spool.write(self._parts[0])
        self._ends.append(self._ends[-1] + self._held)
        self._parts, self._held = [], 0

    def drop_repeats(self) -> None:
        """Remove repeated pairs from those in memory; several passes may find the same pair."""
        self._parts = [_distinct(np.concatenate([np.empty(0, np.uint64), *self._parts]))]
        self._held = len(self._parts[0])

    def all(self) -> Array:
        """All pairs, as uint64[p], ascending and unique; in memory, or mapped from a file."""
        if self._spool is None:
            self.drop_repeats()
            return self._parts[0]
        self._spill()
        with self._spool as spool, Spool(np.uint64, files=self._files) as merged:
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
    """Values that cut the ascending `runs` into about `parts` ranges of about equal size."""
    some = np.sort(np.concatenate([run[:: max(1, len(run) // SAMPLED_PAIRS)] for run in runs]))
    return some[np.arange(1, parts) * len(some) // parts]


def _named(packed: Array, names: Array) -> Array:
    """The pairs of names[left] and names[right], but for those of one name."""
    left, right = (packed >> np.uint64(32)).astype(np.uint32), packed.astype(np.uint32)
    pack_pairs(names, left, right, packed)
    differ: Array = names[left] != names[right]
    return packed[differ]


def _distinct(packed: Array) -> Array:
    packed.sort()
    return packed[: drop_repeats(packed)]
