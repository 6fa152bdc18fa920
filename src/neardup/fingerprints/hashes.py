"""HASH: features to integers, by one of several hashes, at any width from 1 to 512 bits.

A hash gives an integer of its native width; a digest is read as a big-endian integer. A fingerprint of `bits` bits uses, for each
feature,

- the LOWEST bits of that integer, if it has enough: bits=64 of MD5 are the last eight bytes of the digest;
- otherwise the integer with further bits above it: value + E(1) 2^native + E(2) 2^(native + 128) + …, again its lowest bits.
  E(k) is XXH3-128 of the value and then k, as 64-bit words (little-endian, the value's least significant word first).

So the hash at one width is the low end of the hash at any larger width. Bits above the native ones are a function of the native
ones: they are uniformly distributed, but features that collide natively still collide. A 32-bit hash distinguishes at most 2^32
features at any width: among 77,000 different features, two have the same hash with a probability of one half.
"""

import hashlib
import importlib
import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.errors import CallableError, NeardupError, OptionError, is_integer
from neardup.kernels.fingerprints.widths import widen_values
from neardup.recipe.tables.hashes import HASH_ROWS, MAX_BITS, HashFunction, unknown_hash

Fill = Callable[[Array, Array, Array], None]


@cache
def hash_function(name: str) -> Fill:
    """The function of a hash, by name; see `neardup.recipe.tables.hashes.HashRow.kernel`."""
    row = HASH_ROWS[name]
    if row.kernel is None:
        return _digest(name, row.bits)
    module, _, function = row.kernel.partition(":")
    found: Fill = getattr(importlib.import_module(f"neardup.kernels.{module}"), function)
    return found


def _digest(name: str, bits: int) -> Fill:
    """A hash of the standard library: the digest is a big-endian integer."""
    make: Any = getattr(hashlib, name)

    def digest(feature: bytes) -> bytes:
        found: bytes = make(feature, usedforsecurity=False).digest()
        return found

    return lambda data, offsets, out: hash_distinct(data, offsets, digest, bits // 8, out)


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


def _by_caller(function: HashFunction) -> Fill:
    """The caller's hash.

    Raises:
        CallableError: the function raises.
        OptionError: a value is not an integer, or does not fit the bits.
    """
    size = 8 * ((function.bits + 63) // 64)

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

    return lambda data, offsets, out: hash_distinct(data, offsets, digest, size, out)


def hash_features(data: Array, offsets: Array, name: str | HashFunction, bits: int) -> Array:
    """The hash of each feature, `bits` wide: uint64[n, (bits + 63) // 64], word 0 the most significant, unused top bits 0.

    A hash is an integer of its native width, its digest read big-endian. At a width up to the native one, the result is its lowest
    bits; above it, `widen_values` adds bits above the native ones (by the rule above). The hash at one
    width is therefore the low end of the hash at any larger width. Equal features have equal hashes, whatever else is in the
    call.

    Args:
        data: the UTF-8 bytes of all features, joined: uint8[].
        offsets: where each begins, and where the last one ends: int64[n + 1], not decreasing, within `data`.
        name: one of `neardup.recipe.tables.hashes.HASHES`, or a function of your own as a `HashFunction`.
        bits: 1 to 512.

    Raises:
        OptionError: there is no such hash, `bits` is out of range, or a function returned a value that does not fit its bits.
    """
    if not is_integer(bits) or not 1 <= bits <= MAX_BITS:
        raise OptionError(f"`bits={bits!r}`: give an integer from 1 to {MAX_BITS}.")
    data, offsets = _read_only(data), _read_only(offsets)
    if isinstance(name, HashFunction):
        native, fill = name.bits, _by_caller(name)
    elif isinstance(name, str) and name in HASH_ROWS:
        native, fill = HASH_ROWS[name].bits, hash_function(name)
    else:
        raise unknown_hash(name)
    values = np.empty((len(offsets) - 1, (native + 63) // 64), np.uint64)
    fill(data, offsets, values)
    return _at_width(values, native, bits)


def _read_only(array: Array) -> Array:
    """A read-only view: kernels are compiled for one kind of arrays."""
    view = array.view()
    view.flags.writeable = False
    return view


def _at_width(values: Array, native: int, bits: int) -> Array:
    """The lowest `bits` bits of hashes of `native` bits, widened if necessary."""
    words = (bits + 63) // 64
    if bits > native:
        key = np.empty(values.shape[1] + 1, np.uint64)
        out = np.empty((len(values), words), np.uint64)
        widen_values(values, native, key, key.view(np.uint8), out)
    elif words < values.shape[1]:
        out = values[:, values.shape[1] - words :].copy()
    else:
        out = values
    if bits % 64:
        out[:, 0] &= np.uint64((1 << bits % 64) - 1)
    return out
