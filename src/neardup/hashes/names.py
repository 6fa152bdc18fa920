"""The names of the hashes, and hashes that a caller brings: importing this loads no compiled code."""

from collections.abc import Callable
from dataclasses import dataclass

HASHES = (
    "xxh3_64",
    "xxh3_128",
    "md5",
    "sha1",
    "sha512",
    "blake2b",
    "fnv1_64",
    "fnv1a_32",
    "fnv1a_64",
    "lookup3",
    "phash2",
    "crc32c",
)
"""The hashes of features by name; `neardup.hashes.HASH_TABLE` says what each is."""

MOST_BITS = 512
"""The widest fingerprint."""


@dataclass(frozen=True, kw_only=True)
class _Identity:
    """What names a caller's hash; see `HashFunction`."""

    name: str
    version: str
    bits: int = 64


@dataclass(frozen=True, init=False)
class HashFunction(_Identity):
    """A hash of features that the caller brings: any function from bytes to integers.

    Two of them are equal, and recipes that use them have one digest, when name, version and bits are equal: the function itself
    is not looked at. Give another version whenever the function gives other values.

    Attributes:
        function: takes a feature's UTF-8 bytes and gives an integer from 0 to 2^bits - 1; the same one every time.
        name: what it is, none of HASHES.
        version: which one it is.
        bits: the width of its values, 1 to 512.

    Raises:
        OptionError: a name or version is missing or taken, or the bits are not possible.

    >>> HashFunction(lambda feature: feature[0], name="first byte", version="1", bits=8).as_dict()
    {'name': 'first byte', 'version': '1', 'bits': 8}
    """

    function: Callable[[bytes], int]

    def __init__(self, function: Callable[[bytes], int], *, name: str, version: str, bits: int = 64) -> None: ...
