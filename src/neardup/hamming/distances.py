"""Hamming distances between two fingerprints, and from one to many."""

import numpy as np

from neardup.arrays import Array, UInt16s, is_of
from neardup.errors import OptionError, is_integer
from neardup.hamming.unique import fingerprint_rows
from neardup.kernels.hamming import comparisons


def distance(a: int | np.uint64 | Array, b: int | np.uint64 | Array) -> int:
    """The Hamming distance of two fingerprints, given as integers or as uint64[words] with word 0 the most significant.

    Raises:
        OptionError: a value is not a fingerprint, or two arrays have different widths.

    >>> distance(0b00101110, 0b00001111)
    2
    """
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.size != b.size:
        raise OptionError(f"a has {64 * a.size} bits, b {64 * b.size}. Compare fingerprints of one recipe.")
    several = "Pass one row; for many use distances()."
    return (_as_int(a, several) ^ _as_int(b, several)).bit_count()


def _as_int(fingerprint: int | np.uint64 | Array, several: str) -> int:
    """One fingerprint as an integer. `several`: the advice to give if there are several."""
    if isinstance(fingerprint, np.ndarray):
        if not is_of(fingerprint, np.uint64):
            raise OptionError(f"a fingerprint is an array of {fingerprint.dtype}; allowed is uint64[words].")
        if fingerprint.ndim > 1:
            raise OptionError(f"a fingerprint has the shape {fingerprint.shape}; allowed is uint64[words]. {several}")
        return int.from_bytes(fingerprint.astype(">u8").tobytes(), "big")
    if not is_integer(fingerprint) or fingerprint < 0:
        raise OptionError(f"{fingerprint!r} is not a fingerprint: allowed are integers from 0 up and uint64[words].")
    return int(fingerprint)


def distances(query: int | np.uint64 | Array, fingerprints: Array) -> UInt16s:
    """The Hamming distances from one fingerprint to each of many.

    Args:
        query: an integer or uint64[words].
        fingerprints: uint64[n] or uint64[n, words].

    Returns:
        uint16[n].

    Raises:
        OptionError: not such arrays, the query has more bits than the fingerprints, or it is several fingerprints.
    """
    rows = fingerprint_rows(fingerprints)
    bits = 64 * rows.shape[1]
    several = (
        "distances() takes one query: call it once for each, or use join(queries, fingerprints, max_distance=…) for all pairs "
        "within a distance."
    )
    value = _as_int(query, several)
    if value.bit_length() > bits or (isinstance(query, np.ndarray) and 64 * query.size != bits):
        given = 64 * query.size if isinstance(query, np.ndarray) else value.bit_length()
        message = f"the query has {given} bits, the fingerprints {bits}. Compare fingerprints of one recipe."
        if isinstance(query, np.ndarray) and bits == 64:  # several words, or several fingerprints of one
            message += f" If it is {query.size} fingerprints: {several}"
        raise OptionError(message)
    words = np.frombuffer(value.to_bytes(bits // 8, "big"), ">u8").astype(np.uint64)
    out = np.empty(len(rows), np.uint16)
    comparisons.distances_to(words, rows, out)
    return out
