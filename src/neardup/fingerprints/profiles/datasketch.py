"""datasketch's MinHash signatures of features that you pass, by the schemes of its releases."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from neardup.arrays import Array
from neardup.errors import OptionError
from neardup.fingerprints.profiles.given_features import each
from neardup.recipe.tables.spellings import one_of

_PRIME, _LOW = (1 << 61) - 1, (1 << 32) - 1


def _legacy_signature(hashed: list[int], num_perm: int, draw: np.random.RandomState) -> Array:
    drawn = [
        (draw.randint(1, _PRIME, dtype=np.uint64), draw.randint(0, _PRIME, dtype=np.uint64)) for _ in range(num_perm)
    ]
    a, b = (np.array(values, np.uint64) for values in zip(*drawn, strict=True))
    lowest = np.full(num_perm, _LOW, np.uint64)
    for value in hashed:
        lowest = np.minimum(lowest, (a * np.uint64(value) + b) % np.uint64(_PRIME) & np.uint64(_LOW))
    return lowest


@dataclass(frozen=True)
class _Affine:
    """A scheme of datasketch 2.0: its width, and the shifts and multipliers of MurmurHash3's finalizer at this width."""

    dtype: Any
    shifts: tuple[int, int, int]
    multipliers: tuple[int, int]

    def signature(self, hashed: list[int], num_perm: int, draw: np.random.RandomState) -> Array:
        bits = 8 * self.dtype().itemsize
        odd: Array = draw.randint(0, 1 << bits - 1, num_perm, dtype=self.dtype) * self.dtype(2) + self.dtype(1)
        added: Array = draw.randint(0, 1 << bits, num_perm, dtype=self.dtype)
        mixed: Array = np.array(hashed, self.dtype)
        for shift, multiplier in zip(self.shifts, (*self.multipliers, 1), strict=True):
            mixed = (mixed ^ mixed >> self.dtype(shift)) * self.dtype(multiplier)
        lowest: Array = np.full(num_perm, (1 << bits) - 1, self.dtype)
        for i in range(len(mixed)):
            lowest = np.minimum(lowest, odd * mixed[i : i + 1] + added)
        return lowest


_AFFINE = {
    "affine32": _Affine(np.uint32, (16, 13, 16), (0x85EBCA6B, 0xC2B2AE35)),
    "affine64": _Affine(np.uint64, (33, 33, 33), (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)),
}


def datasketch_signature(
    features: Iterable[bytes],
    *,
    num_perm: int = 128,
    seed: int = 1,
    scheme: Literal["legacy", "affine32", "affine64"] = "legacy",
) -> list[int]:
    """The MinHash signature of datasketch by one of its schemes.

    The hash h is the first bytes of SHA-1, little-endian: eight for affine64, otherwise four. The numbers a and b are drawn from
    numpy's RandomState.

    - legacy: a value is ((a h + b) mod 2^61 - 1) & 2^32 - 1, where a h + b wraps around at 2^64; a and b are drawn alternately.
    - affine32, affine64: MurmurHash3's finalizer mixes h, and a value is a h + b mod 2^32 or 2^64; a is odd, and every a is drawn
      before any b.

    Args:
        features: in any order; equal ones count once.
        num_perm: how many values.
        seed: of the drawn numbers.
        scheme: legacy is what datasketch before 2.0 makes; affine32 is the default since 2.0.

    Raises:
        OptionError: `num_perm` is below 1, there is no such scheme, or a feature is not bytes.

    >>> datasketch_signature([b"Hello"], num_perm=4, seed=1)
    [734825475, 960773806, 359816889, 342714745]
    >>> datasketch_signature([b"Hello"], num_perm=4, seed=1, scheme="affine32")
    [3231258861, 1388533999, 831950533, 1845606703]
    """
    if not isinstance(num_perm, int) or num_perm < 1:
        raise OptionError(f"`num_perm={num_perm!r}`: give an integer of at least 1.")
    if scheme not in ("legacy", *_AFFINE):
        raise OptionError(f"{one_of('scheme', scheme, ('legacy', *_AFFINE))}.")
    hashed = []
    for feature in each(features):
        if not isinstance(feature, bytes):
            raise OptionError(
                f"The feature {feature!r} is a {type(feature).__name__}: give bytes, as datasketch takes them."
            )
        digest = hashlib.sha1(feature, usedforsecurity=False).digest()
        hashed.append(int.from_bytes(digest[: 8 if scheme == "affine64" else 4], "little"))
    draw = np.random.RandomState(seed)
    signature = _legacy_signature if scheme == "legacy" else _AFFINE[scheme].signature
    return [int(value) for value in signature(hashed, num_perm, draw)]
