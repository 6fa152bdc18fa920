"""Planes that cut vectors, made from hashes: they depend on the recipe alone, not on a library's random numbers."""

from collections.abc import Callable
from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np

from neardup.arrays import Array, for_kernels, is_masked
from neardup.errors import DataError, OptionError
from neardup.kernels.fingerprints.vectors import gaussian_planes, hash_dimensions, independent_planes, sign_planes
from neardup.recipe.plain_recipe import MAX_BITS
from neardup.recipe.vectors import VectorRecipe

LEVELS = 1 << 16
NORMAL_STEP = 2.0**-12
"""Normal numbers are multiples of this, which is far coarser than any library's rounding and fine next to their spread of 1."""


@cache
def normal_table() -> Array:
    """float32[2^16]: the quantiles (k + 1/2) / 2^16 of the normal distribution, to the nearest multiple of NORMAL_STEP."""
    half = LEVELS // 2
    upper = [NormalDist().inv_cdf((half + k + 0.5) / LEVELS) for k in range(half)]
    rounded = np.rint(np.array(upper) / NORMAL_STEP) * NORMAL_STEP
    return np.concatenate([-rounded[::-1], rounded]).astype(np.float32)


def _signs(recipe: VectorRecipe, planes: Array) -> None:
    lanes, pair = np.empty((recipe.words, recipe.dimension), np.uint64), np.empty(2, np.uint64)
    hashes = np.empty(recipe.dimension, np.uint64)
    hash_dimensions(0, np.uint64(recipe.seed), lanes, hashes, pair, pair.view(np.uint8))
    sign_planes(lanes, planes)


def _independent(recipe: VectorRecipe, planes: Array) -> None:
    key = np.empty(3, np.uint64)
    independent_planes(0, np.uint64(recipe.seed), key, key.view(np.uint8), planes)


PLANES: dict[str, Callable[[VectorRecipe, Array], None]] = {
    "signs": _signs,
    "gaussian": lambda recipe, planes: gaussian_planes(0, np.uint64(recipe.seed), normal_table(), planes),
    "independent": _independent,
}
"""The functions that fill the planes, by method."""


def planes_of(recipe: VectorRecipe) -> Array:
    """The planes of a recipe, one per row: float32[bits, dimension]; row 0 decides the most significant bit."""
    planes = np.empty((recipe.bits, recipe.dimension), np.float32)
    PLANES[recipe.method](recipe, planes)
    return planes


def given_planes(planes: Any, dimension: int) -> Array:
    """The caller's planes, one per row: float32[bits, dimension] if all fit float32 exactly, otherwise float64.

    Raises:
        OptionError: they are not a table of numbers with `dimension` rows and 1 to 512 columns.
        DataError: one is NaN or infinite.
    """
    if is_masked(planes):
        raise DataError("planes are a masked array with masked values. Fill them: planes.filled(0).")
    try:
        found = np.asarray(planes)
    except ValueError:
        raise OptionError("planes: the rows have different lengths. Give dimension × bits numbers.") from None
    if found.dtype.kind not in "biuf" or found.dtype.itemsize > 8:
        raise OptionError(f"planes: the numbers are of type {found.dtype}. Give integers, float16, float32 or float64.")
    if found.ndim != 2 or found.shape[0] != dimension or not 1 <= found.shape[1] <= MAX_BITS:
        raise OptionError(
            f"planes of shape {found.shape}: the vectors have {dimension} numbers. "
            f"Give {dimension} × bits numbers, a column for each bit, of 1 to {MAX_BITS} bits."
        )
    exact = for_kernels(found.T, np.float64)
    if not np.isfinite(exact).all():
        raise DataError("planes hold NaN or infinite numbers. Give finite ones.")
    with np.errstate(over="ignore", under="ignore"):
        narrow = exact.astype(np.float32)
    return narrow if (narrow == exact).all() else exact
