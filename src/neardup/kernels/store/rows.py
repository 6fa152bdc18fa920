"""ROWS: what a store knows of each kept text at a fixed place, with checksums, and the gathering of what its files hold.

A checksum of words v is the sum of (v[i] + (i + 1) A) (B + 2 i) modulo 2^64, with B odd: one word that changed always changes it,
others do but for one case in 2^63 or so.
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import opaque, popcount
from neardup.kernels.matching.similarities import may_reach, required_overlap
from neardup.kernels.store.postings import is_marked

u64 = np.uint64
LINE, TOUCHED = 8, 64
"""Words that come from memory together, and rows that are waited for together."""
A, B = u64(0x9E3779B97F4A7C15), u64(0xD1B54A32D192ED03)


@kernel
def checksum_of(words, begin, end):
    """The checksum of words[begin:end], uint64[]."""
    total, a, b = u64(0), A, B
    for i in range(begin, end):
        total += (words[i] + a) * b
        a += A
        b += u64(2)
    return total


@kernel
def fill_checksums(words, offsets, out):
    """The checksums of words[offsets[i]:offsets[i + 1]]: uint64[], int64[n + 1] -> uint64[n]."""
    for i in range(len(offsets) - 1):
        out[i] = checksum_of(words, offsets[i], offsets[i + 1])


@kernel
def fill_signature_checksums(signatures, out):
    """The checksums of signatures, each value as a word: uint32[n, k] -> uint64[n]."""
    for i in range(len(signatures)):
        out[i] = checksum_of(signatures[i], 0, signatures.shape[1])


@kernel
def seal_rows(rows, first):
    """Write into the last column the checksum of the others, and of the number behind them: uint64[n, width], from `first` on."""
    for i in range(len(rows)):
        rows[i, -1] = u64(first + i)
        rows[i, -1] = checksum_of(rows[i], 0, rows.shape[1])


@kernel
def is_sound_row(rows, number):
    """Whether there is a row with this number, and its checksum is that of its words."""
    if number < 0 or number >= len(rows):
        return False
    width = rows.shape[1]
    of_number = (u64(number) + u64(width) * A) * (B + u64(2 * (width - 1)))
    return rows[number, -1] == checksum_of(rows[number], 0, width - 1) + of_number


@kernel
def damaged_row(rows, numbers):
    """The first of some rows (int64[k]) that is not there, or whose checksum is another; -1 if there is none."""
    for number in numbers:
        if not is_sound_row(rows, number):
            return number
    return np.int64(-1)


class Sieved(NamedTuple):
    """Of n texts, how many elements each has, int64[n], and their bitmaps, uint64[n, words]."""

    sizes: Array
    bitmaps: Array


@kernel
def touch(rows, numbers):
    """Read rows that are needed soon, so that the processor waits for all of them at once. Returns what is to be ignored."""
    read = u64(0)
    for number in numbers:
        at = min(max(number, 0), len(rows) - 1)
        for word in range(0, rows.shape[1], LINE):
            read += rows[at, word]
        read += rows[at, -1]
    return read


@kernel
def sieve_rows(rows, columns, numbers, places, texts, code, threshold, out):
    """Whether documents, of which there are rows, and texts can reach a similarity, by their sizes and bitmaps of equal width.

    Bits that differ bound how many elements one set has and the other lacks; see `neardup.kernels.matching.bitmaps`.

    Args:
        rows: uint64[documents, width].
        columns: where the number of elements is in a row, and where its bitmap begins.
        numbers, places: int64[p], the documents, and the places of the texts.
        texts: see Sieved.
        code, threshold: the similarity, not one of BY_NORM, and what is to be reached.
        out: bool[p].

    Returns:
        The first number of which there is no sound row, or -1.
    """
    size, begin = columns
    for i in range(len(numbers)):
        if i % TOUCHED == 0 and len(rows):
            opaque(touch(rows, numbers[i : i + TOUCHED]))
        number, place = numbers[i], places[i]
        if not is_sound_row(rows, number):
            return number
        apart = np.int64(0)
        for word in range(texts.bitmaps.shape[1]):
            apart += np.int64(popcount(rows[number, begin + word] ^ texts.bitmaps[place, word]))
        a, b = np.int64(rows[number, size]), texts.sizes[place]
        out[i] = may_reach(code, (a + b - apart) >> 1, a, b, threshold)
    return np.int64(-1)


class Held(NamedTuple):
    """Texts against which all others are held, and working memory.

    Attributes:
        sizes: int64[n], how many elements each has.
        bitmaps: uint64[words, n], by columns, so that a word is compared with those of all texts.
        limits, apart: int64[n], working memory.
    """

    sizes: Array
    bitmaps: Array
    limits: Array
    apart: Array


class Met(NamedTuple):
    """Pairs of a text and another one that may be similar enough, and where to go on.

    Attributes:
        places, others: int64[room], room for n pairs at least.
        state: int64[2]: pairs found; the next of the others.
    """

    places: Array
    others: Array
    state: Array


@kernel
def hold(other, size, bitmap, upto, is_new_size, texts, code, threshold, met):
    """Note which of the texts before `upto` may be similar enough to another one of that size and bitmap, uint64[words].

    By the bits that differ: see `sieve_rows`. Limits stay for others of the same size.
    """
    sizes, limits, apart = texts.sizes, texts.limits, texts.apart
    if is_new_size:
        for j in range(len(sizes)):
            needed = required_overlap(code, sizes[j], size, threshold)
            limits[j] = sizes[j] + size - 2 * max(1, needed) if needed <= min(sizes[j], size) else -1
    apart[:upto] = 0
    for word in range(len(bitmap)):
        column = texts.bitmaps[word]
        for j in range(upto):
            apart[j] += np.int64(popcount(bitmap[word] ^ column[j]))
    found = met.state[0]
    for j in range(upto):
        if apart[j] <= limits[j]:
            met.places[found], met.others[found] = j, other
            found += 1
    met.state[0] = found


@kernel
def meet_rows(rows, columns, least_tokens, gone, texts, code, threshold, met):
    """Find the pairs of a text and a document, of which there is a row, that may be similar enough: see `hold`.

    Args:
        rows, columns: see `sieve_rows`; before the two columns, that of the number of tokens.
        least_tokens: documents with fewer are left out, and those marked in `gone`, uint8[].
        texts, met: goes on where the latter says, until there is no room.
        code, threshold: see `sieve_rows`.

    Returns:
        The first number whose row is not sound, or -1.
    """
    tokens, size, begin = columns
    words, last = texts.bitmaps.shape[0], np.int64(-1)
    number = met.state[1]
    while number < len(rows) and met.state[0] + len(texts.sizes) <= len(met.places):
        if not is_marked(gone, number) and np.int64(rows[number, tokens]) >= least_tokens:
            if not is_sound_row(rows, number):
                return number
            own = np.int64(rows[number, size])
            bitmap = rows[number, begin : begin + words]
            hold(number, own, bitmap, len(texts.sizes), own != last, texts, code, threshold, met)
            last = own
        number += 1
    met.state[1] = number
    return np.int64(-1)


@kernel
def meet_texts(rows, texts, code, threshold, met):
    """Find the pairs of two of the texts that may be similar enough, the later one as the other: see `hold`.

    rows: uint64[n, words], the bitmaps of the same texts. Goes on where `met` says, until there is no room.
    """
    other, last = met.state[1], np.int64(-1)
    while other < len(rows) and met.state[0] + len(texts.sizes) <= len(met.places):
        own = texts.sizes[other]
        hold(other, own, rows[other], other, own != last, texts, code, threshold, met)
        last, other = own, other + 1
    met.state[1] = other


@kernel
def gather(words, starts, checksums, offsets, out):
    """Copy runs of words: run i begins at starts[i] and goes to out[offsets[i]:offsets[i + 1]].

    uint64[], int64[k], uint64[k], int64[k + 1] -> uint64[]. Returns the first run whose checksum is another, or -1.
    """
    damaged = np.int64(-1)
    for i in range(len(starts)):
        start = starts[i]
        for at in range(offsets[i], offsets[i + 1]):
            out[at] = words[start + at - offsets[i]]
        if damaged < 0 and checksum_of(out, offsets[i], offsets[i + 1]) != checksums[i]:
            damaged = np.int64(i)
    return damaged


@kernel
def gather_signatures(signatures, numbers, checksums, out):
    """Copy signatures: uint32[n, k], int64[m], uint64[m] -> uint32[m, k]. Returns the first whose checksum is another, or -1."""
    damaged = np.int64(-1)
    for i in range(len(numbers)):
        for at in range(out.shape[1]):
            out[i, at] = signatures[numbers[i], at]
        if damaged < 0 and checksum_of(out[i], 0, out.shape[1]) != checksums[i]:
            damaged = np.int64(i)
    return damaged
