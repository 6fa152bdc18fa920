"""Whether bytes are valid UTF-8, how many characters they are, and where lines end; 64 bytes at a time."""

import numpy as np

from neardup.kernels.chosen_bytes import put_positions
from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import equal_mask, following_mask, popcount, word_masks
from neardup.kernels.wide_characters import utf8_errors

u64 = np.uint64
ONE = u64(1)
TAIL = 192
"""Bytes of scratch for the ends of the data."""


@kernel
def valid_copy(data, start, i, end, tail):
    """Whether the 64 bytes at `i` can stand there, if before `start` and from `end` on there is nothing."""
    tail[:] = np.uint8(0)
    for j in range(max(start, i - 3), min(end, i + 64)):
        tail[64 + j - i] = data[j]
    return utf8_errors(tail, 64) == 0 and (i + 64 < end or utf8_errors(tail, 128) == 0)


@kernel
def valid_utf8(data, offsets, tail):
    """Whether each text `data[offsets[d]:offsets[d + 1]]` is valid UTF-8. uint8[], int64[n + 1]; `tail`: uint8[TAIL], scratch."""
    start, end = offsets[0], offsets[-1]
    for d in range(len(offsets) - 1):
        if offsets[d] < offsets[d + 1] and data[offsets[d]] & np.uint8(0xC0) == 0x80:
            return False
    if not valid_copy(data, start, start, end, tail):
        return False
    i, unfinished = start + 64, True
    while i + 64 <= end:
        _, other = word_masks(data, i)
        if other != 0 or unfinished:
            if utf8_errors(data, i) != 0:
                return False
            unfinished = other >> u64(61) != 0
        i += 64
    return i >= end + 3 or valid_copy(data, start, i, end, tail)


@kernel
def count_characters(data, offsets, characters):
    """characters[d] (int64) of each text `data[offsets[d]:offsets[d + 1]]`, valid UTF-8. uint8[], int64[n + 1]."""
    for d in range(len(offsets) - 1):
        i, end, following = offsets[d], offsets[d + 1], u64(0)
        while i + 64 <= end:
            following += popcount(following_mask(data, i))
            i += 64
        while i < end:
            following += u64(data[i] & np.uint8(0xC0) == 0x80)
            i += 1
        characters[d] = end - offsets[d] - np.int64(following)


@kernel
def count_byte(data, begin, end, value):
    """How often `value` (uint8) stands in data[begin:end]."""
    i, found = begin, u64(0)
    while i + 64 <= end:
        found += popcount(equal_mask(data, i, value))
        i += 64
    while i < end:
        found += u64(data[i] == value)
        i += 1
    return np.int64(found)


@kernel
def find_byte(data, begin, end, value, behind):
    """Write one more than each place of `value` (uint8) in data[begin:end] to `behind`, int64[], with PLACES_BEHIND spare."""
    i, n = begin, u64(0)
    while i + 64 <= end:
        places = equal_mask(data, i, value)
        if places != 0:
            n = put_positions(places, i + 1, behind, n)
        i += 64
    while i < end:
        if data[i] == value:
            behind[n] = i + 1
            n += ONE
        i += 1
