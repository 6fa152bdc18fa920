"""What is removed from a text."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import naive
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import Similarity
from neardup.survivors.repeats.text_cuts import Span, cut_texts, without_spans
from neardup.survivors.repeats.text_places import places_in_pieces
from neardup.survivors.repeats.token_stream import TokenStream

PLAIN = TokenStream(Similarity(), Recipe())
STREAMS = st.sampled_from([PLAIN, TokenStream(Similarity(), Recipe(version=2))])
SIMPLE = st.lists(
    st.sampled_from(["ab", "Zoë", "天", "か", " ", ", ", "\n", "\n\n", "-", "．", "straße", "１２", "ก", "ไท", "🎉"]),
    max_size=30,
)
ODD = st.lists(
    st.sampled_from(
        ["a", "e\u0301", "\u0301", "\u3099", "か", "ﷺ", "\u00ad", "ﬁ", " ", "ᄀ", "ᅡ", "\n", "ก", "\u0e33", "\u0e48"]
    ),
    max_size=25,
)


def tokens(text, stream=PLAIN):
    found = stream.tokens(pa.array([text], pa.large_string()))
    return [found.text(i) for i in range(len(found.starts))]


def cut(text, cuts, unit=None, *, stream=PLAIN):
    """The rest of a text, and what was removed."""
    pieces = pa.array([text], pa.large_string())
    found = cut_texts(pieces, places_in_pieces(pieces, stream), cuts.reshape(-1, 2), stream, unit)
    rest = without_spans(text, [Span(*span[1:]) for span in found.spans.tolist()])
    assert found.left.tolist() == [len(tokens(rest, stream))]
    return rest, found


def some_cuts(draws, count):
    """Runs of tokens that do not touch."""
    edges = sorted({draw % (count + 1) for draw in draws})
    pairs = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=False)]
    return np.array(pairs, np.int64).reshape(-1, 2)


def rest_of(sequence, cuts):
    gone = {i for first, end in cuts.tolist() for i in range(first, end)}
    return [token for i, token in enumerate(sequence) if i not in gone]


@given(SIMPLE.map("".join), st.lists(st.integers(0, 1000), max_size=6), STREAMS)
def test_the_rest_has_the_tokens_that_are_not_cut(text, draws, stream):
    sequence = tokens(text, stream)
    cuts = some_cuts(draws, len(sequence))
    rest, found = cut(text, cuts, stream=stream)
    assert tokens(rest, stream) == rest_of(sequence, cuts)
    assert found.runs.tolist() == cuts.tolist()


@given(ODD.map("".join), st.lists(st.integers(0, 1000), max_size=6), STREAMS)
def test_what_is_not_cut_is_never_lost(text, draws, stream):
    """Characters of several tokens stay whole, and with them tokens of a cut."""
    sequence = tokens(text, stream)
    cuts = some_cuts(draws, len(sequence))
    rest, found = cut(text, cuts, stream=stream)
    left = iter(tokens(rest, stream))
    assert all(any(token == other for other in left) for token in rest_of(sequence, cuts))
    assert found.left.tolist() == [len(sequence) - sum(end - first for first, end in found.runs.tolist())]


def runs_together(before, after, stream):
    """Whether tokens do, by the definition."""
    if not before or not after or before[-1].isspace() or after[0].isspace():
        return False
    return tokens(before + " " + after, stream) != tokens(before + after, stream)


@given(
    st.lists(st.tuples(ODD | SIMPLE, st.lists(st.integers(0, 1000), max_size=12)), max_size=5),
    st.sampled_from([None, "line"]),
    STREAMS,
)
def test_pieces_are_cut_together_as_the_definition_cuts_each(given, unit, stream):
    texts = ["".join(parts) for parts, _ in given]
    runs = [some_cuts(draws, len(tokens(text, stream))) for text, (_, draws) in zip(texts, given, strict=True)]
    firsts = np.cumsum([0, *(len(tokens(text, stream)) for text in texts)])
    pieces = pa.array(texts, pa.large_string())
    every = np.concatenate(
        [np.empty((0, 2), np.int64), *(run + first for run, first in zip(runs, firsts, strict=False))]
    )
    found = cut_texts(pieces, places_in_pieces(pieces, stream), every, stream, unit)
    for number, text in enumerate(texts):
        mine = [Span(*span[1:]) for span in found.spans.tolist() if span[0] == number]
        assert mine == [Span(*span[1:]) for span in cut(text, runs[number], unit, stream=stream)[1].spans.tolist()]
        before = ""
        for k, (first, end, is_separated) in enumerate(mine if unit is None else ()):
            before += text[mine[k - 1].end if k else 0 : first]
            until = mine[k + 1].first if k + 1 < len(mine) else len(text)
            assert is_separated == runs_together(before, text[end:until], stream)
            before += " " * is_separated


@given(SIMPLE.map("".join), st.lists(st.integers(0, 1000), max_size=6), st.sampled_from(["line", "paragraph"]), STREAMS)
def test_with_align_only_whole_units_go(text, draws, unit, stream):
    sequence = tokens(text, stream)
    cuts = some_cuts(draws, len(sequence))
    rest, found = cut(text, cuts, unit, stream=stream)
    gone = {i for first, end in cuts.tolist() for i in range(first, end)}
    stay, removed, at = [], [], 0
    for number, part in enumerate(naive.units(text, unit)[1::2]):
        mine = tokens(part, stream)
        is_gone = mine and gone.issuperset(range(at, at + len(mine)))
        stay += [] if is_gone else mine
        removed += [number] if is_gone else []
        at += len(mine)
    assert rest == naive.without_units(text, unit, removed)
    assert tokens(rest, stream) == stay
    assert rest_of(sequence, found.runs) == stay


def test_a_space_is_put_where_tokens_would_run_together_and_only_there():
    def rest(text, *cuts):
        left, found = cut(text, np.array(cuts))
        return left, [(first, end, bool(is_separated)) for _, first, end, is_separated in found.spans.tolist()]

    assert rest("abc天地def", (1, 3)) == ("abc def", [(3, 5, True)])
    assert rest("天地玄黄", (1, 3)) == ("天黄", [(1, 3, False)])
    assert rest("a b, c d", (1, 3)) == ("a  d", [(2, 6, False)])
    assert rest("か天\u3099", (1, 2))[0] in ("か \u3099", "か天\u3099")
    assert rest("a天b地c", (1, 2), (3, 4)) == ("a b c", [(1, 2, True), (3, 4, True)])
    assert rest("a天地c", (0, 1), (3, 4)) == ("天地", [(0, 1, False), (3, 4, False)])
