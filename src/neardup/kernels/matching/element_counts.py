"""In how many documents an element (the hash of a shingle, say) occurs: counted in cells, so that memory is bounded.

An element's cell is given by the upper bits of its hash, which are taken to be evenly distributed. Elements may share a cell: a
count is never too small, up to MOST.
"""

import numpy as np

from neardup.kernels.compilation import kernel

MOST = 65_535
"""Cells count no further."""


@kernel
def scatter_regions(values, shift, ends, out):
    """Sort `values` (uint64[n]) by `values >> shift`, a region below len(ends) - 1, into `out`; region r ends at ends[r]."""
    ends[:] = 0
    for i in range(len(values)):
        ends[np.int64(values[i] >> shift) + 1] += 1
    for r in range(1, len(ends)):
        ends[r] += ends[r - 1]
    for i in range(len(values)):
        r = np.int64(values[i] >> shift)
        out[ends[r]] = values[i]
        ends[r] += 1


@kernel
def count_elements(values, first, last, shift, cells):
    """Count values[first:last] (uint64) in `cells` (uint16[2^k]); the cell of a value is `value >> shift`, shift = 64 - k."""
    for i in range(first, last):
        cell = np.int64(values[i] >> shift)
        count = cells[cell]
        if count < MOST:
            cells[cell] = count + np.uint16(1)


@kernel
def seek(values, starts, ends, last, places):
    """places[d] (int64): where the first of the ascending values[starts[d]:ends[d]] is that comes after `last`; or ends[d]."""
    for d in range(len(places)):
        low, high = starts[d], ends[d]
        while low < high:
            middle = (low + high) >> 1
            if values[middle] <= last:
                low = middle + 1
            else:
                high = middle
        places[d] = low


@kernel
def count_runs(values, ends, places, last, shift, cells):
    """Count a run of each document's values in `cells`, as `count_elements` does: from places[d] on, those up to `last`.

    values: uint64[], those of document d ascend up to ends[d]; places: int64[n], which are moved behind the runs.
    """
    for d in range(len(places)):
        i, end = places[d], ends[d]
        while i < end and values[i] <= last:
            cell = np.int64(values[i] >> shift)
            count = cells[cell]
            if count < MOST:
                cells[cell] = count + np.uint16(1)
            i += 1
        places[d] = i


@kernel
def find_counts(values, ends, places, last, shift, cells, counts):
    """Put the counts of such runs into `counts` (uint16, as long as `values`), to the places of their values."""
    for d in range(len(places)):
        i, end = places[d], ends[d]
        while i < end and values[i] <= last:
            counts[i] = cells[np.int64(values[i] >> shift)]
            i += 1
        places[d] = i


@kernel
def keep_marked(values, shift, marks, out):
    """Put those of `values` (uint64[n]) whose upper bits, `value >> shift`, are marked into `out` (uint64[n]); returns how many.

    `marks`: uint64[2^(58 - shift)], a bit for each.
    """
    kept = 0
    for i in range(len(values)):
        upper = values[i] >> shift
        out[kept] = values[i]
        kept += np.int64((marks[np.int64(upper >> np.uint64(6))] >> (upper & np.uint64(63))) & np.uint64(1))
    return kept


@kernel
def count_known(values, first, last, shift, guide, known, counts):
    """Count those of values[first:last] (uint64) that are among `known` (uint64[m], ascending) in `counts` (int64[m]).

    `guide`: int32[2^k + 1]; the known ones with the upper bits b = `value >> shift` are known[guide[b]:guide[b + 1]].
    """
    for i in range(first, last):
        upper = np.int64(values[i] >> shift)
        for j in range(guide[upper], guide[upper + 1]):
            counts[j] += known[j] == values[i]


@kernel
def gather_runs(values, starts, ends, out):
    """values[starts[i]:ends[i]] of each i, one run after another, into `out` (as long as all together)."""
    at = 0
    for i in range(len(starts)):
        for j in range(starts[i], ends[i]):
            out[at] = values[j]
            at += 1
