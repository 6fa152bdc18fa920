"""Other tools' values of features that you pass: PyPI simhash, cppjieba and datasketch signatures."""

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real

import numpy as np

from neardup.arrays import Array
from neardup.errors import OptionError
from neardup.fingerprints.hashes import hash_features
from neardup.fingerprints.profiles.datasketch import datasketch_signature as datasketch_signature
from neardup.fingerprints.profiles.given_features import each, feature_bytes, pair
from neardup.fingerprints.profiles.profile import as_integer
from neardup.fingerprints.profiles.tools import DATA_JUICER, PROFILES, data_juicer_windows
from neardup.kernels.fingerprints.features import vote
from neardup.recipe.tables import profiles as names
from neardup.recipe.tables.hashes import HashFunction, NativeHash
from neardup.recipe.tables.spellings import one_of

DIGESTS = ("md5", "sha1", "sha256", "sha512", "blake2b")
"""Hashes for `leonsim_value` by name."""
CLICKHOUSE = {
    "ngramSimHash": "clickhouse-ngram",
    "ngramSimHashCaseInsensitive": "clickhouse-ngram-any-case",
    "ngramSimHashUTF8": "clickhouse-ngram-utf8",
    "ngramSimHashCaseInsensitiveUTF8": "clickhouse-ngram-utf8-any-case",
    "wordShingleSimHash": "clickhouse-words",
    "wordShingleSimHashCaseInsensitive": "clickhouse-words-any-case",
    "wordShingleSimHashUTF8": "clickhouse-words",
    "wordShingleSimHashCaseInsensitiveUTF8": "clickhouse-words-any-case",
}
"""ClickHouse's functions, each with its profile."""

_LARGE_WEIGHT, _VOTES_AT_ONCE = 50, 200


def _leonsim_hash(given: str | Callable[[bytes], bytes | int], size: int) -> Callable[[bytes], bytes]:
    """A function from a feature to the last `size` bytes of its hash."""
    function: Callable[[bytes], bytes | int]
    if isinstance(given, str):
        if given not in DIGESTS:
            raise OptionError(f"`hash={given!r}`: give one of {', '.join(DIGESTS)}, or a function of bytes.")
        make = getattr(hashlib, given)
        function = lambda feature: make(feature, usedforsecurity=False).digest()  # noqa: E731
    else:
        function = given

    def digest(feature: bytes) -> bytes:
        found = function(feature)
        if isinstance(found, int):
            return (found & (1 << 8 * size) - 1).to_bytes(size, "big")
        if len(found) < size:
            raise OptionError(f"`bits={8 * size}`: the hash has {8 * len(found)} bits. Give no more, or another hash.")
        return found[-size:]

    return digest


def leonsim_value(
    features: Mapping[str, float] | Iterable[str | tuple[str, float]],
    *,
    bits: int = 64,
    hash: str | Callable[[bytes], bytes | int] = "md5",  # noqa: A002
) -> int:
    """The value of PyPI simhash 2.1 for features: strings, pairs with weights, or a mapping to weights.

    Weights are summed as floating-point numbers in the same order as there. As in that package, a string without a weight takes the
    weight of the pair before it.

    Args:
        features: in order; each a string or a pair.
        bits: a multiple of 8, at most the width of the hash.
        hash: a name in DIGESTS, or a function from bytes to a digest or to a non-negative integer; either way, the lowest bits
            are used. web.archive.org uses BLAKE2b at 256 bits.

    Raises:
        OptionError: `bits` is not a multiple of 8, or exceeds the width of the hash.

    >>> leonsim_value(["aaa", "bbb"])
    57087923692560392
    >>> leonsim_value({"two": 2, "three": 3, "one": 1}, bits=128)
    66237222457941138286276456718971054176
    """
    if not isinstance(bits, int) or bits % 8 or not 8 <= bits <= 512:
        raise OptionError(f"`bits={bits!r}`: give a multiple of 8 up to 512.")
    digest = _leonsim_hash(hash, bits // 8)
    sums: list[Array] = []
    together: list[Array] = []
    total: float = 0
    weight: float = 1
    for feature in each(features):
        name = feature
        if not isinstance(feature, str):
            name, weight = pair(feature, Real)
        total += weight
        ones = np.unpackbits(np.frombuffer(digest(feature_bytes(name)), np.uint8)).astype(np.int64)
        if not isinstance(feature, str) and (weight > _LARGE_WEIGHT or not isinstance(weight, int)):
            sums.append(ones * weight)
        elif weight > 0:  # a digest counts as often as it weighs: never, if the weight is 0 or negative
            together.append(ones * weight)
            if len(together) == _VOTES_AT_ONCE:
                sums.append(np.sum(together, 0))
                together = []
        if len(sums) >= _VOTES_AT_ONCE:
            sums = [np.sum(sums, 0)]
    if together:
        sums.append(np.sum(together, 0))
    votes = np.sum(sums, 0) if sums else np.zeros(bits)
    return int.from_bytes(np.packbits(votes > total / 2).tobytes(), "big")


def moz_value(features: Iterable[int | str | bytes]) -> int:
    """Moz's simhash of features: integers are 64-bit hashes; strings and bytes are hashed to the first eight bytes of their MD5.

    A feature votes as often as it occurs. A tie gives the bit 0, and no features give the value 0.

    >>> moz_value([0xABCD, 0xBCDE, 0xCDEF])
    44495
    """
    sums = [0] * 64
    for feature in each(features):
        if isinstance(feature, Integral):
            value = int(feature)
            if not 0 <= value < 1 << 64:
                raise OptionError(f"The hash {value} is none of 64 bits. Give integers from 0 to 2^64 - 1.")
        else:
            value = int.from_bytes(hashlib.md5(feature_bytes(feature), usedforsecurity=False).digest()[:8], "big")
        for bit in range(64):
            sums[bit] += 1 if value >> bit & 1 else -1
    return sum(1 << bit for bit, total in enumerate(sums) if total > 0)


def given_value(
    profile: names.ProfileName,
    features: Mapping[str, int] | Iterable[str | bytes | tuple[str | bytes, int]],
    *,
    bits: int = 0,
) -> int:
    """The fingerprint of your own features under a profile of `neardup.recipe.tables.profiles.PROFILES`.

    Args:
        profile: its hash, its tie and its order of bits are used.
        features: strings or bytes, or pairs with integer weights. A feature that occurs twice votes twice. The pairs that the
            profile cuts texts into are not made.
        bits: 0 means the profile's usual width.

    Raises:
        OptionError: there is no such profile, the profile does not have this width, or a weight is not an integer.

    >>> hex(given_value("mfonda", ["foo", "bar"]))
    '0xd8dbe7186bad3db3'
    """
    if profile not in names.PROFILES:
        raise OptionError(f"{one_of('profile', profile, names.PROFILES)}.")
    widths = names.PROFILES[profile][0]
    if bits and bits not in widths:
        allowed = ", ".join(map(str, sorted(set(widths))))
        raise OptionError(f"`bits={bits!r}` with `profile={profile!r}`: give one of {allowed}.")
    weighted = []
    for feature in each(features):
        name, weight = pair(feature, Integral) if isinstance(feature, (tuple, list)) else (feature, 1)
        weighted.append((feature_bytes(name), weight))
    return as_integer(PROFILES[profile].fingerprint_features([weighted], bits or widths[0])[0])


def clickhouse_value(text: str | bytes, function: str = "ngramSimHash", size: int = 3) -> int:
    """The value of a ClickHouse function, such as wordShingleSimHashCaseInsensitiveUTF8, with windows of any size up to 25.

    >>> clickhouse_value("what a cute cat."), clickhouse_value("what a cute cat.", "wordShingleSimHash")
    (130877626, 3795742796)
    """
    if function not in CLICKHOUSE:
        raise OptionError(f"{one_of('function', function, CLICKHOUSE)}.")
    if not isinstance(size, int) or not 1 <= size <= 25:
        raise OptionError(f"`size={size!r}`: give an integer from 1 to 25, as ClickHouse takes it.")
    name = CLICKHOUSE[function]
    content = text if isinstance(text, str) else text.decode("utf-8", "surrogateescape")
    return as_integer(PROFILES[name].fingerprint([content], 64, size)[0])


def data_juicer_value(
    text: str,
    *,
    tokenization: str = "space",
    window_size: int = 6,
    lowercase: bool = True,
    ignore_pattern: str | re.Pattern[str] | None = None,
) -> int:
    """The fingerprint of data-juicer's document_simhash_deduplicator, with that operator's options.

    Args:
        text: the text, without preparation.
        tokenization: space, character or punctuation.
        window_size: tokens per window; a text with fewer tokens has the fingerprint 0.
        lowercase: whether to lowercase the text first.
        ignore_pattern: what to remove after that. Compile it with the package regex if it uses syntax that `re` lacks.

    Raises:
        OptionError: there is no such tokenization, or `window_size` is below 1.

    >>> data_juicer_value("a1 b2 c3", tokenization="character", ignore_pattern="[0-9]") == data_juicer_value(
    ...     "a b c", tokenization="character")
    True
    """
    if tokenization not in DATA_JUICER:
        raise OptionError(f"{one_of('tokenization', tokenization, DATA_JUICER)}.")
    if not isinstance(window_size, int) or window_size < 1:
        raise OptionError(f"`window_size={window_size!r}`: give an integer of at least 1.")
    changed = text.lower() if lowercase else text
    if ignore_pattern:
        pattern = re.compile(ignore_pattern) if isinstance(ignore_pattern, str) else ignore_pattern
        changed = pattern.sub("", changed)
    weighted = data_juicer_windows(changed, window_size, tokenization)
    return as_integer(PROFILES["data-juicer"].fingerprint_features([weighted], 64)[0])


def weighted_value(
    features: Mapping[str, float] | Iterable[tuple[str, float]],
    *,
    hash: NativeHash | HashFunction,  # noqa: A002
    bits: int = 64,
) -> int:
    """SimHash with floating-point weights, added in the given order, as in cppjieba and the Go program; a bit is 1 above 0.

    `hash`: a name in `neardup.recipe.tables.hashes.HASHES`, or a `HashFunction`.

    >>> keywords = [("蓝翔", 11.7392), ("CEO", 11.7392), ("升职", 10.8562), ("加薪", 10.6426), ("手扶拖拉机", 10.0089)]
    >>> weighted_value(keywords, hash="lookup3")
    17831459094038722629
    """
    pairs = [pair(feature, Real) for feature in each(features)]
    encoded = [feature_bytes(name) for name, _ in pairs]
    data = np.frombuffer(b"".join(encoded) or b"\0", np.uint8)
    hashes = np.ascontiguousarray(hash_features(data, np.cumsum([0, *map(len, encoded)]), hash, bits))
    words = hashes.shape[1]
    out = np.empty((1, words), np.uint64)
    weights, offsets = np.array([float(weight) for _, weight in pairs]), np.array([0, len(pairs)])
    vote(hashes, weights, offsets, 0, np.empty(64 * words), out)
    return as_integer(out[0]) & (1 << bits) - 1  # above the width negative weights win


def keyword_count(text: str) -> int:
    """How many keywords cppjieba's simhash takes from a text by itself: one per 120 bytes, at least 5, at most 200."""
    return min(max(len(text.encode()) // 120, 5), 200)


def wayback_text(fingerprint: int, *, bits: int = 256) -> str:
    """A fingerprint as web.archive.org writes it: packed little-endian, in base64."""
    if bits % 8 or not 0 <= fingerprint < 1 << bits:
        raise OptionError(
            f"`fingerprint={fingerprint!r}` with `bits={bits!r}`: give whole bytes, and an integer that fits them."
        )
    return base64.b64encode(fingerprint.to_bytes(bits // 8, "little")).decode()
