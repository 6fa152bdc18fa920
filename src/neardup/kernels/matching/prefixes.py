"""Prefixes: the rarest elements of a set, one of which every similar set must have as well.

Chaudhuri, Ganti and Kaushik 2006, section 3; Bayardo, Ma and Srikant 2007, sections 3 and 4; Xiao et al. 2008, section 3.
All sets are put in one order: by the cell's count (element_counts.py), the rarest first, then by value. An element whose cell
counted one is in no other set: it takes a place in the prefix, and no more.
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.matching.bounds import cosine_prefix
from neardup.kernels.matching.similarities import BY_NORM, index_length, prefix_length
from neardup.kernels.xxh3 import xxh3_128

DIGIT = 255
"""Counts are sorted by digits of eight bits; those below this one have one digit."""


class SetArrays(NamedTuple):
    """Sets, one after another.

    Attributes:
        values, offsets: uint64[], int64[n + 1]; set d has values[offsets[d]:offsets[d + 1]], ascending and distinct.
        weights: float64[], of the elements, for the cosine; else empty.
        value_bytes, weight_bytes: the same memory as uint8[].
    """

    values: Array
    value_bytes: Array
    weights: Array
    weight_bytes: Array
    offsets: Array


class PrefixMemory(NamedTuple):
    """Working memory: int32, int32 and float64 as long as the longest set (the last for the cosine), and int64[257]."""

    places: Array
    spare: Array
    ordered: Array
    ends: Array


class PrefixArrays(NamedTuple):
    """What `prefixes` fills.

    Attributes:
        elements: uint64[], those that are kept, the rarest first; with room for all values.
        rests: float32[], as long, for the cosine: see `rest_norms`; else empty.
        facts: int32[n, 4]: elements kept; elements that come before them, which no other set has; how many of those kept are
            probed with; how many are indexed (see prefix_join.py).
        digests: uint64[n, 2], equal for equal sets (with equal weights).
    """

    elements: Array
    rests: Array
    facts: Array
    digests: Array


@kernel
def order_by_count(counts, n, first, index, spare, ends):
    """Put the `first` ones of index[:n] (int32) with the least counts[index] (uint16) first, sorted by it, stably.

    `spare`: int32[n], `ends`: int64[257], scratch. The order of the others is not specified.
    """
    ends[:] = 0
    for j in range(n):
        ends[min(counts[index[j]], DIGIT) + 1] += 1
    largest, fewer = 0, np.int64(0)
    while largest < DIGIT and fewer + ends[largest + 1] < first:
        fewer += ends[largest + 1]
        largest += 1
    if largest < DIGIT:  # only those up to the largest of the first: mostly a fourth of all
        m = np.int64(0)
        for j in range(n):
            place = index[j]
            index[m] = place
            m += counts[place] <= largest
        n = m
    else:
        for j in range(n):
            largest = max(largest, np.int64(counts[index[j]]))
    shift = 0
    while largest >> shift > 0:
        ends[:] = 0
        for j in range(n):
            ends[((counts[index[j]] >> shift) & 255) + 1] += 1
        for digit in range(1, 257):
            ends[digit] += ends[digit - 1]
        for j in range(n):
            digit = (counts[index[j]] >> shift) & 255
            spare[ends[digit]] = index[j]
            ends[digit] += 1
        for j in range(n):
            index[j] = spare[j]
        shift += 8


@kernel
def weighted_prefix(weights, counts, shared, threshold, memory):
    """Length of the cosine prefix of float64[n], whose elements have these counts (uint16[n]).

    Elements in no other set come first, then the `shared` ones of the index.
    """
    ordered, once = memory.ordered, 0
    for i in range(len(weights)):
        if counts[i] <= 1:
            ordered[once] = weights[i]
            once += 1
    for j in range(shared):
        ordered[once + j] = weights[memory.places[j]]
    return cosine_prefix(ordered, 0, len(weights), threshold)


@kernel
def rest_norms(weights, index, kept, shared, rests):
    """rests[j] (float32), j below `kept`: how much of the norm lies in the shared elements from the j-th on, rounded up."""
    whole, rest = 0.0, 0.0
    for i in range(len(weights)):
        whole += weights[i] * weights[i]
    for j in range(shared - 1, -1, -1):
        rest += weights[index[j]] * weights[index[j]]
        if j < kept:
            rests[j] = np.float32(np.sqrt(rest / whole) * 1.000001)


@kernel
def prefixes(code, threshold, sets, element_counts, memory, out):
    """The prefixes of sets for a similarity of at least `threshold`, one after another. Returns the number of elements in them.

    code: one of similarities.py's; `SetArrays`; element_counts: uint16[], that of each value; `PrefixMemory` -> `PrefixArrays`.
    """
    values, weights, index = sets.values, sets.weights, memory.places
    total, by_norm = 0, code in BY_NORM
    for d in range(len(sets.offsets) - 1):
        start, end = sets.offsets[d], sets.offsets[d + 1]
        n, counts = end - start, element_counts[start:end]
        out.digests[d, 0], out.digests[d, 1] = xxh3_128(sets.value_bytes, 8 * start, 8 * end)
        shared = np.int64(0)
        for i in range(n):
            index[shared] = i
            shared += counts[i] > 1  # a sum instead of a branch that cannot be foreseen
        skipped = n - shared
        if by_norm:
            high, low = xxh3_128(sets.weight_bytes, 8 * start, 8 * end)
            out.digests[d, 0] += high
            out.digests[d, 1] += low
            order_by_count(counts, shared, shared, index, memory.spare, memory.ends)
            probing = weighted_prefix(weights[start:end], counts, shared, threshold, memory) - skipped
            indexed = probing
        else:
            probing, indexed = prefix_length(code, n, threshold) - skipped, index_length(code, n, threshold) - skipped
            first = min(max(probing, indexed), shared)
            if first > 0:
                order_by_count(counts, shared, first, index, memory.spare, memory.ends)
        probing, indexed = min(max(probing, 0), shared), min(max(indexed, 0), shared)
        kept = max(probing, indexed)
        for j in range(kept):
            out.elements[total + j] = values[start + index[j]]
        if by_norm:
            rest_norms(weights[start:end], index, kept, shared, out.rests[total:])
        total += kept
        out.facts[d, 0], out.facts[d, 1], out.facts[d, 2], out.facts[d, 3] = kept, skipped, probing, indexed
    return total
