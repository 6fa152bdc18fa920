"""Inverse document frequencies of features, in fixed point, for lookup."""

from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.kernels.fingerprints.frequencies import begin_buckets, look_up


@dataclass(frozen=True, slots=True)
class IdfTable:
    """The inverse document frequencies of k features, and one for all other features.

    Attributes:
        features: uint64[k], ascending.
        values: int64[k], in 2^-16.
        unknown: for a feature that is not listed, in 2^-16.
        starts, shift: where features with the same top bits begin; see `neardup.kernels.fingerprints.frequencies`.
    """

    features: Array
    values: Array
    unknown: int
    starts: Array
    shift: np.uint64

    def of(self, features: Array) -> Array:
        """int64[f]: the frequency of each feature (uint64[f])."""
        out = np.empty(len(features), np.int64)
        look_up(features, self.features, self.starts, self.shift, self.values, np.int64(self.unknown), out)
        return out


def idf_table(features: Array, values: Array, unknown: int) -> IdfTable:
    """Build the table for features in ascending order."""
    bits = max(1, len(features).bit_length())
    shift, starts = np.uint64(64 - bits), np.empty((1 << bits) + 1, np.int64)
    begin_buckets(features, shift, starts)
    return IdfTable(features, values, unknown, starts, shift)
