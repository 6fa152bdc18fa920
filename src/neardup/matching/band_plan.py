"""Choose how to cut signatures into bands, and compute the probability of finding a pair.

A signature of b · r values is cut into b bands of r values. Two texts of similarity s agree in a value with probability s, in a
band with probability s^r, and in at least one band with probability 1 - (1 - s^r)^b, the S-curve (Leskovec, Rajaraman and Ullman,
Mining of Massive Datasets, 3.4).
"""

import math
from dataclasses import dataclass
from typing import overload

import numpy as np

from neardup.arrays import Array, Float64s
from neardup.errors import OptionError, is_integer
from neardup.fingerprints.minhash import MAX_VALUES, VALUES


@dataclass(frozen=True)
class Bands:
    """How to cut signatures into bands.

    Attributes:
        bands: the number of bands. Two signatures that agree in at least one band are candidates.
        rows: the number of values in each band.
    """

    bands: int
    rows: int

    def __post_init__(self) -> None:
        for name, value in (("bands", self.bands), ("rows", self.rows)):
            if not is_integer(value) or not 1 <= value <= MAX_VALUES:
                raise OptionError(f"`{name}={value!r}`: give an integer from 1 to {MAX_VALUES}.")

    @property
    def values(self) -> int:
        """The number of values of a signature: bands times rows."""
        return self.bands * self.rows


@overload
def hit_probability(similarity: float, bands: Bands) -> float: ...
@overload
def hit_probability(similarity: Array, bands: Bands) -> Float64s: ...
def hit_probability(similarity: float | Array, bands: Bands) -> float | Float64s:
    """The probability that two texts of this similarity agree in at least one band: 1 - (1 - s^r)^b.

    Returns a number for a number, and float64[n] for an array. The formula assumes independent values. That is exact for signatures
    of the kind `permutations`; the values of one permutation are not quite independent.

    >>> round(hit_probability(0.8, Bands(bands=20, rows=5)), 4)
    0.9996
    """
    return _plain(-np.expm1(_log_miss(similarity, bands)))


@overload
def miss_probability(similarity: float, bands: Bands) -> float: ...
@overload
def miss_probability(similarity: Array, bands: Bands) -> Float64s: ...
def miss_probability(similarity: float | Array, bands: Bands) -> float | Float64s:
    """The probability that two texts of this similarity agree in no band: (1 - s^r)^b. It is precise even if it is tiny."""
    return _plain(np.exp(_log_miss(similarity, bands)))


def _log_miss(similarity: float | Array, bands: Bands) -> Array:
    try:
        s = np.asarray(similarity)
        if s.dtype.kind == "c":
            raise TypeError
        s = s.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        is_integer(similarity)
        raise OptionError(f"`similarity={similarity!r}`: give a number or an array of numbers from 0 to 1.") from None
    if not ((s >= 0) & (s <= 1)).all():
        raise OptionError(f"`similarity={similarity!r}`: give numbers from 0 to 1.")
    with np.errstate(divide="ignore"):  # at similarity 1 the logarithm is minus infinity, and nothing is missed
        return np.asarray(bands.bands * np.log1p(-(s**bands.rows)))


def _plain(values: Float64s) -> float | Float64s:
    return float(values) if values.ndim == 0 else values


def plan_bands(min_similarity: float, *, values: int | None = None, miss_probability: float = 1e-3) -> Bands:
    """Choose bands that miss a pair at exactly `min_similarity` with at most `miss_probability`, and find few pairs below.

    The longer a band, the fewer pairs below the threshold agree in it. So if you give `values`, the bands are the longest that
    divide them and keep the probability. Without `values`, they are the longest for which 128 values suffice, and as few as
    possible. If 128 values are not enough for the threshold, the bands have one row, and there are as many as necessary.

    Args:
        min_similarity: the threshold, above 0 and up to 1.
        values: the number of values of existing signatures. The bands use all of them.
        miss_probability: the highest probability of missing a pair at the threshold, between 0 and 1. Pairs above it are missed
            more rarely.

    Raises:
        OptionError: a value is not allowed, or no bands keep the probability. The message says how many values would.

    >>> plan_bands(0.8)
    Bands(bands=18, rows=5)
    >>> plan_bands(0.8, values=128)
    Bands(bands=32, rows=4)
    """
    if not _is_number(min_similarity) or not 0 < min_similarity <= 1:
        raise OptionError(f"`min_similarity={min_similarity!r}`: give a number above 0 and up to 1.")
    if not _is_number(miss_probability) or not 0 < miss_probability < 1:
        raise OptionError(f"`miss_probability={miss_probability!r}`: give a number between 0 and 1.")
    if values is not None and (not is_integer(values) or not 1 <= values <= MAX_VALUES):
        raise OptionError(f"`values={values!r}`: give an integer from 1 to {MAX_VALUES}.")
    least = _bands_needed(min_similarity, 1, miss_probability)
    if least > (values or MAX_VALUES):
        given = "" if values is None else f"`values={values}`: "
        can = f"at least {least:,} values" if least <= MAX_VALUES else f"{least:,} values, more than {MAX_VALUES},"
        raise OptionError(
            f"{given}it takes {can} to miss pairs of similarity {min_similarity} with a probability of at most "
            f"{miss_probability}. Use {'' if least > MAX_VALUES else 'more values, '}a higher similarity or a higher probability."
        )
    if values is not None:
        rows = max(
            r
            for r in range(1, values + 1)
            if values % r == 0 and _bands_needed(min_similarity, r, miss_probability) <= values // r
        )
        return Bands(values // rows, rows)
    needed = {r: _bands_needed(min_similarity, r, miss_probability) for r in range(1, VALUES + 1)}
    rows = max((r for r, bands in needed.items() if r * bands <= VALUES), default=1)
    return Bands(needed[rows], rows)


def agreement_limit(min_similarity: float, values: int, *, miss_probability: float = 1e-4) -> int:
    """The number of `values` values in which all texts of at least this similarity agree, but for a share of `miss_probability`.

    It follows from the binomial distribution of independent values. The values of one permutation scatter less.

    >>> agreement_limit(0.8, 90)
    57
    """
    for limit in range(values):
        if 1 - agreement_probability(min_similarity, values, limit + 1) > miss_probability:
            return limit
    return values


def agreement_probability(similarity: float | Array, values: int, least: int) -> float | Float64s:
    """The probability that two texts of this similarity agree in at least `least` of `values` independent values."""
    s = np.asarray(similarity, np.float64)
    found = sum(math.comb(values, a) * s**a * (1 - s) ** (values - a) for a in range(least, values + 1))
    return _plain(np.asarray(found))


def _bands_needed(similarity: float, rows: int, miss: float) -> int:
    """The fewest bands of `rows` rows that miss a pair of this similarity with at most the probability `miss`."""
    agree = similarity**rows
    if agree >= 1:
        return 1
    each = math.log1p(-agree)
    if each > math.log(miss) / 2**40:  # practically never: no number of values suffices
        return 2**40
    bands = max(1, math.ceil(math.log(miss) / each) - 1)
    while math.exp(bands * each) > miss:  # rounding
        bands += 1
    return bands


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
