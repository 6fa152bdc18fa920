"""Join fingerprints: every pair within a Hamming distance, among one set or between two.

fingerprints -> collapse -> Distinct -> join_distinct -> Pairs of distinct ones -> expand -> Pairs of positions
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock

import numpy as np

from neardup.arrays import Array
from neardup.display import counted
from neardup.errors import OptionError
from neardup.hamming.block_plan import BlockPlan, check_distance, plan
from neardup.hamming.block_tables import TooManyPairs, find_pairs
from neardup.hamming.distinct import Distinct, collapse, fingerprint_rows
from neardup.kernels.hamming import comparisons
from neardup.kernels.hamming import distinct as kernels
from neardup.resources.pair_spool import PairSpool
from neardup.resources.scratch import IN_MEMORY, Scratch
from neardup.resources.threads import in_order, thread_count

__all__ = ["BlockPlan", "Distinct", "Pairs", "collapse", "distance", "distances", "join", "join_distinct", "plan"]


UNBOUNDED = 1 << 62
FOUND_BYTES = 128
"""What a pair takes of a thread until it is handed on, for each word: the rows as found, cut in two, and sieved; its indexes."""
PAIR_BYTES = 40
"""What a pair takes at the height of a join: twice as a sort key of 8 bytes, twice as an index of 8, and a distance."""


@dataclass(frozen=True)
class Pairs:
    """Pairs of fingerprints with their distances, ordered by left, then right.

    Attributes:
        left: int64[p], index of the one.
        right: int64[p], index of the other; larger than left if one set was joined with itself.
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


def distance(a: int | np.uint64 | Array, b: int | np.uint64 | Array) -> int:
    """Hamming distance of two fingerprints, given as integers or as uint64[words], word 0 the most significant.

    Raises:
        OptionError: not such values, or arrays of two widths.

    >>> distance(0b00101110, 0b00001111)
    2
    """
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.size != b.size:
        raise OptionError(f"a has {64 * a.size} bits, b {64 * b.size}. Compare fingerprints of one recipe.")
    return (_as_int(a) ^ _as_int(b)).bit_count()


def _as_int(fingerprint: int | np.uint64 | Array) -> int:
    if isinstance(fingerprint, np.ndarray):
        if fingerprint.dtype != np.uint64 or fingerprint.ndim > 1:
            raise OptionError(
                f"a fingerprint is an array of {fingerprint.dtype} of shape {fingerprint.shape}; allowed is uint64[words]. "
                "Pass one row; for many use distances()."
            )
        return int.from_bytes(fingerprint.astype(">u8").tobytes(), "big")
    if isinstance(fingerprint, bool) or not hasattr(fingerprint, "__index__") or fingerprint < 0:
        raise OptionError(f"{fingerprint!r} is not a fingerprint: allowed are integers from 0 up and uint64[words].")
    return int(fingerprint)


def distances(query: int | np.uint64 | Array, fingerprints: Array) -> Array:
    """Hamming distances from one fingerprint to each of many.

    Args:
        query: an integer or uint64[words].
        fingerprints: uint64[n] or uint64[n, words].

    Returns:
        uint16[n].

    Raises:
        OptionError: not such arrays, or the query has more bits.
    """
    rows = fingerprint_rows(fingerprints)
    bits = 64 * rows.shape[1]
    value = _as_int(query)
    if value.bit_length() > bits or (isinstance(query, np.ndarray) and 64 * query.size != bits):
        given = 64 * query.size if isinstance(query, np.ndarray) else value.bit_length()
        raise OptionError(f"the query has {given} bits, the fingerprints {bits}. Compare fingerprints of one recipe.")
    words = np.frombuffer(value.to_bytes(bits // 8, "big"), ">u8").astype(np.uint64)
    out = np.empty(len(rows), np.uint16)
    comparisons.distances_to(words, rows, out)
    return out


def join(
    fingerprints: Array,
    other: Array | None = None,
    *,
    max_distance: int,
    threads: int | None = None,
    memory: int | None = None,
) -> Pairs:
    """Find every pair of fingerprints at most `max_distance` bits apart.

    Exact: no pair is missed and none is reported twice. Block tables as in Manku, Jain and Das Sarma (2007), section 3; equal
    fingerprints are collapsed first. The fingerprints are held three times (given, sorted, in the table at work), with 16 bytes
    more for each, besides 40 bytes a pair.

    Args:
        fingerprints: uint64[n], or uint64[n, words] with word 0 the most significant, up to 8.
        other: join with these instead of with themselves.
        max_distance: Hamming distance, inclusive, 0 … bits.
        threads: how many; one a processor if left out. The result does not depend on it.
        memory: bytes that the pairs may take; half of the machine's if left out.

    Returns:
        Pairs ordered by (left, right). Without `other`, left < right; with it, left counts in `fingerprints`, right in `other`.

    Raises:
        OptionError: a value that is not allowed, or pairs that do not fit the memory.

    >>> join(np.array([0b1111, 0b0110, 0b1110], dtype=np.uint64), max_distance=1)
    Pairs(2 pairs: (0, 2): 1, (1, 2): 1)
    """
    left = fingerprint_rows(fingerprints)
    right = left if other is None else fingerprint_rows(other, "other")
    _check_widths(left, right)
    check_distance(max_distance, 64 * left.shape[1])
    distinct = collapse(left, threads=threads)
    distinct_other = None if other is None else collapse(right, threads=threads)
    found = join_distinct(distinct, distinct_other, max_distance=max_distance, threads=threads, memory=memory)
    return _expand(distinct, distinct_other, found, left, right, threads, memory)


def join_distinct(
    distinct: Distinct,
    other: Distinct | None = None,
    *,
    max_distance: int,
    threads: int | None = None,
    memory: int | None = None,
    plan: BlockPlan | None = None,
) -> Pairs:
    """Find every pair of different fingerprints at most `max_distance` bits apart, as indexes of distinct ones.

    What is equal within `distinct` is not listed: `distinct.members(u)` says it in one row each.

    Args:
        distinct: collapsed fingerprints.
        other: join with these instead; then equal ones on the two sides are pairs too, at distance 0.
        max_distance: Hamming distance, inclusive, 0 … bits.
        threads: how many; one a processor if left out. The result does not depend on it.
        memory: bytes that the pairs may take; half of the machine's if left out.
        plan: how; the cheapest if left out. The result does not depend on it.

    Returns:
        Pairs ordered by (left, right); without `other`, left < right and every distance is at least 1.

    Raises:
        OptionError: a value that is not allowed, or more pairs than fit the memory.
    """
    left = distinct.values
    right = left if other is None else other.values
    _check_widths(left, right)
    bits = 64 * left.shape[1]
    max_distance, threads = check_distance(max_distance, bits), thread_count(threads)
    if plan is not None and (plan.bits, plan.max_distance) != (bits, max_distance):
        raise OptionError(
            f"the plan is for {plan.bits} bits and max_distance={plan.max_distance}, the join for {bits} bits and "
            f"max_distance={max_distance}. Leave it out, or plan for this join."
        )
    memory = _memory(memory)
    found: list[Array] = [np.empty(0, np.uint64)]
    most = memory // PAIR_BYTES
    take = _packer(left, right, found.append)
    try:
        find_pairs(left, right, max_distance, take, threads=threads, most=most, chosen=plan)
    except TooManyPairs:
        raise OptionError(
            f"{len(left):,} distinct fingerprints have more than {most:,} pairs within max_distance={max_distance}: "
            f"more than fit {memory / 2**30:.1f} GiB. Use a smaller max_distance, or allow more memory."
        ) from None
    packed = np.concatenate(found)
    found.clear()
    return _unpack(packed, left, right, threads)


def spool_near(
    distinct: Distinct,
    spool: PairSpool,
    *,
    max_distance: int,
    threads: int | None,
    memory: int,
    scratch: Scratch = IN_MEMORY,
) -> None:
    """Add to `spool` what `join_distinct` finds among `distinct`, in whatever number.

    `memory`: bytes that threads may hold; `scratch`: where the fingerprints in order of a table are.
    """
    values, threads = distinct.values, thread_count(threads)
    room = max(1, memory // (threads * FOUND_BYTES * values.shape[1]))
    take = _packer(values, values, spool.add)
    find_pairs(values, values, max_distance, take, threads=threads, most=UNBOUNDED, room=room, scratch=scratch)


def _packer(left: Array, right: Array, add: Callable[[Array], object]) -> Callable[[Array], None]:
    """What takes rows of pairs (uint64[p, 2 * words]) and adds their indexes in the sides, left << 32 | right (uint64[p])."""
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


def _memory(memory: int | None) -> int:
    if memory is None:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    if isinstance(memory, bool) or not hasattr(memory, "__index__") or memory < 1:
        raise OptionError(
            f"memory={memory!r} is not a number of bytes from 1 up. Leave it out for half of the machine's."
        )
    return int(memory)


def _finder(values: Array) -> Callable[[Array, int], Array]:
    """A function that says where in `values` the rows of its argument are, from a word of them on."""
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
    """Sort pairs given as left << 32 | right, and measure them in the fingerprints they index."""
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


def _expand(
    distinct: Distinct,
    other: Distinct | None,
    found: Pairs,
    left: Array,
    right: Array,
    threads: int | None,
    memory: int | None,
) -> Pairs:
    """Pairs of positions: every member of the one with every member of the other, and equal ones with each other."""
    to = distinct if other is None else other
    # In floating point, which is exact up to 2^53 pairs; beyond that the refusal is what matters.
    rows = float(np.dot(_sizes(distinct, found.left).astype(np.float64), _sizes(to, found.right)))
    if other is None and len(distinct) < len(left):
        rows += float(np.dot(distinct.sizes.astype(np.float64), distinct.sizes - 1)) / 2
    allowed = _memory(memory)
    if rows * PAIR_BYTES > allowed:
        raise OptionError(
            f"{len(left):,} fingerprints, {len(distinct):,} of them distinct, have {rows:,.0f} pairs: more than the "
            f"{allowed // PAIR_BYTES:,} that fit {allowed / 2**30:.1f} GiB. Use collapse() and join_distinct(), which name each "
            "group of equal ones once, or a smaller max_distance, or allow more memory."
        )
    packed = np.empty(int(rows), np.uint64)
    count = kernels.expand_pairs(
        found.left, found.right, distinct.order, distinct.starts, to.order, to.starts, other is None, packed
    )
    if count < len(packed):
        kernels.expand_equal(distinct.order, distinct.starts, packed[count:])
    return _unpack(packed, left, right, thread_count(threads))


def _sizes(distinct: Distinct, indexes: Array) -> Array:
    """How often each of the distinct fingerprints at `indexes` occurs."""
    sizes: Array = distinct.starts[indexes + 1] - distinct.starts[indexes]
    return sizes
