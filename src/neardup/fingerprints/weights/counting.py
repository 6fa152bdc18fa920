"""Counts of very many features, in bounded memory: ascending runs, in temporary files once they are large, merged at the end."""

from collections.abc import Iterator

import numpy as np

from neardup.arrays import Array
from neardup.resources.spool import mapped_array

Run = tuple[Array, Array]
"""Features, uint64[], ascending and distinct, and their counts, int64[]."""

BYTES_EACH = 64
"""What a feature takes while runs are merged: itself and its count, before and after, and the order of sorting."""


def merged(runs: list[Run]) -> Run:
    """Several runs as one; counts of one feature are added up."""
    features = np.concatenate([np.empty(0, np.uint64), *(run[0] for run in runs)])
    counts = np.concatenate([np.empty(0, np.int64), *(run[1] for run in runs)])
    order = np.argsort(features, kind="stable")
    features, counts = features[order], counts[order]
    if not len(features):
        return features, counts
    starts = np.flatnonzero(np.concatenate([[True], features[1:] != features[:-1]]))
    return features[starts], np.add.reduceat(counts, starts)


class FeatureCounter:
    """Adds up counts of features; at any time in about so many bytes of memory, and temporary files."""

    def __init__(self, memory: int, temp_dir: str | None) -> None:
        self._most = max(1024, memory // BYTES_EACH)
        self._temp_dir = temp_dir
        self._waiting: list[Run] = []
        self._stored: list[Run] = []

    def add(self, features: Array, counts: Array) -> None:
        """A run."""
        self._waiting.append((features, counts))
        if self._waiting_features > self._most:
            self._waiting = [merged(self._waiting)]
            if self._waiting_features > self._most // 2:
                self._store(*self._waiting.pop())

    @property
    def _waiting_features(self) -> int:
        return sum(len(features) for features, _ in self._waiting)

    def _store(self, features: Array, counts: Array) -> None:
        run = tuple(mapped_array(len(features), kind, temp_dir=self._temp_dir) for kind in (np.uint64, np.int64))
        run[0][:], run[1][:] = features, counts
        self._stored.append((run[0], run[1]))

    def parts(self) -> Iterator[Run]:
        """All features with their counts, ascending, a part at a time."""
        runs = [*self._stored, *self._waiting]
        total = sum(len(features) for features, _ in runs)
        pieces = -(-total // self._most) if total else 0
        edges = [piece * (1 << 64) // pieces for piece in range(1, pieces)]  # features are hashes: they lie evenly
        places = [
            [0, *(int(np.searchsorted(features, np.uint64(edge))) for edge in edges), len(features)]
            for features, _ in runs
        ]
        for piece in range(pieces):
            cuts = [slice(at[piece], at[piece + 1]) for at in places]
            found = merged([(run[0][cut], run[1][cut]) for run, cut in zip(runs, cuts, strict=True)])
            if len(found[0]):
                yield found
