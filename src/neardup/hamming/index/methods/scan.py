"""SCAN: compare a query with every fingerprint."""

from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.hamming.index.methods.search_method import SearchMethod, in_given_order
from neardup.hamming.index.planning.costs import LABEL_BYTES, Cost, Options, Setting
from neardup.kernels.hamming import index_scans as kernels


@dataclass(frozen=True)
class Scan:
    """All fingerprints, column by column: uint64[words, n]."""

    columns: Array

    def look_up(self, queries: Array, first: int, last: int, max_distance: int, hits: Array, count: int) -> int:
        found: int = kernels.scan(queries, first, last, self.columns, max_distance, hits, count)
        return found

    def values(self) -> Array:
        return np.ascontiguousarray(self.columns.T)

    def arrays(self) -> dict[str, Array]:
        return {"columns": self.columns}


def _cost(setting: Setting, _options: Options) -> Cost:
    n = setting.rows
    seconds = n * setting.seconds("compare") * setting.words
    return Cost(1, 0, (8 * setting.words + LABEL_BYTES) * n, 0, float(n), seconds, setting.sorting())


METHOD = SearchMethod(
    build=lambda values, *_: (Scan(np.ascontiguousarray(values.T)), in_given_order(values)),
    restore=lambda arrays, *_: Scan(**arrays),
    cost=_cost,
)
