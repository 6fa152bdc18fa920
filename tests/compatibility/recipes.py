"""What a recipe takes of texts and makes of them, in the form of the tools' answers."""

from collections import Counter

import neardup as nd
from neardup.fingerprints.profiles.profile import as_integer
from neardup.fingerprints.profiles.tools import PROFILES


def features(name, text):
    """Each feature with how often it counts."""
    return {feature.decode(): count for feature, count in PROFILES[name].features_of(text)}


def fingerprints(name, texts, **changes):
    """As integers, by the library's usual way; `changes` of the recipe's fields."""
    found = nd.RECIPES[name].recipe
    recipe = nd.Recipe(**{"profile": name, "bits": found.bits, "min_tokens": 1, **changes})
    return [as_integer(row) for row in nd.fingerprint(texts, recipe=recipe).reshape(len(texts), -1)]


def assert_same_features(name, texts, of_tool):
    for text, found in zip(texts, of_tool, strict=True):
        assert features(name, text) == Counter(found), repr(text[:200])


def assert_same_values(texts, ours, of_tool):
    different = [text[:200] for text, own, other in zip(texts, ours, of_tool, strict=True) if own != other]
    assert not different


def clusters(name, texts):
    """For each text the first row of its cluster: all documents that the recipe's distance connects."""
    found = nd.deduplicate(texts, recipe=name, method="simhash", min_similarity=0, cluster="components")
    return found.annotations.column("cluster_id").to_pylist()
