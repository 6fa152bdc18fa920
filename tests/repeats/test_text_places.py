"""Which characters of a text make its tokens."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.recipe.presets import RECIPES
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import Similarity
from neardup.survivors.repeats.text_places import places_in_pieces
from neardup.survivors.repeats.token_stream import TokenStream

PLAIN = TokenStream(Similarity(), Recipe())
PIECES = ["a", "B", "ß", "é", "e\u0301", "ﷺ", " ", "\n\n", "\u3000", "-", ".", "天", "か\u3099", "ｶﾞ", "\u00ad", "\u200b", "ﬁ", "\u1161", "\u1100", "가", "\u0345", "q\u0323\u0307", "q\u0307\u0323", "１", "¨", "…", "ก", "\u0e33", "\u0e48", "👍🏽"]  # fmt: skip
STREAMS = {
    "plain": PLAIN,
    "digits": TokenStream(Similarity(), Recipe(normalize=["digits", "punctuation", "nfkc_casefold"])),
    "nfkc": TokenStream(Similarity(normalize=["nfkc"]), Recipe(normalize=[])),
    "none": TokenStream(Similarity(normalize=[]), Recipe(normalize=[])),
    "characters": TokenStream(Similarity(segmenter="characters"), Recipe()),
    "whitespace": TokenStream(Similarity(segmenter="whitespace"), Recipe()),
    "version 2": TokenStream(Similarity(), Recipe(version=2)),
    "unmarked": TokenStream(Similarity(), RECIPES["unmarked"].recipe),
}


def characters_of(text, runs, stream):
    """The characters of runs of tokens."""
    places = places_in_pieces(pa.array([text], pa.large_string()), stream)
    narrowed = [places.narrowed(run[None]) for run in runs]
    return np.array([places.characters(run)[0] if len(run) else (0, 0) for run in narrowed])


def tokens(text, stream):
    found = stream.tokens(pa.array([text], pa.large_string()))
    return [found.text(i) for i in range(len(found.starts))]


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join), st.sampled_from(sorted(STREAMS)))
def test_the_characters_of_a_run_make_no_token_that_is_not_in_the_run(text, name):
    stream = STREAMS[name]
    all_tokens = tokens(text, stream)
    n = len(all_tokens)
    runs = [(a, b) for a in range(n) for b in range(a + 1, n + 1)]
    for a, b in runs:
        [[first, end]] = characters_of(text, np.array([[a, b]]), stream).tolist()
        part = tokens(text[first:end], stream)
        joined = "\0" + "\0".join(all_tokens[a:b]) + "\0"
        assert 0 <= first <= end <= len(text)
        assert not part or "\0" + "\0".join(part) + "\0" in joined or "".join(part) in "".join(all_tokens[a:b])


@given(
    st.lists(st.sampled_from(["ab", "Zoë", "天", " ", ", ", "\n", "-", "．", "straße", "１２"]), max_size=25).map(
        "".join
    )
)
def test_where_each_character_makes_one_token_at_most_a_run_has_exactly_its_characters(text):
    all_tokens = tokens(text, PLAIN)
    n = len(all_tokens)
    for a in range(n):
        for b in range(a + 1, n + 1):
            [[first, end]] = characters_of(text, np.array([[a, b]]), PLAIN).tolist()
            assert tokens(text[first:end], PLAIN) == all_tokens[a:b]
            assert not text[first].isspace()
            assert not text[end - 1].isspace()


def test_a_character_of_several_tokens_belongs_to_a_run_that_has_them_all():
    text = "a ﷺ b"  # a, four tokens, b
    assert tokens(text, PLAIN) == ["a", "صلى", "الله", "عليه", "وسلم", "b"]
    spans = [[0, 1], [0, 3], [0, 5], [1, 5], [2, 6], [3, 4], [5, 6]]
    found = [characters_of(text, np.array([span]), PLAIN)[0].tolist() for span in spans]
    assert found == [[0, 1], [0, 1], [0, 3], [2, 3], [4, 5], [0, 0], [4, 5]]
    assert characters_of(text, np.array([[0, 1], [1, 5], [5, 6]]), PLAIN).tolist() == [[0, 1], [2, 3], [4, 5]]


def test_many_runs_are_found_as_each_alone():
    text = "Grüße, Zoë! e\u0301té in 天地 q\u0323\u0307. " * 20
    count = len(tokens(text, PLAIN))
    runs = np.array([[i, i + 1 + i % 3] for i in range(0, count - 3, 2)])
    assert characters_of(text, runs, PLAIN).tolist() == [
        characters_of(text, run[None], PLAIN)[0].tolist() for run in runs
    ]


@given(
    st.lists(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), max_size=6), st.sampled_from(sorted(STREAMS))
)
def test_pieces_are_found_together_as_each_alone(texts, name):
    together = places_in_pieces(pa.array(["a天", *texts], pa.large_string())[1:], STREAMS[name])
    for number, text in enumerate(texts):
        alone = places_in_pieces(pa.array([text], pa.large_string()), STREAMS[name])
        of = together.of(number)
        assert (of.firsts.tolist(), of.lasts.tolist()) == (alone.firsts.tolist(), alone.lasts.tolist())


def test_tokens_that_do_not_stand_one_after_another_are_refused():
    from neardup import OptionError
    from neardup.recipe.tables.segmenters import Segmenter

    def overlapping(text):
        return [text[i : i + 3] for i in range(max(0, len(text) - 2))]

    stream = TokenStream(Similarity(segmenter=Segmenter(overlapping, name="overlapping", version="1")), Recipe())
    with pytest.raises(OptionError, match="do not stand in the text one after another"):
        characters_of("abcdef", np.array([[0, 2]]), stream)
