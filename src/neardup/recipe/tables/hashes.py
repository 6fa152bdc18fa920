"""The names of the hashes, and hash functions of the caller. Importing this module loads no compiled code."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from neardup.errors import OptionError, is_integer
from neardup.recipe.tables.spellings import meant_name

NativeHash = Literal[
    "xxh3_64",
    "xxh3_128",
    "md5",
    "sha1",
    "sha512",
    "blake2b",
    "fnv1_64",
    "fnv1a_32",
    "fnv1a_64",
    "go-fnv1a",
    "lookup3",
    "phash2",
    "crc32c",
]


@dataclass(frozen=True, slots=True)
class HashRow:
    """The properties of a hash of features.

    Attributes:
        bits: the native width.
        purpose: a description in a phrase.
        kernel: the function that computes the hash, as `module:function` below `neardup.kernels`; it is imported on first use. It
            fills out[f] (uint64[n, (bits + 63) // 64], the most significant word first) with the hash of
            data[offsets[f]:offsets[f + 1]] (uint8, int64[n + 1]), as one integer. None for a hash of the standard library's
            `hashlib`, whose digest is read big-endian.
    """

    bits: int
    purpose: str
    kernel: str | None = None


HASH_ROWS = {
    "xxh3_64": HashRow(64, "XXH3, 64 bits, without a seed (xxHash 0.8)", "xxh3:xxh3_64_features"),
    "xxh3_128": HashRow(128, "XXH3, 128 bits, without a seed (xxHash 0.8)", "xxh3:xxh3_128_features"),
    "md5": HashRow(128, "MD5 (RFC 1321)"),
    "sha1": HashRow(160, "SHA-1 (FIPS 180-4)"),
    "sha512": HashRow(512, "SHA-512 (FIPS 180-4)"),
    "blake2b": HashRow(512, "BLAKE2b with a digest of 64 bytes (RFC 7693)"),
    "fnv1_64": HashRow(64, "FNV-1, 64 bits: multiplies, then xors (RFC 9923)", "fingerprints.fnv:fnv1_64"),
    "fnv1a_32": HashRow(32, "FNV-1a, 32 bits: xors, then multiplies (RFC 9923)", "fingerprints.fnv:fnv1a_32"),
    "fnv1a_64": HashRow(64, "FNV-1a, 64 bits: xors, then multiplies (RFC 9923)", "fingerprints.fnv:fnv1a_64"),
    "go-fnv1a": HashRow(
        64,
        "FNV-1a, 64 bits, printed with its sign by a Go program: half of the values change",
        "fingerprints.fnv:go_fnv1a",
    ),
    "lookup3": HashRow(
        64, "Jenkins's lookup3, hashlittle2 with the seeds 0: (pc << 32) | pb", "fingerprints.jenkins:lookup3_features"
    ),
    "phash2": HashRow(
        32,
        "Erlang's phash2(Binary, 1 bsl 32); its low 27 bits are phash2(Binary)",
        "fingerprints.jenkins:phash2_features",
    ),
    "crc32c": HashRow(32, "CRC-32C that starts at 0xFFFFFFFF, raw: without the final xor", "io.crc32c:crc32c_features"),
}
"""The hashes by name. A new hash needs a kernel, and a row here with its name in `NativeHash`."""

HASHES = tuple(HASH_ROWS)

MAX_BITS = 512
"""The widest fingerprint, and so the widest hash of a caller."""


@dataclass(frozen=True)
class HashFunction:
    """A hash of features from the caller: any function from bytes to integers.

    Functions cannot be compared, so two objects are equal if name, version and bits are, and so are recipes that use them. The
    function must always return the same value for the same bytes. If its values change, change the version.

    Attributes:
        function: takes a feature's UTF-8 bytes and returns an integer from 0 to 2^bits - 1.
        name: a name that is not in HASHES.
        version: the version of the function.
        bits: the width of its values, 1 to 512.

    Raises:
        OptionError: a name or version is missing, the name is taken, or the bits are not allowed.

    >>> HashFunction(lambda feature: feature[0], name="first-byte", version="1", bits=8).as_dict()
    {'name': 'first-byte', 'version': '1', 'bits': 8}
    """

    function: Callable[[bytes], int] = field(compare=False, repr=False)
    name: str = field(kw_only=True)
    version: str = field(kw_only=True)
    bits: int = field(kw_only=True)

    def __post_init__(self) -> None:
        problems = []
        if not callable(self.function):
            problems.append(f"`function={self.function!r}`: give a function that takes bytes and gives an integer")
        for what in ("name", "version"):
            given = getattr(self, what)
            if not isinstance(given, str) or not given.strip():
                problems.append(f"`{what}={given!r}`: give a string that is not empty")
        if self.name in HASHES:
            problems.append(f"`name={self.name!r}`: this is a hash of the package; give another name")
        if not is_integer(self.bits) or not 1 <= self.bits <= MAX_BITS:
            problems.append(f"`bits={self.bits!r}`: give an integer from 1 to {MAX_BITS}")
        if problems:
            raise OptionError("This hash is not possible. " + "; ".join(problems) + ".")
        object.__setattr__(self, "bits", int(self.bits))  # JSON cannot hold numpy's

    def as_dict(self) -> dict[str, Any]:
        """The values that enter a recipe's digest."""
        return {"name": self.name, "version": self.version, "bits": self.bits}


def unknown_hash(given: object) -> OptionError:
    """The exception for a value that is neither in HASHES nor a `HashFunction`."""
    if not isinstance(given, str):
        brought = "Wrap a function of your own: HashFunction(function, name=…, version=…, bits=…)."
        return OptionError(f"`hash={given!r}` is neither a name nor a HashFunction. {brought}")
    near = meant_name(given, HASHES)
    question = f" Did you mean {near}?" if near else ""
    return OptionError(f"`hash={given!r}`: give one of {', '.join(HASHES)}, or a HashFunction.{question}")
