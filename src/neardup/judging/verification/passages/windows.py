"""Which windows of tokens occur at an earlier place: by sorting 128-bit hashes of all windows, part by part.

Nothing of this is how the run finds them: it has no minimizers, no other hashes, and looks at every window.
"""

import contextlib
from collections.abc import Iterator

import numpy as np

from neardup.arrays import Array
from neardup.resources.resources import Resources
from neardup.resources.spool import Spool

PARTS = 256
"""Windows are divided by their hash into so many parts."""
WINDOW_BYTES = 24
"""A hash, and a place."""
SORTING = 6
"""Sorting a part takes so many times its bytes."""
_BASES = (0x9E3779B97F4A7C15, 0xD1342543DE82EF95)
"""Odd, so that they have inverses modulo 2^64."""
_BITS = 64


def window_hashes(tokens: Array, pieces: Array, size: int) -> tuple[Array, Array]:
    """The hashes of all windows of `size` tokens, uint64[n, 2], and where they begin, int64[n].

    Each half is a polynomial modulo 2^64 of the hashes of the tokens (uint64[t]); no window goes beyond its piece (int64[pieces +
    1], the first token of each).
    """
    lengths = np.maximum(np.diff(pieces) - size + 1, 0)
    total = int(lengths.sum())
    starts = np.repeat(pieces[:-1] - (np.cumsum(lengths) - lengths), lengths) + np.arange(total)
    found = np.empty((total, 2), np.uint64)
    for half, base in enumerate(_BASES):
        powers = _powers(base, len(tokens))
        inverses = _powers(pow(base, -1, 1 << _BITS), len(tokens))
        sums = np.append(np.uint64(0), np.cumsum(mixed(tokens ^ np.uint64(base)) * powers, dtype=np.uint64))
        found[:, half] = mixed((sums[starts + size] - sums[starts]) * inverses[starts])
    return found, starts


def _powers(base: int, count: int) -> Array:
    found = np.full(count, base, np.uint64)
    found[:1] = 1
    return np.cumprod(found, dtype=np.uint64)


def mixed(values: Array) -> Array:
    """uint64[n]: the finalizer of SplitMix64, a bijection that every bit of a value goes into."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: Array = values ^ (values >> np.uint64(31))
    return found


class Windows:
    """All windows of a corpus, in temporary files; if these have no room, a sample of all windows: by hash, so that each window
    is there with all its places, or is not.

    Attributes:
        halvings: how often half of the windows were left out.
    """

    def __init__(self, resources: Resources, most: int | None = None) -> None:
        """`most`: bytes that the files may take together; by default, half of what is allowed, and what parts can be sorted in."""
        self._resources, self.halvings = resources, 0
        self._spools = [self._spool() for _ in range(PARTS)]
        self._bytes = 0
        sorted_in = PARTS * max(1 << 20, resources.share("runs") // SORTING)
        self._most = min(resources.files.limit // 2, sorted_in) if most is None else most

    def _spool(self) -> Spool:
        return Spool(np.uint64, files=self._resources.files)

    def add(self, hashes: Array, places: Array) -> None:
        """Add windows by their hashes and places."""
        rows = self._sampled(np.column_stack([hashes, places.astype(np.uint64)]))
        numbers = (rows[:, 0] >> np.uint64(_BITS - (PARTS - 1).bit_length())).astype(np.int64)
        order = np.argsort(numbers, kind="stable")
        rows, edges = rows[order], np.searchsorted(numbers[order], np.arange(PARTS + 1)).tolist()
        for part in np.unique(numbers).tolist():
            self._spools[part].write(rows[edges[part] : edges[part + 1]])
        self._bytes += rows.nbytes
        while self._bytes > self._most:
            self._halve()

    def _sampled(self, rows: Array) -> Array:
        mask = np.uint64((1 << self.halvings) - 1)
        return rows if not self.halvings else rows[(rows[:, 1] & mask) == 0]

    def _halve(self) -> None:
        self.halvings += 1
        self._bytes = 0
        for part, spool in enumerate(self._spools):
            spool.map()
            kept = self._sampled(spool.values.reshape(-1, 3))
            self._spools[part] = self._spool()
            self._spools[part].write(kept)
            self._bytes += kept.nbytes
            spool.close()

    def repeated(self, places: "Order", scope: str, groups: Array | None) -> Array:
        """uint8[(places + 7) / 8], the places, as bits, of windows of the inputs that have an earlier place.

        `groups`: int64[rows], only windows of rows of one group are compared.
        """
        bits = np.zeros((int(places.starts[-1]) >> 3) + 1, np.uint8)
        for values in self._read():
            at = values[:, 2].astype(np.int64)
            rows = places.rows_of(at)
            ranked = at - places.starts[rows] + places.firsts[rows]
            group = np.zeros(len(at), np.int64) if groups is None else groups[rows]
            order = np.lexsort((ranked, group, values[:, 1], values[:, 0]))
            values, at, rows, group = values[order], at[order], rows[order], group[order]
            is_first = np.ones(len(at), np.bool_)
            is_first[1:] = (values[1:, :2] != values[:-1, :2]).any(axis=1) | (group[1:] != group[:-1])
            found = ~is_first & (rows < places.inputs)
            if scope == "other-documents":
                first = np.flatnonzero(is_first)[np.cumsum(is_first) - 1]
                found &= rows != rows[first]
            here = at[found]
            np.bitwise_or.at(bits, here >> 3, (1 << (here & 7)).astype(np.uint8))
        return bits

    def _read(self) -> Iterator[Array]:
        for spool in self._spools:
            spool.map()
            if len(spool.values):
                yield spool.values.reshape(-1, 3)
            spool.close()

    def __enter__(self) -> "Windows":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.ExitStack() as stack:
            for spool in self._spools:
                stack.callback(spool.close)


class Order:
    """The tokens of all rows, and which of them count as earlier.

    Attributes:
        starts: int64[rows + 1], the place of the first token of each row.
        firsts: int64[rows], the rank of the place of its first token: smaller is earlier.
        inputs: rows of the inputs; those of the reference follow.
    """

    def __init__(self, counts: Array, preferred: Array, inputs: int) -> None:
        sizes = np.maximum(counts, 0)
        self.starts = np.append(0, np.cumsum(sizes))
        self.firsts = np.full(len(sizes), self.starts[-1])
        ranked = sizes[preferred]
        self.firsts[preferred] = np.cumsum(ranked) - ranked
        self.inputs = inputs

    def rows_of(self, places: Array) -> Array:
        """int64[n]: the rows of places."""
        found: Array = np.searchsorted(self.starts, places, "right") - 1
        return found


def bits_of(bits: Array, first: int, end: int) -> Array:
    """bool[end - first]: some of the bits."""
    begin = first >> 3
    found = np.unpackbits(bits[begin : (end >> 3) + 1], bitorder="little")
    return found[first - 8 * begin : end - 8 * begin].astype(np.bool_)
