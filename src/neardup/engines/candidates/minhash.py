"""MINHASH on an engine: documents whose signatures agree in a band. The sieve and the agreement are those of `dedup`."""

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.candidates.exact import distinct
from neardup.engines.candidates.method import Method, Pairs
from neardup.engines.packing import MIX, ints
from neardup.engines.stage import Output
from neardup.engines.work import Work
from neardup.fingerprints.minhash import Signing
from neardup.kernels.store.prefixes import Order
from neardup.matching.candidates.minhash import minhash_agreement, minhash_bands
from neardup.matching.similarities.table import Elements
from neardup.store.candidates.minhash import band_keys
from neardup.store.texts import Texts

POSTINGS = Output(pa.schema({"key": pa.int64(), "doc": pa.int64()}), ("key",))


def signatures_of(work: Work, elements: Elements) -> Array:
    """uint32[n, values]: the signatures of texts by their elements."""
    bands = minhash_bands(work.options.min_similarity)
    given = work.similarity.given
    signing = Signing(values=bands.values, normalize=tuple(work.recipe.normalize), similarity=given)
    values: Array = signing.sign_sets(elements.values, elements.offsets).values
    return values


def keys(work: Work, texts: Texts, docs: Array, groups: Array, order: Order) -> pa.Table:  # noqa: ARG001
    """The bands of texts."""
    bands = minhash_bands(work.options.min_similarity)
    found = band_keys(signatures_of(work, texts.joined), np.arange(len(texts)), bands)
    key = found.keys ^ (groups.view(np.uint64)[found.texts] * MIX)
    return pa.table([key.view(np.int64), docs[found.texts]], POSTINGS.schema)


def pairs(work: Work, postings: pa.Table) -> Pairs:  # noqa: ARG001
    """The pairs of a bucket with a band in common."""
    key, doc = ints(postings, "key", "doc")
    return distinct(list(pairs_with_key(key, doc)))


def pairs_with_key(key: Array, doc: Array) -> list[Pairs]:
    """All pairs of rows with the same key (int64[n], ascending), by how far apart they are."""
    parts, at = [], np.arange(len(key))
    while len(at := at[at + 1 < len(key)]):
        step = 1 + len(parts)
        at = at[at + step < len(key)]
        at = at[key[at] == key[at + step]]
        parts.append((doc[at], doc[at + step]))
    return parts


def proposes(work: Work, elements: Elements, left: Array, right: Array, distance: Array) -> Array:
    """bool[p]: which pairs agree in a band and in enough of all values, and pass the sieve."""
    bands = minhash_bands(work.options.min_similarity)
    values = signatures_of(work, elements)
    agree = values[left] == values[right]
    in_a_band = agree.reshape(len(left), bands.bands, bands.rows).all(axis=2).any(axis=1)
    found: Array = in_a_band & (agree.sum(axis=1) >= minhash_agreement(work.options.min_similarity, bands))
    return found if work.max_distance is None else found & (distance <= work.max_distance)


MINHASH = Method(POSTINGS, keys, pairs, proposes=proposes)
