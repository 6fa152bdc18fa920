"""WEIGH: a family of weights behind one table; each gives the weight of every feature of some texts, in fixed point."""

from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.recipe import Recipe
from neardup.text.normalizers import FoldedTexts

if TYPE_CHECKING:
    from neardup.features import Features

Array = np.ndarray[Any, np.dtype[Any]]

ONE = 1 << 16
"""The weight 1."""


def _uniform(features: "Features", _folded: FoldedTexts, _recipe: Recipe) -> Array:
    return np.full(len(features.counts), ONE, np.int64)


def _tf(features: "Features", _folded: FoldedTexts, _recipe: Recipe) -> Array:
    return features.counts * ONE


def _log(features: "Features", _folded: FoldedTexts, _recipe: Recipe) -> Array:
    return (np.frexp(features.counts.astype(np.float64))[1] * ONE).astype(np.int64)


def _sqrt(features: "Features", _folded: FoldedTexts, _recipe: Recipe) -> Array:
    return np.floor(np.sqrt(features.counts.astype(np.float64)) * ONE + 0.5).astype(np.int64)


WEIGHT_TABLE = {"uniform": _uniform, "tf": _tf, "log": _log, "sqrt": _sqrt}
"""By the names of `neardup.recipe.WEIGHTS`."""


def heaviest(features: "Features", weights: Array, most: int) -> Array:
    """bool[f]: of each text the `most` features that weigh most; of equal ones those that occur first."""
    documents = features.documents
    order = np.lexsort((-weights, documents))  # stable: equal ones stay in the order of their first occurrence
    rank = np.arange(len(order)) - features.offsets[documents[order]]
    keep = np.empty(len(order), np.bool_)
    keep[order] = rank < most
    return keep


def weigh(features: "Features", folded: FoldedTexts, recipe: Recipe) -> tuple["Features", Array]:
    """The features that vote, and their weights, int64[f] in 2^-16; those that weigh nothing are left out."""
    weights = WEIGHT_TABLE[recipe.weights](features, folded, recipe)
    keep = weights != 0
    if recipe.keywords is not None:
        keep &= heaviest(features, weights, recipe.keywords)
    return (features, weights) if keep.all() else (features.only(keep), weights[keep])
