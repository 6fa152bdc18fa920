"""What each method would take, estimated from a sample of the documents before anything is joined."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.bands import hit_probability
from neardup.candidates.minhash import minhash_bands
from neardup.kernels.bounds import JACCARD
from neardup.kernels.edit import edit_memory
from neardup.kernels.similarities import Stored, similarities_of
from neardup.prefix_join.counts import ElementCounts
from neardup.prefix_join.join import JoinCost, join_prefixes
from neardup.prefix_join.prefixes import Prefixes, prefixes_of
from neardup.similarities import Elements

Array = np.ndarray[Any, np.dtype[Any]]

COUNT_SECONDS, PREFIX_SECONDS, SIGN_SECONDS = 7e-8, 6.5e-8, 5e-8
"""A token, read, normalized, hashed and what the pass is for; these and the next: one thread, on 1 million pieces of packages."""
POSTING_SECONDS, VISIT_SECONDS, PAIR_SECONDS = 4e-7, 1e-8, 3e-7
BAND_SECONDS, BANDED_SECONDS = 1e-7, 2.5e-7
SAMPLED_PAIRS = 20_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a method would take.

    Attributes:
        method: exact or minhash.
        candidates: pairs that would be looked at.
        postings: of exact: elements kept.
        visits: of exact: looks at postings.
        memory_bytes, disk_bytes: for finding candidates, at the height, besides some 100 bytes a document.
        seconds: of one thread of the machine on which the constants were measured; verification is not counted.
    """

    method: str
    candidates: int
    postings: int
    visits: int
    memory_bytes: int
    disk_bytes: int
    seconds: float


def _visits(prefixes: Prefixes, sample: Elements, counts: ElementCounts, scale: float) -> float:
    """Expected visits of the sampled documents' walks.

    A document looks at the list of each element that it is probed with: as many postings as documents have the element, times the
    share of these that have it in their index, of which the sample gives an idea; half of them are before it.
    """
    kept, probing, indexed = (prefixes.facts[:, column].astype(np.int64) for column in (0, 2, 3))
    place = np.arange(len(prefixes.elements)) - np.repeat(prefixes.starts[:-1], kept)
    distinct, holders = np.unique(sample.values, return_counts=True)
    which = np.searchsorted(distinct, prefixes.elements)
    listed = np.bincount(which, weights=place < np.repeat(indexed, kept), minlength=len(distinct))
    frequency = np.maximum(counts.of(distinct), np.where(holders > 1, holders * scale, 0))
    walked = which[place < np.repeat(probing, kept)]
    return float((frequency[walked] * listed[walked] / holders[walked]).sum()) / 2


def estimate_exact(
    sample: Elements, counts: ElementCounts, *, documents: int, tokens: int, code: int, least: float, memory: int
) -> Estimate:
    """Of an exact join of so many `documents` with so many `tokens` in all, of which `sample` has some, chosen at random."""
    prefixes = prefixes_of(sample, code=code, least=least, counts=counts)
    n = len(prefixes)
    scale = documents / max(n, 1)
    visits = scale * _visits(prefixes, sample, counts, scale)
    _, _, cost = join_prefixes(prefixes, np.arange(n), code=code, least=least, memory=memory, threads=1)
    pairs = visits / (cost.visits / cost.looked_at) if cost.looked_at else visits
    postings = int(prefixes.facts[:, 0].sum() * scale)
    seconds = tokens * (COUNT_SECONDS + PREFIX_SECONDS)
    seconds += postings * POSTING_SECONDS + visits * VISIT_SECONDS + pairs * PAIR_SECONDS
    needed = counts.cells.nbytes + min(JoinCost.bytes_of(postings), memory // 2)
    return Estimate("exact", int(pairs), postings, int(visits), needed, 8 * postings, seconds)


def estimate_minhash(sample: Elements, *, documents: int, tokens: int, least: float, seed: int = 0) -> Estimate:
    """Of MinHash bands; the similarities of random pairs of the sample say how many pairs would meet by accident."""
    bands = minhash_bands(least)
    n = len(sample.offsets) - 1
    alike = np.zeros(1)
    if n > 1:
        left, right = np.random.default_rng(seed).integers(0, n, (2, SAMPLED_PAIRS))
        alike = np.empty(SAMPLED_PAIRS)
        starts, ends = sample.offsets[:-1], sample.offsets[1:]
        stored = Stored(JACCARD, sample.values, sample.weights, starts, ends, edit_memory(0))
        similarities_of(stored, left, right, 0.0, alike)
        alike = alike[left != right]
    pairs = documents * documents / 2 * float(np.mean(hit_probability(alike, bands)))
    seconds = tokens * SIGN_SECONDS + documents * bands.bands * BAND_SECONDS + pairs * BANDED_SECONDS
    values = bands.bands * bands.rows
    return Estimate("minhash", int(pairs), 0, 0, documents * (4 * values + 48), 0, seconds)
