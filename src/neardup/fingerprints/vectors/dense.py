"""Dense rows: blocked matrix products with the planes; products too close to 0 for a certain sign are recomputed exactly."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from neardup.arrays import Array, for_kernels
from neardup.fingerprints.vectors.rows import blocks, refuse_row
from neardup.kernels.fingerprints.vectors import bits_of_products
from neardup.resources.threads import in_order

BLOCK_BYTES = 1 << 25
"""Approximate size of a block of rows and its products. At every product, the threads of NumPy's library wait for one another."""
MIN_SQUARE, MAX_SQUARE = 1e-20, 1e30
"""Within these bounds, rounding theory holds for sums of squares in float32; rows outside are summed in float64."""


def work_type(kind: Any, planes: Array) -> Any:
    """float32 where it holds rows of this type and the planes exactly, else float64."""
    narrow = kind.itemsize <= 2 or kind == np.float32
    return np.dtype(np.float32 if narrow and planes.dtype == np.float32 else np.float64)


class DenseRoute:
    """Computes fingerprints of rows with planes: float[bits, dimension]."""

    def __init__(self, planes: Array, kind: Any) -> None:
        """`kind`: the type of the numbers in the rows."""
        self._kind = work_type(kind, planes)
        self._planes = planes.astype(self._kind, copy=False)
        bits, d = planes.shape
        longest = float(np.sqrt(np.square(planes, dtype=np.float64).sum(axis=1).max(initial=0)))
        self._size: int = max(16, BLOCK_BYTES // (self._kind.itemsize * (d + bits)))
        # A sum of d products in any order is off by at most d u / (1 - d u) times the lengths of the two vectors (Higham 2002,
        # section 3.1), where u is half of eps. Of two float64 sums, this one and the definition's, both may be off.
        exact, rough = (0.52 * (d + 4) * float(np.finfo(kind).eps) for kind in (np.float64, self._kind))
        self._error = 2 * exact * longest
        self._bound = (rough + exact) * longest if rough < 0.01 else np.inf
        self._longest = longest

    def fill(self, rows: Array, out: Array, threads: int, first: int = 0) -> None:
        """Fill out (uint64[n, words]) with the fingerprints of rows (number[n, dimension]); the first is row `first`."""

        def products() -> Iterator[Any]:
            for part in blocks(len(rows), self._size):
                block = for_kernels(rows[part], self._kind)
                with np.errstate(all="ignore"):
                    yield part, block, block @ self._planes.T

        # The work after a product takes a quarter of its time, and waits for the processors that the product uses.
        for _ in in_order(partial(self._finish, out=out, first=first), products(), max(1, threads // 4)):
            pass

    def _finish(self, made: tuple[slice, Array, Array], out: Array, first: int) -> None:
        part, block, found = made
        with np.errstate(all="ignore"):
            squares = np.einsum("ij,ij->i", block, block).astype(np.float64)
        odd = ~((squares > MIN_SQUARE) & (squares < MAX_SQUARE))
        errors, bounds = np.empty((2, len(block)))
        lengths = np.sqrt(np.where(odd, 0, squares)) * 1.01
        errors[:], bounds[:] = self._error * lengths, self._bound * lengths
        for i in np.flatnonzero(odd):
            self._check(first + part.start + int(i), block[i])
            errors[i] = bounds[i] = np.inf
        narrow = np.nextafter(bounds.astype(self._kind), self._kind.type(np.inf))
        bits_of_products(found, narrow, errors, block, self._planes, out[part])

    def _check(self, row: int, values: Array) -> None:
        exact = values.astype(np.float64)
        with np.errstate(all="ignore"):
            largest = np.abs(exact).max() * max(1.0, self._longest) * len(exact)
        if not np.isfinite(largest):
            refuse_row(row, exact)
