"""The weighted features that another tool takes from texts, for display and for cosine similarity."""

from typing import Any

import numpy as np

from neardup.fingerprints.feature_arrays import WeightedFeatures, named_features
from neardup.fingerprints.profiles.tools import PROFILES
from neardup.fingerprints.weights.fixed_point import ONE
from neardup.recipe.recipe import Recipe


def features_by_profile(texts: Any, recipe: Recipe) -> WeightedFeatures:
    """The features of the texts in an Arrow `large_string` array; each weighs its count, and a null counts as an empty text.

    One tool makes an empty feature from texts without letters. It carries no information, so it is left out here.
    """
    profile = PROFILES[recipe.profile or ""]
    found = [profile.features_of(text or "", recipe.profile_window) for text in texts.to_pylist()]
    whole = [[(name, count) for name, count in of_text if name] for of_text in found]
    counts = np.array([count for of_text in whole for _, count in of_text], np.int64)
    offsets = np.cumsum([0, *map(len, whole)], dtype=np.int64)
    features = named_features([name for of_text in whole for name, _ in of_text], counts, offsets)
    return WeightedFeatures(features, counts * ONE, np.diff(offsets))
