"""Choose the block tables of a Hamming join by what they cost.

The bits are cut into blocks. Two fingerprints that differ in at most k bits differ in at most k blocks, so of k + r blocks some
r agree: rows that share a key of r blocks hold every pair (Manku, Jain and Das Sarma 2007, section 3). The blocks may first be
dealt into parts: with g parts, one of them holds no more than its share of k - g + 1 differences, and fewer tables do with
keys about as long, as in that paper's recursion and in the general pigeonhole principle of Qin et al. (GPH, ICDE 2018). At k = 3,
two parts of three blocks need 6 tables keyed by 21 of 64 bits; one part of five blocks needs 10 tables keyed by 26.
"""

import math
from dataclasses import dataclass

from neardup.errors import OptionError
from neardup.kernels.compilation import has_feature
from neardup.kernels.hamming.comparisons import LEAF_ROWS
from neardup.resources.threads import thread_count

# Seconds of one thread for one word a row, measured; docs/decisions/0002-hamming-join.md has the figures.
SCATTER_SECONDS = 6e-9
"""A row goes to its bucket of a table larger than the cache."""
SPLIT_SECONDS = 4e-9
"""A row goes to its bucket inside the cache."""
COMPARE_SECONDS = 0.2e-9 if has_feature("avx512vpopcntdq") else 0.45e-9
"""Two rows of a bucket are compared; half of it where the processor counts the bits of eight words at once."""
TABLE_SECONDS = 1e-3
"""The threads are handed one scattered table."""

MAX_TABLES = 5000
"""More are not considered: at 3 to 10 ns a row and table a million rows take half a minute by then, and so does brute force."""

BUCKET_BYTES = 1 << 17
"""What is scattered into buckets of this size is split further inside a second-level cache: rows, their copy and counts."""

MAX_BUCKET_BITS = 14
"""Rows are scattered into 2^14 buckets at most: the processor keeps no more addresses at hand."""


@dataclass(frozen=True)
class BlockPlan:
    """How fingerprints are going to be joined, and what that is expected to cost.

    Attributes:
        bits: bits of a fingerprint.
        max_distance: the distance up to which every pair is found.
        parts: runs of blocks among which the differences are shared out; 0 for brute force.
        key_blocks: blocks in a key.
        blocks: blocks in all.
        tables: keys that rows are grouped by, each a choice of `key_blocks` blocks of one part; 0 for brute force.
        key_bits: bits in a key, not counting those that tell nothing.
        comparisons: pairs of rows expected to be compared, if bits are independent.
        seconds: expected, for the threads planned for; collapsing equal fingerprints, sorting and writing pairs not counted.
        working_bytes: memory expected to be taken besides the fingerprints and the pairs.
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
        """How many blocks of each part may differ; in every pair one part keeps to its budget."""
        return _budgets(self.max_distance, self.parts)


def _budgets(max_distance: int, parts: int) -> tuple[int, ...]:
    """If each part had one difference more than its budget, there would be max_distance + 1."""
    if parts == 0:
        return ()
    share, more = divmod(max_distance + 1 - parts, parts)
    return (share + 1,) * more + (share,) * (parts - more)


def check_distance(max_distance: int, bits: int) -> int:
    """Refuse a distance that fingerprints of so many bits cannot have."""
    whole = not isinstance(max_distance, bool) and hasattr(max_distance, "__index__")
    if not whole or not 0 <= max_distance <= bits:
        raise OptionError(
            f"max_distance={max_distance!r} is not a whole number from 0 to {bits}, the bits of a fingerprint. "
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

    Every way finds the same pairs. Tables cost time for every row, short keys cost comparisons; the sum is estimated for all
    numbers of parts and all key lengths up to 5,000 tables, and for brute force.

    Args:
        n: how many fingerprints.
        bits: bits of each: 64, 128, … 512.
        max_distance: the distance up to which pairs are wanted, 0 … bits.
        other: how many on the other side, unless they are joined with themselves.
        threads: threads to plan for; one a processor if left out.
        entropy: how many independent, even bits tell two fingerprints apart as well (`bits` if left out; real ones have fewer).
        parts: take so many parts instead of the best number; 0 is brute force.
        key_blocks: take keys of so many blocks instead of the best number.

    Raises:
        OptionError: a value that is not allowed, or parts and key blocks that these bits do not have.

    >>> best = plan_join(16_000_000, 64, 3, threads=2)
    >>> best.parts, best.blocks, best.tables
    (2, 6, 6)
    """
    if bits not in range(64, 513, 64):
        raise OptionError(f"bits={bits!r} is not one of 64, 128, … 512. Pad narrower fingerprints with zero bits.")
    k = check_distance(max_distance, bits)
    if n < 0 or (other or 0) < 0:
        raise OptionError(f"n={n}, other={other}: a number of fingerprints cannot be negative.")
    size = _Size(n, other, bits, k, thread_count(threads), float(bits if entropy is None else entropy))
    if parts == 0:
        return size.brute_force()
    plans = []
    forced = parts is not None and key_blocks is not None
    for g in range(1, k + 2) if parts is None else [parts]:
        for r in range(2, bits) if key_blocks is None else [key_blocks]:
            # Of the pairs of g and r each longer key needs more blocks and more tables.
            if g < 1 or r < 2 or g > k + 1 or k + 1 + g * (r - 1) > bits:
                break
            if not forced and sum(math.comb(e + r, r) for e in _budgets(k, g)) > MAX_TABLES:
                break
            plans.append(size.tables(g, r))
    if parts is None and key_blocks is None:
        plans.append(size.brute_force())
    if not plans:
        raise OptionError(
            f"parts={parts}, key_blocks={key_blocks} do not fit {bits} bits at max_distance={k}. "
            f"Use 0 to {k + 1} parts, and at least 2 key blocks, with max_distance + 1 + parts * (key_blocks - 1) <= {bits}."
        )
    return min(plans, key=lambda candidate: candidate.seconds)


@dataclass(frozen=True)
class _Size:
    """What is to be joined, and the cost of doing it in one way."""

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
            """Choices of the first `depth` blocks of a key, each a grouping of all rows."""
            return sum(math.comb(budget + depth, depth) for budget in budgets)

        scattered = depth = scatter_depth(most, words, key_blocks, block_bits)
        told = min(scattered * block_bits, scatter_bits(most, words, scattered, block_bits)) if scattered else 0.0
        while depth < key_blocks and most / 2**told > LEAF_ROWS:
            depth, told = depth + 1, told + block_bits
        comparisons = nodes(depth) * self.candidates / 2**told
        scatters = nodes(scattered) if scattered else 0
        splits = sum(nodes(d) for d in range(scattered + 1, depth + 1))
        # Half of the work on a row is the hash of a block, which is as wide in a wide row; the other half moves the row.
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


def scatter_depth(rows: int, words: int, key_blocks: int, block_bits: float) -> int:
    """By how many blocks of a key rows are scattered at once, so that buckets fit the cache; one is left to split them by."""
    depth = 0
    while depth < key_blocks - 1 and 8 * words * rows / 2 ** (depth * block_bits) > BUCKET_BYTES:
        depth += 1
    return depth


def scatter_bits(rows: int, words: int, depth: int, block_bits: float) -> int:
    """Into two to the power of how many buckets rows are scattered by `depth` blocks of a key.

    Enough for the cache, and so many that they and the next block tell all rows apart, if these blocks can.
    """
    cached = math.log2(rows * words * 8 / BUCKET_BYTES) + 1
    telling = math.log2(rows) + 2 - block_bits
    return max(1, min(MAX_BUCKET_BITS, math.ceil(max(cached, telling)), math.ceil(depth * block_bits) + 1))
