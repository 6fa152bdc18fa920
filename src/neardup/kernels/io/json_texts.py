"""Rows of JSON lines with parts of their texts removed: everything else of a row stays as stored.

A row is one JSON object in UTF-8 that was read before, so it is valid. In a text of which something is removed, only characters
that JSON requires are escaped, as `neardup.io.formats.json.json_values.quote` does it.
"""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import load64
from neardup.kernels.text.normalization import decode

u64 = np.uint64
QUOTE, BACKSLASH, SLASH, COLON, COMMA, SPACE = 0x22, 0x5C, 0x2F, 0x3A, 0x2C, 0x20
OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY = 0x7B, 0x7D, 0x5B, 0x5D
LETTER_B, LETTER_F, LETTER_N, LETTER_R, LETTER_T, LETTER_U = 0x62, 0x66, 0x6E, 0x72, 0x74, 0x75
ONES, TOPS = u64(0x0101010101010101), u64(0x8080808080808080)
CONTROLS, QUOTES, BACKSLASHES = ONES * u64(SPACE), ONES * u64(QUOTE), ONES * u64(BACKSLASH)
EIGHT = 8
ODD = -1
"""Instead of a place: the row must be looked at by other code."""


@kernel
def are_plain(eight):
    """Whether none of eight bytes is a quote, a backslash, a control character, or part of a character that is not ASCII."""
    quotes, backslashes = eight ^ QUOTES, eight ^ BACKSLASHES
    found = eight | (eight - CONTROLS) & ~eight | (quotes - ONES) & ~quotes | (backslashes - ONES) & ~backslashes
    return found & TOPS == 0


@kernel
def after_blanks(data, i, end):
    """The next place that is no white space."""
    while i < end and (data[i] == SPACE or data[i] == 9 or data[i] == 10 or data[i] == 13):
        i += 1
    return i


@kernel
def end_of_string(data, i, end):
    """Where the string whose quote is at i ends, behind its other quote, and whether it has a backslash; ODD if it does not end."""
    has_backslash, i = False, i + 1
    while i < end:
        if i + EIGHT <= end and are_plain(load64(data, i)):
            i += EIGHT
            continue
        byte = data[i]
        if byte == QUOTE:
            return i + 1, has_backslash
        if byte == BACKSLASH:
            has_backslash = True
            i += 1
        i += 1
    return ODD, has_backslash


@kernel
def end_of_value(data, i, end):
    """Where the value that begins at i ends."""
    depth = 0
    while i < end:
        byte = data[i]
        if byte == QUOTE:
            i, _ = end_of_string(data, i, end)
            if i == ODD:
                return ODD
            if depth == 0:
                return i
            continue
        if byte in (OPEN_OBJECT, OPEN_ARRAY):
            depth += 1
        elif byte in (CLOSE_OBJECT, CLOSE_ARRAY):
            if depth == 0:
                return i
            depth -= 1
            if depth == 0:
                return i + 1
        elif byte == COMMA and depth == 0:
            return i
        i += 1
    return ODD


@kernel
def find_text(data, i, end, key, key_begin, key_end):
    """Where the string of a key begins and ends in the object data[i:end], with its quotes; ODD if that is not clear."""
    i = after_blanks(data, i, end)
    if i >= end or data[i] != OPEN_OBJECT:
        return ODD, ODD
    i = after_blanks(data, i + 1, end)
    while i < end and data[i] == QUOTE:
        begin = i + 1
        i, has_backslash = end_of_string(data, i, end)
        if i == ODD or has_backslash:
            return ODD, ODD
        is_key = i - 1 - begin == key_end - key_begin
        for j in range(key_end - key_begin):
            if not is_key:
                break
            is_key = data[begin + j] == key[key_begin + j]
        i = after_blanks(data, after_blanks(data, i, end) + 1, end)  # behind the colon
        if is_key:
            if i >= end or data[i] != QUOTE:
                return ODD, ODD
            stop, _ = end_of_string(data, i, end)
            return i, stop
        i = end_of_value(data, i, end)
        if i == ODD:
            return ODD, ODD
        i = after_blanks(data, i, end)
        if i >= end or data[i] != COMMA:
            return ODD, ODD
        i = after_blanks(data, i + 1, end)
    return ODD, ODD


@kernel
def hexadecimal(data, i):
    """The number of four hexadecimal digits; ODD if they are none."""
    found = 0
    for j in range(4):
        byte = np.int64(data[i + j])
        if 0x30 <= byte <= 0x39:
            digit = byte - 0x30
        elif 0x41 <= byte | 0x20 <= 0x66 and byte | 0x20 >= 0x61:
            digit = (byte | 0x20) - 0x57
        else:
            return ODD
        found = found << 4 | digit
    return found


@kernel
def put_character(code, out, o):
    """Write a character as it stands in a JSON string; returns the next place of `out`."""
    if code < SPACE or code in (QUOTE, BACKSLASH):
        out[o] = BACKSLASH
        short = code
        if code == 8:
            short = LETTER_B
        elif code == 9:
            short = LETTER_T
        elif code == 10:
            short = LETTER_N
        elif code == 12:
            short = LETTER_F
        elif code == 13:
            short = LETTER_R
        if short >= SPACE:
            out[o + 1] = short
            return o + 2
        out[o + 1], out[o + 2], out[o + 3] = LETTER_U, 0x30, 0x30
        out[o + 4] = 0x30 + (code >> 4)
        out[o + 5] = 0x30 + (code & 15) if code & 15 < 10 else 0x57 + (code & 15)
        return o + 6
    if code < 0x80:
        out[o] = code
        return o + 1
    if code < 0x800:
        out[o], out[o + 1] = 0xC0 | code >> 6, 0x80 | code & 0x3F
        return o + 2
    if code < 0x10000:
        out[o], out[o + 1], out[o + 2] = 0xE0 | code >> 12, 0x80 | code >> 6 & 0x3F, 0x80 | code & 0x3F
        return o + 3
    out[o], out[o + 1] = 0xF0 | code >> 18, 0x80 | code >> 12 & 0x3F
    out[o + 2], out[o + 3] = 0x80 | code >> 6 & 0x3F, 0x80 | code & 0x3F
    return o + 4


@kernel
def escaped(data, i, end):
    """The character whose backslash is at i, and where the next one begins; ODD if that is not clear."""
    if i + 2 > end:
        return ODD, ODD
    byte = np.int64(data[i + 1])
    if byte in (QUOTE, BACKSLASH, SLASH):
        return byte, i + 2
    if byte == LETTER_N:
        return 10, i + 2
    if byte == LETTER_T:
        return 9, i + 2
    if byte == LETTER_R:
        return 13, i + 2
    if byte == LETTER_B:
        return 8, i + 2
    if byte == LETTER_F:
        return 12, i + 2
    if byte != LETTER_U or i + 6 > end:
        return ODD, ODD
    code = hexadecimal(data, i + 2)
    if code < 0xD800 or code >= 0xE000:
        return code, i + 6
    if code >= 0xDC00 or i + 12 > end or data[i + 6] != BACKSLASH or data[i + 7] != LETTER_U:
        return ODD, ODD
    low = hexadecimal(data, i + 8)
    if low < 0xDC00 or low >= 0xE000:
        return ODD, ODD
    return 0x10000 + ((code - 0xD800) << 10 | low - 0xDC00), i + 12


@kernel
def pass_characters(data, i, end, count, is_kept, out, o):
    """Pass `count` characters of the inside of a string, data[i:end], and write them to `out` at o if they are kept.

    Returns the next places of both, the first ODD if they are not clear; and how many of the characters were not there.
    """
    while count > 0 and i < end:
        if count >= EIGHT and i + EIGHT <= end and are_plain(load64(data, i)):
            if is_kept:
                for j in range(EIGHT):
                    out[o + j] = data[i + j]
                o += EIGHT
            i += EIGHT
            count -= EIGHT
            continue
        byte = data[i]
        if byte < SPACE or byte == QUOTE:
            return ODD, o, count
        if byte == BACKSLASH:
            code, i = escaped(data, i, end)
            if code == ODD:
                return ODD, o, count
            if is_kept:
                o = put_character(code, out, o)
        elif byte < 0x80:
            if is_kept:
                out[o] = byte
                o += 1
            i += 1
        else:
            _, length = decode(data, i)
            if is_kept:
                for j in range(length):
                    out[o + j] = data[i + j]
                o += length
            i += length
        count -= 1
    return i, o, count


@kernel
def cut_text(data, begin, stop, spans, first, last, out, o):
    """Write the string data[begin:stop], with its quotes, without the spans from `first` to `last`; returns the next place of
    `out`, ODD if that is not clear.
    """
    out[o] = QUOTE
    i, o, character = begin + 1, o + 1, 0
    for s in range(first, last):
        i, o, rest = pass_characters(data, i, stop - 1, spans[s, 2] - character, True, out, o)
        if i == ODD or rest > 0:
            return ODD
        i, o, rest = pass_characters(data, i, stop - 1, spans[s, 3] - spans[s, 2], False, out, o)
        if i == ODD or rest > 0:
            return ODD
        if spans[s, 4] > 0:
            out[o] = SPACE
            o += 1
        character = spans[s, 3]
    i, o, _ = pass_characters(data, i, stop - 1, stop - i, True, out, o)
    if i == ODD:
        return ODD
    out[o] = QUOTE
    return o + 1


@kernel
def copy_bytes(data, i, end, out, o):
    """Write data[i:end]; returns the next place of `out`."""
    for j in range(end - i):
        out[o + j] = data[i + j]
    return o + end - i


@kernel
def cut_rows(data, starts, ends, kept, first_row, spans, keys, key_ends, begins, stops, out):
    """Write the rows that are kept, without the spans; returns the number of bytes, or ODD if some row is not clear.

    data: uint8[], rows with what ends them; starts, ends: int64[rows], of each; kept: bool[rows]. spans: int64[s, 5], the number of
    a row, less `first_row`, and of a key, first character and end, and whether a space is put there; ascending. keys: uint8[], of
    which key k ends at key_ends[k], int64[keys]; begins, stops: int64[keys], working memory. out: uint8[], as long as all rows.
    """
    o, s = 0, 0
    for row in range(len(starts)):
        while s < len(spans) and spans[s, 0] - first_row < row:
            s += 1
        if not kept[row]:
            continue
        i, end, first = starts[row], ends[row], s
        while s < len(spans) and spans[s, 0] - first_row == row:
            s += 1
        if s > first:
            for k in range(len(key_ends)):
                begins[k] = ODD
            for j in range(first, s):
                k = spans[j, 1]
                if begins[k] == ODD:
                    begins[k], stops[k] = find_text(data, i, end, keys, key_ends[k - 1] if k > 0 else 0, key_ends[k])
                    if begins[k] == ODD or stops[k] == ODD:
                        return ODD
            while True:
                k = ODD
                for j in range(len(key_ends)):
                    if begins[j] != ODD and (k == ODD or begins[j] < begins[k]):
                        k = j
                if k == ODD:
                    break
                o = copy_bytes(data, i, begins[k], out, o)
                low = first
                while spans[low, 1] != k:
                    low += 1
                high = low
                while high < s and spans[high, 1] == k:
                    high += 1
                o = cut_text(data, begins[k], stops[k], spans, low, high, out, o)
                if o == ODD:
                    return ODD
                i = stops[k]
                begins[k] = ODD
        o = copy_bytes(data, i, end, out, o)
    return o
