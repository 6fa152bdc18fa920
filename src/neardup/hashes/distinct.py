"""Hashes that are called from Python, one call for each distinct feature."""

import operator
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from neardup.errors import OptionError
from neardup.hashes.names import HashFunction

Array = np.ndarray[Any, np.dtype[Any]]


def hash_distinct(data: Array, offsets: Array, digest: Callable[[bytes], bytes], size: int, out: Array) -> None:
    """Fill out[f] (uint64[n, (size + 7) // 8]) with digest(feature f), `size` bytes, as one big-endian integer.

    Equal features are hashed once; the features of one call are in memory once more for that.
    """
    content = data[offsets[0] : offsets[-1]].tobytes()
    ends = (offsets - offsets[0]).tolist()
    seen: dict[bytes, int] = {}
    rows = [seen.setdefault(content[a:b], len(seen)) for a, b in pairwise(ends)]
    padded = np.zeros((len(seen), 8 * out.shape[1]), np.uint8)
    padded[:, padded.shape[1] - size :] = np.frombuffer(b"".join(map(digest, seen)), np.uint8).reshape(-1, size)
    out[:] = padded.view(">u8")[np.array(rows, np.intp)]


def hash_by_caller(data: Array, offsets: Array, function: HashFunction, out: Array) -> None:
    """Fill out[f] (uint64[n, (bits + 63) // 64]) with the caller's hash of feature f.

    Raises:
        OptionError: a value is no integer, or does not fit the bits.
    """
    size = 8 * out.shape[1]

    def digest(feature: bytes) -> bytes:
        given: Any = function.function(feature)
        try:
            value = operator.index(given)
        except TypeError:
            value = -1
        if not 0 <= value < 1 << function.bits:
            raise OptionError(
                f"The hash {function.name!r} gave {given!r} for {feature!r}: it must give an integer from 0 to "
                f"2^{function.bits} - 1. Mend it, or give the right bits."
            )
        return value.to_bytes(size, "big")

    hash_distinct(data, offsets, digest, size, out)
