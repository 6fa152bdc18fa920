"""cppjieba's keywords: their weights as floating-point numbers, and the order in which the tool lists and adds them.

A fingerprint of the tool depends on that order. Words that its table lacks weigh the same, so they may cancel out but for what
rounding leaves, and that then decides a bit.
"""

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.fingerprints.feature_arrays import Features, WeightedFeatures
from neardup.kernels.fingerprints.keywords import partial_sort

if TYPE_CHECKING:
    from neardup.fingerprints.weights.idf_table import IdfTable


def count_times_idf(features: Features, table: "IdfTable") -> Array:
    """float64[f]: the count of each feature times its frequency in a table of floats; 0 for a word of one character."""
    first, last = features.tokens.starts[features.firsts], features.tokens.ends[features.firsts]
    begins = features.tokens.data[first]
    single = last - first == 1 + (begins >= 0xC0) + (begins >= 0xE0) + (begins >= 0xF0)
    return np.where(single, 0.0, features.counts * table.of(features.hashes).view(np.float64))


def in_order_of_cppjieba(found: WeightedFeatures, most: Array) -> WeightedFeatures:
    """The `most` features of each text (int64[n]) that cppjieba keeps, in its order; it ignores features of weight 0.

    It holds the words in the order of their bytes, and sorts the heaviest to the front by a partial sort. That decides which of
    equally heavy words stay, and in what order.
    """
    known = found.weights != 0
    features, weights = found.features.only(known), found.weights[known]
    order, documents = _by_bytes(features), features.documents
    most = np.minimum(most, np.diff(features.offsets))
    partial_sort(weights, most, features.offsets, order)
    chosen = order[np.arange(len(order)) - features.offsets[documents] < most[documents]]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(most, dtype=np.int64)])
    return WeightedFeatures(features.taken(chosen, offsets), weights[chosen], found.tokens)


def _by_bytes(features: Features) -> Array:
    """int64[f]: the features of each text, one text after another, in the order of the bytes of their names."""
    data, places = features.names()
    buffers = [None, pa.py_buffer(places), pa.py_buffer(data)]
    names = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(features.hashes), buffers)
    rows = pa.table({"document": features.documents, "name": names})
    keys = [("document", "ascending"), ("name", "ascending")]
    return np.array(pc.sort_indices(rows, sort_keys=keys), np.int64)
