"""Sparse rows: only the dimensions that are not 0 are hashed, and no plane is stored."""

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from neardup.arrays import Array, for_kernels, is_of
from neardup.errors import OptionError
from neardup.fingerprints.vectors.rows import SparseRows, blocks, refuse_row
from neardup.kernels.fingerprints.vectors import hashed_rows, independent_rows, is_ascending, planes_rows, sum_repeated
from neardup.recipe.vectors import VectorRecipe
from neardup.resources.threads import in_order

Fill = Callable[[Array, Array, Array, Array], None]
"""Fills fingerprints from indptr, indices and data."""

MAX_NARROW = 1 << 31
"""Up to this many dimensions, indices are int32, for which all kernels are compiled; beyond, int64, for hashed dimensions only."""
ENTRIES_AT_ONCE = 1 << 18
ROWS_AT_ONCE = 1 << 16
WIDE_ENTRIES_AT_ONCE = 1 << 10


def by_signs(recipe: VectorRecipe) -> Fill:
    """Use the bits of hashed dimensions as the signs of planes."""
    top_mask = np.uint64((1 << (recipe.bits - 64 * (recipe.words - 1))) - 1)

    def fill(indptr: Array, indices: Array, data: Array, out: Array) -> None:
        longest = int(np.diff(indptr).max(initial=0))
        pair, sums = np.empty(2, np.uint64), np.empty(64 * recipe.words)
        hashes, lanes = np.empty(longest, np.uint64), np.empty((recipe.words, longest), np.uint64)
        seed = np.uint64(recipe.seed)
        hashed_rows(indptr, indices, data, seed, top_mask, hashes, lanes, pair, pair.view(np.uint8), sums, out)

    return fill


def by_independent_hashes(recipe: VectorRecipe) -> Fill:
    """Use one hash for each entry and bit."""
    if recipe.dimension > MAX_NARROW:
        raise OptionError(
            f"`method='independent'` takes sparse rows of at most {MAX_NARROW:,} dimensions, not {recipe.dimension:,}. "
            "Use `method='signs'`."
        )

    def fill(indptr: Array, indices: Array, data: Array, out: Array) -> None:
        key = np.empty(3, np.uint64)
        seed, sums = np.uint64(recipe.seed), np.empty(recipe.bits)
        independent_rows(indptr, indices, data, seed, key, key.view(np.uint8), sums, out)

    return fill


def by_planes(planes: Array) -> Fill:
    """Use the caller's planes: float[bits, dimension]."""
    if planes.dtype == np.float64:
        return _by_wide_planes(planes)

    def fill(indptr: Array, indices: Array, data: Array, out: Array) -> None:
        planes_rows(indptr, indices, data, planes, np.empty(len(planes)), out)

    return fill


def _by_wide_planes(planes: Array) -> Fill:
    """Use planes that float32 does not hold, for which no kernel is compiled: `accumulate` adds in the order of the definition."""
    bits = len(planes)

    def fill(indptr: Array, indices: Array, data: Array, out: Array) -> None:
        signs = np.zeros(64 * out.shape[1], np.bool_)
        for row, (first, last) in enumerate(pairwise(indptr.tolist())):
            sums = np.zeros((1, bits))
            for part in blocks(last - first, WIDE_ENTRIES_AT_ONCE):
                entries = slice(first + part.start, first + part.stop)
                products = data[entries, None].astype(np.float64) * planes[:, indices[entries]].T
                sums = np.add.accumulate(np.concatenate([sums, products]))[-1:]
            signs[-bits:] = sums[0] > 0
            out[row] = np.packbits(signs).view(">u8")

    return fill


SPARSE: dict[str, Callable[[VectorRecipe], Fill]] = {"signs": by_signs, "independent": by_independent_hashes}
"""How each method fingerprints sparse rows. Other methods need stored planes; sparse rows have too many dimensions for that."""


def fill_sparse(rows: SparseRows, fill: Fill, largest: float, out: Array, threads: int) -> None:
    """Fill out (uint64[n, words]) with fingerprints. `largest`: the largest number in a plane, or 1."""

    def work(part: slice) -> None:
        fill(*_ordered(rows, part, largest), out[part])

    for _ in in_order(work, _parts(rows), threads):
        pass


def _parts(rows: SparseRows) -> Iterator[slice]:
    start = 0
    while start < len(rows):
        end = int(np.searchsorted(rows.indptr, rows.indptr[start] + ENTRIES_AT_ONCE, "right")) - 1
        end = min(max(end, start + 1), start + ROWS_AT_ONCE, len(rows))
        yield slice(start, end)
        start = end


def _ordered(rows: SparseRows, part: slice, largest: float) -> tuple[Array, Array, Array]:
    """indptr, indices and data of some rows, with ascending indices; entries with the same index are added up first."""
    indptr = rows.indptr[part.start : part.stop + 1]
    begin, end = indptr[0], indptr[-1]
    indptr = indptr - begin
    wide = rows.dimension > MAX_NARROW
    data = for_kernels(rows.data[begin:end], np.float32 if is_of(rows.data, np.float32) and not wide else np.float64)
    indices = for_kernels(rows.indices[begin:end], np.int64 if wide else np.int32)
    _check(part.start, indptr, data, largest)
    if is_ascending(indptr, indices):
        return indptr, indices, data
    order = np.lexsort((indices, np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))))
    narrow, starts = indices.dtype, np.empty_like(indptr)
    indices, data = indices[order].astype(np.int64), data[order].astype(np.float64)
    sum_repeated(indptr, indices, data, starts)
    return starts, indices.astype(narrow, copy=False), data


def _check(first: int, indptr: Array, data: Array, largest: float) -> None:
    """Refuse numbers that cannot be summed, or whose sums exceed float64."""
    if len(data) == 0:
        return
    with np.errstate(all="ignore"):
        extreme = max(abs(float(data.max())), abs(float(data.min())))
        fine = np.isfinite(extreme * max(1.0, largest) * float(np.diff(indptr).max()))
    if fine:
        return
    for row in range(len(indptr) - 1):
        values = data[indptr[row] : indptr[row + 1]].astype(np.float64)
        with np.errstate(all="ignore"):
            if not np.isfinite(np.abs(values).max(initial=0) * max(1.0, largest) * len(values)):
                refuse_row(first + row, values)
