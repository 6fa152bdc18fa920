"""MinHash: of a set of 64-bit hashes, a few values that agree with those of another set as often as the sets are alike."""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.fingerprints.shingles import shingle
from neardup.kernels.fingerprints.votes import clear_table, count_feature, table_size
from neardup.kernels.text.tokens import TokenArrays, most_tokens, token_arrays, tokenize
from neardup.kernels.xxh3 import avalanche_xxh64

u64 = np.uint64

ONE = u64(1)
EMPTY = ~u64(0)
"""No key of a bin: its upper bits, the rank, are 0."""


class Constants(NamedTuple):
    """What a seed decides.

    Attributes:
        key: uint64; hashes are mixed with it.
        multipliers: uint64[k], odd, of the permutations; they are not used for one.
        addends: uint64[k], of the permutations; what the winner is mixed with.
        binned: whether there is one permutation, with a bin for each value.
    """

    key: np.uint64
    multipliers: Array
    addends: Array
    binned: bool


class Scratch(NamedTuple):
    """Working memory for one document of up to a given length."""

    tokens: TokenArrays
    shingles: Array
    keys: Array
    counts: Array
    mixed: Array
    least: Array


def scratch(longest: int, values: int) -> Scratch:
    """Working memory for documents of at most `longest` bytes and signatures of `values` values."""
    n = most_tokens(longest)
    return Scratch(
        tokens=token_arrays(longest),
        shingles=np.empty(n, np.uint64),
        keys=np.empty(table_size(n), np.uint64),
        counts=np.empty(table_size(n), np.uint32),
        mixed=np.empty(n, np.uint64),
        least=np.empty(values, np.uint64),
    )


@kernel
def put_in_places(hashes, n, places, left):
    """Put each hash in the one place where it may lie, uint64[], unless another lies there: those go to `left`, and 0 does.

    Returns how many places are taken, and how many hashes are left. Nothing here branches, as nobody foresees which hash is new.
    """
    size = u64(16)
    while size < u64(2 * n):
        size *= u64(2)
    places[: np.int64(size)] = u64(0)
    mask, taken, c = size - ONE, u64(0), u64(0)
    for i in range(n):
        value = hashes[i]
        there = places[value & mask]
        free = u64(there == u64(0)) & u64(value != u64(0))
        places[value & mask] = value if there == u64(0) else there
        left[c] = value
        taken += free
        c += u64(there != value) & (free ^ ONE) | u64(value == u64(0))
    return np.int64(taken), np.int64(c)


@kernel
def count_distinct(hashes, n, keys, counts, left):
    """How many of the first n hashes differ; `keys` and `counts` have `table_size(n)` places, and `left`, uint64[], n."""
    distinct, c = put_in_places(hashes, n, keys, left)
    mask = clear_table(c, counts)
    for i in range(c):
        distinct += np.int64(count_feature(left[i], keys, counts, mask) == 1)
    return distinct


@kernel
def rank_bits(values):
    """Bits of the rank of one of so many bins, at least 1."""
    bits = ONE
    while (ONE << bits) < u64(values):
        bits += ONE
    return bits


@kernel
def least_of_bins(mixed, bins):
    """Put each number into one of k equal bins by its upper half; write the least lower bits in each, or EMPTY.

    uint64[n] -> uint64[k]: one permutation hashing (Li, Owen and Zhang 2012, section 1.3).
    """
    k = u64(len(bins))
    low = EMPTY >> rank_bits(len(bins))
    bins[:] = EMPTY
    for i in range(len(mixed)):
        b = (mixed[i] >> u64(32)) * k >> u64(32)
        bins[b] = min(bins[b], mixed[i] & low)


@kernel
def least_key(mixed, bin_number, values):
    """The least key of the numbers in one of `values` bins: the rank that a number gives to the bin, then its lower bits.

    A number ranks all bins in an order of its own, its own bin first, as shingles do in SuperMinHash (Ertl 2017). The order
    is a permutation of the integers below a power of two, made of multiplications by odd numbers and of xors with shifted
    bits, all of which vectors do.
    """
    bits = rank_bits(values)
    k, mask, low, shift = u64(values), (ONE << bits) - ONE, EMPTY >> bits, u64(64) - bits
    half = (bits + ONE) >> ONE
    least = EMPTY
    for i in range(len(mixed)):
        number = mixed[i]
        rank = (number | ONE) * (u64(bin_number) - ((number >> u64(32)) * k >> u64(32))) & mask
        rank ^= rank >> half
        rank = (number >> u64(10) | ONE) * rank & mask
        rank ^= rank >> half
        least = min(least, rank << shift | number & low)
    return least


@kernel
def least_of_permutation(mixed, multiplier, addend):
    """The least of x -> multiplier x + addend modulo 2^64 over the numbers; the multiplier is odd."""
    least = EMPTY
    for i in range(len(mixed)):
        least = min(least, multiplier * mixed[i] + addend)
    return least


@kernel
def sign(hashes, n, constants, memory, mask, signature):
    """Write the signature of the first n hashes, in any order and however often: uint64[n] -> uint32[k] or uint16[k].

    `mask` keeps the lower bits that `signature` holds. No hashes give a signature of zeros. Returns how many differ.
    """
    if n == 0:
        signature[:] = 0
        return 0
    mixed, least = memory.mixed[:n], memory.least
    for i in range(n):
        mixed[i] = avalanche_xxh64(hashes[i] ^ constants.key)
    k = len(least)
    if constants.binned:
        least_of_bins(mixed, least)
        for j in range(k):
            if least[j] == EMPTY:
                least[j] = least_key(mixed, j, k)
    else:
        for j in range(k):
            least[j] = least_of_permutation(mixed, constants.multipliers[j], constants.addends[j])
    # Mixed otherwise for each value: else two hashes that share their lower bits would share those of every value.
    for j in range(k):
        signature[j] = avalanche_xxh64(least[j] ^ constants.addends[j]) & mask
    return count_distinct(hashes, n, memory.keys, memory.counts, mixed)


@kernel
def sign_documents(data, offsets, constants, memory, mask, tables, signatures, sizes):
    """Sign the normalized documents `data[offsets[d]:offsets[d + 1]]` by their shingles of 3 words or 5 characters.

    uint8[], int64[n + 1] -> uint32[n, k] or uint16[n, k], and sizes int64[n]: distinct shingles.
    """
    for d in range(len(offsets) - 1):
        n = tokenize(data, offsets[d], offsets[d + 1], memory.tokens, tables)
        m = shingle(memory.tokens, n, 3, 5, memory.shingles)
        sizes[d] = sign(memory.shingles, m, constants, memory, mask, signatures[d])


@kernel
def sign_sets(hashes, offsets, constants, memory, mask, signatures, sizes):
    """Sign the sets `hashes[offsets[d]:offsets[d + 1]]`, hashes in any order and however often, of at most what `memory` is for.

    uint64[], int64[n + 1] -> uint32[n, k] or uint16[n, k], and sizes int64[n]: distinct hashes.
    """
    for d in range(len(offsets) - 1):
        n = offsets[d + 1] - offsets[d]
        sizes[d] = sign(hashes[offsets[d] : offsets[d + 1]], n, constants, memory, mask, signatures[d])
