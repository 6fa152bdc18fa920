"""The hashes of features, in one table: how wide each is and what computes it."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from neardup.arrays import Array
from neardup.fingerprints.hashes.distinct import hash_distinct
from neardup.kernels.fingerprints.fnv import fnv1_64, fnv1a_32, fnv1a_64
from neardup.kernels.fingerprints.jenkins import lookup3_features, phash2_features
from neardup.kernels.io.crc32c import crc32c_features
from neardup.kernels.xxh3 import xxh3_64_features, xxh3_128_features


@dataclass(frozen=True, slots=True)
class Hash:
    """One hash of features.

    Attributes:
        bits: its native width.
        purpose: what it is, in a phrase.
        function: fills out[f] (uint64[n, (bits + 63) // 64], the most significant word first) with the hash of
            data[offsets[f]:offsets[f + 1]] (uint8, int64[n + 1]), as one integer.
    """

    bits: int
    purpose: str
    function: Callable[[Array, Array, Array], None]


def _digest(bits: int, purpose: str, make: Callable[[bytes], Any]) -> Hash:
    """A hash of the standard library: the digest is a big-endian integer."""

    def fill(data: Array, offsets: Array, out: Array) -> None:
        hash_distinct(data, offsets, lambda feature: make(feature).digest(), bits // 8, out)

    return Hash(bits, purpose, fill)


HASH_TABLE = {
    "xxh3_64": Hash(64, "XXH3, 64 bits, without a seed (xxHash 0.8)", xxh3_64_features),
    "xxh3_128": Hash(128, "XXH3, 128 bits, without a seed (xxHash 0.8)", xxh3_128_features),
    "md5": _digest(128, "MD5 (RFC 1321)", partial(hashlib.md5, usedforsecurity=False)),
    "sha1": _digest(160, "SHA-1 (FIPS 180-4)", partial(hashlib.sha1, usedforsecurity=False)),
    "sha512": _digest(512, "SHA-512 (FIPS 180-4)", hashlib.sha512),
    "blake2b": _digest(512, "BLAKE2b with a digest of 64 bytes (RFC 7693)", hashlib.blake2b),
    "fnv1_64": Hash(64, "FNV-1, 64 bits: multiplies, then xors (RFC 9923)", fnv1_64),
    "fnv1a_32": Hash(32, "FNV-1a, 32 bits: xors, then multiplies (RFC 9923)", fnv1a_32),
    "fnv1a_64": Hash(64, "FNV-1a, 64 bits: xors, then multiplies (RFC 9923)", fnv1a_64),
    "lookup3": Hash(64, "Jenkins's lookup3, hashlittle2 with the seeds 0: (pc << 32) | pb", lookup3_features),
    "phash2": Hash(32, "Erlang's phash2(Binary, 1 bsl 32); its low 27 bits are phash2(Binary)", phash2_features),
    "crc32c": Hash(32, "CRC-32C that starts at 0xFFFFFFFF, raw: without the final xor", crc32c_features),
}
"""By the names of `neardup.recipe.hashes.HASHES`."""
