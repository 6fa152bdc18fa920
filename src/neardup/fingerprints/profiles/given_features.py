"""Check the features and weights that a caller passes."""

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from neardup.errors import OptionError


def each(features: Any) -> Iterable[Any]:
    """The features one by one; a mapping gives pairs with its weights.

    Raises:
        OptionError: the argument is a text, or cannot be iterated.
    """
    if isinstance(features, Mapping):
        return features.items()
    if isinstance(features, (str, bytes)) or not isinstance(features, Iterable):
        raise OptionError(
            f"features is a {type(features).__name__}: give a list of them. Of a whole text, `fingerprint` with the recipe of "
            "this tool makes the features, too."
        )
    return features


def pair(given: Any, kind: type) -> tuple[Any, Any]:
    """A feature and its weight, which is a number of type `kind`.

    Raises:
        OptionError: it is not a pair, or the weight has another type.
    """
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise OptionError(f"The feature {given!r}: give a string, or a string and its weight.")
    name, weight = given
    if isinstance(weight, bool) or not isinstance(weight, kind):
        wanted = "an integer; `fingerprint_features` takes others" if kind is Integral else "a number"
        raise OptionError(f"The weight of the feature {name!r} is {weight!r}: give {wanted}.")
    return name, weight.item() if isinstance(weight, np.generic) else weight


def feature_bytes(feature: Any) -> bytes:
    """The feature as bytes: a string in UTF-8, bytes unchanged.

    Raises:
        OptionError: it is neither a string nor bytes.
    """
    if isinstance(feature, bytes):
        return feature
    if not isinstance(feature, str):
        raise OptionError(f"The feature {feature!r} is a {type(feature).__name__}: give strings.")
    return feature.encode()
