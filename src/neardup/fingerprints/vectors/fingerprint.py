"""FINGERPRINT of numeric vectors (Charikar 2002, section 3)."""

from typing import Any

import numpy as np

from neardup.arrays import UInt64s
from neardup.errors import OptionError
from neardup.fingerprints.vectors.dense import DenseRoute
from neardup.fingerprints.vectors.planes import given_planes, planes_of
from neardup.fingerprints.vectors.rows import SparseRows, rows_of
from neardup.fingerprints.vectors.sparse import SPARSE, by_planes, fill_sparse
from neardup.recipe.vectors import VectorMethod, VectorRecipe
from neardup.resources.threads import thread_count


def fingerprint_vectors(
    vectors: Any,
    *,
    bits: int = 64,
    seed: int = 0,
    method: VectorMethod = "signs",
    planes: Any = None,
    threads: int | None = None,
) -> UInt64s:
    """The SimHash fingerprint of each vector: bit j is 1 where its dot product with plane j is above 0.

    The dot product is defined as the sum over ascending dimensions in float64. Matrix products are trusted only where their
    rounding cannot change a bit. The same numbers therefore get the same bits in dense and in sparse rows, in blocks of any size
    and on any number of threads. The zero vector has the fingerprint 0.

    Args:
        vectors: one vector per row: a 2-D NumPy array, a pandas or polars data frame of numbers, a list of lists, an Arrow column
            of lists or fixed-size lists, or a CSR matrix as in scipy.sparse (an object with `tocsr` is converted). Repeated entries
            of a CSR matrix are added up. Integers and Booleans count as numbers; integers are converted to float64.
        bits: the width, 1 to 512.
        seed: chooses the planes, 0 to 2^64 - 1.
        method: how planes are made. "signs": 1 and -1, from the bits of one hash per dimension; sparse rows then need no stored
            plane. "gaussian": normally distributed numbers; dense rows only. "independent": 1 and -1, from one hash per dimension
            and bit; slow, meant for comparisons.
        planes: your own planes instead, real numbers[dimension, bits]; the first column decides the most significant bit.
        threads: all processors by default; matrix products use as many as NumPy's own library is set to. The result does not
            depend on it.

    Returns:
        uint64[n] for up to 64 bits, else uint64[n, words] with the most significant word first.

    Raises:
        OptionError: an option is invalid, or `vectors` does not hold such numbers in two dimensions.
        DataError: a row holds NaN, infinite numbers or numbers whose sums exceed float64, or rows differ in length.

    >>> [f"{value:02b}" for value in fingerprint_vectors([[3, 2, 4]], planes=[[1, -1], [-1, 1], [1, 1]])]
    ['11']
    """
    rows, workers = rows_of(vectors), thread_count(threads)
    dimension = rows.dimension if isinstance(rows, SparseRows) else rows.shape[1]
    recipe = VectorRecipe(dimension=dimension, bits=bits, seed=seed, method=method)
    chosen = None
    if planes is not None:
        chosen = given_planes(planes, dimension)
        if bits not in (64, len(chosen)) or seed != 0 or method != "signs":
            raise OptionError(
                f"`planes` are given, {len(chosen)} of them: these decide all bits. Leave out `bits`, `seed` and `method`."
            )
        recipe = VectorRecipe(dimension=dimension, bits=len(chosen))
    out = np.zeros((len(rows), recipe.words), np.uint64)
    if not isinstance(rows, SparseRows):
        DenseRoute(planes_of(recipe) if chosen is None else chosen, rows.dtype).fill(rows, out, workers)
    elif chosen is not None:
        fill_sparse(rows, by_planes(chosen), float(np.abs(chosen).max()), out, workers)
    elif method in SPARSE:
        fill_sparse(rows, SPARSE[method](recipe), 1.0, out, workers)
    else:
        raise OptionError(
            f"`method={method!r}` needs planes of {dimension} × {bits} numbers, which sparse rows are to do without. "
            f"Give one of {', '.join(SPARSE)}, or dense rows."
        )
    return out[:, 0].copy() if recipe.words == 1 else out
