"""Characters and phrases replaced by their variants, such as traditional Chinese by simplified: the longest match at each place."""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import trailing_zeros, word_masks
from neardup.kernels.text.normalization import decode, encode

u64 = np.uint64
BLOCK = 64
VALUE_BITS, GROUP_BITS = 21, 10
BEGINS_PHRASE = 1 << VALUE_BITS + GROUP_BITS
VALUE, GROUP = (1 << VALUE_BITS) - 1, (1 << GROUP_BITS) - 1


class Variants(NamedTuple):
    """What is replaced by what.

    Attributes:
        characters: uint32[0x110000], of each code point: what it becomes by itself, in the lowest VALUE_BITS; where phrases begin
            with it, BEGINS_PHRASE and above the value the number of their group.
        groups: int64[g + 1]: the phrases of group i are those from groups[i] to groups[i + 1], the longest first.
        seconds: uint64[g], a bit for the lowest six bits of each second character of the group's phrases.
        keys, key_starts: uint32[], int64[p + 1]: the code points of each phrase. values, value_starts: of what it becomes.
    """

    characters: Array
    groups: Array
    seconds: Array
    keys: Array
    key_starts: Array
    values: Array
    value_starts: Array


@kernel
def matched(data, i, end, variants, phrase):
    """Where the phrase ends that begins at `data[i]`, or -1 if another text stands there."""
    for k in range(variants.key_starts[phrase], variants.key_starts[phrase + 1]):
        if i >= end:
            return -1
        code, length = decode(data, i)
        if code != np.int64(variants.keys[k]):
            return -1
        i += length
    return i


@kernel
def replace_phrase(data, i, second, end, group, variants, out, o):
    """Replace the longest phrase of the group that begins at `data[i]`, and has its second character at `data[second]`.

    Returns where it ends, and the next free place of `out`; -1 and `o` if there is none.
    """
    if second >= end:
        return -1, o
    code, _ = decode(data, second)
    if variants.seconds[group] >> u64(code & 63) & u64(1) == u64(0):
        return -1, o
    for phrase in range(variants.groups[group], variants.groups[group + 1]):
        after = matched(data, i, end, variants, phrase)
        if after >= 0:
            for k in range(variants.value_starts[phrase], variants.value_starts[phrase + 1]):
                o = encode(np.int64(variants.values[k]), out, o)
            return after, o
    return -1, o


@kernel
def copy_ascii(data, i, end, out, o):
    """Copy the ASCII that begins at `data[i]`, as far as one block of 64 bytes shows it; returns how many bytes."""
    if i + BLOCK > end:
        return 0
    _, other = word_masks(data, i)
    n = np.int64(trailing_zeros(other))
    for j in range(BLOCK):
        out[o + j] = data[i + j]
    return n


@kernel
def replace_variants(data, offsets, variants, out, out_offsets):
    """The documents with what `variants` names replaced, from left to right, the longest key at each place.

    uint8[], valid UTF-8, int64[n + 1], `Variants` -> uint8[] with room for the longest values and 64 bytes more, int64[n + 1].
    """
    o = 0
    for d in range(len(offsets) - 1):
        out_offsets[d] = o
        i, end = offsets[d], offsets[d + 1]
        while i < end:
            if data[i] < 0x80:
                n = copy_ascii(data, i, end, out, o)
                if n > 0:
                    i += n
                    o += n
                    continue
            code, length = decode(data, i)
            entry = np.int64(variants.characters[u64(code)])
            if entry >= BEGINS_PHRASE:
                after, o = replace_phrase(data, i, i + length, end, entry >> VALUE_BITS & GROUP, variants, out, o)
                if after >= 0:
                    i = after
                    continue
            o = encode(entry & VALUE, out, o)
            i += length
    out_offsets[len(offsets) - 1] = o
