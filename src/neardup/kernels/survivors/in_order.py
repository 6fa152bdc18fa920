"""Documents kept in order by the distance of fingerprints: each that none before it, which is kept, is near."""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import popcount


@kernel
def keep_in_order(values, most, distances, nearest, kept):
    """Which rows are near a row before them that is kept, or near something known before.

    Each row is compared with all that are kept before it, so this is for a thousand rows at a time.

    values: uint64[n, words]. most: the largest distance of what is near. distances: int64[n], from each row to the nearest known
    before, above `most` if nothing is; becomes that to the nearest kept row, if that is less. nearest: int64[n], becomes that row,
    the first of equally near ones, or -1. kept: int64[n], becomes the rows that are kept, in order. Returns their number.
    """
    n = 0
    for i in range(len(values)):
        best, of = distances[i], np.int64(-1)
        for k in range(n if best > 0 else 0):
            distance = np.int64(0)
            for word in range(values.shape[1]):
                distance += np.int64(popcount(values[i, word] ^ values[kept[k], word]))
            of = kept[k] if distance < best else of
            best = min(distance, best)
        if best > most:
            kept[n] = i
            n += 1
            of = np.int64(-1)
        distances[i], nearest[i] = best, of
    return n
