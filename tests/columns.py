"""Features as joined buffers, and rows of words as integers."""

import numpy as np


def joined(features):
    """uint8[], int64[n + 1]."""
    offsets = np.cumsum([0, *map(len, features)])
    return np.frombuffer(b"".join(features), np.uint8), offsets


def as_integers(rows):
    """Each row of uint64 words, the most significant first, as one integer."""
    return [int.from_bytes(row.astype(">u8").tobytes(), "big") for row in rows]
