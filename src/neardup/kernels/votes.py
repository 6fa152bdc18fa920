"""From a document's features to its fingerprint: every feature's hash votes on every bit.

Unit votes are counted bit-sliced, 64 counters at once, by carry-save adders (Harley and Seal; Mula, Kurz and Lemire 2018,
"Faster population counts using AVX2 instructions", section 4). Weights are fixed-point integers, so that no sum depends on
the order of its terms. A bit is 1 where the sum of the votes is above 0, hence 0 at a tie (Charikar 2002, section 3).
"""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.xxh3 import xxh3_128, xxh3_128_of_4_to_8

u64 = np.uint64
ONE = u64(1)
UNIFORM, TF, LOG, SQRT = range(4)
FRACTION_BITS = 16
"""Bits after the point in a fixed-point weight."""
PLANES = 40
"""Counters have this many bits: up to 2^40 votes a document."""


def table_size(features: int) -> int:
    """Places of the largest hash table that up to `features` features need: see `clear_table`."""
    return 1 << max(4, (4 * features - 1).bit_length())


@kernel
def clear_table(n, counts):
    """Free the places of a table for `n` features: a power of two, a quarter full at most. Returns the mask of its places."""
    size = 16
    while size < 4 * n:
        size *= 2
    for place in range(size):
        counts[place] = np.uint32(0)
    return u64(size - 1)


@kernel
def count_feature(feature, keys, counts, mask):
    """Count one more of `feature` in an open-addressing table (a count of 0 is a free place). Returns the new count."""
    place = feature & mask
    while not ((counts[place] == 0) | (keys[place] == feature)):  # one branch, nearly always not taken
        place = (place + ONE) & mask
    keys[place] = feature
    count = counts[place] + np.uint32(1)
    counts[place] = count
    return count


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
    # Every feature is written where the next vote goes, and stays if it was one: no branch to mispredict.
    if weights == UNIFORM:
        for i in range(n):
            count = count_feature(features[i], keys, counts, mask)
            votes[v] = features[i]
            v += u64(count == 1)
    else:
        for i in range(n):
            count = count_feature(features[i], keys, counts, mask)
            votes[v] = features[i]
            v += u64(count & (count - np.uint32(1)) == 0)
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
    for i in range(n):
        lanes[0, i], lanes[1, i] = xxh3_128_of_4_to_8(votes[i], u64(8))
    for k in range(1, (words + 1) // 2):
        for i in range(n):
            pair[0], pair[1] = votes[i], u64(k)
            high, low = xxh3_128(pair_bytes, 0, 16)
            lanes[2 * k, i] = high
            if 2 * k + 1 < words:
                lanes[2 * k + 1, i] = low


@kernel
def add3(a, b, c):
    """Carry-save adder: 64 one-bit additions at once. Returns the carries and the sums."""
    u = a ^ b
    return (a & b) | (u & c), u ^ c


@kernel
def add_plane(carry, j, planes):
    """Add `carry` to bit j of the 64 counters."""
    while carry != 0:
        x = planes[j]
        planes[j] = x ^ carry
        carry &= x
        j += 1


@kernel
def majority(hashes, n, planes):
    """Bit j is 1 where more than half of the n hashes have it. uint64[n]; `planes`, scratch: bit j of 64 counters each."""
    planes[:] = u64(0)
    ones, twos, fours, eights = u64(0), u64(0), u64(0), u64(0)
    for i in range(0, n - 15, 16):
        a, ones = add3(ones, hashes[i], hashes[i + 1])
        b, ones = add3(ones, hashes[i + 2], hashes[i + 3])
        c, twos = add3(twos, a, b)
        a, ones = add3(ones, hashes[i + 4], hashes[i + 5])
        b, ones = add3(ones, hashes[i + 6], hashes[i + 7])
        d, twos = add3(twos, a, b)
        e, fours = add3(fours, c, d)
        a, ones = add3(ones, hashes[i + 8], hashes[i + 9])
        b, ones = add3(ones, hashes[i + 10], hashes[i + 11])
        c, twos = add3(twos, a, b)
        a, ones = add3(ones, hashes[i + 12], hashes[i + 13])
        b, ones = add3(ones, hashes[i + 14], hashes[i + 15])
        d, twos = add3(twos, a, b)
        f, fours = add3(fours, c, d)
        carry, eights = add3(eights, e, f)
        add_plane(carry, 4, planes)
    planes[0], planes[1], planes[2], planes[3] = ones, twos, fours, eights
    for i in range(n - n % 16, n):
        add_plane(hashes[i], 0, planes)
    more, equal, half = u64(0), ~u64(0), n // 2
    for j in range(PLANES - 1, -1, -1):
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
