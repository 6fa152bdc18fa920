"""FINGERPRINT COLUMN: fingerprints as tables have them, which know no integers without a sign."""

from typing import Any

import numpy as np
import pyarrow as pa


def as_column(values: Any) -> pa.Array:
    """Fingerprints (uint64[n, words]) as signed integers with the same bits; wider ones as bytes, the highest first."""
    if values.shape[1] == 1:
        return pa.array(np.ascontiguousarray(values[:, 0]).view(np.int64))
    content = np.ascontiguousarray(values).astype(">u8").tobytes()
    size = 8 * values.shape[1]
    return pa.array([content[at : at + size] for at in range(0, len(content), size)], pa.binary())
