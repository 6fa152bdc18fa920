"""Digests of texts."""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import load64
from neardup.kernels.text.normalization import decode
from neardup.kernels.xxh3 import u64, xxh3_128


@kernel
def digest_documents(data, offsets, digests):
    """XXH3-128 of the documents `data[offsets[d]:offsets[d + 1]]`: uint64[n, 2], high word first."""
    for d in range(len(offsets) - 1):
        digests[d, 0], digests[d, 1] = xxh3_128(data, offsets[d], offsets[d + 1])


# The first bytes of all characters that are decimal digits and not ASCII. A test compares them with the table of characters.
OF_DIGITS = np.zeros(256, np.bool_)
OF_DIGITS[[0xD9, 0xDB, 0xDF, 0xE0, 0xE1, 0xEA, 0xEF, 0xF0]] = True
HIGH = u64(0x8080808080808080)
ONES = u64(0x0101010101010101)


@kernel
def at_least(sevens, least):
    """The high bit of each of eight bytes below 0x80 that is `least` or more."""
    return (sevens | HIGH) - ONES * u64(least) & HIGH


@kernel
def has_digits(word):
    """Whether any of eight bytes is a digit, or may be the first one of a character that is. See `OF_DIGITS`."""
    sevens = word & ~HIGH
    found = ~word & at_least(sevens, 0x30) & ~at_least(sevens, 0x3A)
    if word & HIGH != u64(0):
        # From 0xD9 to 0xE1; then 0xEA, and from 0xEF on.
        found |= word & at_least(sevens, 0x59) & ~at_least(sevens, 0x62)
        found |= word & at_least(sevens, 0x6A) & (~at_least(sevens, 0x6B) | at_least(sevens, 0x6F))
    return found != u64(0)


@kernel
def digest_without_figures(data, offsets, table, digit, spare, digests):
    """Digests of documents in which each run of digits is one 0: uint64[n], the low word of XXH3-128, but 1 for 0.

    uint8[], int64[n + 1], uint8[0x110000], the value that digits have in it, and room for the longest document. The text must be
    valid UTF-8.
    """
    for d in range(len(offsets) - 1):
        o, goes_on = 0, 0
        i, end = offsets[d], offsets[d + 1]
        while i < end:
            if i + 8 <= end:
                word = load64(data, i)
                if not has_digits(word):
                    for j in range(8):  # one store
                        spare[o + j] = np.uint8(word >> u64(8 * j))
                    o += 8
                    i += 8
                    goes_on = 0
                    continue
            byte = data[i]
            if byte < 0x80:  # without a branch for digits, which no processor foresees
                is_digit = np.int64(np.uint8(byte - np.uint8(0x30)) < np.uint8(10))
                spare[o] = byte + is_digit * (0x30 - byte)
                o += 1 - (is_digit & goes_on)
                i += 1
            elif not OF_DIGITS[byte]:  # or a byte within a character
                is_digit = 0
                spare[o] = byte
                o += 1
                i += 1
            else:
                code, length = decode(data, i)
                is_digit = np.int64(table[code] == digit)
                if is_digit == 0:
                    for j in range(length):
                        spare[o + j] = data[i + j]
                    o += length
                elif goes_on == 0:
                    spare[o] = np.uint8(0x30)
                    o += 1
                i += length
            goes_on = is_digit
        digests[d] = max(u64(1), xxh3_128(spare, 0, o)[1])
