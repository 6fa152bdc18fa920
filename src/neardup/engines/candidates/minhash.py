"""MINHASH on an engine: documents whose signatures agree in a band. The sieve and the agreement are those of `dedup`.

Where very many have a band in common, most are not similar enough: then prefixes tell which can be (see `exact.py`).
"""

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.candidates.groups import postings_table
from neardup.engines.candidates.method import Method
from neardup.engines.job_options import Work
from neardup.fingerprints.minhash import Signing
from neardup.kernels.engines.groups import ANY
from neardup.kernels.store.postings import MIX
from neardup.kernels.store.prefixes import Order
from neardup.matching.bands import agree
from neardup.matching.candidates.minhash import minhash_agreement, minhash_bands
from neardup.matching.join_keys import band_keys
from neardup.matching.similarities.table import Elements


def signatures_of(work: Work, elements: Elements) -> Array:
    """uint32[n, values]: the signatures of texts by their elements."""
    bands = minhash_bands(work.options.min_similarity)
    given = work.similarity.given
    recipe = work.recipe
    signing = Signing(values=bands.values, normalize=tuple(recipe.normalize), similarity=given, version=recipe.version)
    values: Array = signing.sign_sets(elements.values, elements.offsets).values
    return values


def keys(work: Work, texts: pa.Array, docs: Array, groups: Array, order: Order) -> pa.Table:  # noqa: ARG001
    """The bands of texts."""
    bands = minhash_bands(work.options.min_similarity)
    signatures = signatures_of(work, work.similarity.elements(texts, work.recipe))
    found = band_keys(signatures, np.arange(len(texts)), bands)
    key = found.keys ^ (groups.view(np.uint64)[found.texts] * MIX)
    nothing = np.zeros(len(key), np.int32)
    return postings_table(work, key, docs[found.texts], nothing, nothing, nothing == 0)


def proposes(work: Work, elements: Elements, left: Array, right: Array, distance: Array) -> Array:
    """bool[p]: which pairs agree in a band and in enough of all values, and pass the sieve."""
    bands = minhash_bands(work.options.min_similarity)
    values = signatures_of(work, elements)
    found = agree(values, left, values, right, bands, minhash_agreement(work.options.min_similarity, bands))
    return found if work.max_distance is None else found & (distance <= work.max_distance)


MINHASH = Method(keys, lambda _: ANY, needs_order=lambda _: True, refined_by="exact", proposes=proposes)
