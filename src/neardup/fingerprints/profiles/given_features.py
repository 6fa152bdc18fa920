"""Features and weights that a caller hands in, looked at before they are used."""

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from neardup.errors import OptionError


def each(features: Any) -> Iterable[Any]:
    """Features one by one, of a mapping with their weights.

    Raises:
        OptionError: it is a text, or nothing that has parts.
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
    """A feature and its weight, a number of this kind.

    Raises:
        OptionError: it is no pair, or the weight is another thing.
    """
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise OptionError(f"The feature {given!r}: give a string, or a string and its weight.")
    name, weight = given
    if isinstance(weight, bool) or not isinstance(weight, kind):
        wanted = "an integer; `fingerprint_features` takes others" if kind is Integral else "a number"
        raise OptionError(f"The weight of the feature {name!r} is {weight!r}: give {wanted}.")
    return name, weight.item() if isinstance(weight, np.generic) else weight


def feature_bytes(feature: Any) -> bytes:
    """A string in UTF-8; bytes as they are.

    Raises:
        OptionError: it is neither.
    """
    if isinstance(feature, bytes):
        return feature
    if not isinstance(feature, str):
        raise OptionError(f"The feature {feature!r} is a {type(feature).__name__}: give strings.")
    return feature.encode()
