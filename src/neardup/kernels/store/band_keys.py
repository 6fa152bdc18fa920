"""BAND KEYS: a hash of each band of signatures, under which a store keeps texts."""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.store.postings import MIX

u64 = np.uint64


@kernel
def fill_band_keys(values, bands, out):
    """Fill uint64[n * bands], text after text, with the keys of the bands of signatures, uint32[n, bands * rows]."""
    rows = values.shape[1] // bands
    for text in range(len(values)):
        for band in range(bands):
            key = u64(band + 1) * MIX
            for row in range(rows):
                key = (key ^ u64(values[text, band * rows + row])) * MIX
                key ^= key >> u64(29)
            out[text * bands + band] = key
