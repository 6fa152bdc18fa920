"""BANDS: find signatures that agree in a whole band, which are candidates. `neardup.matching.band_plan` chooses the bands."""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Lock

import numpy as np

from neardup.arrays import Array, for_kernels
from neardup.display import counted, size_text
from neardup.errors import OptionError, is_integer
from neardup.fingerprints.minhash import Signatures, check_signatures
from neardup.hamming.block_plan import check_distance
from neardup.hamming.unique import MAX_ROWS, fingerprint_rows
from neardup.kernels.matching.bands import (
    Band,
    Buckets,
    Sieve,
    fill_agreeing,
    fill_buckets,
    hash_band,
    keep_agreeing,
    pairs_of_buckets,
)
from neardup.matching.band_plan import Bands
from neardup.resources.limits import memory_bytes
from neardup.resources.pair_spool import PairSpool, check_few
from neardup.resources.resources import Resources
from neardup.resources.scratch import IN_MEMORY, Scratch
from neardup.resources.threads import check_needed, in_order, thread_count

PAIR_BYTES = 16
"""Peak bytes per pair during the search: two integers of 8 bytes."""
ROW_BYTES = 28
"""Bytes per row in each thread: two hashes, a row number, the end of a bucket."""
PAIRS_AT_ONCE = 1 << 16
"""Number of pairs that a thread lists at a time."""
ARRAYS_PER_THREAD = 6
"""Number of arrays by row in each thread."""
EXPECTED_FROM_SIGNATURES = 1 << 12
"""From this many signatures on, the number of pairs is estimated before the search."""


@dataclass(frozen=True)
class BandedPairs:
    """Pairs of signatures that agree in a band, ordered by left, then right. Each pair occurs once.

    Attributes:
        left: int64[p], index of the first signature.
        right: int64[p], index of the second, larger than left.
    """

    left: Array
    right: Array

    def __len__(self) -> int:
        return len(self.left)

    def __repr__(self) -> str:
        shown = ", ".join(f"({a}, {b})" for a, b in zip(self.left[:3], self.right[:3], strict=True))
        return (
            f"BandedPairs({counted(len(self), 'pair')}{': ' if shown else ''}{shown}{', …' if len(self) > 3 else ''})"
        )


class _TooManyPairs(Exception):  # noqa: N818 - caught here
    """There are more pairs than the memory allows."""


class _Counted:
    """Collects the pairs of all threads, up to the number allowed."""

    def __init__(self, most: int) -> None:
        self._most, self._count, self._lock = most, 0, Lock()
        self.parts: list[Array] = []

    def add(self, packed: Array) -> None:
        with self._lock:
            self._count += len(packed)
            if self._count > self._most:
                raise _TooManyPairs
            if len(packed):
                self.parts.append(packed.copy())

    def all(self) -> BandedPairs:
        """Return all pairs, in order, and remove them from the collection."""
        packed = np.concatenate([np.empty(0, np.uint64), *self.parts])
        self.parts.clear()
        packed.sort()
        left = (packed >> np.uint64(32)).astype(np.int64)
        packed &= np.uint64(0xFFFFFFFF)
        return BandedPairs(left, packed.view(np.int64))


@dataclass(frozen=True, slots=True)
class Placed:
    """Signatures that are searched, and where they lie.

    Attributes:
        signatures: the signatures, and others.
        places: int64[n], which of them are searched.
        at_once: if they are in a file, bytes of them that are copied to memory at a time. There, a pair is not looked at where it
            lies: without memory for the pages of the file, each access would wait for the disk. None: they are in memory.
    """

    signatures: Signatures
    places: Array
    at_once: int | None = None

    def __len__(self) -> int:
        return len(self.places)

    def of_pairs(self, left: Array, right: Array) -> Iterator[tuple[slice, Array, Array, Array]]:
        """The values for pairs of searched signatures (int64[p] each), some at a time.

        Each time a slice of the pairs, an array of values, and where those of the left and of the right are there.
        """
        values = self.signatures.values
        left, right = self.places[left], self.places[right]
        if self.at_once is None:
            yield slice(0, len(left)), values, left, right
            return
        step = max(1, self.at_once // (2 * values.shape[1] * values.itemsize))
        for first in range(0, len(left), step):
            some = slice(first, first + step)
            rows, at = np.unique(np.concatenate([left[some], right[some]]), return_inverse=True)
            yield some, values[rows], *np.split(at, 2)  # rows ascend: the file is read in order


@dataclass(frozen=True, slots=True)
class _BandSearch:
    """A search among signatures. The fingerprints of the sieve are in the order of the places.

    `order`: the searched signatures in the order in which they lie. Pairs that agree in fewer than `least_agreeing` values are
    left out. With `across` above 0, it lists only pairs of one of the first so many signatures and one of the others.
    """

    placed: Placed
    order: Array
    bands: Bands
    sieve: Sieve
    least_agreeing: int = 0
    across: int = 0
    scratch: Scratch = IN_MEMORY

    @classmethod
    def of(
        cls,
        placed: Placed,
        bands: Bands,
        fingerprints: Array | None,
        max_distance: int | None,
        least_agreeing: int,
        across: int = 0,
    ) -> "_BandSearch":
        """Check the options and create the search."""
        _check_signatures(placed.signatures, bands)
        if not is_integer(least_agreeing) or not 0 <= least_agreeing <= bands.values:
            raise OptionError(
                f"`least_agreeing={least_agreeing!r}`: give an integer from 0 to the {bands.values} values."
            )
        rows, limit = _sieve(len(placed), fingerprints, max_distance)
        places = placed.places
        order = places if _counts_up(places) else np.argsort(places)
        return cls(placed, order, bands, Sieve(rows, limit), int(least_agreeing), across)

    @property
    def bytes_each(self) -> int:
        """Bytes per thread."""
        return search_bytes(len(self.placed), self.sieve.fingerprints.shape[1])

    def workers(self, threads: int | None, memory: int) -> int:
        """Number of threads that are useful and fit the memory; possibly 0."""
        return min(thread_count(threads), self.bands.bands, memory // self.bytes_each)

    def run(self, add: Callable[[Array], None], workers: int) -> None:
        """Call `add` with the pairs of every band, part by part; `add` must copy them."""
        for _ in in_order(lambda number: self._search(number, add), range(self.bands.bands), workers):
            pass

    def expected_pairs(self) -> int:
        """Estimate the pairs of all bands from the first pairs of two bands; 0 for few rows."""
        if len(self.placed) < EXPECTED_FROM_SIGNATURES:
            return 0
        found: list[float] = []
        for number in range(min(2, self.bands.bands)):
            listed, place = 0, np.zeros(2, np.int64)
            buckets, sieve = self._buckets(Band(number, self.bands.rows))
            for part in self._pairs_of(number, buckets, sieve, place):
                listed += len(part)
                if listed >= PAIRS_AT_ONCE:
                    break
            before = _comparisons(buckets, len(sieve.fingerprints))
            found.append(listed * int(before[-1]) / max(1, int(before[min(int(place[0]) + 1, len(before) - 1)])))
        falling = min(1.0, found[-1] / found[0]) if found[0] and len(found) > 1 else 0.0
        return round(found[0] * sum(falling**number for number in range(self.bands.bands)))

    def _search(self, number: int, add: Callable[[Array], None]) -> None:
        """Find the pairs that agree in this band and in none before it."""
        for part in self._pairs_of(number, *self._buckets(Band(number, self.bands.rows)), np.zeros(2, np.int64)):
            add(part)

    def _pairs_of(self, number: int, buckets: Buckets, sieve: Sieve, place: Array) -> Iterator[Array]:
        """The pairs of a band, packed, part by part; each part is overwritten by the next. `place`: see `pairs_of_buckets`."""
        out, band = np.empty(PAIRS_AT_ONCE, np.uint64), Band(number, self.bands.rows)
        while place[0] < len(sieve.fingerprints):
            check_needed()
            packed = out[: pairs_of_buckets(buckets, sieve, self.across, place, out)]
            left, right = (packed >> np.uint64(32)).view(np.int64), (packed & np.uint64(0xFFFFFFFF)).view(np.int64)
            count = 0
            for some, values, *at in self.placed.of_pairs(left, right):
                kept = keep_agreeing(values, *at, band, self.least_agreeing, packed[some])
                packed[count : count + kept] = packed[some][:kept]
                count += kept
            yield packed[:count]

    def _buckets(self, band: Band) -> tuple[Buckets, Sieve]:
        """Sort a band's rows into buckets, and the sieve in the same order, so that it is read sequentially."""
        signatures, places, zeros = self.placed.signatures, self.placed.places, self.scratch.zeros
        n = len(places)
        bits = max(1, n.bit_length() - 1)
        hashes = zeros(n, np.uint64)
        ends, keys, rows = zeros(1 << bits, np.int64), zeros(n, np.uint64), zeros(n, np.uint32)
        buckets = Buckets(np.uint64(64 - bits), ends, keys, rows)
        hash_band(signatures.values, places, self.order, band, hashes)
        filled = fill_buckets(hashes, signatures.sizes[places], buckets)
        return buckets, self.sieve._replace(fingerprints=self.scratch.take(self.sieve.fingerprints, rows[:filled]))


def _counts_up(places: Array) -> bool:
    """Whether places are 0, 1, 2 …"""
    return len(places) == 0 or (places[0] == 0 and places[-1] == len(places) - 1 and bool((np.diff(places) == 1).all()))


def _comparisons(buckets: Buckets, filled: int) -> Array:
    """int64[filled + 1]: for each row, how many pairs within buckets come before its own."""
    after = buckets.ends[(buckets.keys[:filled] >> buckets.shift).astype(np.int64)] - np.arange(filled) - 1
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(after)])


def agree(left: Array, left_at: Array, right: Array, right_at: Array, bands: Bands, agreement: int) -> Array:
    """bool[p]: which pairs of signatures agree in a band, and in so many values in all.

    uint32[n, values], int64[p], uint32[m, values], int64[p]: pair i is of left[left_at[i]] and right[right_at[i]].
    """
    found = np.empty(len(left_at), np.bool_)
    columns = (np.ascontiguousarray(values, np.uint32) for values in (left, right))
    places = (np.ascontiguousarray(at, np.int64) for at in (left_at, right_at))
    (one, other), (one_at, other_at) = columns, places
    fill_agreeing(one, one_at, other, other_at, bands.rows, agreement, found)
    return found


def agree_where_they_lie(placed: Placed, left: Array, right: Array, bands: Bands, agreement: int) -> Array:
    """bool[p]: the same of pairs of placed signatures (int64[p])."""
    found = np.empty(len(left), np.bool_)
    for some, values, *at in placed.of_pairs(left, right):
        found[some] = agree(values, at[0], values, at[1], bands, agreement)
    return found


def find_banded(
    signatures: Signatures,
    bands: Bands,
    *,
    fingerprints: Array | None = None,
    max_distance: int | None = None,
    least_agreeing: int = 0,
    threads: int | None = None,
    memory: int | str | None = None,
) -> BandedPairs:
    """Find every pair of signatures that agree in all values of at least one band.

    Every such pair is found once, because the values themselves are compared. Signatures of texts without shingles are in no band.
    Equal signatures are compared with each other one by one, so collapse equal signatures first.

    Args:
        signatures: the signatures of n texts.
        bands: how to cut signatures into bands. The bands must use all values.
        fingerprints: uint64[n] or uint64[n, words], a sieve: only pairs within `max_distance` bits are kept.
        max_distance: Hamming distance, inclusive; only with `fingerprints`.
        least_agreeing: keep only pairs that agree in at least this many of all values; see `agreement_limit`.
        threads: the number of threads, each for one band at a time; by default, one for each processor. The result does not depend
            on it.
        memory: the memory that the search may take beyond its arguments, in bytes or as `4G`; by default, half of the machine's.
            Each thread takes 28 bytes per text and the bytes of the sieve; a pair takes 16. With little memory, fewer threads run.

    Raises:
        OptionError: a value is not allowed, the bands leave values unused, or the pairs do not fit the memory.

    >>> from neardup.matching.band_plan import plan_bands
    >>> from neardup.fingerprints.minhash import signatures
    >>> texts = ["to be or not to be, said the prince", "nothing", "To be or not to be, said the PRINCE!"]
    >>> find_banded(signatures(texts), plan_bands(0.8, values=128))
    BandedPairs(1 pair: (0, 2))
    """
    check_signatures(signatures)
    n, memory = len(signatures), memory_bytes(memory, least=1)
    placed = Placed(_for_kernels(signatures), np.arange(n))
    search = _BandSearch.of(placed, bands, fingerprints, max_distance, least_agreeing)
    workers = search.workers(threads, memory)
    if workers == 0:
        raise OptionError(
            f"`memory={memory}`: to look for pairs among {n:,} signatures takes at least {search.bytes_each:,} bytes. "
            "Allow more `memory`, or work on parts."
        )
    most = (memory - workers * search.bytes_each) // PAIR_BYTES
    pairs = _Counted(most)
    try:
        search.run(pairs.add, workers)
    except _TooManyPairs:
        more = "" if fingerprints is not None else " sieve them by fingerprints,"
        raise OptionError(
            f"{n:,} signatures have more than {most:,} pairs that agree in a band: more than fit {size_text(memory)}. "
            f"Use bands of more than {bands.rows} rows,{more} collapse equal signatures beforehand, or allow more `memory`."
        ) from None
    return pairs.all()


def search_bytes(n: int, words: int) -> int:
    """Bytes that each thread takes to find pairs among `n` signatures, with a sieve of `words` words."""
    return (ROW_BYTES + 8 * words) * n + 8 * PAIRS_AT_ONCE


def spool_banded(
    placed: Placed,
    bands: Bands,
    spool: PairSpool,
    *,
    fingerprints: Array,
    max_distance: int | None,
    least_agreeing: int,
    across: int = 0,
    most: int | None = None,
    resources: Resources,
) -> None:
    """Add to `spool` the pairs that `find_banded` finds, however many there are.

    As many bands are searched at a time as fit their share of the memory. If not even one fits, its arrays are in files.

    With `across` above 0, only pairs of one of the first so many signatures and one of the others are added.

    Raises:
        ManyPairs: more than `most` pairs are expected.
        OptionError: more pairs are expected, from those of two bands, than fit the memory and the disk.
    """
    search = _BandSearch.of(placed, bands, fingerprints, max_distance, least_agreeing, across)
    workers = max(1, search.workers(resources.threads, resources.share("bands")))
    search = dataclasses.replace(search, scratch=resources.scratch_of("bands", ARRAYS_PER_THREAD * workers))
    pairs = search.expected_pairs()
    check_few(pairs, most)
    resources.check_pairs(
        pairs,
        work=f"`method='minhash'` would propose about {pairs:,} pairs, which",
        instead="a higher `min_similarity`, or `method='exact'`",
    )
    search.run(lambda packed: spool.add(packed.copy()), workers)


def _for_kernels(signatures: Signatures) -> Signatures:
    """Signatures whose arrays kernels take: callers may have read them from a file."""
    check_signatures(signatures)
    values = for_kernels(signatures.values, signatures.values.dtype.newbyteorder("="))
    return dataclasses.replace(signatures, values=values, sizes=for_kernels(signatures.sizes, np.int64))


def _check_signatures(signatures: Signatures, bands: Bands) -> None:
    check_signatures(signatures)
    if signatures.values.ndim != 2 or len(signatures) >= MAX_ROWS:
        raise OptionError(
            f"the signatures have the shape {signatures.values.shape}; give at least none and fewer than 2^32 rows of values: "
            "signatures[row : row + 1] for one."
        )
    values = signatures.values.shape[1]
    if bands.values != values:
        divisors = [r for r in range(1, values + 1) if values % r == 0]
        rows = min(divisors, key=lambda r: (abs(r - bands.rows), r))
        raise OptionError(
            f"{bands.bands} bands of {bands.rows} rows are {bands.values} values, but the signatures have {values}, all of which "
            f"are to be used. The nearest are {values // rows} bands of {rows} rows; or make signatures of {bands.values} values."
        )


def _sieve(n: int, fingerprints: Array | None, max_distance: int | None) -> tuple[Array, np.uint64]:
    if (fingerprints is None) != (max_distance is None):
        raise OptionError(
            "`fingerprints` and `max_distance` are the two halves of the sieve: one of them is missing. Give both or neither."
        )
    if fingerprints is None or max_distance is None:
        return np.empty((n, 0), np.uint64), np.uint64(0)
    rows = fingerprint_rows(fingerprints)
    if len(rows) != n:
        raise OptionError(f"there are {len(rows):,} fingerprints and {n:,} signatures. Give both of the same texts.")
    return rows, np.uint64(check_distance(max_distance, 64 * rows.shape[1]))
