"""Prefixes: the rarest elements of a set, one of which every similar set must have as well.

Chaudhuri, Ganti and Kaushik 2006, section 3; Bayardo, Ma and Srikant 2007, sections 3 and 4; Xiao et al. 2008, section 3.
All sets are put in one order: by the cell's count (element_counts.py), the rarest first, then by value. An element whose cell
counted one is in no other set: it takes a place in the prefix, and no more.
"""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.matching.bounds import cosine_prefix
from neardup.kernels.matching.similarities import index_length, is_by_norm, prefix_length
from neardup.kernels.xxh3 import xxh3_128

KEPT, SKIPPED, PROBING, INDEXED = range(4)
"""Columns of what `prefixes` says of each set: see there."""


DIGIT = 255
"""Counts are sorted by digits of eight bits; those below this one have one digit."""


@kernel
def order_by_count(counts, n, wanted, index, spare, ends):
    """Put the `wanted` ones of index[:n] (int32) with the least counts[index] (uint16) first, sorted by it, stably.

    `spare`: int32[n], `ends`: int64[257], scratch. The order of the others is not specified.
    """
    ends[:] = 0
    for j in range(n):
        ends[min(counts[index[j]], DIGIT) + 1] += 1
    largest, fewer = 0, np.int64(0)
    while largest < DIGIT and fewer + ends[largest + 1] < wanted:
        fewer += ends[largest + 1]
        largest += 1
    if largest < DIGIT:  # only those up to the largest wanted: mostly a fourth of all
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
def weighted_prefix(weights, start, n, counts, index, shared, threshold, ordered):
    """Length of the cosine prefix: elements in no other set come first, then the `shared` ones of `index`. float64[n] scratch."""
    once = 0
    for i in range(n):
        if counts[i] <= 1:
            ordered[once] = weights[start + i]
            once += 1
    for j in range(shared):
        ordered[once + j] = weights[start + index[j]]
    return cosine_prefix(ordered, 0, n, threshold)


@kernel
def rest_norms(weights, start, n, index, kept, shared, rests, total):
    """rests[total + j] (float32): how much of the vector's norm lies in the shared elements from the j-th on, rounded up."""
    whole, rest = 0.0, 0.0
    for i in range(n):
        whole += weights[start + i] * weights[start + i]
    for j in range(shared - 1, -1, -1):
        rest += weights[start + index[j]] * weights[start + index[j]]
        if j < kept:
            rests[total + j] = np.float32(np.sqrt(rest / whole) * 1.000001)


@kernel
def prefixes(
    code, values, value_bytes, weights, weight_bytes, offsets, cells, shift, threshold, counts, index, spare, ends, ordered,
    out, rests, facts, digests,
):  # fmt: skip
    """The prefixes of the sets values[offsets[d]:offsets[d + 1]] (uint64, ascending, distinct), one after another.

    Args:
        code: the similarity, one of similarities.py's; `threshold`: what it must reach.
        weights: float64[], of the elements, for the cosine; else empty.
        value_bytes, weight_bytes: the same memory as uint8[].
        cells, shift: see element_counts.py.
        counts, index, spare, ordered: uint16, int32, int32 and float64 scratch, as long as the longest set; `ends`: int64[257].
        out: uint64[], filled with the elements that are kept, the rarest first; room for all values.
        rests: float32[], as long, filled for the cosine: see `rest_norms`; else empty.
        facts: int32[d, 4], filled: elements kept; elements that come before them, which no other set has; how many of those
            kept are probed with; how many are indexed (see prefix_join.py).
        digests: uint64[d, 2], filled: equal for equal sets (with equal weights).

    Returns the number of elements in `out`.
    """
    total, by_norm = 0, is_by_norm(code)
    for d in range(len(offsets) - 1):
        start = offsets[d]
        n = offsets[d + 1] - start
        digests[d, 0], digests[d, 1] = xxh3_128(value_bytes, 8 * start, 8 * (start + n))
        shared = np.int64(0)
        for i in range(n):
            count = cells[np.int64(values[start + i] >> shift)]
            counts[i], index[shared] = count, i
            shared += count > 1  # a sum instead of a branch that cannot be foreseen
        skipped = n - shared
        if by_norm:
            high, low = xxh3_128(weight_bytes, 8 * start, 8 * (start + n))
            digests[d, 0] += high
            digests[d, 1] += low
            order_by_count(counts, shared, shared, index, spare, ends)
            probing = weighted_prefix(weights, start, n, counts, index, shared, threshold, ordered) - skipped
            indexed = probing
        else:
            probing, indexed = prefix_length(code, n, threshold) - skipped, index_length(code, n, threshold) - skipped
            wanted = min(max(probing, indexed), shared)
            if wanted > 0:
                order_by_count(counts, shared, wanted, index, spare, ends)
        probing, indexed = min(max(probing, 0), shared), min(max(indexed, 0), shared)
        kept = max(probing, indexed)
        for j in range(kept):
            out[total + j] = values[start + index[j]]
        if by_norm:
            rest_norms(weights, start, n, index, kept, shared, rests, total)
        total += kept
        facts[d, 0], facts[d, 1], facts[d, 2], facts[d, 3] = kept, skipped, probing, indexed
    return total
