"""Choose the block tables of a Hamming join by their cost, and cut the bits into the blocks, by the entropy of each bit.

The bits are cut into blocks. Two fingerprints that differ in at most k bits differ in at most k blocks, so they agree in at least
r of k + r blocks. Tables keyed by every choice of r blocks therefore find every pair (Manku, Jain and Das Sarma 2007, section 3).
The blocks can first be divided into g parts. In every pair, at least one part has no more than its share of k - g + 1 differences,
so fewer tables suffice with keys of about the same length, as in that paper's recursion and in the general pigeonhole principle of
Qin et al. (GPH, ICDE 2018). At k = 3, two parts of three blocks need 6 tables keyed by 21 of 64 bits; one part of five blocks needs
10 tables keyed by 26.
"""

import math
from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.errors import OptionError, is_integer
from neardup.kernels.compilation import has_feature
from neardup.kernels.hamming.comparisons import LEAF_ROWS, Table
from neardup.resources.threads import thread_count

# Measured seconds on one thread, for rows of one word; docs/decisions/0002-hamming-join.md has the figures.
SCATTER_SECONDS = 6e-9
"""To move a row to its bucket in a table larger than the cache."""
SPLIT_SECONDS = 4e-9
"""To move a row to its bucket inside the cache."""
COMPARE_SECONDS = 0.2e-9 if has_feature("avx512vpopcntdq") else 0.45e-9
"""To compare two rows of a bucket; half as long if the processor counts the bits of eight words at once."""
TABLE_SECONDS = 1e-3
"""To hand one scattered table to the threads."""

MAX_TABLES = 5000
"""Larger plans are not considered: at 3 to 10 ns per row and table, a million rows would take half a minute, like brute force."""

BUCKET_BYTES = 1 << 17
"""Bytes of a bucket that fits a second-level cache, with a copy of its rows and with counts, while it is split further."""

MAX_BUCKET_BITS = 14
"""Rows are scattered into at most 2^14 buckets, because the processor caches no more addresses."""

SAMPLE_ROWS = 1 << 16
"""Rows sampled to count the ones of each bit."""

CLEAR_DEVIATIONS = 4.5
"""One word suffices for the first comparison if the mean of unrelated rows lies this many deviations above the distance:
all but one in 300,000 then exceed it."""

MULTIPLIERS = np.array([math.isqrt(prime << 128) % 2**64 | 1 for prime in (5, 2, 3, 7, 11, 13, 17, 19)], np.uint64)
"""Multipliers of the hash of a block, one for each word: odd, with the irregular bits of square roots of primes."""


@dataclass(frozen=True)
class BlockPlan:
    """How to join fingerprints, and the expected cost.

    Attributes:
        bits: bits of a fingerprint.
        max_distance: the distance up to which every pair is found.
        parts: runs of blocks that share the differences; 0 for brute force.
        key_blocks: number of blocks in a key.
        blocks: total number of blocks.
        tables: number of keys that group rows, each a choice of `key_blocks` blocks of one part; 0 for brute force.
        key_bits: number of bits in a key, without those that distinguish no fingerprints.
        comparisons: pairs of rows expected to be compared, if bits are independent.
        seconds: expected, with the threads of the plan; without collapsing equal fingerprints, sorting and writing pairs.
        working_bytes: expected memory beyond the fingerprints and the pairs.
    """

    bits: int
    max_distance: int
    parts: int
    key_blocks: int
    blocks: int
    tables: int
    key_bits: float
    comparisons: float
    seconds: float
    working_bytes: int

    @property
    def budgets(self) -> tuple[int, ...]:
        """How many blocks of each part may differ. In every pair, at least one part stays within its budget."""
        return _budgets(self.max_distance, self.parts)


def _budgets(max_distance: int, parts: int) -> tuple[int, ...]:
    """The budgets: if each part exceeded its budget by one difference, there would be max_distance + 1 differences."""
    if parts == 0:
        return ()
    share, more = divmod(max_distance + 1 - parts, parts)
    return (share + 1,) * more + (share,) * (parts - more)


def check_distance(max_distance: int, bits: int, *, name: str = "max_distance") -> int:
    """Refuse a distance that fingerprints of `bits` bits cannot have; `name`: of the argument, in messages."""
    if not is_integer(max_distance) or not 0 <= max_distance <= bits:
        raise OptionError(
            f"`{name}={max_distance!r}` is not a whole number from 0 to {bits}, the bits of a fingerprint. "
            "Usual are 3 to 10 at 64 bits and 18 at 128."
        )
    return int(max_distance)


def plan_join(
    n: int,
    bits: int,
    max_distance: int,
    *,
    other: int | None = None,
    threads: int | None = None,
    entropy: float | None = None,
    parts: int | None = None,
    key_blocks: int | None = None,
) -> BlockPlan:
    """Choose the cheapest way to join `n` unique fingerprints with themselves, or with `other` ones.

    Every way finds the same pairs. Each table costs time for every row, and short keys cost comparisons. The planner estimates the
    sum for all numbers of parts and all key lengths up to 5,000 tables, and for brute force.

    Args:
        n: number of fingerprints.
        bits: width of each: 64, 128, … 512.
        max_distance: the distance up to which pairs are found, 0 … bits.
        other: number of fingerprints on the other side; without it, the join is of one set with itself.
        threads: threads to plan for; by default, one for each processor.
        entropy: the number of independent, even bits that would distinguish two fingerprints equally well. The default is
            `bits`; real fingerprints have fewer.
        parts: the number of parts, instead of the best number; 0 is brute force.
        key_blocks: the number of blocks in a key, instead of the best number.

    Raises:
        OptionError: a value that is not allowed, or parts and key blocks that these bits do not have.

    >>> best = plan_join(16_000_000, 64, 3, threads=2)
    >>> best.parts, best.blocks, best.tables
    (2, 6, 6)
    """
    if bits not in range(64, 513, 64):
        raise OptionError(f"`bits={bits!r}` is not one of 64, 128, … 512. Pad narrower fingerprints with zero bits.")
    k = check_distance(max_distance, bits)
    if n < 0 or (other or 0) < 0:
        raise OptionError(f"`n={n}`, `other={other}`: a number of fingerprints cannot be negative.")
    size = _Size(n, other, bits, k, thread_count(threads), float(bits if entropy is None else entropy))
    if parts == 0:
        return size.brute_force()
    plans = []
    forced = parts is not None and key_blocks is not None
    for g in range(1, k + 2) if parts is None else [parts]:
        for r in range(2, bits) if key_blocks is None else [key_blocks]:
            # For a given g, each longer key needs more blocks and more tables.
            if g < 1 or r < 2 or g > k + 1 or k + 1 + g * (r - 1) > bits:
                break
            if not forced and sum(math.comb(e + r, r) for e in _budgets(k, g)) > MAX_TABLES:
                break
            plans.append(size.tables(g, r))
    if parts is None and key_blocks is None:
        plans.append(size.brute_force())
    if not plans:
        raise OptionError(
            f"`parts={parts}`, `key_blocks={key_blocks}` do not fit {bits} bits at `max_distance={k}`. "
            f"Use 0 to {k + 1} parts, and at least 2 key blocks, with `max_distance + 1 + parts * (key_blocks - 1) <= {bits}`."
        )
    return min(plans, key=lambda candidate: candidate.seconds)


@dataclass(frozen=True)
class _Size:
    """The sizes of a join, and what each way to do it costs."""

    n: int
    other: int | None
    bits: int
    max_distance: int
    threads: int
    entropy: float

    @property
    def candidates(self) -> float:
        return self.n * (self.n - 1) / 2 if self.other is None else float(self.n) * self.other

    def brute_force(self) -> BlockPlan:
        seconds = self.candidates * COMPARE_SECONDS / self.threads
        column = 8 * (self.n if self.other is None else self.other) * self.threads
        return BlockPlan(self.bits, self.max_distance, 0, 0, 0, 0, 0.0, self.candidates, seconds, column)

    def tables(self, parts: int, key_blocks: int) -> BlockPlan:
        """Cost of the walk in `neardup.hamming.block_tables`, if bits are independent."""
        words, rows, most = self.bits // 64, self.n + (self.other or 0), max(self.n, self.other or 0)
        blocks = self.max_distance + 1 + parts * (key_blocks - 1)
        block_bits = self.entropy / blocks
        budgets = _budgets(self.max_distance, parts)

        def nodes(depth: int) -> int:
            """Choices of the first `depth` blocks of a key. Each choice groups all rows."""
            return sum(math.comb(budget + depth, depth) for budget in budgets)

        scattered = depth = scatter_depth(most, words, key_blocks, block_bits)
        told = min(scattered * block_bits, scatter_bits(most, words, scattered, block_bits)) if scattered else 0.0
        while depth < key_blocks and most / 2**told > LEAF_ROWS:
            depth, told = depth + 1, told + block_bits
        comparisons = nodes(depth) * self.candidates / 2**told
        scatters = nodes(scattered) if scattered else 0
        splits = sum(nodes(d) for d in range(scattered + 1, depth + 1))
        # Half of the work on a row is hashing a block, which is no wider in a wide row. The other half is moving the row.
        seconds = rows * (1 + words) / 2 * (scatters * SCATTER_SECONDS + splits * SPLIT_SECONDS)
        return BlockPlan(
            self.bits,
            self.max_distance,
            parts,
            key_blocks,
            blocks,
            nodes(key_blocks),
            key_blocks * block_bits,
            comparisons,
            (seconds + comparisons * COMPARE_SECONDS) / self.threads + max(1, scatters) * TABLE_SECONDS,
            8 * words * rows * (scattered > 0) + self.threads * key_blocks * 4 * BUCKET_BYTES,
        )


def bucket_rows(words: int) -> int:
    """Rows of so many words that fit a bucket."""
    return BUCKET_BYTES // (8 * words)


def scatter_depth(rows: int, words: int, key_blocks: int, block_bits: float) -> int:
    """How many blocks of a key scatter the rows at once, so that buckets fit the cache. At least one block is left to split by."""
    depth = 0
    while depth < key_blocks - 1 and 8 * words * rows / 2 ** (depth * block_bits) > BUCKET_BYTES:
        depth += 1
    return depth


def scatter_bits(rows: int, words: int, depth: int, block_bits: float) -> int:
    """The log2 of the number of buckets into which rows are scattered by `depth` blocks of a key.

    There are enough buckets for each to fit the cache, and, if the blocks allow it, enough to tell all rows apart together with the
    next block.
    """
    cached = math.log2(rows * words * 8 / BUCKET_BYTES) + 1
    telling = math.log2(rows) + 2 - block_bits
    return max(1, min(MAX_BUCKET_BITS, math.ceil(max(cached, telling)), math.ceil(depth * block_bits) + 1))


def bit_entropy(left: Array, right: Array) -> Array:
    """The entropy of each bit: -log2 of the probability that a row of `left` and a row of `right` have the same value there.

    float64[bits], most significant first, from 0 (never changes) to 1 (even), estimated from rows spread over both sides.
    """
    ones = []
    for rows in (left, right):
        sample = rows[:: max(1, -(-len(rows) // SAMPLE_ROWS))]
        ones.append(np.unpackbits(sample.astype(">u8").view(np.uint8), axis=1).sum(axis=0) / max(1, len(sample)))
    equal = ones[0] * ones[1] + (1 - ones[0]) * (1 - ones[1])
    entropy: Array = np.abs(np.log2(np.maximum(equal, 0.5)))
    return entropy


def cut_blocks(chosen: BlockPlan, entropy: Array) -> list[Table]:
    """Cut the bits into the blocks of a plan, contiguous runs of equal total `entropy` (float64[bits]).

    Returns one table, not yet scattered, for each part. Every bit belongs to exactly one block, so the guarantee holds even if the
    estimates are wrong.
    """
    share = entropy if entropy.any() else np.ones(chosen.bits)
    middles = (np.cumsum(share) - share / 2) / share.sum()
    block = np.minimum((middles * chosen.blocks).astype(np.int64), chosen.blocks - 1)
    members = block == np.arange(chosen.blocks)[:, None]
    masks = np.packbits(members, axis=1).view(">u8").astype(np.uint64)
    spans = np.zeros((chosen.blocks, 2), np.int64)
    for b, mask in enumerate(masks):
        words = np.flatnonzero(mask)
        if len(words):
            spans[b] = words[0], words[-1] + 1
    widths = np.array([min(20, math.ceil(entropy[m].sum()) + 1) for m in members], np.int64)
    budgets = np.array(chosen.budgets, np.int64)
    part_starts = np.concatenate(([0], np.cumsum(budgets + chosen.key_blocks)))
    tables = []
    for part in range(chosen.parts):
        outside = np.where(members[part_starts[part] : part_starts[part + 1]].any(axis=0), 0.0, entropy)
        word, second = telling_words(outside if outside.any() else entropy, chosen.max_distance)
        blocks = (masks, spans, widths, MULTIPLIERS, part_starts, budgets)
        prefix, limit = np.empty(0, np.int64), np.uint64(chosen.max_distance)
        tables.append(Table(*blocks, part, prefix, chosen.key_blocks, limit, word, second))
    return tables


def no_blocks(words: int, max_distance: int, entropy: Array) -> Table:
    """The table of brute force: one part without blocks, so that any two rows agree in it."""
    none = np.zeros(2, np.int64)
    blocks = (np.empty((0, words), np.uint64), np.empty((0, 2), np.int64), none, MULTIPLIERS, none, none)
    return Table(*blocks, 0, none[:0], 0, np.uint64(max_distance), *telling_words(entropy, max_distance))


def telling_words(entropy: Array, max_distance: int) -> tuple[int, int]:
    """The word to compare first, and a second word if the first does not rule out most unrelated rows (-1: none)."""
    differs = (1 - 2.0**-entropy).reshape(-1, 64)
    means, deviations = differs.sum(axis=1), np.sqrt((differs * (1 - differs)).sum(axis=1))
    word, *others = np.argsort(-means, kind="stable").tolist()
    clear = means[word] - max_distance >= CLEAR_DEVIATIONS * deviations[word]
    return word, others[0] if others and not clear else -1
