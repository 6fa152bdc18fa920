"""Collapse equal fingerprints, so that a page repeated a hundred thousand times is a single row in every join."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from neardup.arrays import Array, for_kernels, is_masked, is_of
from neardup.errors import OptionError
from neardup.kernels.hamming import distinct as kernels
from neardup.resources.scratch import IN_MEMORY, Scratch
from neardup.resources.threads import in_order, thread_count

BUCKET_ROWS = 1 << 13
"""Rows are first scattered into buckets of about this many rows, which are then sorted inside a cache."""

MAX_ROWS = 1 << 32
"""Positions have 32 bits, so that a pair of them fits 64."""

MAX_KEY_WORDS = 10
"""A key that is collapsed has the words of a fingerprint, and of a digest beside it."""


@dataclass(frozen=True)
class Unique:
    """The unique fingerprints among n, and where each occurs.

    Attributes:
        values: uint64[d, words], ascending, word 0 the most significant.
        order: int64[n], positions of the fingerprints, sorted by fingerprint, then position.
        starts: int64[d + 1]; fingerprint u occurs at the positions order[starts[u] : starts[u + 1]], which ascend.
    """

    values: Array
    order: Array
    starts: Array

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Unique({len(self):,} unique of {len(self.order):,} fingerprints of {64 * self.values.shape[1]} bits)"

    @property
    def sizes(self) -> Array:
        """How often each fingerprint occurs, int64[d]."""
        return np.diff(self.starts)

    def class_of(self, scratch: Scratch = IN_MEMORY) -> Array:
        """Which of the unique fingerprints is at each position, int64[n]."""
        found = scratch.zeros(len(self.order), np.int64)
        found[self.order] = np.repeat(np.arange(len(self.starts) - 1), self.sizes)
        return found

    def members(self, index: int) -> Array:
        """The positions, ascending, where fingerprint `index` occurs."""
        return self.order[self.starts[index] : self.starts[index + 1]]


def fingerprint_rows(fingerprints: Array, name: str = "fingerprints", *, most_words: int = 8) -> Array:
    """The fingerprints as a writable uint64[n, words] for kernels, copied only if necessary.

    Raises:
        OptionError: they are not fingerprints of 1 to `most_words` words.
    """
    if not isinstance(fingerprints, np.ndarray):
        raise OptionError(
            f"{name} is a {type(fingerprints).__name__}, not an array. Use numpy.array({name}, dtype=numpy.uint64)."
        )
    if is_masked(fingerprints):
        raise OptionError(f"{name} is a masked array with masked values. Use {name}.compressed(), or fill them.")
    if not is_of(fingerprints, np.uint64):
        mend = f"{name}.view(numpy.uint64)" if fingerprints.dtype == np.int64 else f"{name}.astype(numpy.uint64)"
        raise OptionError(
            f"{name} has dtype {fingerprints.dtype}; allowed is uint64. If these are fingerprints, use {mend}."
        )
    if fingerprints.ndim not in (1, 2) or (fingerprints.ndim == 2 and not 1 <= fingerprints.shape[1] <= most_words):
        raise OptionError(
            f"{name} has the shape {fingerprints.shape}; allowed are [n] and [n, words] with 1 to {most_words} words, word 0 the "
            "most significant. Reshape it."
        )
    if len(fingerprints) > MAX_ROWS:
        raise OptionError(
            f"{name} has {len(fingerprints):,} rows; allowed are {MAX_ROWS:,}. Join shards of it with themselves and each other."
        )
    rows = fingerprints.reshape(len(fingerprints), -1 if fingerprints.size else (fingerprints.shape[1:] or (1,))[0])
    return for_kernels(rows, np.uint64, "W")


def collapse(fingerprints: Array, *, threads: int | None = None, scratch: Scratch = IN_MEMORY) -> Unique:
    """Sort fingerprints and list each unique one once.

    Takes 8 * words + 16 bytes a fingerprint and, while it sorts, the size of the largest bucket of the first pass again.

    Args:
        fingerprints: uint64[n] or uint64[n, words], of 1 to MAX_KEY_WORDS words.
        threads: the number of threads; by default, one for each processor. The result does not depend on it.
        scratch: makes the arrays, in memory or in temporary files.

    Raises:
        OptionError: not such an array, or a number of threads below 1.

    >>> found = collapse(np.array([7, 3, 7], dtype=np.uint64))
    >>> found.values.ravel().tolist(), found.order.tolist(), found.starts.tolist()
    ([3, 7], [1, 0, 2], [0, 1, 3])
    """
    threads = thread_count(threads)
    rows = fingerprint_rows(fingerprints, most_words=MAX_KEY_WORDS)
    n = len(rows)
    if n <= BUCKET_ROWS:
        threads = 1
    if n == 0:
        return Unique(rows.copy(), np.empty(0, np.int64), np.zeros(1, np.int64))
    out, order = scratch.zeros(rows.shape, np.uint64), scratch.zeros(n, np.int64)
    starts = _scatter(rows, out, order, threads)
    edges = np.unique(np.searchsorted(starts, np.linspace(0, n, 8 * threads + 1)))
    edges[-1] = len(starts) - 1

    def sort(first: int, last: int) -> None:
        largest = int(np.diff(starts[first : last + 1]).max())
        spare_rows, spare_order = np.empty((largest, rows.shape[1]), np.uint64), np.empty(largest, np.int64)
        ends, waiting = np.empty(2**11 + 1, np.int64), np.empty((1 + largest // kernels.INSERTION_ROWS, 2), np.int64)
        kernels.sort_buckets(out, order, starts, first, last, spare_rows, spare_order, ends, waiting)

    _each(sort, zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True), threads)
    starts = scratch.zeros(n + 1, np.int64)
    count = kernels.name_distinct(out, starts)
    # A view if nearly all are unique, because pages that were never written take no memory.
    if 2 * count < n:
        return Unique(out[:count].copy(), order, starts[: count + 1].copy())
    return Unique(out[:count], order, starts[: count + 1])


def _each(work: Callable[..., object], tasks: Iterable[tuple[Any, ...]], threads: int) -> None:
    for _ in in_order(lambda task: work(*task), tasks, threads):
        pass


def _scatter(rows: Array, out: Array, order: Array, threads: int) -> Array:
    """Write rows and positions in the order of the first bits that differ between rows. Returns where each bucket begins."""
    n, words = rows.shape
    word, varying = 0, 0
    for word in range(words):
        varying = int(np.bitwise_or.reduce(rows[:, word]) ^ np.bitwise_and.reduce(rows[:, word]))
        if varying:
            break
    width = min(varying.bit_length(), 12, max(0, math.ceil(math.log2(n / BUCKET_ROWS))))
    how = (word, np.uint64(min(63, varying.bit_length() - width)), np.uint64((1 << width) - 1))
    edges = [n * i // threads for i in range(threads + 1)]
    ranges = list(pairwise(edges))
    counts = np.zeros((threads, 1 << width), np.int64)
    _each(kernels.count_digits, [(rows, *edge, *how, counts[i]) for i, edge in enumerate(ranges)], threads)
    starts = np.concatenate(([0], np.cumsum(counts.sum(axis=0))))
    at = starts[:-1] + np.cumsum(counts, axis=0) - counts
    tasks = [(rows, *edge, *how, at[i], out, order) for i, edge in enumerate(ranges)]
    _each(kernels.scatter_positions, tasks, threads)
    return starts
