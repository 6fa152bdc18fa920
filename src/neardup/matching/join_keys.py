"""KEYS by which texts meet: elements of prefixes, and bands of signatures; and what two texts with a key in common must allow."""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.store.band_keys import fill_band_keys
from neardup.kernels.store.postings import ANY, Keys
from neardup.kernels.store.prefixes import Order, Ordered, keys_of_texts
from neardup.matching.band_plan import Bands
from neardup.matching.similarities.table import Elements


class Bound(NamedTuple):
    """What entries must allow: the code of a similarity, or ANY, and the least similarity."""

    code: int
    threshold: float


NO_BOUND = Bound(ANY, 0.0)


def keys_of(hashes: Array, texts: Array) -> Keys:
    """Keys without places: uint64[k], and the numbers of documents, int64[k]."""
    nothing = np.zeros(len(hashes), np.uint32)
    return Keys(hashes, texts, nothing, nothing)


def keys_of_elements(elements: Elements, wanted: Array, order: Order, bound: Bound, *, whole: bool) -> Keys:
    """The keys of texts, whose numbers are their places; see `neardup.kernels.store.prefixes.keys_of_texts`."""
    total, longest = len(elements.values), int(np.diff(elements.offsets).max(initial=0))
    room = Keys(*(np.empty(total, kind) for kind in (np.uint64, np.int64, np.uint32, np.uint32)))
    ordered = Ordered(*(np.empty(longest, kind) for kind in (np.int64, np.float64, np.uint64)))
    count = keys_of_texts(
        elements.values, elements.weights, elements.offsets, wanted, order, *bound, whole, ordered, room
    )
    return Keys(*(column[:count] for column in room))


def band_keys(values: Array, texts: Array, bands: Bands) -> Keys:
    """The keys of texts (int64[n]): a hash of each band of their signatures (uint32[n, values])."""
    keys = np.empty(len(values) * bands.bands, np.uint64)
    fill_band_keys(values, bands.bands, keys)
    return keys_of(keys, np.repeat(texts, bands.bands))
