"""Texts without what markup put into them, and the places that these have in the originals."""

import itertools

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive
import neardup as nd
from neardup.matching.contamination.readings import is_one_word, reading_of, readings_of
from strategies import any_text

ITEM = (
    "The committee decided that the old experiment was not representative, since water boils at 93 degrees in the mountains, "
    "and that it should be repeated at the coast."
)
WORDS = ITEM.split()
NOISE = {
    "references": ITEM.replace(" ", "&nbsp;"),
    "references of references": ITEM.replace(" ", "&amp;amp;nbsp;"),
    "references without an end": ITEM.replace(" ", "&nbsp "),
    "soft hyphens": "&shy;".join(ITEM),
    "numbers of characters": "".join(
        f"&#{ord(character)};" if place % 3 else f"&#x{ord(character):x};" for place, character in enumerate(ITEM)
    ),
    "tags in words": "<b>".join(ITEM[n : n + 7] for n in range(0, len(ITEM), 7)),
    "escaped tags": ITEM.replace(" ", " &lt;span class=&quot;x y&quot;&gt;&lt;/span&gt;"),
    "blocks": ITEM.replace(" ", "</p><p>"),
    "comments": ITEM.replace(" ", " <!-- one > two -->"),
    "hyphens at ends of lines": ITEM.replace("committee", "commit-\n  tee")
    .replace("experiment", "ex-\r\nperiment")
    .replace("represent", "repre\u00ad\n> sent"),
    "hyphens before breaks": ITEM.replace("committee", "commit-<br>tee"),
    "numbered lines": "\n".join(f"{n} {' '.join(WORDS[4 * n : 4 * n + 4])}" for n in range(8)),
    "numbered paragraphs": "\n\n".join(f"> ({n})\t{' '.join(WORDS[4 * n : 4 * n + 4])}" for n in range(8)),
    "numbered sections": "\n".join(f"2.{n}. {' '.join(WORDS[4 * n : 4 * n + 4])}" for n in range(8)),
    "numbers and hyphens": "1: The commit-\n2: tee decided that the old exper-\n3: iment "
    + ITEM.partition("experiment ")[2],
}


@pytest.mark.parametrize("kind", NOISE)
def test_markup_hides_no_item_and_the_passage_is_as_it_stands_on_the_page(kind):
    before, after = "Some words before it. ", "\n\nOther words."
    found = nd.decontaminate([f"{before}{NOISE[kind]}{after}"], against=[ITEM], min_share=1).contaminated.to_pylist()
    assert [(line["item_share"], line["item_run"]) for line in found] == [(1.0, len(naive.tokens(ITEM)))]
    assert found[0]["passage"] in NOISE[kind]
    assert found[0]["passage_characters"] >= len(NOISE[kind]) - 15  # without numbers of the first line and the last


@pytest.mark.parametrize("kind", NOISE)
def test_markup_of_an_item_hides_it_no_more_than_that_of_a_page(kind):
    for page in (ITEM, NOISE[kind]):
        assert nd.decontaminate([page], against=[NOISE[kind]], min_share=1).clean == []


@pytest.mark.parametrize(
    "text",
    [
        "a well-\nknown fact that is not one word of the benchmark, of which there are none but these",
        "if a <b and c> d: the comparison of code is not lost, nor is &unknown; or <Vector> of anything",
        "in the year\n1984 it was, and in the year of the war\n1939. That is not a list of numbered lines",
    ],
)
def test_what_only_looks_like_markup_is_found_as_it_stands(text):
    assert nd.decontaminate([text], against=[text], min_share=1).clean == []
    assert nd.decontaminate([text], against=[" ".join(text.split())], min_share=1).clean == []


@given(
    text=st.one_of(
        any_text,
        st.lists(st.sampled_from(["&nbsp;", "&amp;", "<b>", "</p>", "a", "b-\n", "\n1. ", "\n2. ", " ", "é"])).map(
            "".join
        ),
    )
)
@example(text="a-\nb")
@example(text="&lt;b&gt;a&lt;/b&gt;")
def test_each_character_of_a_reading_is_at_its_place_in_the_text(text):
    read = reading_of(text, is_one_word)
    places = [read.original(place, place + 1) for place in range(len(read.text))]
    assert all(0 <= first < end <= len(text) for first, end in places)
    assert all(one[0] <= other[0] and one[1] <= other[1] for one, other in itertools.pairwise(places))
    for character, (first, end) in zip(read.text, places, strict=True):
        assert text[first:end] == character or text[first] in "&<"
    assert not read.layers or [(0, read)] == list(readings_of(pa.array([text], pa.large_string()), is_one_word))
