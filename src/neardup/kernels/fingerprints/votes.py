"""From a document's features to its fingerprint: every feature's hash votes on every bit.

Unit votes are counted bit-sliced, 64 counters at once, by carry-save adders (Harley and Seal; Mula, Kurz and Lemire 2018,
"Faster population counts using AVX2 instructions", section 4). Weights are fixed-point integers, so that no sum depends on
the order of its terms. A bit is 1 where the sum of the votes is above 0, hence 0 at a tie (Charikar 2002, section 3).
"""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.constants import COLUMN_BITS, COLUMNS, ROWS
from neardup.kernels.intrinsics import count_columns, opaque
from neardup.kernels.xxh3 import xxh3_128, xxh3_128_of_each_eight

u64 = np.uint64
ONE = u64(1)
UNIFORM, TF, LOG, SQRT = range(4)
WEIGHTINGS = {"uniform": UNIFORM, "tf": TF, "log": LOG, "sqrt": SQRT}
"""By the names of `neardup.recipe.tables.parts.WEIGHTS`: those that depend on a feature's count alone."""
FRACTION_BITS = 16
"""Bits after the point in a fixed-point weight."""
PLANES = 40
"""Counters have this many bits: up to 2^40 votes a document."""
PLANE_SPARE = 8
"""Words that `majority` needs behind the planes."""
VECTOR = 32
"""Loops over votes do so many more at the most, with whatever lies there."""
VOTES_BEHIND = COLUMNS * ROWS - 1
"""Places that `majority` needs behind the votes."""


def table_size(features: int) -> int:
    """Places of a hash table for `features` features: a power of two, at most a quarter full."""
    return 1 << max(4, (4 * features - 1).bit_length())


@kernel
def count_feature(feature, keys, counts, mask):
    """Count one more of `feature` in an open-addressing table (a count of 0 is a free place). Returns the new count.

    Whether a feature is new is a coin's toss: the search branches on "another one lies here" alone, which is rare.
    """
    place = feature & mask
    count = counts[place]
    while (keys[place] ^ feature) & opaque(u64(np.int64(u64(0) - u64(count)) >> 63)) != 0:
        place = (place + ONE) & mask
        count = counts[place]
    keys[place] = feature
    count = np.uint32(count + np.uint32(1))
    counts[place] = count
    return count


@kernel
def clear_table(n, counts):
    """Empty the table, at a size for `n` features. Returns the mask of its places."""
    size = u64(16)
    while size < u64(4 * n):
        size *= u64(2)
    counts[: np.int64(size)] = np.uint32(0)
    return size - ONE


@kernel
def unit_votes(features, n, weights, keys, counts, votes):
    """Repeat each distinct feature as often as its weight says: UNIFORM 1, TF its count c, LOG 1 + floor(log2 c).

    uint64[n] -> uint64[]. A vote is cast whenever the count reaches a value at which the weight grows. Returns the votes.
    """
    if weights == TF:
        for i in range(n):
            votes[i] = features[i]
        return n
    mask = clear_table(n, counts)
    v = u64(0)
    if weights == UNIFORM:
        for i in range(n):
            votes[v] = features[i]  # stays if it counts
            v += u64(count_feature(features[i], keys, counts, mask) == 1)
    else:
        for i in range(n):
            count = count_feature(features[i], keys, counts, mask)
            votes[v] = features[i]
            v += u64(count & np.uint32(count - np.uint32(1)) == 0)
    return np.int64(v)


@kernel
def square_root_weights(features, n, keys, counts, votes, weights):
    """The distinct features and round(2^16 sqrt(count)) of each. uint64[n] -> uint64[], int64[]. Returns their number."""
    mask = clear_table(n, counts)
    for i in range(n):
        count_feature(features[i], keys, counts, mask)
    v = 0
    for place in range(np.int64(mask) + 1):
        if counts[place] != 0:
            votes[v] = keys[place]
            weights[v] = np.int64(np.sqrt(np.float64(counts[place])) * (1 << FRACTION_BITS) + 0.5)
            v += 1
    return v


@kernel
def whole_vectors(n):
    """n, or the next multiple of VECTOR: loops of so many have no rest that is done one by one."""
    return (n + VECTOR - 1) // VECTOR * VECTOR


@kernel
def widen(votes, n, lanes, pair, pair_bytes):
    """Each feature's hash at the fingerprint's width: lanes[w, i] is word w (0 is the most significant) of feature i.

    64 bits: the feature's hash F itself. Wider: words 0 and 1 are XXH3-128 of F's eight bytes, words 2 k and 2 k + 1 (k > 0)
    XXH3-128 of the sixteen bytes of F and k. `pair` is scratch, uint64[2], and `pair_bytes` the same memory.
    """
    words = lanes.shape[0]
    if words == 1:
        for i in range(n):
            lanes[0, i] = votes[i]
        return
    xxh3_128_of_each_eight(votes, n, lanes[0], lanes[1])
    for k in range(1, (words + 1) // 2):
        for i in range(n):
            pair[0], pair[1] = votes[i], u64(k)
            high, low = xxh3_128(pair_bytes, 0, 16)
            lanes[2 * k, i] = high
            if 2 * k + 1 < words:
                lanes[2 * k + 1, i] = low


@kernel
def add_bits(planes, at, part, n):
    """Add numbers of n bits, planes[part:part + n], to those at planes[at:]; what overflows is the next bit, which was 0."""
    carry = u64(0)
    for j in range(n):
        a, b = planes[at + j], planes[part + j]
        u = a ^ b
        planes[at + j] = u ^ carry
        carry = (a & b) | (u & carry)
    planes[at + n] = carry


@kernel
def majority(hashes, n, planes):
    """Bit j is 1 where more than half of the n hashes have it. uint64[n + VOTES_BEHIND], which is used up.

    `planes`, scratch, uint64[PLANES + PLANE_SPARE]: bit j of 64 counters each. First the hashes are counted, then what overflows,
    each for sixteen, then what of that overflows.
    """
    planes[:] = u64(0)
    p, left = 0, n
    while left > 0:
        blocks = (left + COLUMNS * ROWS - 1) // (COLUMNS * ROWS)
        hashes[left : COLUMNS * ROWS * blocks] = u64(0)  # adds nothing
        count_columns(hashes, blocks, planes, PLANES)
        add_bits(planes, p, PLANES, COLUMN_BITS)
        p += 4
        left = COLUMNS * blocks if left >= ROWS else 0
    more, equal, half = u64(0), ~u64(0), n // 2
    for j in range(p + COLUMN_BITS - 4, -1, -1):
        if half >> j & 1:
            equal &= planes[j]
        else:
            more |= equal & planes[j]
            equal &= ~planes[j]
    return more


@kernel
def add_weighted(lanes, weights, n, sums):
    """Add each weight where its hash's bit is 1 and subtract it where it is 0. uint64[w, n], int64[n] -> int64[64 w].

    sums[64 w + j] belongs to bit 63 - j of word w: the most significant comes first.
    """
    sums[:] = 0
    for w in range(lanes.shape[0]):
        part = sums[64 * w : 64 * w + 64]
        for i in range(n):
            bits, weight = lanes[w, i], weights[i]
            for j in range(64):
                part[j] += weight if bits >> u64(63 - j) & ONE else -weight


@kernel
def signs(sums, out):
    """Bit j of `out` (uint64[w], most significant first) is 1 where sums[j] > 0."""
    for w in range(len(out)):
        word = u64(0)
        for j in range(64):
            word = word << ONE | u64(sums[64 * w + j] > 0)
        out[w] = word
