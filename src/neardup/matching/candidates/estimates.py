"""What each method would take, estimated from a sample of the documents before anything is joined."""

from dataclasses import dataclass

import numpy as np

from neardup.kernels.matching.similarities import JACCARD, Stored, similarities_of, working_memory
from neardup.matching.band_plan import Bands, agreement_probability, hit_probability
from neardup.matching.candidates.minhash import minhash_agreement, minhash_bands
from neardup.matching.prefix_join.counts import ElementCounts
from neardup.matching.prefix_join.join import POSTING_BYTES, join_prefixes
from neardup.matching.prefix_join.prefixes import Prefixes, prefixes_of
from neardup.matching.similarities.table import Elements
from neardup.resources.pair_spool import PAIR_BYTES
from neardup.resources.resources import SHARES, Resources

COUNT_SECONDS, PREFIX_SECONDS, SIGN_SECONDS = 6e-8, 6e-8, 4e-8
"""A token, read, normalized, hashed and what the pass is for; these and the next: one thread, on 1 million pieces of packages."""
POSTING_SECONDS, VISIT_SECONDS, MEETING_SECONDS = 4e-7, 1e-8, 3e-7
BAND_SECONDS, BANDED_SECONDS = 1e-7, 2.5e-7
SAMPLED_PAIRS = 20_000
UNBOUNDED = Resources(threads=1, memory=1 << 62)
"""The join of a sample of some thousand documents needs no bound."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a method would take.

    Attributes:
        method: exact or minhash.
        candidates: pairs that would be verified, where clustering does not make that needless.
        postings: of exact: elements kept.
        visits: of exact: looks at postings; meetings: pairs of documents seen by them.
        memory_bytes, disk_bytes: for finding candidates, at the height, besides some 100 bytes a document.
        seconds: of one thread of the machine on which the constants were measured; verification is not counted.
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


def _visits(prefixes: Prefixes, sample: Elements, counts: ElementCounts, scale: float, growth: float) -> float:
    """Expected visits of the sampled documents' walks, if elements that are not alone were `growth` times as frequent.

    A document looks at the list of each element that it is probed with: as many postings as documents have the element, times the
    share of these that have it in their index, of which the sample gives an idea; half of them are before it.
    """
    kept, probing, indexed = (prefixes.facts[:, column].astype(np.int64) for column in (0, 2, 3))
    place = np.arange(len(prefixes.elements)) - np.repeat(prefixes.starts[:-1], kept)
    distinct, holders = np.unique(sample.values, return_counts=True)
    which = np.searchsorted(distinct, prefixes.elements)
    is_listed = place < np.repeat(indexed, kept)
    listed = np.bincount(which, weights=is_listed, minlength=len(distinct))
    known = counts.of(distinct)
    frequency = np.maximum(known * np.where(known > 1, growth, 1.0), np.where(holders > 1, holders * scale, 0))
    walks = place < np.repeat(probing, kept)
    length = (frequency * listed / holders)[which[walks]]
    return float(np.maximum(length - is_listed[walks], 0).sum()) / 2  # not itself


def estimate_exact(
    sample: Elements,
    counts: ElementCounts,
    *,
    documents: int,
    tokens: int,
    code: int,
    least: float,
    memory: int,
    growth: float = 1.0,
) -> Estimate:
    """Of an exact join of so many `documents` with so many `tokens` in all, of which `sample` has some, chosen at random.

    `growth`: how many times as many these are as were counted.
    """
    prefixes = prefixes_of(sample, code=code, least=least, counts=counts)
    n = len(prefixes)
    scale = documents / max(n, 1)
    visits = scale * _visits(prefixes, sample, counts, scale, growth)
    _, cost = join_prefixes(prefixes, np.arange(n), code=code, least=least, resources=UNBOUNDED)
    meetings = visits * (cost.looked_at / cost.visits if cost.visits else 1.0)
    pairs = meetings * (cost.pairs / cost.looked_at if cost.looked_at else 1.0)
    postings = prefixes.facts[:, 0].sum(dtype=np.int64) * scale
    return _exact(tokens, postings, visits, meetings, pairs, counts.cells.nbytes, memory)


def _exact(
    tokens: float, postings: float, visits: float, meetings: float, pairs: float, cells: int, memory: int
) -> Estimate:
    join = postings * POSTING_SECONDS + visits * VISIT_SECONDS + meetings * MEETING_SECONDS
    seconds = tokens * (COUNT_SECONDS + PREFIX_SECONDS) + join
    listed, spilled = _in_memory_or_file(int(pairs) * PAIR_BYTES, memory // 4)
    needed, disk = cells + min(int(postings) * POSTING_BYTES, memory // 4) + listed, 8 * int(postings) + spilled
    return Estimate("exact", int(pairs), int(postings), int(visits), int(meetings), needed, disk, seconds, join)


def _in_memory_or_file(size: int, most: int) -> tuple[int, int]:
    """What `size` bytes take of memory, and of temporary files where it is more than `most`."""
    return (size, 0) if size <= most else (most, size)


def estimate_minhash(
    sample: Elements, *, documents: int, tokens: int, least: float, near_pairs: int, memory: int, seed: int = 0
) -> Estimate:
    """Of MinHash bands; the similarities of random pairs of the sample say how many pairs would meet by accident.

    `near_pairs`: those that exact would propose, too rare among random pairs.
    """
    bands = minhash_bands(least)
    n = len(sample.offsets) - 1
    alike = np.zeros(1)
    if n > 1:
        left, right = np.random.default_rng(seed).integers(0, n, (2, SAMPLED_PAIRS))
        alike = np.empty(SAMPLED_PAIRS)
        starts, ends = sample.offsets[:-1], sample.offsets[1:]
        stored = Stored(JACCARD, sample.values, sample.weights, starts, ends, working_memory(JACCARD, 0))
        similarities_of(stored, left, right, 0.0, alike)
        alike = alike[left != right]
    met = hit_probability(alike, bands)
    kept = met * agreement_probability(alike, bands.values, minhash_agreement(least, bands))
    meetings, pairs = (documents * documents / 2 * float(np.mean(share)) for share in (met, kept))
    return _minhash(documents, tokens, max(meetings, near_pairs), max(pairs, near_pairs), bands, memory)


def _minhash(documents: int, tokens: float, meetings: float, pairs: float, bands: Bands, memory: int) -> Estimate:
    join = documents * bands.bands * BAND_SECONDS + meetings * BANDED_SECONDS
    seconds = tokens * SIGN_SECONDS + join
    signatures = 8 * documents * bands.values  # twice: of each document, and of each class of equal ones
    held, disk = _in_memory_or_file(signatures, memory // 4)
    listed, spilled = _in_memory_or_file(int(pairs) * PAIR_BYTES, memory // 4)
    needed, disk = 48 * documents + held + listed, disk + spilled
    return Estimate("minhash", int(pairs), 0, 0, int(meetings), needed, disk, seconds, join)


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
    cells = ElementCounts.bytes_for(int(tokens), memory=memory // SHARES["counts"])
    exact = _exact(tokens, postings, visits, meetings, pairs, cells, memory)
    return exact, _minhash(documents, tokens, banded, pairs, minhash_bands(TYPICAL.min_similarity), memory)
