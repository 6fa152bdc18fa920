"""Features and texts as buffers, rows of words as integers, and matches as a dict."""

import numpy as np
import pyarrow as pa


def joined(features):
    """uint8[], int64[n + 1]."""
    offsets = np.cumsum([0, *map(len, features)])
    return np.frombuffer(b"".join(features), np.uint8), offsets


def as_integers(rows):
    """Each row of uint64 words, the most significant first, as one integer."""
    return [int.from_bytes(row.astype(">u8").tobytes(), "big") for row in rows]


def large_strings(texts):
    return pa.array(texts, pa.large_string())


def pairs_of(matches):
    """The similarity of each pair of rows; no pair is listed twice."""
    pairs = list(zip(matches.left.tolist(), matches.right.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    return dict(zip(pairs, matches.similarity.tolist(), strict=True))
