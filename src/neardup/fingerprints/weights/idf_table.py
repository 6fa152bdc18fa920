"""Inverse document frequencies of features, in fixed point, ready to be looked up."""

from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.kernels.fingerprints.frequencies import begin_buckets, look_up


@dataclass(frozen=True, slots=True)
class IdfTable:
    """The inverse document frequency of each of k features, and of all others.

    Attributes:
        features: uint64[k], ascending.
        values: int64[k], in 2^-16.
        unknown: of a feature that is not among them, in 2^-16.
        starts, shift: where features begin whose top bits are alike; see `neardup.kernels.fingerprints.frequencies`.
    """

    features: Array
    values: Array
    unknown: int
    starts: Array
    shift: np.uint64

    def of(self, features: Array) -> Array:
        """Of each of some features (uint64[f]): int64[f]."""
        out = np.empty(len(features), np.int64)
        look_up(features, self.features, self.starts, self.shift, self.values, np.int64(self.unknown), out)
        return out


def idf_table(features: Array, values: Array, unknown: int) -> IdfTable:
    """Of features in ascending order."""
    bits = max(1, len(features).bit_length())
    shift, starts = np.uint64(64 - bits), np.empty((1 << bits) + 1, np.int64)
    begin_buckets(features, shift, starts)
    return IdfTable(features, values, unknown, starts, shift)
