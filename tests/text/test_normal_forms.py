"""Normal forms are those of unicodedata, also where marks are in long rows; and take time in proportion to the text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.text.normal_forms import LONG_MARKS, SHORT_CHARACTERS, normal_form

MARKS = [chr(code) for code in range(0x1FFFF) if unicodedata.combining(chr(code))]
ODD = "ae\u00e9\u1e69\u0344\u0f73\u0345\u0958\uac00\u1161\u11a8\u304b\uff76\uff9e\uff9f\u3099 "
"""Letters that decompose, marks that decompose, parts of Hangul syllables, and sound marks of both widths."""

rows = st.lists(
    st.sampled_from([*MARKS, *ODD]) | st.sampled_from(MARKS), min_size=LONG_MARKS - 2, max_size=3 * LONG_MARKS
)
texts = st.lists(st.text(st.sampled_from(ODD), max_size=SHORT_CHARACTERS) | rows.map("".join), max_size=5).map("".join)


@given(texts, st.sampled_from(["NFC", "NFKC"]))
def test_it_is_the_normal_form_of_unicodedata(text, form):
    assert normal_form(form, text) == unicodedata.normalize(form, text)


HOSTILE = {
    "two classes": ("a" + "\u0301" * 200_000 + "\u0323" * 200_000),
    "in turns": "a" + "\u0301\u0323" * 200_000,
    "halfwidth sound marks": "\uff76" + "\uff9e\u0301" * 200_000,
    "marks that decompose": "a" + "\u0344\u0323" * 200_000,
}


@pytest.mark.parametrize("normalize", ["nfkc_casefold", "nfkc"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_long_rows_of_marks_are_no_attack(kind, normalize):
    """By insertion, each of these texts would take ten minutes and more, in which nothing could interrupt it."""
    assert len(nd.fingerprint([HOSTILE[kind]], recipe=nd.Recipe(normalize=[normalize]))) == 1
