"""Values of features, looked up in a sorted table."""

import numpy as np

from neardup.kernels.compilation import kernel

u64 = np.uint64


@kernel
def begin_buckets(keys, shift, starts):
    """Where the keys with each value of the top bits, key >> shift, begin. uint64[k], ascending -> int64[2^b + 1]."""
    k = 0
    for bucket in range(len(starts) - 1):
        starts[bucket] = k
        while k < len(keys) and np.int64(keys[k] >> shift) == bucket:
            k += 1
    starts[len(starts) - 1] = k


@kernel
def look_up(features, keys, starts, shift, values, unknown, out):
    """The value of each feature, or `unknown`. uint64[f] -> int64[f]; keys, starts: see `begin_buckets`; values: int64[k].

    Keys are hashes, so that a bucket has few of them: they are looked at one by one.
    """
    for f in range(len(features)):
        feature = features[f]
        bucket = np.int64(feature >> shift)
        found = unknown
        for k in range(starts[bucket], starts[bucket + 1]):
            if keys[k] == feature:
                found = values[k]
        out[f] = found
