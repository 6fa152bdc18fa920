"""BIT LISTS: for each bit, a list of the rows that have it set. A query adds up these lists to count the bits that differ."""

from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.hamming.index.methods.search_method import Built, SearchMethod, in_given_order
from neardup.hamming.index.planning.costs import LABEL_BYTES, Cost, Options, Setting
from neardup.kernels.hamming import index_scans as kernels


@dataclass(frozen=True)
class BitLists:
    """For each bit, the rows that have it set, as a bitmap: uint64[bits, ceil(rows / 64)]."""

    lists: Array
    rows: int

    def look_up(self, queries: Array, first: int, last: int, max_distance: int, hits: Array, count: int) -> int:
        planes = np.empty(16, np.uint64)
        found: int = kernels.add_lists(queries, first, last, self.lists, self.rows, max_distance, planes, hits, count)
        return found

    def values(self) -> Array:
        bits = np.unpackbits(self.lists.view(np.uint8), axis=1, count=self.rows, bitorder="little")
        found: Array = np.ascontiguousarray(np.packbits(bits.T, axis=1)).view(">u8").astype(np.uint64)
        return found

    def arrays(self) -> dict[str, Array]:
        return {"lists": self.lists}


def _build(values: Array, _distance: int, _options: Options) -> Built:
    lists = np.empty((64 * values.shape[1], -(-len(values) // 64)), np.uint64)
    kernels.slice_bits(np.ascontiguousarray(values.T), lists)
    return BitLists(lists, len(values)), in_given_order(values)


def _cost(setting: Setting, _options: Options) -> Cost:
    n, blocks = setting.rows, -(-setting.rows // 64)
    seconds = blocks * setting.bits * setting.seconds("add")
    built = setting.sorting() + n * setting.bits * setting.seconds("slice")
    return Cost(1, 0, 8 * setting.bits * blocks + LABEL_BYTES * n, 0, float(n), seconds, built)


METHOD = SearchMethod(
    build=_build, restore=lambda arrays, _bits, _distance, _options, rows: BitLists(arrays["lists"], rows), cost=_cost
)
