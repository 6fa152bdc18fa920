"""Which windows of tokens may occur more than once: minimizers of windows, and hashes of the windows that these cannot exclude.

An L-gram is a window of `size` tokens. Its *minimizer* is the least of the mixed hashes of its k-grams, the last one of equals.
Equal L-grams have equal minimizers at the same offset, so an L-gram whose minimizer stands at one place alone occurs once
(Schleimer, Wilkerson and Aiken 2003, section 3.1, who call this winnowing; Roberts and others 2004).

The hash of an L-gram is a polynomial over the field of 2^61 - 1: two L-grams of different token hashes have the same one for at
most `size` of all bases. Modulo 2^64, words of Thue and Morse collide for every base.

A *piece* is what no window may leave: a text column of a document. Places are numbers of tokens over all pieces, and one more
place, of no token, stands behind each piece; so runs of places never go from one piece into the next.
"""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import multiply_high
from neardup.kernels.text.tokens import tokenize

u64 = np.uint64
PRIME = u64((1 << 61) - 1)
STEP = u64(0x9E3779B97F4A7C15)
"""The base of the hashes of k-grams, which only choose."""


@kernel
def multiply_mod(a, b):
    """The product modulo 2^61 - 1 of two numbers below it."""
    low, high = a * b, multiply_high(a, b)
    found = (low & PRIME) + (low >> u64(61) | high << u64(3))
    found = (found & PRIME) + (found >> u64(61))
    return found - PRIME if found >= PRIME else found


@kernel
def reduced(value):
    """A 64-bit number modulo 2^61 - 1."""
    found = (value & PRIME) + (value >> u64(61))
    return found - PRIME if found >= PRIME else found


@kernel
def mixed(value):
    """A permutation of the 64-bit numbers that leaves no order."""
    value ^= value >> u64(33)
    value *= u64(0xFF51AFD7ED558CCD)
    value ^= value >> u64(33)
    value *= u64(0xC4CEB9FE1A85EC53)
    return value ^ value >> u64(33)


@kernel
def mixed_grams(hashes, begin, end, k, out):
    """out[i - begin] (uint64): the mixed hash of the k tokens from i on, for each i from `begin` to `end - k`."""
    value, power = u64(0), u64(1)
    for _ in range(k):
        power *= STEP
    for i in range(begin, end):
        value = value * STEP + hashes[i]
        if i - begin >= k:
            value -= hashes[i - k] * power
        if i - begin >= k - 1:
            out[i - begin - k + 1] = mixed(value)


@kernel
def last_least(values, begin, end):
    """Where the least of values[begin:end] is; the last of equal ones."""
    found = begin
    for i in range(begin + 1, end):
        if values[i] <= values[found]:
            found = i
    return found


@kernel
def find_minimizers(hashes, pieces, size, k, grams, out):
    """The minimizers of all windows of `size` tokens, once for each place where one stands.

    uint64[tokens], int64[pieces + 1], ints, uint64[tokens of the longest piece] -> uint64[tokens]. Returns their number.
    """
    m, width = 0, size - k + 1
    for p in range(len(pieces) - 1):
        begin, end = pieces[p], pieces[p + 1]
        n = end - begin - k + 1
        if end - begin < size:
            continue
        mixed_grams(hashes, begin, end, k, grams)
        at = last_least(grams, 0, width)
        out[m] = grams[at]
        m += 1
        for i in range(width, n):
            if grams[i] <= grams[at]:
                at = i
            elif at <= i - width:
                at = last_least(grams, i - width + 1, i + 1)
            else:
                continue
            out[m] = grams[at]
            m += 1
    return m


@kernel
def second_of(value):
    """Another hash of a minimizer, for its second cell."""
    return value * STEP ^ value >> u64(29)


@kernel
def seconds_of(values, out):
    """`second_of` of each value; uint64[n] -> uint64[n]."""
    for i in range(len(values)):
        out[i] = second_of(values[i])


@kernel
def note(value, shift, seen):
    """Note in one cell that a value was seen: once, or again."""
    cell = value >> shift
    bit, word = u64(1) << (cell & u64(31)) * u64(2), np.int64(cell >> u64(5))
    known = seen[word]
    seen[word] = known | (bit if known & bit == 0 else bit << u64(1))


@kernel
def is_noted_again(value, shift, seen):
    """Whether a cell was noted more than once."""
    cell = value >> shift
    return seen[np.int64(cell >> u64(5))] >> (cell & u64(31)) * u64(2) & u64(2) != 0


@kernel
def see(values, first, last, shift, seen):
    """Note that values[first:last] (uint64) were seen, in two cells each, of two bits (uint64[2^k / 32]); shift = 64 - k."""
    for i in range(first, last):
        note(values[i], shift, seen)
        note(second_of(values[i]), shift, seen)


@kernel
def is_seen_again(value, shift, seen):
    """Whether a value was seen more than once, or others were that have its two cells."""
    return is_noted_again(value, shift, seen) and is_noted_again(second_of(value), shift, seen)


@kernel
def hash_of_window(hashes, begin, size, base):
    """The hash of the window of `size` tokens that begins at `begin`."""
    value = u64(0)
    for i in range(begin, begin + size):
        value = reduced(multiply_mod(value, base) + reduced(hashes[i]))
    return value


@kernel
def find_repeated_windows(hashes, pieces, size, k, base, power, shift, seen, grams, values, places):
    """The hashes and places of all windows whose minimizer was seen again, in order.

    hashes: uint64[tokens]; pieces: int64[pieces + 1]; size, k: ints; base: uint64, below 2^61 - 1; power: base^size; shift, seen:
    see `see`; grams: uint64[tokens of the longest piece]. -> values: uint64[tokens], mixed; places: int64[tokens], counted from
    the first token of the first piece. Returns their number.
    """
    m, width = 0, size - k + 1
    for p in range(len(pieces) - 1):
        begin, end = pieces[p], pieces[p + 1]
        if end - begin < size:
            continue
        mixed_grams(hashes, begin, end, k, grams)
        at, rolling, value = -1, False, u64(0)
        is_again = False
        for start in range(end - begin - size + 1):
            newest = start + width - 1
            before = at
            if at < 0 or at < start:
                at = last_least(grams, start, newest + 1)
            elif grams[newest] <= grams[at]:
                at = newest
            if at != before:
                is_again = is_seen_again(grams[at], shift, seen)
            if not is_again:
                rolling = False
                continue
            i = begin + start
            if rolling:
                gone = multiply_mod(reduced(hashes[i - 1]), power)
                value = reduced(multiply_mod(value, base) + reduced(hashes[i + size - 1]) + PRIME - gone)
            else:
                value = hash_of_window(hashes, i, size, base)
                rolling = True
            values[m] = mixed(value)
            places[m] = i - pieces[0] + p
            m += 1
    return m


@kernel
def hash_texts(data, offsets, memory, tables, hashes, texts):
    """The hashes of the tokens of the normalized texts `data[offsets[d]:offsets[d + 1]]`, one text after another.

    uint8[], int64[n + 1], `TokenArrays` for the longest text -> uint64[], with room for the tokens of all; texts: int64[n + 1], the
    first token of each.
    """
    total = 0
    texts[0] = 0
    for d in range(len(offsets) - 1):
        n = tokenize(data, offsets[d], offsets[d + 1], memory, tables)
        for i in range(n):
            hashes[total + i] = memory.hashes[i]
        total += n
        texts[d + 1] = total
