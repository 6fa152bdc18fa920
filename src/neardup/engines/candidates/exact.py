"""EXACT on an engine: documents that can reach the similarity have an element of their prefixes in common.

Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007; Xiao et al. 2008: the smaller document is found by its shorter
prefix. The order of elements is any that all documents have in common: those that a sample had several times come last.
"""

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.candidates.method import Method, Pairs
from neardup.engines.packing import MIX, ints
from neardup.engines.stage import Output
from neardup.engines.work import Work
from neardup.kernels.engines.groups import GroupedKeys, pairs_of_groups
from neardup.kernels.store.prefixes import Order
from neardup.store.candidates.exact import keys_of_elements
from neardup.store.postings import Bound
from neardup.store.texts import Texts

POSTINGS = Output(
    pa.schema({"key": pa.int64(), "doc": pa.int64(), "position": pa.int32(), "size": pa.int32(), "asks": pa.bool_()}),
    ("key",),
)
ROOM = 1 << 16
"""Pairs for which there is room at first."""


def keys(work: Work, texts: Texts, docs: Array, groups: Array, order: Order) -> pa.Table:
    """The prefixes of texts; for containment all elements, of which the prefix asks."""
    bound, every = Bound(work.similarity.code, float(work.options.min_similarity)), np.ones(len(texts), np.bool_)
    found = asking = keys_of_elements(texts.joined, every, order, bound, whole=False)
    if work.options.measure == "containment":
        found = keys_of_elements(texts.joined, every, order, bound, whole=True)
    lengths = np.bincount(asking.texts, minlength=len(texts))
    key = found.keys ^ (groups.view(np.uint64)[found.texts] * MIX)
    asks = found.positions < lengths[found.texts]
    columns = [
        key.view(np.int64),
        docs[found.texts],
        found.positions.astype(np.int32),
        found.sizes.astype(np.int32),
        asks,
    ]
    return pa.table(columns, POSTINGS.schema)


def pairs(work: Work, postings: pa.Table) -> Pairs:
    """The pairs of a bucket whose first common element leaves enough others."""
    key, doc = ints(postings, "key", "doc")
    position, size = ints(postings, "position", "size")
    asks = postings.column("asks").to_numpy()
    order = np.lexsort((doc, size, key))
    key = key[order]
    starts = np.append(np.flatnonzero(np.diff(key, prepend=key[0] - 1 if len(key) else 0)), len(key))
    rows = GroupedKeys(starts, doc[order], position[order], size[order], asks[order])
    place, parts = np.zeros(2, np.int64), []
    room = ROOM
    while place[0] < len(starts) - 1:
        left, right = np.empty(room, np.int64), np.empty(room, np.int64)
        before = place.copy()
        count = pairs_of_groups(work.similarity.code, float(work.options.min_similarity), rows, place, left, right)
        parts.append((left[:count], right[:count]))
        room *= 1 if (place != before).any() else 2
    return distinct(parts)


def distinct(parts: list[Pairs]) -> Pairs:
    """All pairs, the smaller document first, each once."""
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    left, right = (np.concatenate(side) for side in zip(*parts, strict=True))
    left, right = np.minimum(left, right), np.maximum(left, right)
    order = np.lexsort((right, left))
    left, right = left[order], right[order]
    new = np.ones(len(left), np.bool_)
    new[1:] = (left[1:] != left[:-1]) | (right[1:] != right[:-1])
    return left[new], right[new]


EXACT = Method(POSTINGS, keys, pairs, needs_order=True)
