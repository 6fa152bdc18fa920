"""Similarities as they are shown: rounded, and never on another side of a bound than they are."""

from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import neardup as nd
from neardup.display import similarity_text

unit = st.floats(0, 1)
fractions = st.builds(lambda part, whole: min(part, whole) / whole, st.integers(0, 10**6), st.integers(1, 10**6))
similarities = unit | fractions
thresholds = st.sampled_from([0.5, 0.7, 0.8, 0.85, 0.95, 1.0]) | unit


def sides(value, threshold):
    return value > 0, value >= 1, value >= threshold


@given(value=similarities, threshold=thresholds)
@example(value=0.79996, threshold=0.8)
@example(value=0.7999999999999999, threshold=0.8)
@example(value=1 / 3, threshold=1 / 3)
@example(value=5e-324, threshold=0.5)
def test_what_is_shown_is_on_the_same_side_of_0_and_1_and_the_threshold(value, threshold):
    shown = similarity_text(value, threshold)
    assert sides(float(shown), threshold) == sides(value, threshold)
    assert abs(Fraction(shown) - Fraction(value)) <= Fraction(1, 20_000)


@given(value=similarities, threshold=thresholds)
def test_four_digits_are_shown_unless_they_would_change_the_side(value, threshold):
    shown = similarity_text(value, threshold)
    rounded = Fraction(int(Fraction(value) * 10_000 + Fraction(1, 2)), 10_000)  # halves up
    if sides(rounded, threshold) == sides(value, threshold):
        assert (Fraction(shown), len(shown)) == (rounded, 6)
    else:
        assert len(shown) > 6


@pytest.mark.parametrize(
    ("value", "threshold", "expected"),
    [
        (2 / 3, 0.0, "0.6667"), (0.4, 0.0, "0.4000"), (1.0, 0.8, "1.0000"), (0.0, 0.8, "0.0000"), (0.8, 0.8, "0.8000"),
        (0.7996, 0.8, "0.7996"), (0.79996, 0.8, "0.79996"), (0.79996, 0.7, "0.8000"), (0.99996, 0.8, "0.99996"),
        (0.00001, 0.8, "0.00001"), (27 / 32, 0.8, "0.8438"), (25 / 32, 0.7, "0.7813"), (-0.25, 0.0, "-0.2500"),
    ],
)  # fmt: skip
def test_a_similarity_has_four_digits_or_as_many_as_its_side_needs(value, threshold, expected):
    assert similarity_text(value, threshold) == expected


def test_notebooks_show_similarities_by_this_rule():
    text = "one two three four five six seven eight nine ten eleven twelve"
    texts = [text, text.replace("twelve", "dozen"), "quite another text of some words"]
    result = nd.deduplicate(texts, min_similarity=0.8)
    assert result.duplicates["similarity"].to_pylist() == [9 / 11]
    shown = result._repr_html_()
    assert "similarity 0.8182, distance" in shown
    assert "<td>0.8182</td>" in shown
    assert "<td>0.8182</td>" in nd.match(texts, min_similarity=0.8)._repr_html_()
    assert "<td>0.8182</td>" in nd.compare(*texts[:2])._repr_html_()
