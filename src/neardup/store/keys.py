"""KEYS: of any two texts that a method must compare, both have a common key, whichever of them comes first.

Texts arrive in any order of size, so prefixes are those of the prefix filter for partners of every size (Chaudhuri, Ganti and
Kaushik 2006), and pairs whose first common element comes too late are left out (the positional filter of Xiao, Wang, Lin and Yu
2008, section 4). Any one order of elements is right; here the elements that were frequent in a sample come last.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.matching.similarities import BY_NORM, CODES
from neardup.matching.band_plan import Bands
from neardup.matching.similarities.table import Elements
from neardup.store.postings import Keys

_PRIME = np.uint64(0x9E3779B97F4A7C15)
MOST_LEARNED = 1 << 20
"""Elements whose frequencies an order knows, the most frequent."""
ROUNDING = 1e-6
"""Allowed for what a number of common elements is rounded by; a bound that is lower by so little leaves out less."""


@dataclass(frozen=True, slots=True)
class Order:
    """An order of all elements: by frequency in a sample, then by hash.

    Attributes:
        elements: uint64[k], ascending: those that occurred in several texts of the sample.
        counts: uint32[k], in how many; others count as 0.
    """

    elements: Array
    counts: Array

    def ranks(self, values: Array) -> Array:
        """int64[n]: the frequencies of elements (uint64[n])."""
        if not len(self.elements):
            return np.zeros(len(values), np.int64)
        at = np.minimum(np.searchsorted(self.elements, values), len(self.elements) - 1)
        return np.where(self.elements[at] == values, self.counts[at], 0).astype(np.int64)

    def as_bytes(self) -> bytes:
        """For a file: the elements, then the counts; little-endian."""
        return self.elements.astype("<u8").tobytes() + self.counts.astype("<u4").tobytes()

    @classmethod
    def of_bytes(cls, content: bytes) -> "Order":
        """Restore what `as_bytes` returned."""
        count = len(content) // 12
        elements = np.frombuffer(content, "<u8", count).astype(np.uint64)
        return cls(elements, np.frombuffer(content, "<u4", count, 8 * count).astype(np.uint32))


def learned(samples: list[Array]) -> Order:
    """The order by a sample: the elements of each of its texts (uint64[], distinct)."""
    elements, counts = np.unique(np.concatenate([np.empty(0, np.uint64), *samples]), return_counts=True)
    several = np.flatnonzero(counts > 1)
    if len(several) > MOST_LEARNED:
        several = np.sort(several[np.argsort(-counts[several], kind="stable")[:MOST_LEARNED]])
    return Order(elements[several], counts[several].astype(np.uint32))


BY_HASH = Order(np.empty(0, np.uint64), np.empty(0, np.uint32))
"""The order before anything was learned."""


class Table(NamedTuple):
    """The keys under which texts are stored, and those by which they are asked for."""

    stored: Keys
    asked: Keys


def exact_tables(elements: Elements, similarity: str, threshold: float, order: Order = BY_HASH) -> tuple[Table, ...]:
    """The keys of the exact join: prefixes; for containment, the smaller text's prefix meets the whole of the larger."""
    code, sizes = CODES[similarity], np.diff(elements.offsets)
    texts = np.repeat(np.arange(len(sizes)), sizes)
    by_rank = np.lexsort((order.ranks(elements.values), texts))  # stable: elements of a text ascend by hash
    positions = np.arange(len(texts)) - elements.offsets[:-1][texts]
    weights = elements.weights[by_rank] if len(elements.weights) else elements.weights
    ordered = Elements(elements.values[by_rank], weights, elements.offsets)
    whole = Keys(ordered.values, texts, positions.astype(np.uint32), sizes[texts].astype(np.uint32))
    lengths = _cosine_prefixes(ordered, threshold) if code in BY_NORM else prefix_lengths(sizes, threshold)
    prefix = whole.some(positions < lengths[texts])
    if similarity != "containment":
        return (Table(prefix, prefix),)
    return (Table(whole, prefix), Table(prefix, whole))


def may_match(asked: Keys, stored: Keys, similarity: str, threshold: float) -> Array:
    """bool[p]: whether two texts can reach the threshold if what they have in common begins with this key, by pairs of keys.

    Of a pair that reaches it, at least the first common key says so.
    """
    if CODES[similarity] in BY_NORM:
        return np.ones(len(asked.keys), np.bool_)
    a, b = asked.sizes.astype(np.float64), stored.sizes.astype(np.float64)
    most = np.minimum(a - asked.positions, b - stored.positions)
    if similarity == "containment":
        needed = threshold * np.minimum(a, b)
    elif similarity == "edit":
        needed = threshold * np.maximum(a, b)
    else:
        needed = threshold / (1 + threshold) * (a + b)
    found: Array = most >= needed - ROUNDING
    return found


def prefix_lengths(sizes: Array, threshold: float) -> Array:
    """int64[n]: `neardup.kernels.matching.similarities.prefix_length` of sets of these sizes (int64[n]).

    >>> prefix_lengths(np.array([0, 1, 10, 500]), 0.8).tolist()
    [0, 1, 3, 101]
    """
    needed = np.maximum(
        np.ceil(threshold * sizes).astype(np.int64) - 1, 1
    )  # one less: the product may have been rounded up
    whole = np.maximum(sizes, 1)
    while (short := needed / whole < threshold).any():
        needed = needed + short
    found: Array = np.where(sizes > 0, sizes - needed + 1, 0)
    return found


def _cosine_prefixes(elements: Elements, threshold: float) -> Array:
    """int64[n]: how many first weights leave a rest that cannot reach the threshold; see `neardup.kernels.matching.bounds`."""
    found = np.zeros(len(elements.offsets) - 1, np.int64)
    for i, (begin, end) in enumerate(zip(elements.offsets[:-1].tolist(), elements.offsets[1:].tolist(), strict=True)):
        squares = elements.weights[begin:end] ** 2
        whole = float(squares.sum())
        rests = whole - np.concatenate([np.zeros(1), np.cumsum(squares)])  # before each weight, and behind the last
        limit = (threshold * threshold * (1.0 - 1e-12) - (end - begin) * 2.0**-50) * whole
        found[i] = int((rests[:-1] >= limit).sum())
    return found


def band_keys(values: Array, bands: Bands) -> Keys:
    """The keys of MinHash: a hash of each band of the signatures (uint32[n, values])."""
    signed = values.reshape(len(values), bands.bands, bands.rows).astype(np.uint64)
    keys = np.broadcast_to(np.arange(1, bands.bands + 1, dtype=np.uint64) * _PRIME, signed.shape[:2]).copy()
    for row in range(bands.rows):
        keys = (keys ^ signed[:, :, row]) * _PRIME
        keys ^= keys >> np.uint64(29)
    nothing = np.zeros(keys.size, np.uint32)
    return Keys(keys.ravel(), np.repeat(np.arange(len(values)), bands.bands), nothing, nothing)
