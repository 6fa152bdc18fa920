"""EXACT on an engine: documents that can reach the similarity have an element of their prefixes in common.

Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007; Xiao et al. 2008. The order of elements is any that all documents
have in common: those that a sample had several times come last.
"""

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.candidates.groups import postings_table
from neardup.engines.candidates.method import Method
from neardup.engines.job_options import Work
from neardup.kernels.store.postings import MIX
from neardup.kernels.store.prefixes import Order
from neardup.matching.join_keys import Bound, keys_of_elements


def keys(work: Work, texts: pa.Array, docs: Array, groups: Array, order: Order) -> pa.Table:
    """The prefixes of texts; for containment all elements, of which the prefix asks."""
    elements = work.similarity.elements(texts, work.recipe)
    bound, every = Bound(work.similarity.code, float(work.options.min_similarity)), np.ones(len(texts), np.bool_)
    found = asking = keys_of_elements(elements, every, order, bound, whole=False)
    if work.options.measure == "containment":
        found = keys_of_elements(elements, every, order, bound, whole=True)
    lengths = np.bincount(asking.texts, minlength=len(texts))
    key = found.keys ^ (groups.view(np.uint64)[found.texts] * MIX)
    asks = found.positions < lengths[found.texts]
    return postings_table(work, key, docs[found.texts], found.positions, found.sizes, asks)


EXACT = Method(keys, lambda work: work.similarity.code, needs_order=lambda _: True)
