"""A description of another tool's fingerprints, and their computation in plain Python, except for hashes and votes."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.hashes import hash_features
from neardup.kernels.fingerprints.features import vote
from neardup.recipe.tables.hashes import HashFunction

Weighted = list[tuple[bytes, int]]
"""Features, each with its count or weight."""


@dataclass(frozen=True)
class Profile:
    """How another tool makes fingerprints of texts.

    Attributes:
        features: computes the features of a text; with a window, takes a text and the window's size.
        hash: of the features: a name in `neardup.recipe.tables.hashes.HASHES`, or a function.
        wide_hash: the hash for more than 64 bits, if it is another one.
        window: how many words, characters or bytes the tool usually joins; 0 if the tool has no such option.
        hash_bits: the hash is computed at this width, and the fingerprint uses its highest bits; 0 means the fingerprint's width.
        tie: the bit where features with it and features without it weigh the same.
        reversed: the fingerprint's first bit is its last.
        empty: the bit in every place of the fingerprint of an empty text; None treats it like any text without features.
    """

    features: Callable[..., Weighted]
    hash: str | HashFunction
    wide_hash: str | HashFunction = ""
    window: int = 0
    hash_bits: int = 0
    tie: int = 0
    reversed: bool = False
    empty: int | None = None

    def features_of(self, text: str, window: int | None = None) -> Weighted:
        """The features of a text. `window`: the window's size, by default the tool's usual one."""
        return self.features(text, window or self.window) if self.window else self.features(text)

    def fingerprint(self, texts: Iterable[str], bits: int, window: int | None = None) -> Array:
        """uint64[n, words]; unused top bits of word 0 are 0."""
        return self.with_counts(texts, bits, window)[0]

    def with_counts(self, texts: Iterable[str], bits: int, window: int | None = None) -> tuple[Array, Array]:
        """Like `fingerprint`, with int64[n]: how many different non-empty features each text has."""
        texts = list(texts)
        documents = [self.features_of(text, window) for text in texts]
        out = self.fingerprint_features(documents, bits)
        if self.empty is not None:
            out[[not text for text in texts]] = np.uint64(0xFFFFFFFFFFFFFFFF * self.empty)
        return out, np.array([sum(1 for name, _ in found if name) for found in documents], np.int64)

    def fingerprint_features(self, documents: Sequence[Weighted], bits: int) -> Array:
        """Like `fingerprint`, for features that are already made."""
        hashed, weights, offsets = self.hashed(documents, bits)
        words = (bits + 63) // 64
        out = np.empty((len(documents), words), np.uint64)
        vote(hashed, weights, offsets, self.tie, np.empty(64 * words, np.int64), out)
        out[:, 0] &= np.uint64((1 << (bits - 64 * (words - 1))) - 1)
        return _reversed(out, bits) if self.reversed else out

    def hashed(self, documents: Sequence[Weighted], bits: int) -> tuple[Array, Array, Array]:
        """Hashes uint64[f, words] and weights int64[f] of all features in order, and where each text's begin, int64[n + 1]."""
        offsets = np.cumsum([0, *map(len, documents)])
        names = [name for features in documents for name, _ in features]
        weights = np.array([weight for features in documents for _, weight in features], np.int64)
        data = np.frombuffer(b"".join(names) or b"\0", np.uint8)
        places = np.cumsum([0, *map(len, names)])
        name = self.wide_hash if self.wide_hash and bits > 64 else self.hash
        found = hash_features(data, places, name, self.hash_bits or bits)[:, : (bits + 63) // 64]
        return np.ascontiguousarray(found), weights, offsets


def _reversed(fingerprints: Array, bits: int) -> Array:
    """The fingerprints with their bits in reverse order."""
    found = [int(f"{as_integer(row):0{bits}b}"[::-1], 2) for row in fingerprints]
    size = 8 * fingerprints.shape[1]
    rows = [np.frombuffer(value.to_bytes(size, "big"), ">u8") for value in found]
    return np.array(rows, np.uint64).reshape(fingerprints.shape)


def as_integer(row: Array) -> int:
    """A fingerprint, uint64[words], as one integer."""
    return int.from_bytes(row.astype(">u8").tobytes(), "big")


def counted(features: Iterable[bytes]) -> Weighted:
    """Each different feature with its count."""
    return list(Counter(features).items())


def windows(items: Sequence[str], size: int, between: str = " ") -> list[bytes]:
    """The full windows of `size` items, joined; empty if there are fewer items."""
    return [between.join(items[i : i + size]).encode() for i in range(len(items) - size + 1)]
