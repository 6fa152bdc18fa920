"""Texts with repeated lines and paragraphs, and what is left of them by definition."""

import pytest
from hypothesis import strategies as st

import naive
from neardup.text.units import SEPARATORS
from strategies import any_text

UNITS = list(SEPARATORS)
pieces = st.sampled_from(
    [
        "\n",
        "\n\n",
        "\r\n",
        " \n",
        "\r",
        "\u3000",
        "\u00a0\n",
        "\u2003",
        "---",
        "* * *",
        "a b",
        "A  b!",
        "雨",
        "§ 1",
        "Ж",
        "é",
        "①",
        "ﬁ",
        "\u0301",
        "²",
    ]
)
unit_text = st.one_of(st.lists(pieces, max_size=14).map("".join), any_text)
units = pytest.mark.parametrize("unit", UNITS)


NOTICE = "This file is free for all to copy, and comes without any warranty, as the law of the place permits."
FIRST = f"A tale of a ferry\n\n{NOTICE}\n\nThe ferry left at nine and was never late but once, in the winter of the great frost."
SECOND = f"Of bread\n\n-----\n\nFlour, salt, water and a night of patience are all that the plain loaf asks for.\n\n{NOTICE}\n"
THIRD = f"{NOTICE}\n\n-----"


def expected_of(texts, unit):
    """The texts that stay, None for a document that goes, and the removed units."""
    removed = naive.repeated_units(texts, unit)
    written = []
    for row, text in enumerate(texts):
        mine = {number for other, number in removed if other == row}
        bodies = naive.units(text, unit)[1::2]
        left = [body for number, body in enumerate(bodies) if number not in mine and naive.tokens(body)]
        written.append(None if mine and not left else naive.without_units(text, unit, mine))
    return written, removed
