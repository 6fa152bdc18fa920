"""What is repeated, against the definition."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_repeats as naive
from neardup.io.corpora.table_corpus import TableCorpus
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.survivors.repeats import earliest, find, token_stream
from neardup.survivors.repeats.find import find_repeats
from neardup.survivors.repeats.options import PassageOptions

WORDS = ["a", "b", "天", "c"]
SEQUENCES = st.integers(1, 4).flatmap(lambda n: st.lists(st.sampled_from(WORDS[:n]), max_size=30))
DOCUMENTS = st.lists(st.lists(SEQUENCES, min_size=2, max_size=2), min_size=1, max_size=6)


def text_of(document):
    return token_stream.SEPARATOR.join(" ".join(piece) for piece in document)


def found_in(documents, size, *, references=0, columns=None, **options):
    """The cuts and segments, in places of the definition."""
    rows = [{"text": text_of(each), **(columns[i] if columns else {})} for i, each in enumerate(documents)]
    chosen = PassageOptions(min_tokens=size, **options)
    names = [name for name in rows[0] if name != "text"]
    inputs = TableCorpus(rows[: len(rows) - references], values=[n for n in chosen.order.columns if n in names])
    others = None
    if references:
        within = [chosen.within] if chosen.within else []
        others = TableCorpus(rows[len(rows) - references :], values=within, called="against")
    repeats = find_repeats(inputs, Recipe(), chosen, Progress(), reference=others, columns=2)
    where = {}
    for number, document in enumerate(documents):
        at = int(repeats.places.starts[number])
        for piece, sequence in enumerate(document):
            for i in range(len(sequence) + 1):
                where[at] = (number, piece, i)
                at += 1
    cuts = [(*where[begin], where[end - 1][2] + 1) for begin, end in repeats.found.cuts.tolist()]
    segments = [(where[a], where[b], n) for a, b, n in repeats.found.segments.tolist()]
    return cuts, segments


def defined(documents, size, **how):
    repeated = naive.repeated_windows(documents, size, **how)
    return naive.cuts(repeated, size), naive.segments(documents, repeated, size)


@given(DOCUMENTS, st.integers(2, 7), st.sampled_from(["all", "other-documents", "same-document"]), st.integers(0, 2))
def test_cuts_and_segments_are_those_of_the_definition(documents, size, scope, references):
    references = min(references, len(documents) - 1)
    how = {"scope": scope, "references": references}
    assert found_in(documents, size, **how) == defined(documents, size, **how)


@given(
    DOCUMENTS,
    st.integers(2, 5),
    st.lists(st.integers(0, 3), min_size=6, max_size=6),
    st.lists(st.sampled_from("xy"), min_size=6, max_size=6),
)
def test_passages_of_preferred_documents_stay_and_those_of_other_groups_are_not_compared(
    documents, size, scores, groups
):
    columns = [{"score": score, "group": group} for score, group in zip(scores, groups, strict=True)]
    order = sorted(range(len(documents)), key=lambda i: -scores[i])
    found = found_in(documents, size, columns=columns, keep="max:score", within="group")
    assert found == defined(documents, size, order=order, groups=groups)


@given(DOCUMENTS, st.integers(2, 5), st.sampled_from(["all", "other-documents"]))
@pytest.mark.parametrize("base", [0, 1])
def test_windows_of_equal_hashes_are_told_apart_by_their_tokens(base, documents, size, scope):
    """With base 0, a hash is that of the last token; with base 1, windows of the same tokens in another order have the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(find, "WindowFinder", partial(find.WindowFinder, base=base))
        assert found_in(documents, size, scope=scope) == defined(documents, size, scope=scope)


@given(DOCUMENTS, st.integers(2, 5))
def test_no_division_of_the_work_changes_what_is_found(documents, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(earliest, "CHUNK_BITS", 4)
        patch.setattr(find, "Partitions", partial(find.Partitions, bits=2))
        patch.setattr(find, "find_earliest_places", partial(find.find_earliest_places, room=64))
        assert found_in(documents, size, memory="16M", threads=2) == defined(documents, size)


@given(DOCUMENTS, st.integers(2, 5))
def test_each_cut_token_is_the_same_as_a_kept_one(documents, size):
    cuts, segments = found_in(documents, size)
    earlier = {}
    for (d, p, i), (e, q, j), n in segments:
        earlier |= {(d, p, i + k): (e, q, j + k) for k in range(n)}
    assert len(earlier) == sum(end - begin for _, _, begin, end in cuts)
    for place in earlier:
        token = documents[place[0]][place[1]][place[2]]
        while place in earlier:
            assert earlier[place] < place
            place = earlier[place]
        assert documents[place[0]][place[1]][place[2]] == token


def test_of_periodic_text_one_period_stays():
    for period in (1, 3, 7):
        document = [[f"w{i % period}" for i in range(200)]]
        cuts, segments = found_in([document], 50)
        assert cuts == [(0, 0, period, 200)]
        assert segments == [((0, 0, period), (0, 0, 0), 200 - period)]


def test_words_of_thue_and_morse_are_told_apart():
    """Polynomials modulo 2^64 have the same value for a word of 1,024 letters and for its complement."""
    bits = [bin(i).count("1") & 1 for i in range(1024)]
    documents = [[["ab"[b] for b in bits]], [["ba"[b] for b in bits]]]
    assert found_in(documents, 1024) == ([], [])
    assert found_in(documents, 15, scope="other-documents") == defined(documents, 15, scope="other-documents")
