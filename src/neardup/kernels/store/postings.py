"""POSTINGS: which texts have a key, in a chained hash table to which texts are added, and in sorted segments that never change.

A key is 64 bits wide, of which postings keep 32, mixed: two keys that differ may meet there (one pair in 2^32), so what is found
are candidates. A posting takes 12 bytes: its key, the text, the place of the key in the text's order of elements, and the size
of the text. Places and sizes that do not fit 16 bits are kept such that no text is left out.
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import opaque
from neardup.kernels.matching.similarities import BY_NORM, may_reach
from neardup.kernels.xxh3 import xxh3_128

u64 = np.uint64
MIX = u64(0x9E3779B97F4A7C15)
LARGEST = 65_535
"""The largest place that is kept; a size of LARGEST may be any larger one."""
PAGE = 4096
"""Bytes of a page of a segment: what the system reads at once, so that checking it reads nothing more."""
DAMAGED = -1
"""Instead of how many texts were found: a page is not what was written."""
MANY = 1 << 21
"""Pairs that are found together, at most, except for a single text."""
TOUCHED = 64
"""Keys that are looked up in a segment together."""
ANY = -1
"""Instead of the code of a similarity: every text with the key is found."""


class Keys(NamedTuple):
    """Keys of some texts, text after text.

    Attributes:
        keys: uint64[k].
        texts: int64[k], a place or a number for each.
        positions: uint32[k], how many elements of the text come before the one that is the key.
        sizes: uint32[k], how many elements the text has.
    """

    keys: Array
    texts: Array
    positions: Array
    sizes: Array


class Entries(NamedTuple):
    """Postings: keys uint32[k], texts uint32[k], positions uint16[k], sizes uint16[k]."""

    keys: Array
    texts: Array
    positions: Array
    sizes: Array


class Chains(NamedTuple):
    """Where a key's entries are in a table: one that follows heads[key >> shift] by links; each is its place plus 1, 0 for none.

    heads: uint32[2**(32 - shift)], links: uint32[k].
    """

    heads: Array
    links: Array
    shift: int


class Sorted(NamedTuple):
    """Where a key's entries are in a segment, and the pages of the file, which are checked when they are read first.

    Attributes:
        directory: uint32[2**(32 - shift) + 1]; the entries of a key are from directory[key >> shift] on, before the next.
        shift: see above.
        content: uint8[b], the bytes of the file that are in pages of PAGE bytes.
        sums: uint64[p], the checksums of the pages.
        is_checked: uint8[p], whether a page is known to be what was written.
        starts: int64[5], where in `content` the arrays of the entries and the directory begin.
    """

    directory: Array
    shift: int
    content: Array
    sums: Array
    is_checked: Array
    starts: Array


class Room(NamedTuple):
    """Room for what is found, pairs of the text that was asked for and the one that was found: int64[m], int64[m]."""

    asked: Array
    found: Array


@kernel
def short_key(key):
    """The 32 bits of a key (uint64) that postings keep."""
    return np.uint32((key * MIX) >> u64(32))


@kernel
def may_match(code, threshold, position, size, other_position, other_size):
    """Whether two texts can reach the threshold if what they have in common begins with this key.

    Of a pair that reaches it, at least the first common key says so: the elements from there on are enough (the positional filter
    of Xiao, Wang, Lin and Yu 2008, section 4). The other place is at most the true one, and LARGEST stands for any larger size.
    """
    if code == ANY or code in BY_NORM or other_size == LARGEST:
        return True
    return may_reach(code, min(size - position, other_size - other_position), size, other_size, threshold)


@kernel
def is_marked(marks, number):
    """Whether a bit is set; uint8[b], those behind the last are not."""
    byte = number >> 3
    return byte < len(marks) and (np.int64(marks[byte]) >> (number & 7)) & 1 == 1


@kernel
def add_entries(keys, first, entries, chains):
    """Put keys behind the first entries of a table that has room for them."""
    for i in range(len(keys.keys)):
        key, at = short_key(keys.keys[i]), first + i
        entries.keys[at], entries.texts[at] = key, np.uint32(keys.texts[i])
        entries.positions[at] = np.uint16(min(np.int64(keys.positions[i]), LARGEST))
        entries.sizes[at] = np.uint16(min(np.int64(keys.sizes[i]), LARGEST))
        bucket = np.int64(key) >> chains.shift
        chains.links[at] = chains.heads[bucket]
        chains.heads[bucket] = np.uint32(at + 1)


@kernel
def add_again(before, entries, chains):
    """Put the entries of a table into another one, which is empty and has more room."""
    for at in range(len(before.keys)):
        entries.keys[at], entries.texts[at] = before.keys[at], before.texts[at]
        entries.positions[at], entries.sizes[at] = before.positions[at], before.sizes[at]
        bucket = np.int64(before.keys[at]) >> chains.shift
        chains.links[at] = chains.heads[bucket]
        chains.heads[bucket] = np.uint32(at + 1)


@kernel
def find_chained(asked, entries, chains, gone, code, threshold, room):
    """Find the texts in a table that have an asked key; those marked in `gone` are left out. Returns how many were found.

    They may be more than there is room for, and those for which there is none are not written: ask again with more. More than
    MANY mean that several texts are asked for, and not all was counted.
    """
    total = 0
    for i in range(len(asked.keys)):
        if total > MANY and asked.texts[i] != asked.texts[0]:
            return total
        key = short_key(asked.keys[i])
        position, size = np.int64(asked.positions[i]), np.int64(asked.sizes[i])
        at = np.int64(chains.heads[np.int64(key) >> chains.shift]) - 1
        while at >= 0:
            if entries.keys[at] == key:
                text = np.int64(entries.texts[at])
                other, other_size = np.int64(entries.positions[at]), np.int64(entries.sizes[at])
                if may_match(code, threshold, position, size, other, other_size) and not is_marked(gone, text):
                    if total < len(room.found):
                        room.asked[total], room.found[total] = asked.texts[i], text
                    total += 1
            at = np.int64(chains.links[at]) - 1
    return total


@kernel
def is_whole(places, array, width, begin, end):
    """Whether the pages are what was written that have the items [begin, end) of an array, whose items have `width` bytes."""
    first = places.starts[array] + width * begin
    for page in range(first // PAGE, (places.starts[array] + width * end - 1) // PAGE + 1):
        if places.is_checked[page] == 0:
            last = min((page + 1) * PAGE, len(places.content))
            if xxh3_128(places.content, page * PAGE, last)[0] != places.sums[page]:
                return False
            places.is_checked[page] = 1
    return True


@kernel
def touch(keys, entries, places):
    """Read of a segment what these keys need, so that the processor waits for all of it at once. Returns what is to be ignored."""
    read, last = u64(0), len(entries.keys) - 1
    if last < 0:
        return read
    for key in keys:
        read += u64(places.directory[np.int64(short_key(key)) >> places.shift])
    for key in keys:
        at = min(np.int64(places.directory[np.int64(short_key(key)) >> places.shift]), last)
        read += u64(entries.keys[at]) + u64(entries.texts[at]) + u64(entries.positions[at]) + u64(entries.sizes[at])
    return read


@kernel
def find_sorted(asked, entries, places, gone, code, threshold, room):
    """The same in a segment; DAMAGED if a page of it that is needed is not what was written."""
    total = 0
    for i in range(len(asked.keys)):
        if i % TOUCHED == 0:
            opaque(touch(asked.keys[i : i + TOUCHED], entries, places))
        if total > MANY and asked.texts[i] != asked.texts[0]:
            return total
        key = short_key(asked.keys[i])
        position, size = np.int64(asked.positions[i]), np.int64(asked.sizes[i])
        bucket = np.int64(key) >> places.shift
        if not is_whole(places, 4, 4, bucket, bucket + 2):
            return DAMAGED
        begin, end = np.int64(places.directory[bucket]), np.int64(places.directory[bucket + 1])
        if begin < end and not is_whole(places, 0, 4, begin, end):
            return DAMAGED
        while begin < end and entries.keys[begin] < key:
            begin += 1
        while begin < end and entries.keys[end - 1] > key:
            end -= 1
        if begin == end:
            continue
        for array in range(1, 4):
            if not is_whole(places, array, 4 if array == 1 else 2, begin, end):
                return DAMAGED
        for at in range(begin, end):
            other, other_size = np.int64(entries.positions[at]), np.int64(entries.sizes[at])
            if may_match(code, threshold, position, size, other, other_size):
                text = np.int64(entries.texts[at])
                if not is_marked(gone, text):
                    if total < len(room.found):
                        room.asked[total], room.found[total] = asked.texts[i], text
                    total += 1
    return total


@kernel
def merge_entries(left, right, gone, out):
    """Merge two segments' entries, of equal keys those of `left` first, without texts marked in `gone`. Returns their number."""
    a, b, n = 0, 0, 0
    while a < len(left.keys) or b < len(right.keys):
        if b == len(right.keys) or (a < len(left.keys) and left.keys[a] <= right.keys[b]):
            if not is_marked(gone, np.int64(left.texts[a])):
                out.keys[n], out.texts[n] = left.keys[a], left.texts[a]
                out.positions[n], out.sizes[n] = left.positions[a], left.sizes[a]
                n += 1
            a += 1
        else:
            if not is_marked(gone, np.int64(right.texts[b])):
                out.keys[n], out.texts[n] = right.keys[b], right.texts[b]
                out.positions[n], out.sizes[n] = right.positions[b], right.sizes[b]
                n += 1
            b += 1
    return n


@kernel
def fill_directory(keys, shift, directory):
    """Where the entries begin whose keys have each of the highest bits: uint32[k] ascending -> uint32[2**(32 - shift) + 1]."""
    bucket = 0
    for i in range(len(keys)):
        last = np.int64(keys[i]) >> shift
        while bucket <= last:
            directory[bucket] = np.uint32(i)
            bucket += 1
    while bucket < len(directory):
        directory[bucket] = np.uint32(len(keys))
        bucket += 1
