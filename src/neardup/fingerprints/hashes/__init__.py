"""HASH: features to integers, by one of several hashes, at any width from 1 to 512 bits.

A hash gives an integer of its native width; a digest is read big-endian. For a fingerprint of so many bits each feature gives

- the LOWEST bits of that integer, if it has as many: bits=64 of MD5 are the last eight bytes of the digest;
- else the integer with others above it: value + E(1) 2^native + E(2) 2^(native + 128) + …, of which the lowest bits are taken.
  E(k) is XXH3-128 of the value and then k, as 64-bit words (little-endian, the value's least significant word first).

So the hash at one width is the low end of the hash at any larger one. Bits above the native ones are a function of these: they
fall evenly, but features that the native hash confuses stay confused. A hash of 32 bits tells at most 2^32 features apart at any
width: among 77,000 distinct ones, two have the same hash with a probability of a half.

`names.py` is cheap to import; `HASH_TABLE`, `Hash` and `hash_features` load the compiled code when they are first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

from neardup.recipe.hashes import HASHES, HashFunction

if TYPE_CHECKING:
    from neardup.fingerprints.hashes.features import hash_features
    from neardup.fingerprints.hashes.table import HASH_TABLE, Hash

__all__ = ["HASHES", "HASH_TABLE", "Hash", "HashFunction", "hash_features"]

_HOME = {"HASH_TABLE": "table", "Hash": "table", "hash_features": "features"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
