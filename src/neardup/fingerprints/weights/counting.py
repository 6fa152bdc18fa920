"""Count very many features in bounded memory: ascending runs, kept in temporary files once they are large, merged at the end."""

from collections.abc import Iterator

import numpy as np

from neardup.arrays import Array
from neardup.resources.memory_use import MemoryUse
from neardup.resources.spool import mapped_array
from neardup.resources.temporary_files import TemporaryFiles

Run = tuple[Array, Array]
"""Features, uint64[], ascending and unique, and their counts, int64[]."""

BYTES_PER_FEATURE = 64
"""Bytes per feature while runs are merged: feature and count, before and after, and the sort order."""


def merged(runs: list[Run]) -> Run:
    """Merge runs into one; counts of the same feature are added."""
    features = np.concatenate([np.empty(0, np.uint64), *(run[0] for run in runs)])
    counts = np.concatenate([np.empty(0, np.int64), *(run[1] for run in runs)])
    order = np.argsort(features, kind="stable")
    features, counts = features[order], counts[order]
    if not len(features):
        return features, counts
    starts = np.flatnonzero(np.concatenate([[True], features[1:] != features[:-1]]))
    return features[starts], np.add.reduceat(counts, starts)


class FeatureCounter:
    """Adds up counts of features in about `memory` bytes of memory, which `use` counts, and in temporary `files`."""

    def __init__(self, memory: int, files: TemporaryFiles, use: MemoryUse | None = None) -> None:
        self._most = max(1024, memory // BYTES_PER_FEATURE)
        self._files, self._use = files, use
        self._waiting: list[Run] = []
        self._stored: list[Run] = []

    def add(self, features: Array, counts: Array) -> None:
        """Add a run."""
        self._waiting.append((features, counts))
        if self._use is not None:
            self._use.record("frequencies", BYTES_PER_FEATURE * self._waiting_features)
        if self._waiting_features > self._most:
            self._waiting = [merged(self._waiting)]
            if self._waiting_features > self._most // 2:
                self._store(*self._waiting.pop())

    @property
    def _waiting_features(self) -> int:
        return sum(len(features) for features, _ in self._waiting)

    def _store(self, features: Array, counts: Array) -> None:
        run = tuple(mapped_array(len(features), kind, files=self._files) for kind in (np.uint64, np.int64))
        run[0][:], run[1][:] = features, counts
        self._stored.append((run[0], run[1]))

    def parts(self) -> Iterator[Run]:
        """Yield all features with their counts, ascending, in parts."""
        runs = [*self._stored, *self._waiting]
        total = sum(len(features) for features, _ in runs)
        pieces = -(-total // self._most) if total else 0
        edges = [piece * (1 << 64) // pieces for piece in range(1, pieces)]  # features are hashes: spread evenly
        places = [
            [0, *(int(np.searchsorted(features, np.uint64(edge))) for edge in edges), len(features)]
            for features, _ in runs
        ]
        for piece in range(pieces):
            cuts = [slice(at[piece], at[piece + 1]) for at in places]
            found = merged([(run[0][cut], run[1][cut]) for run, cut in zip(runs, cuts, strict=True)])
            if len(found[0]):
                yield found
