"""What each method would take, estimated from a sample of the documents before anything is joined.

Nothing here depends on the machine, the threads or the memory but what is said of memory and files.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.hamming.unique import collapse
from neardup.kernels.matching.similarities import JACCARD, OF_ANY_SIZES, Stored, similarities_of, working_memory
from neardup.matching.band_plan import Bands, agreement_probability, hit_probability
from neardup.matching.candidates.minhash import minhash_agreement, minhash_bands
from neardup.matching.candidates.samples import MIX, chosen_texts
from neardup.matching.prefix_join.counts import ElementCounts, KnownCounts
from neardup.matching.prefix_join.join import POSTING_BYTES, join_prefixes
from neardup.matching.prefix_join.prefixes import Prefixes, prefixes_of
from neardup.matching.similarities.table import Elements
from neardup.resources.pair_spool import PAIR_BYTES
from neardup.resources.resources import Resources, share_of

COUNT_SECONDS, PREFIX_SECONDS, SIGN_SECONDS = 2.2e-8, 2.8e-8, 3.1e-8
"""An element counted, put in order for the prefix; a token, read again and signed. These and the next: processor seconds of the
reference machine, on the corpora of benchmarks/auto_choice.py."""
SET_SECONDS, POSTING_SECONDS, VISIT_SECONDS, MEETING_SECONDS = 1e-6, 2.7e-7, 1.2e-8, 2.9e-7
"""A document, an element of a prefix, a look at a posting, and a pair that meets, until it is proposed or dropped."""
EMPTY_SECONDS, BAND_SECONDS, BANDED_SECONDS = 4.5e-6, 2.2e-7, 2e-8
"""A signature of which all values must be borrowed, having no element of their own; a band; and a pair that agrees in one."""
LISTED_SECONDS, PAIR_SECONDS, PAIR_ELEMENT_SECONDS = 1e-7, 2e-7, 1.5e-9
"""A pair that is proposed; one that is verified, and an element of its two sets. Of pairs that match, hardly one a document is."""
PAIRED_DOCUMENTS = 2_000
"""Of so many of the sample all pairs are looked at."""
SAMPLED_PAIRS, LEAST_PAIRS, PAIRED_ELEMENTS = 20_000, 200, 1 << 22
"""So many pairs of the sample are compared, fewer of long documents: about so many elements, but so many pairs in any case."""
ENOUGH_PAIRS = 10
"""Fewer pairs of the sample that met by chance alone say nothing."""
UNBOUNDED = Resources(threads=1, memory=1 << 62)
"""The join of a sample of some thousand documents needs no bound."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a method would take.

    Attributes:
        method: exact or minhash.
        candidates: pairs that would be verified, where clustering does not make that needless.
        postings: of exact: elements kept.
        visits: of exact: looks at postings; meetings: pairs seen by them; of minhash, pairs that agree in a band, once for each.
        memory_bytes, disk_bytes: for finding candidates, at the height, besides some 100 bytes a document.
        seconds: of one processor of the reference machine, from when the texts were read once.
        join_seconds: of these, what begins when all texts are read.
    """

    method: str
    candidates: int
    postings: int
    visits: int
    meetings: int
    memory_bytes: int
    disk_bytes: int
    seconds: float
    join_seconds: float


@dataclass(frozen=True, slots=True)
class Size:
    """How much there is of what a sample stands for.

    Attributes:
        documents, tokens: of all.
        growth: how many times as many these are as were counted.
    """

    documents: int
    tokens: int
    growth: float = 1.0

    @property
    def elements_each(self) -> float:
        return self.tokens / max(1, self.documents)


class _Numbered(NamedTuple):
    """Counts by element, for elements that are their own numbers."""

    cells: Array
    shift: np.uint64


@dataclass(frozen=True, slots=True)
class SampledSets:
    """Some documents, and how frequent their elements are among all.

    Attributes:
        elements: of each; the numbers 0 … m - 1, in the order of the elements.
        frequency: int64[m], in how many documents of all each occurs.
        paired: int64[], of the sampled documents those whose pairs are looked at.
        documents: how many there are of all; pair_share: which part of them the paired ones are.
    """

    elements: Elements
    frequency: Array
    paired: Array
    documents: int
    pair_share: float

    @classmethod
    def of(cls, elements: Elements, counts: KnownCounts, share: float, size: Size) -> "SampledSets":
        """A `share` of the texts that were counted, chosen by `chosen_texts`; `size` is of all."""
        values = np.searchsorted(counts.known, elements.values).astype(np.uint64)
        values.flags.writeable = False
        texts, counted = len(elements.offsets) - 1, np.maximum(counts.counts, 1)
        distinct = float((1 / counted[values.astype(np.int64)]).sum()) * size.documents / max(1, texts)
        crowded = -math.expm1(-distinct / ElementCounts.cells_for(size.tokens))  # share a cell with another element
        alone = (counted == 1) & (counts.known * MIX > np.uint64(crowded * (2**64 - 2**11)))
        several = np.ceil(np.maximum(counted, 2) * np.where(counted > 1, size.growth, 1.0))
        frequency = np.where(alone, 1, several).astype(np.int64)
        part = min(1.0, PAIRED_DOCUMENTS / max(1, texts))
        paired = np.flatnonzero(chosen_texts(elements, share * part))
        return cls(
            Elements(values, elements.weights, elements.offsets), frequency, paired, size.documents, share * part
        )

    def __len__(self) -> int:
        return len(self.elements.offsets) - 1

    def prefixes(self, code: int, least: float) -> Prefixes:
        """Of each document, as a join of all would have them."""
        cells = np.minimum(self.frequency, np.iinfo(np.uint16).max).astype(np.uint16)
        return prefixes_of(self.elements, code=code, least=least, counts=_Numbered(cells, np.uint64(0)))

    @property
    def most_pairs(self) -> int:
        """How many pairs are compared."""
        each = len(self.elements.values) / max(1, len(self))
        return max(LEAST_PAIRS, min(SAMPLED_PAIRS, int(PAIRED_ELEMENTS / max(1.0, each))))

    def jaccard(self, left: Array, right: Array) -> Array:
        """float64[p], of the documents left[i] and right[i]."""
        return jaccard(self.elements, left, right)

    def same_least(self) -> tuple[Array, Array, float]:
        """Pairs of those `paired` with the same least element, and of how many each is one: of many, some evenly spread."""
        least = self.elements.values[self.elements.offsets[self.paired]]
        order = np.argsort(least, kind="stable")
        _, sizes = np.unique(least, return_counts=True)
        after = np.repeat(np.cumsum(sizes), sizes) - np.arange(len(order)) - 1  # in its group
        ends = np.cumsum(after)
        total = int(after.sum())
        chosen = np.arange(0, total, max(1, total // self.most_pairs))
        first = np.searchsorted(ends, chosen, "right")
        second = first + 1 + chosen - (ends - after)[first]
        return self.paired[order[first]], self.paired[order[second]], total / max(1, len(chosen))

    def alike(self) -> list[tuple[Array, Array]]:
        """Jaccard similarities of pairs of the sample, and of how many pairs of all each is an example: by two ways.

        Pairs with the same least element, among which those of similarity J come with the probability J times the share: they
        tell of pairs that are rare. And pairs at random: they tell of families that are large.
        """
        first, second, each = self.same_least()
        near = self.jaccard(first, second)
        n, least = len(self), self.elements.values[self.elements.offsets[:-1]]
        left, right = np.random.default_rng(0).integers(0, max(1, n), (2, self.most_pairs if n > 1 else 0))
        chance = self.jaccard(left, right)
        apart = least[left] != least[right]  # others are among the sample for that
        pairs = self.documents * self.documents / 2
        return [
            (near, each / (np.maximum(near, 1e-6) * self.pair_share)),
            (chance[apart], np.full(int(apart.sum()), pairs / max(1, len(chance)))),
        ]


def jaccard(elements: Elements, left: Array, right: Array) -> Array:
    """float64[p], of the sets left[i] and right[i] (int64[p])."""
    found, offsets = np.empty(len(left)), elements.offsets
    stored = Stored(JACCARD, elements.values, np.empty(0), offsets[:-1], offsets[1:], working_memory(JACCARD, 0))
    similarities_of(stored, left, right, 0.0, found)
    return found


def _visits(prefixes: Prefixes, sample: SampledSets, code: int, least: float) -> float:
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
        before = ((below + upto) / 2 - np.searchsorted(sizes, prefixes.sizes * least)) / max(1, len(sizes))
    length = (sample.frequency * listed / np.maximum(holders, 1))[which]
    others = np.maximum(length - is_listed, 0) * np.repeat(before, kept)  # not itself
    return float(others[walks].sum())


def estimate_exact(sample: SampledSets, size: Size, *, code: int, least: float, memory: int) -> Estimate:
    """Of an exact join of so many documents and tokens, of which `sample` has some."""
    prefixes = sample.prefixes(code, least)
    scale = size.documents / max(len(sample), 1)
    visits = scale * _visits(prefixes, sample, code, least)
    meetings = visits / _visits_each(prefixes, sample)
    postings = prefixes.facts[:, 0].sum(dtype=np.int64) * scale
    pairs = _proposed(prefixes, sample, code, least).times(size.growth**2)
    cells = ElementCounts.bytes_for(size.tokens, memory=share_of(memory, "counts"))
    return _exact(size, Walks(float(postings), visits, meetings, pairs), cells, memory)


class Pairs(NamedTuple):
    """How many pairs are proposed, and how many of these do not match."""

    all: float = 0.0
    unlike: float = 0.0

    def times(self, factor: float) -> "Pairs":
        return Pairs(self.all * factor, self.unlike * factor)

    def seconds(self, size: Size) -> float:
        """To list and to verify them."""
        verified = self.unlike + min(self.all - self.unlike, size.documents)
        return self.all * LISTED_SECONDS + verified * (PAIR_SECONDS + 2 * size.elements_each * PAIR_ELEMENT_SECONDS)


class Walks(NamedTuple):
    """What the sets of an exact join look at: see `Estimate`."""

    postings: float
    visits: float
    meetings: float
    pairs: Pairs


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


def _proposed(prefixes: Prefixes, sample: SampledSets, code: int, least: float) -> Pairs:
    """How many pairs a join of all would propose: those among the sample, each weighted by how likely it was to be there."""
    equal = collapse(prefixes.digests[sample.paired], threads=1)
    firsts = sample.paired[equal.order[equal.starts[:-1]]]
    packed, _ = join_prefixes(prefixes, firsts, code=code, least=least, resources=UNBOUNDED)
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
    return Pairs(float(weights.sum()), float(weights[alike < least].sum())).times(each)


def _exact(size: Size, walks: Walks, cells: int, memory: int) -> Estimate:
    postings, visits, meetings, pairs = walks
    join = (
        size.documents * SET_SECONDS + postings * POSTING_SECONDS + visits * VISIT_SECONDS + meetings * MEETING_SECONDS
    )
    join += pairs.seconds(size)
    seconds = size.tokens * (COUNT_SECONDS + PREFIX_SECONDS) + join
    listed, spilled = _in_memory_or_file(int(pairs.all) * PAIR_BYTES, share_of(memory, "pairs"))
    needed = cells + min(int(postings) * POSTING_BYTES, share_of(memory, "postings")) + listed
    disk = 8 * int(postings) + 40 * size.documents + spilled
    return Estimate("exact", int(pairs.all), int(postings), int(visits), int(meetings), needed, disk, seconds, join)


def exact_at_most(size: Size) -> float:
    """Seconds that an exact join takes if every two documents meet in all of their elements, and none match."""
    each, pairs = size.elements_each, size.documents * size.documents / 2
    everything = Walks(float(size.tokens), pairs * each, pairs, Pairs(pairs, pairs))
    return _exact(size, everything, 0, UNBOUNDED.memory_bytes).seconds


def _in_memory_or_file(size: int, most: int) -> tuple[int, int]:
    """What `size` bytes take of memory, and of temporary files where it is more than `most`."""
    return (size, 0) if size <= most else (most, size)


def estimate_minhash(sample: SampledSets, size: Size, *, least: float, memory: int) -> Estimate:
    """Of MinHash bands: similar pairs, and those less similar that meet by chance, as many as the sample has of each similarity."""
    bands = minhash_bands(least)
    least_agreeing = minhash_agreement(least, bands)
    meetings, pairs = 0.0, Pairs()
    for alike, weights in sample.alike():
        met = bands.bands * alike**bands.rows * weights
        kept = hit_probability(alike, bands) * agreement_probability(alike, bands.values, least_agreeing) * weights
        if np.count_nonzero(alike >= least / 2) >= ENOUGH_PAIRS and kept.sum() >= pairs.all:
            meetings, pairs = float(met.sum()), Pairs(float(kept.sum()), float(kept[alike < least].sum()))
    meetings, pairs = meetings * size.growth**2, pairs.times(size.growth**2)
    return _minhash(size, meetings, pairs, bands, memory)


def _minhash(size: Size, meetings: float, pairs: Pairs, bands: Bands, memory: int) -> Estimate:
    join = size.documents * bands.bands * BAND_SECONDS + meetings * BANDED_SECONDS
    join += pairs.seconds(size)
    empty = math.exp(-size.elements_each / bands.values)
    seconds = size.tokens * SIGN_SECONDS + size.documents * empty * EMPTY_SECONDS + join
    signatures = 8 * size.documents * bands.values  # twice: of each document, and of each class of equal ones
    held, disk = _in_memory_or_file(signatures, share_of(memory, "signatures"))
    listed, spilled = _in_memory_or_file(int(pairs.all) * PAIR_BYTES, share_of(memory, "pairs"))
    needed, disk = 48 * size.documents + held + listed, disk + spilled
    return Estimate("minhash", int(pairs.all), 0, 0, int(meetings), needed, disk, seconds, join)


@dataclass(frozen=True, slots=True)
class Typical:
    """What a known corpus takes at 0.8: pieces of 3 KB of the texts of Python packages, many of them near-copies.

    Attributes:
        min_similarity: for which this is.
        measured: documents, from and to.
        tokens, postings, visits, meetings, pairs, banded: at the larger size, and the power of the documents with which it grows.
    """

    min_similarity: float = 0.8
    measured: tuple[int, int] = (121_836, 931_455)
    tokens: tuple[float, float] = (3.2e8, 1.0)
    postings: tuple[float, float] = (2.9e7, 1.28)
    visits: tuple[float, float] = (6.6e8, 1.79)
    meetings: tuple[float, float] = (4.0e7, 1.72)
    pairs: tuple[float, float] = (2.0e7, 1.72)
    banded: tuple[float, float] = (9.1e7, 1.64)

    def at(self, figure: tuple[float, float], documents: int) -> float:
        """A figure for so many documents."""
        return float(figure[0] * (documents / self.measured[1]) ** figure[1])


TYPICAL = Typical()


def typical_estimates(documents: int, *, memory: int) -> tuple[Estimate, Estimate]:
    """Of an exact join and of MinHash bands of so many documents like TYPICAL's."""
    tokens, postings, visits, meetings, pairs, banded = (
        TYPICAL.at(getattr(TYPICAL, name), documents)
        for name in ("tokens", "postings", "visits", "meetings", "pairs", "banded")
    )
    size = Size(documents, int(tokens))
    cells = ElementCounts.bytes_for(size.tokens, memory=share_of(memory, "counts"))
    exact = _exact(size, Walks(postings, visits, meetings, Pairs(pairs, pairs)), cells, memory)
    return exact, _minhash(size, banded, Pairs(pairs, pairs), minhash_bands(TYPICAL.min_similarity), memory)
