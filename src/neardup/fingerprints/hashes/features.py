"""HASH: joined buffers of features to hashes of the fingerprint's width."""

import numpy as np

from neardup.arrays import Array
from neardup.errors import OptionError, is_integer
from neardup.fingerprints.hashes.distinct import hash_by_caller
from neardup.fingerprints.hashes.table import hash_function
from neardup.kernels.fingerprints.widths import widen_values
from neardup.recipe.tables.hashes import HASH_ROWS, MOST_BITS, HashFunction, unknown_hash


def hash_features(data: Array, offsets: Array, name: str | HashFunction, bits: int) -> Array:
    """The hash of each feature, `bits` wide: uint64[n, (bits + 63) // 64], word 0 the most significant, unused top bits 0.

    A hash is an integer of its native width, its digest read big-endian. At a width up to the native one, the result is its lowest
    bits; above it, `widen_values` adds bits above the native ones (`neardup.fingerprints.hashes` has the rule). The hash at one
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
    if not is_integer(bits) or not 1 <= bits <= MOST_BITS:
        raise OptionError(f"`bits={bits!r}`: give an integer from 1 to {MOST_BITS}.")
    data, offsets = _read_only(data), _read_only(offsets)
    if isinstance(name, HashFunction):
        native = name.bits
        values = np.empty((len(offsets) - 1, (native + 63) // 64), np.uint64)
        hash_by_caller(data, offsets, name, values)
    elif isinstance(name, str) and name in HASH_ROWS:
        native = HASH_ROWS[name].bits
        values = np.empty((len(offsets) - 1, (native + 63) // 64), np.uint64)
        hash_function(name)(data, offsets, values)
    else:
        raise unknown_hash(name)
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
