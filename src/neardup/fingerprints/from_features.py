"""FINGERPRINT of your own features and weights."""

import itertools
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

import numpy as np

from neardup.arrays import Array, UInt64s
from neardup.errors import DataError, OptionError
from neardup.fingerprints.by_features import hashes_of
from neardup.fingerprints.feature_arrays import named_features
from neardup.fingerprints.profiles.tools import PROFILES
from neardup.fingerprints.weights.fixed_point import ONE
from neardup.kernels.fingerprints.features import vote
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe

MAX_VOTES = (1 << 63) - 1
"""The largest sum of votes, in 2^-16."""


def fingerprint_features(documents: Iterable[Any], *, recipe: RecipeLike | None = None) -> UInt64s:
    """The SimHash fingerprint of features and weights that you pass.

    Bit j is 1 where the features whose hash has bit j outweigh the others. Weights are rounded to the nearest multiple of 2^-16
    (halves up), so the order of the features does not matter; a feature that occurs twice votes twice. A weight below 2^-17
    rounds to nothing: multiply all weights by the same number first, which changes no bit.

    Args:
        documents: for each document, a dict from features to weights or a list of (feature, weight). Features are strings. Weights
            are int, float, Decimal or Fraction, and may be negative, like coordinates of vectors.
        recipe: its hash and bits are used, and for a profile also its tie and its order of bits; its settings for texts and weights
            have no effect here. `Recipe()` by default.

    Returns:
        uint64[n] for up to 64 bits, else uint64[n, words] with the most significant word first.

    Raises:
        OptionError: a document is neither a dict nor a list of pairs, or a feature is not a string.
        DataError: a weight is not a finite number, or the weights of a document add up to 2^47 or more.

    >>> a, b = fingerprint_features([{"a": 2, "b": 0.5}, [("b", 1), ("a", 4)]], recipe=Recipe(bits=64))
    >>> bool(a == b)
    True
    """
    recipe = recipe_of(recipe)
    names: list[bytes] = []
    weights: list[int] = []
    offsets = [0]
    for number, document in enumerate(_checked(documents)):
        for feature, weight in _pairs(document, number):
            names.append(_name(feature, number))
            weights.append(_fixed(weight, feature, number))
        if sum(abs(weight) for weight in weights[offsets[-1] :]) > MAX_VOTES:
            raise DataError(
                f"The weights of document {number} add up to 2^47 or more. Divide all weights by the same number."
            )
        offsets.append(len(names))
    make = _voted if recipe.profile is None else _voted_by_profile
    values = make(names, weights, offsets, recipe)
    return values[:, 0].copy() if recipe.words == 1 else values


def _voted(names: list[bytes], weights: list[int], offsets: list[int], recipe: Recipe) -> Array:
    features = named_features(names, np.ones(len(names), np.int64), np.array(offsets, np.int64))
    values = np.empty((len(offsets) - 1, recipe.words), np.uint64)
    sums = np.empty(64 * recipe.words, np.int64)
    vote(hashes_of(features, recipe), np.array(weights, np.int64), features.offsets, 0, sums, values)
    values[:, 0] &= np.uint64(
        (1 << (recipe.bits - 64 * (recipe.words - 1))) - 1
    )  # above the width negative weights win
    return values


def _voted_by_profile(names: list[bytes], weights: list[int], offsets: list[int], recipe: Recipe) -> Array:
    """Use another tool's hash, tie and order of bits."""
    weighted = list(zip(names, weights, strict=True))
    documents = [weighted[first:last] for first, last in itertools.pairwise(offsets)]
    return PROFILES[recipe.profile or ""].fingerprint_features(documents, recipe.bits)


def _checked(documents: Any) -> Iterable[Any]:
    if isinstance(documents, (str, bytes, Mapping)) or not isinstance(documents, Iterable):
        raise OptionError(
            f"documents is a {type(documents).__name__}: give a list with a dict, or a list of (feature, weight), for each."
        )
    return documents


def _pairs(document: Any, number: int) -> Iterable[tuple[Any, Any]]:
    pairs = document.items() if isinstance(document, Mapping) else document
    if isinstance(pairs, (str, bytes)) or not isinstance(pairs, Iterable):
        raise OptionError(
            f"Document {number} is a {type(document).__name__}: give a dict from features to weights, or a list of "
            "(feature, weight)."
        )
    found = list(pairs)
    for pair in found:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise OptionError(f"Document {number} holds {str(pair)[:60]!r}; give pairs of a feature and its weight.")
    return [(feature, weight) for feature, weight in found]


def _name(feature: Any, number: int) -> bytes:
    if not isinstance(feature, str):
        raise OptionError(
            f"Document {number}: the feature {str(feature)[:60]!r} is a {type(feature).__name__}; give strings."
        )
    try:
        return feature.encode()
    except UnicodeEncodeError:
        raise DataError(
            f"Document {number}: the feature {feature[:60]!r} holds a lone surrogate, which is no character."
        ) from None


def _fixed(weight: Any, feature: str, number: int) -> int:
    if isinstance(weight, np.generic):
        weight = weight.item()
    is_number = isinstance(weight, (Real, Decimal)) and not isinstance(weight, bool)
    exact = weight if isinstance(weight, Rational) else None
    if not is_number or (exact is None and not math.isfinite(weight)):
        raise DataError(
            f"Document {number}: the weight of {feature[:60]!r} is {weight!r}; give a finite number: int, float, Decimal or "
            "Fraction."
        )
    if isinstance(weight, np.longdouble):  # item() leaves it as it is
        weight = Fraction(*weight.as_integer_ratio())
    return math.floor(Fraction(weight) * ONE + Fraction(1, 2))
