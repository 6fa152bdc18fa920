"""Whether bytes are valid UTF-8, 64 at a time."""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import word_masks
from neardup.kernels.wide_characters import utf8_errors

u64 = np.uint64
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
