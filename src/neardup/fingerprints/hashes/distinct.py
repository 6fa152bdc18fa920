"""Hashes that are called from Python, once for each unique feature."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.errors import CallableError, NeardupError, OptionError
from neardup.recipe.tables.hashes import HashFunction


def hash_distinct(data: Array, offsets: Array, digest: Callable[[bytes], bytes], size: int, out: Array) -> None:
    """Fill out[f] (uint64[n, (size + 7) // 8]) with digest(feature f): `size` bytes read as one big-endian integer.

    Equal features are hashed once. This holds the unique features in memory a second time.
    """
    buffers = [None, pa.py_buffer(np.ascontiguousarray(offsets, np.int64)), pa.py_buffer(np.ascontiguousarray(data))]
    encoded = pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers).dictionary_encode()
    digests = b"".join(map(digest, encoded.dictionary.to_pylist()))
    padded = np.zeros((len(encoded.dictionary), 8 * out.shape[1]), np.uint8)
    padded[:, padded.shape[1] - size :] = np.frombuffer(digests, np.uint8).reshape(-1, size)
    np.take(padded.view(">u8").astype(np.uint64), encoded.indices.to_numpy(), axis=0, out=out)


def hash_by_caller(data: Array, offsets: Array, function: HashFunction, out: Array) -> None:
    """Fill out[f] (uint64[n, (bits + 63) // 64]) with the caller's hash of feature f.

    Raises:
        CallableError: the function raises.
        OptionError: a value is not an integer, or does not fit the bits.
    """
    size = 8 * out.shape[1]

    def digest(feature: bytes) -> bytes:
        try:
            given: Any = function.function(feature)
        except NeardupError:  # raised by a profile's own function, which names what is missing
            raise
        except Exception as problem:
            raise CallableError(f"The hash {function.name!r}", feature, problem) from problem
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
