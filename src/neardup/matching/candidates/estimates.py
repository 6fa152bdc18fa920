"""What each method would take, estimated from a sample of the documents before anything is joined."""

import numpy as np

from neardup.hamming.unique import collapse
from neardup.kernels.matching.similarities import OF_ANY_SIZES
from neardup.matching.band_plan import agreement_probability, hit_probability
from neardup.matching.candidates.costs import Estimate, Pairs, Size, Walks, exact_cost, minhash_cost
from neardup.matching.candidates.minhash import minhash_agreement, minhash_bands
from neardup.matching.candidates.sampled_sets import SampledSets, jaccard
from neardup.matching.prefix_join.counts import ElementCounts
from neardup.matching.prefix_join.join import join_prefixes
from neardup.matching.prefix_join.prefixes import Prefixes
from neardup.matching.similarities.table import Elements
from neardup.resources.resources import Resources
from neardup.resources.shares import share_of

ENOUGH_PAIRS = 10
"""Fewer pairs of the sample that met by chance alone say nothing."""
UNBOUNDED = Resources(threads=1, memory=1 << 62)
"""The join of a sample of some thousand documents needs no bound."""


def estimate_exact(
    sample: SampledSets, size: Size, *, code: int, min_similarity: float, memory: int, survivors_first: bool = False
) -> Estimate:
    """Of an exact join of so many documents and tokens, of which `sample` has some. `survivors_first`: see `Task`."""
    prefixes = sample.prefixes(code, min_similarity)
    scale = size.documents / max(len(sample), 1)
    visits = scale * _visits(prefixes, sample, code, min_similarity)
    meetings = visits / _visits_each(prefixes, sample)
    postings = prefixes.facts[:, 0].sum(dtype=np.int64) * scale
    pairs = _proposed(prefixes, sample, code, min_similarity).times(size.growth**2).at_most_all_of(size.documents)
    cells = ElementCounts.bytes_for(size.tokens, memory=share_of(memory, "counts"))
    if survivors_first and meetings:
        needed = pairs.of_survivors(size.documents)
        share = min(1.0, max(needed.all, meetings - (pairs.all - needed.all)) / meetings)
        visits, meetings, pairs = visits * share, meetings * share, needed
    return exact_cost(size, Walks(float(postings), visits, meetings, pairs), cells, memory)


def estimate_minhash(
    sample: SampledSets, size: Size, *, min_similarity: float, memory: int, survivors_first: bool = False
) -> Estimate:
    """Of MinHash bands: similar pairs, and those less similar that meet by chance, as many as the sample has of each similarity."""
    bands = minhash_bands(min_similarity)
    least_agreeing = minhash_agreement(min_similarity, bands)
    meetings, pairs = 0.0, Pairs()
    for alike, weights in sample.alike():
        met = bands.bands * alike**bands.rows * weights
        kept = hit_probability(alike, bands) * agreement_probability(alike, bands.values, least_agreeing) * weights
        if np.count_nonzero(alike >= min_similarity / 2) >= ENOUGH_PAIRS and kept.sum() >= pairs.all:
            meetings, pairs = float(met.sum()), Pairs(float(kept.sum()), float(kept[alike < min_similarity].sum()))
    meetings, pairs = meetings * size.growth**2, pairs.times(size.growth**2).at_most_all_of(size.documents)
    if survivors_first and pairs.all:
        needed = pairs.of_survivors(size.documents)
        meetings, pairs = meetings * needed.all / pairs.all, needed
    return minhash_cost(size, meetings, pairs, bands, memory)


def _visits(prefixes: Prefixes, sample: SampledSets, code: int, min_similarity: float) -> float:
    """Expected visits of the sampled documents' walks.

    A document looks at the list of each element that it is probed with: as many postings as documents have the element, times the
    share of these that have it in their index, of which the sample gives an idea; those of them that come before it by size and
    are large enough, of which the sample's sizes give an idea.
    """
    kept, probing, indexed = (prefixes.facts[:, column].astype(np.int64) for column in (0, 2, 3))
    place = np.arange(len(prefixes.elements)) - np.repeat(prefixes.starts[:-1], kept)
    which = prefixes.elements.astype(np.int64)
    holders = np.bincount(sample.elements.values.astype(np.int64), minlength=len(sample.frequency))
    is_listed = place < np.repeat(indexed, kept)
    listed = np.bincount(which, weights=is_listed, minlength=len(sample.frequency))
    walks = place < np.repeat(probing, kept)
    before = np.full(len(prefixes), 0.5)
    if code not in OF_ANY_SIZES:
        sizes = np.sort(prefixes.sizes)
        below, upto = (np.searchsorted(sizes, prefixes.sizes, side) for side in ("left", "right"))
        before = ((below + upto) / 2 - np.searchsorted(sizes, prefixes.sizes * min_similarity)) / max(1, len(sizes))
    length = (sample.frequency * listed / np.maximum(holders, 1))[which]
    others = np.maximum(length - is_listed, 0) * np.repeat(before, kept)  # not itself
    return float(others[walks].sum())


def _visits_each(prefixes: Prefixes, sample: SampledSets) -> float:
    """How many elements the prefixes of two documents share that share one."""
    left, right, _ = sample.same_least()
    weights = 1 / np.maximum(sample.jaccard(left, right), 1e-6)
    if len(left) < ENOUGH_PAIRS and len(sample) > 1:
        left, right = np.random.default_rng(0).integers(0, len(sample), (2, sample.most_pairs))
        weights = (left != right).astype(np.float64)
    order = np.lexsort((prefixes.elements, np.repeat(np.arange(len(prefixes)), np.diff(prefixes.starts))))
    values = prefixes.elements[order]
    values.flags.writeable = False
    alike = jaccard(Elements(values, np.empty(0), prefixes.starts), left, right)
    sizes = np.diff(prefixes.starts)
    common = alike / (1 + alike) * (sizes[left] + sizes[right])
    weights[common < 0.5] = 0.0
    return float((weights * common).sum() / weights.sum()) if weights.any() else 1.0


def _proposed(prefixes: Prefixes, sample: SampledSets, code: int, min_similarity: float) -> Pairs:
    """How many pairs a join of all would propose: those among the sample, each weighted by how likely it was to be there."""
    equal = collapse(prefixes.digests[sample.paired], threads=1)
    firsts = sample.paired[equal.order[equal.starts[:-1]]]
    packed, _ = join_prefixes(prefixes, firsts, code=code, min_similarity=min_similarity, resources=UNBOUNDED)
    if len(packed) == 0:
        return Pairs()
    some = packed[:: max(1, len(packed) // sample.most_pairs)]
    left, right = (
        firsts[(some >> np.uint64(32)).astype(np.int64)],
        firsts[(some & np.uint64(0xFFFFFFFF)).astype(np.int64)],
    )
    alike, offsets = sample.jaccard(left, right), sample.elements.offsets
    together = sample.elements.values[offsets[left]] == sample.elements.values[offsets[right]]
    each, chance = len(packed) / len(some), np.count_nonzero(~together)
    weights = np.where(together, 1 / (sample.pair_share * np.maximum(alike, 1e-6)), 0.0)
    by_chance = (sample.documents / len(sample.paired)) ** 2
    if chance >= ENOUGH_PAIRS and chance * by_chance > weights.sum():
        weights = np.where(together, 0.0, by_chance)
    return Pairs(float(weights.sum()), float(weights[alike < min_similarity].sum())).times(each)
