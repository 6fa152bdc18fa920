"""ROWS: what a store knows of each kept text at a fixed place, with checksums, and the gathering of what its files hold.

A checksum of words v is the sum of (v[i] + (i + 1) A) (B + 2 i) modulo 2^64, with B odd: one word that changed always changes it,
others do but for one case in 2^63 or so.
"""

import numpy as np

from neardup.kernels.compilation import kernel

u64 = np.uint64
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
def damaged_row(rows, numbers):
    """The first of some rows (int64[k]) that is not there, or whose checksum is another; -1 if there is none."""
    width = rows.shape[1]
    a, b = u64(width) * A, B + u64(2 * (width - 1))
    for number in numbers:
        if number < 0 or number >= len(rows):
            return number
        if rows[number, -1] != checksum_of(rows[number], 0, width - 1) + (u64(number) + a) * b:
            return number
    return np.int64(-1)


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
