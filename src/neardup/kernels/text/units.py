"""Where the lines or the paragraphs of texts are."""

import numpy as np

from neardup.kernels.compilation import kernel

NEWLINE, RETURN, SPACE = 0x0A, 0x0D, 0x20


@kernel
def width_of_space(data, i, end):
    """Bytes of the white space that `data[i:end]` begins with, or 0: ASCII's, U+00A0, U+2000 to U+200B, U+3000."""
    byte = data[i]
    if byte == SPACE or 0x09 <= byte <= RETURN:
        return 1
    if byte == 0xC2 and i + 1 < end and data[i + 1] == 0xA0:
        return 2
    if (
        i + 2 < end
        and data[i + 1] == 0x80
        and ((byte == 0xE2 and data[i + 2] <= 0x8B) or (byte == 0xE3 and data[i + 2] == 0x80))
    ):
        return 3
    return 0


@kernel
def is_blank(data, i, end):
    """Whether `data[i:end]` has only white space."""
    while i < end:
        width = width_of_space(data, i, end)
        if width == 0:
            return False
        i += width
    return True


@kernel
def surely_has_token(data, i, end):
    """Whether `data[i:end]` has an ASCII letter or digit, a letter of U+0410 to U+043F, or an ideograph of U+5000 to U+8FFF."""
    while i < end:
        byte = data[i]
        if byte < 0x80:
            lower = byte | 0x20
            if 0x61 <= lower <= 0x7A or 0x30 <= byte <= 0x39:
                return True
        elif 0xE5 <= byte <= 0xE8 or (byte == 0xD0 and i + 1 < end and data[i + 1] >= 0x90):
            return True
        i += 1
    return False


@kernel
def find_units(data, offsets, paragraphs, starts, ends, firsts, sure):
    """Find the units of the texts `data[offsets[d]:offsets[d + 1]]`. Returns their number.

    Unit u is `data[starts[u]:ends[u]]` (int64[lines]), those of text d are firsts[d] to firsts[d + 1] (int64[n + 1]); sure[u] is as
    in `surely_has_token`. Every line is a unit, an empty one too, or every run of lines that are not blank (`paragraphs`). A
    carriage return before a newline is not of the line.
    """
    found = 0
    for d in range(len(offsets) - 1):
        firsts[d] = found
        i, end, inside = offsets[d], offsets[d + 1], False
        while True:
            stop = i
            while stop < end and data[stop] != NEWLINE:
                stop += 1
            last = stop
            if last > i and data[last - 1] == RETURN:
                last -= 1
            if paragraphs and is_blank(data, i, last):
                inside = False
            elif inside:
                ends[found - 1] = last
                sure[found - 1] |= surely_has_token(data, i, last)
            else:
                starts[found], ends[found], sure[found] = i, last, surely_has_token(data, i, last)
                found += 1
                inside = paragraphs
            if stop == end:
                break
            i = stop + 1
    firsts[len(offsets) - 1] = found
    return np.int64(found)
