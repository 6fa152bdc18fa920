"""Other tools' values of features that are given: PyPI simhash, cppjieba's, and datasketch's signatures."""

import base64
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from neardup.errors import OptionError
from neardup.hashes import hash_features

Array = np.ndarray[Any, np.dtype[Any]]

_LARGE, _TOGETHER = 50, 200
_PRIME, _LOW = (1 << 61) - 1, (1 << 32) - 1


def leonsim_value(features: Mapping[str, float] | Iterable[str | tuple[str, float]], *, bits: int = 64) -> int:
    """PyPI simhash 2.1 of features: strings, pairs with weights, or a mapping to weights.

    Sums are of floating-point numbers in its order. As there, a string without a weight has that of the pair before it.

    Raises:
        OptionError: `bits` is no multiple of 8 up to 128, MD5's.

    >>> leonsim_value(["aaa", "bbb"])
    57087923692560392
    """
    if bits % 8 or not 8 <= bits <= 128:
        raise OptionError(f"bits={bits!r}: give a multiple of 8 up to 128.")
    sums: list[Array] = []
    together: list[Array] = []
    total: float = 0
    weight: float = 1
    for feature in features.items() if isinstance(features, Mapping) else features:
        name = feature
        if not isinstance(feature, str):
            name, weight = feature
        total += weight
        digest = hashlib.md5(str(name).encode(), usedforsecurity=False).digest()[-bits // 8 :]
        ones = np.unpackbits(np.frombuffer(digest, np.uint8))
        if not isinstance(feature, str) and (weight > _LARGE or not isinstance(weight, int)):
            sums.append(ones * weight)
        else:
            together.append(ones.astype(np.int64) * weight)
            if len(together) == _TOGETHER:
                sums.append(np.sum(together, 0))
                together = []
        if len(sums) >= _TOGETHER:
            sums = [np.sum(sums, 0)]
    if together:
        sums.append(np.sum(together, 0))
    votes = np.sum(sums, 0) if sums else np.zeros(bits)
    return int.from_bytes(np.packbits(votes > total / 2).tobytes(), "big")


def weighted_value(features: Iterable[tuple[str, float]], *, hash: str, bits: int = 64) -> int:  # noqa: A002
    """SimHash with floating-point weights, added in the order given, as cppjieba's and the Go program do; a bit is 1 above 0.

    >>> keywords = [("蓝翔", 11.7392), ("CEO", 11.7392), ("升职", 10.8562), ("加薪", 10.6426), ("手扶拖拉机", 10.0089)]
    >>> weighted_value(keywords, hash="lookup3")
    17831459094038722629
    """
    sums = [0.0] * bits
    for name, weight in features:
        data = name.encode()
        row = hash_features(np.frombuffer(data or b"\0", np.uint8), np.array([0, len(data)]), hash, bits)[0]
        value = int.from_bytes(row.astype(">u8").tobytes(), "big")
        for bit in range(bits):
            sums[bit] += weight if value >> bit & 1 else -weight
    return sum(1 << bit for bit, total in enumerate(sums) if total > 0)


def wayback_text(fingerprint: int, *, bits: int = 256) -> str:
    """How web.archive.org writes a fingerprint: packed little-endian, in base64."""
    return base64.b64encode(fingerprint.to_bytes(bits // 8, "little")).decode()


def datasketch_signature(features: Iterable[bytes], *, num_perm: int = 128, seed: int = 1) -> list[int]:
    """The MinHash signature of datasketch before 2.0.

    The first four bytes of SHA-1, little-endian; ((a h + b) mod 2^61 - 1) & 2^32 - 1, where a h + b wraps around at 2^64, and a
    and b are drawn in turns from numpy's RandomState.

    >>> datasketch_signature([b"Hello"], num_perm=4, seed=1)
    [734825475, 960773806, 359816889, 342714745]
    """
    draw = np.random.RandomState(seed)
    drawn = [
        (draw.randint(1, _PRIME, dtype=np.uint64), draw.randint(0, _PRIME, dtype=np.uint64)) for _ in range(num_perm)
    ]
    a, b = (np.array(values, np.uint64) for values in zip(*drawn, strict=True))
    lowest = np.full(num_perm, _LOW, np.uint64)
    for feature in features:
        digest = hashlib.sha1(feature, usedforsecurity=False).digest()
        hashed = np.uint64(int.from_bytes(digest[:4], "little"))
        lowest = np.minimum(lowest, (a * hashed + b) % np.uint64(_PRIME) & np.uint64(_LOW))
    return [int(value) for value in lowest]
