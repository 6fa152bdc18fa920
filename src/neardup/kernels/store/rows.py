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
def seal_rows(rows):
    """Write into the last column the checksum of the others: uint64[n, width]."""
    for i in range(len(rows)):
        rows[i, -1] = checksum_of(rows[i], 0, rows.shape[1] - 1)


@kernel
def damaged_row(rows, numbers):
    """The first of some rows (int64[k]) whose checksum is another; -1 if there is none."""
    for number in numbers:
        if rows[number, -1] != checksum_of(rows[number], 0, rows.shape[1] - 1):
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
