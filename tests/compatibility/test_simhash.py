"""PyPI simhash and the recipe `leonsim`."""

import random

import numpy as np
import pytest

import neardup as nd
from compatibility.corpus import CHARACTERS, NEAR_COPIES, TEXTS
from compatibility.recipes import assert_same_features, assert_same_values, features, fingerprints
from compatibility.tools import TOOLS
from marks import long
from neardup.fingerprints.profiles.values import leonsim_value

pytestmark = pytest.mark.timeout(1200)
RELEASES = TOOLS["simhash"].releases
OFTEN = [text for text in TEXTS if max(features("leonsim", text).values()) > 255]
USUAL = [text for text in TEXTS if text not in OFTEN]


@pytest.mark.parametrize("release", [*map(long, RELEASES[:-1]), RELEASES[-1]])
def test_texts_have_the_same_features_and_fingerprints(release, ask):
    texts = USUAL + CHARACTERS
    found = ask("simhash", release, texts=texts, bits=64)
    assert_same_features("leonsim", texts, found["features"])
    assert_same_values(texts, fingerprints("leonsim", texts), map(int, found["values"]))


@pytest.mark.parametrize("bits", [8, 24, 128])
def test_fingerprints_of_other_widths_are_the_same(bits, ask):
    found = ask("simhash", "2.1.2", texts=USUAL, bits=bits)
    assert_same_values(USUAL, fingerprints("leonsim", USUAL, bits=bits), map(int, found["values"]))


@pytest.mark.parametrize("release", RELEASES)
def test_a_window_that_occurs_more_than_255_times_stops_the_tool_since_2_0(release, ask):
    """NumPy 2 refuses the product there; NumPy 1 made it with wider integers."""
    found = ask("simhash", release, texts=OFTEN, bits=64)
    if release < "2":
        assert_same_values(OFTEN, fingerprints("leonsim", OFTEN), map(int, found["values"]))
    else:
        assert set(found["values"]) == {"OverflowError"}


@pytest.mark.parametrize("release", RELEASES)
def test_values_of_weighted_features_are_the_same(release, ask):
    choose = random.Random(3)
    names = [text[:20] for text in TEXTS]
    weighted = [
        [(choose.choice(names), choose.randint(1, 99)) for _ in range(choose.randint(1, 60))] for _ in range(50)
    ]
    found = ask("simhash", release, weighted=weighted, bits=64)
    assert [leonsim_value(each) for each in weighted] == [*map(int, found["values"])]


@pytest.mark.parametrize("release", RELEASES)
def test_the_index_answers_with_the_same_pairs(release, ask):
    texts = NEAR_COPIES + TEXTS[:60]
    found = ask("simhash", release, texts=texts, bits=64, distance=2)
    ours = nd.join(np.array(fingerprints("leonsim", texts), np.uint64), max_distance=2)
    pairs = sorted(zip(ours.left.tolist(), ours.right.tolist(), strict=True))
    assert pairs == [*map(tuple, found["pairs"])]
    assert len(pairs) > 20
