"""Join fingerprints: find every pair within a Hamming distance, in one set or between two.

fingerprints -> collapse -> Unique -> join_unique -> Pairs of unique ones -> expand -> Pairs of positions
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock
from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.display import counted, size_text
from neardup.errors import OptionError
from neardup.hamming.block_plan import BlockPlan, check_distance
from neardup.hamming.block_tables import Limits, TooManyPairs, find_pairs
from neardup.hamming.unique import Unique, collapse, fingerprint_rows
from neardup.kernels.hamming import comparisons
from neardup.kernels.hamming import distinct as kernels
from neardup.resources.limits import memory_bytes
from neardup.resources.pair_spool import PairSpool
from neardup.resources.scratch import IN_MEMORY, Scratch
from neardup.resources.threads import in_order, thread_count

UNBOUNDED = 1 << 62
FOUND_BYTES = 128
"""Bytes per pair and word that a thread holds before handing pairs on: rows as found, cut in two, and sieved; their indexes."""
PAIR_BYTES = 40
"""Peak bytes per pair in a join: two sort keys of 8 bytes, two indexes of 8, and a distance."""


@dataclass(frozen=True)
class Pairs:
    """Pairs of fingerprints with their distances, ordered by left, then right.

    Attributes:
        left: int64[p], index of the first fingerprint.
        right: int64[p], index of the second; larger than left if one set was joined with itself.
        distance: uint16[p], Hamming distance.
    """

    left: Array
    right: Array
    distance: Array

    def __len__(self) -> int:
        return len(self.left)

    def __repr__(self) -> str:
        shown = ", ".join(
            f"({a}, {b}): {d}" for a, b, d in zip(self.left[:3], self.right[:3], self.distance[:3], strict=True)
        )
        return f"Pairs({counted(len(self), 'pair')}{': ' if shown else ''}{shown}{', …' if len(self) > 3 else ''})"


def join(
    fingerprints: Array,
    other: Array | None = None,
    *,
    max_distance: int,
    threads: int | None = None,
    memory: int | str | None = None,
) -> Pairs:
    """Find every pair of fingerprints at most `max_distance` bits apart.

    The join is exact: it misses no pair and reports none twice. It collapses equal fingerprints, then uses block tables as in
    Manku, Jain and Das Sarma (2007), section 3. It holds the fingerprints three times (as given, sorted, and in the current table),
    and takes another 16 bytes for each fingerprint and 40 bytes for each pair.

    Args:
        fingerprints: uint64[n], or uint64[n, words] with word 0 the most significant, up to 8.
        other: join `fingerprints` with these instead of with themselves.
        max_distance: Hamming distance, inclusive, 0 … bits.
        threads: the number of threads; by default, one for each processor. The result does not depend on it.
        memory: a limit on the memory of the pairs, in bytes or as `4G`; by default, half of the machine's.

    Returns:
        Pairs ordered by (left, right). Without `other`, left < right. With it, left indexes `fingerprints`, and right `other`.

    Raises:
        OptionError: a value that is not allowed, or pairs that do not fit the memory.

    >>> join(np.array([0b1111, 0b0110, 0b1110], dtype=np.uint64), max_distance=1)
    Pairs(2 pairs: (0, 2): 1, (1, 2): 1)
    """
    rows = fingerprint_rows(fingerprints)
    others = rows if other is None else fingerprint_rows(other, "other")
    _check_widths(rows, others)
    check_distance(max_distance, 64 * rows.shape[1])
    left = _Side(rows, collapse(rows, threads=threads))
    right = left if other is None else _Side(others, collapse(others, threads=threads))
    found = join_unique(
        left.unique,
        None if right is left else right.unique,
        max_distance=max_distance,
        threads=threads,
        memory=memory,
    )
    return _expand(left, right, found, threads, memory)


def join_unique(
    unique: Unique,
    other: Unique | None = None,
    *,
    max_distance: int,
    threads: int | None = None,
    memory: int | str | None = None,
    plan: BlockPlan | None = None,
) -> Pairs:
    """Find every pair of different fingerprints at most `max_distance` bits apart, as indexes of unique fingerprints.

    Equal fingerprints within `unique` are not listed; `unique.members(u)` returns the positions of each.

    Args:
        unique: collapsed fingerprints.
        other: join `unique` with these instead; then equal fingerprints on the two sides are pairs, too, at distance 0.
        max_distance: Hamming distance, inclusive, 0 … bits.
        threads: the number of threads; by default, one for each processor. The result does not depend on it.
        memory: a limit on the memory of the pairs, in bytes or as `4G`; by default, half of the machine's.
        plan: how to join; by default, the cheapest plan. The result does not depend on it.

    Returns:
        Pairs ordered by (left, right). Without `other`, left < right and every distance is at least 1.

    Raises:
        OptionError: a value that is not allowed, or more pairs than fit the memory.
    """
    left = unique.values
    right = left if other is None else other.values
    _check_widths(left, right)
    bits = 64 * left.shape[1]
    max_distance, threads = check_distance(max_distance, bits), thread_count(threads)
    if plan is not None and (plan.bits, plan.max_distance) != (bits, max_distance):
        raise OptionError(
            f"the plan is for {plan.bits} bits and `max_distance={plan.max_distance}`, the join for {bits} bits and "
            f"`max_distance={max_distance}`. Leave out `plan`, or plan for this join."
        )
    memory = memory_bytes(memory, least=1)
    found: list[Array] = [np.empty(0, np.uint64)]
    most = memory // PAIR_BYTES
    take = _packer(left, right, found.append)
    try:
        find_pairs(left, right, max_distance, take, Limits(threads, most), plan)
    except TooManyPairs:
        raise OptionError(
            f"{len(left):,} unique fingerprints have more than {most:,} pairs within `max_distance={max_distance}`: "
            f"more than fit {size_text(memory)}. Use a smaller `max_distance`, or allow more `memory`."
        ) from None
    packed = np.concatenate(found)
    found.clear()
    return _unpack(packed, left, right, threads)


def spool_near(
    values: Array,
    spool: PairSpool,
    across: int = 0,
    *,
    max_distance: int,
    threads: int | None,
    memory: int,
    scratch: Scratch = IN_MEMORY,
) -> None:
    """Add to `spool` the pairs that `join_unique` finds in `values` (uint64[n, words], all different), however many.

    With `across` above 0: the pairs of one of the first so many and one of the others, which need differ on either side only.
    `memory`: bytes that threads may hold; `scratch`: where the fingerprints in the order of a table are held.
    """
    left, right = (values[:across], values[across:]) if across else (values, values)
    room = max(1, memory // ((threads := thread_count(threads)) * FOUND_BYTES * values.shape[1]))

    def add(packed: Array) -> None:
        spool.add(packed + np.uint64(across))

    take = _packer(left, right, add if across else spool.add)
    find_pairs(left, right, max_distance, take, Limits(threads, UNBOUNDED, room, scratch))


def _packer(left: Array, right: Array, add: Callable[[Array], object]) -> Callable[[Array], None]:
    """A function that takes pairs of rows (uint64[p, 2 * words]) and adds their indexes as left << 32 | right (uint64[p])."""
    find_left, lock = _finder(left), Lock()
    find_right = find_left if right is left else _finder(right)

    def take(rows: Array) -> None:
        a, b = find_left(rows, 0), find_right(rows, left.shape[1])
        if right is left:
            a, b = np.minimum(a, b), np.maximum(a, b)
        packed = (a.astype(np.uint64) << np.uint64(32)) | b.astype(np.uint64)
        with lock:
            add(packed)

    return take


def _check_widths(left: Array, right: Array) -> None:
    if left.shape[1] != right.shape[1]:
        raise OptionError(
            f"fingerprints of {64 * left.shape[1]} and of {64 * right.shape[1]} bits cannot be joined. Use one recipe for both."
        )


def _finder(values: Array) -> Callable[[Array, int], Array]:
    """A function that finds the indexes, in `values`, of the rows that begin at a given word of its argument."""
    lowest, highest = (int(values[0, 0]), int(values[-1, 0])) if len(values) else (0, 0)
    # About eight rows a bucket: one or two cache lines.
    shift = min(63, max(0, (highest - lowest).bit_length() - min(22, max(0, len(values).bit_length() - 3))))
    guide = np.empty(((highest - lowest) >> shift) + 2, np.int64)
    how = (values, guide, np.uint64(lowest), np.uint64(shift))
    kernels.guide_rows(values, np.uint64(lowest), np.uint64(shift), guide)

    def find(rows: Array, first_word: int) -> Array:
        out = np.empty(len(rows), np.int64)
        kernels.find_rows(*how, rows, first_word, out)
        return out

    return find


def _unpack(packed: Array, left: Array, right: Array, threads: int) -> Pairs:
    """Sort pairs given as left << 32 | right, and compute their distances from the fingerprints they index."""
    packed.sort()
    a = (packed >> np.uint64(32)).astype(np.int64)
    packed &= np.uint64(0xFFFFFFFF)
    b = packed.view(np.int64)
    out = np.empty(len(a), np.uint16)
    edges = [len(a) * i // threads for i in range(threads + 1)]
    for _ in in_order(
        lambda edge: comparisons.distances_between(left, a, right, b, *edge, out),
        pairwise(edges),
        threads,
    ):
        pass
    return Pairs(a, b, out)


class _Side(NamedTuple):
    """One side of a join: its fingerprints as given, uint64[n, words], and collapsed."""

    rows: Array
    unique: Unique

    def sizes(self, indexes: Array) -> Array:
        """How often each of the unique fingerprints at `indexes` occurs."""
        sizes: Array = self.unique.starts[indexes + 1] - self.unique.starts[indexes]
        return sizes


def _expand(left: _Side, right: _Side, found: Pairs, threads: int | None, memory: int | str | None) -> Pairs:
    """Pairs of positions: every member of one fingerprint with every member of the other, and equal fingerprints of one side."""
    of, to, same = left.unique, right.unique, right is left
    # Floating point is exact up to 2^53 pairs; more pairs are refused anyway.
    total = float(np.dot(left.sizes(found.left).astype(np.float64), right.sizes(found.right)))
    if same and len(of) < len(left.rows):
        total += float(np.dot(of.sizes.astype(np.float64), of.sizes - 1)) / 2
    allowed = memory_bytes(memory, least=1)
    if total * PAIR_BYTES > allowed:
        raise OptionError(
            f"{len(left.rows):,} fingerprints, {len(of):,} of them unique, have {total:,.0f} pairs: more than the "
            f"{allowed // PAIR_BYTES:,} that fit {size_text(allowed)}. Use collapse() and join_unique(), which name each "
            "group of equal ones once, or a smaller `max_distance`, or allow more `memory`."
        )
    packed = np.empty(int(total), np.uint64)
    count = kernels.expand_pairs(found.left, found.right, of.order, of.starts, to.order, to.starts, same, packed)
    if count < len(packed):
        kernels.expand_equal(of.order, of.starts, packed[count:])
    return _unpack(packed, left.rows, right.rows, thread_count(threads))
