"""What another tool takes of texts, as weighted features: for people, and for the cosine."""

from typing import Any

import numpy as np

from neardup.fingerprints.feature_arrays import WeightedFeatures, named_features
from neardup.fingerprints.profiles.tools import PROFILES
from neardup.fingerprints.weights.fixed_point import ONE
from neardup.recipe.recipe import Recipe


def features_by_profile(texts: Any, recipe: Recipe) -> WeightedFeatures:
    """The features of an Arrow `large_string` array's texts, a null being an empty one; each weighs its count.

    An empty feature, which one tool makes of texts without letters, says nothing of a text, and is none here.
    """
    profile = PROFILES[recipe.profile or ""]
    found = [profile.features_of(text or "", recipe.profile_window) for text in texts.to_pylist()]
    whole = [[(name, count) for name, count in of_text if name] for of_text in found]
    counts = np.array([count for of_text in whole for _, count in of_text], np.int64)
    offsets = np.cumsum([0, *map(len, whole)], dtype=np.int64)
    features = named_features([name for of_text in whole for name, _ in of_text], counts, offsets)
    return WeightedFeatures(features, counts * ONE, np.diff(offsets))
