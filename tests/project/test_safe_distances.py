"""The safe distances of the package are those that were measured."""

import json

import pytest

from neardup.recipe.presets import RECIPES
from neardup.recipe.safe_distances import MEASURED, SAFE_DISTANCES, distance_alone
from places import ROOT

RESULTS = json.loads((ROOT / "benchmarks" / "results" / "safe_distances.json").read_text(encoding="utf-8"))


def test_every_named_recipe_was_measured():
    assert list(SAFE_DISTANCES) == list(MEASURED) == list(RESULTS["recipes"])
    assert set(RECIPES) < set(SAFE_DISTANCES)


@pytest.mark.parametrize("name", SAFE_DISTANCES)
def test_up_to_a_safe_distance_enough_removals_were_similar_in_every_set(name):
    recipe = RESULTS["recipes"][name]
    assert recipe["bits"] == MEASURED[name].bits
    shares = [
        [part / whole for part, whole in zip(each["dissimilar"], each["removed"], strict=True)]
        for each in recipe["sets"].values()
    ]
    unsafe = [
        distance for distance, at in enumerate(zip(*shares, strict=True)) if max(at) > 1 - RESULTS["share"] + 1e-12
    ]
    largest = (unsafe[0] if unsafe else len(shares[0])) - 1
    assert SAFE_DISTANCES[name] == recipe["safe"] == (None if largest < 0 else largest)
    assert distance_alone(MEASURED[name]) == max(largest, 0)
