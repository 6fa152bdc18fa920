"""A stream of documents gets from a store the very decisions that `deduplicate` takes on all of them at once."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sizes import set_sizes
from streams import WAYS, decisions, near_copies, streamed

import neardup as nd
from dense_lines import dense_lines
from neardup.kernels.matching.similarities import CODES
from neardup.matching.element_order import learned
from neardup.matching.join_keys import Bound, keys_of_elements
from neardup.matching.similarities.table import SIMILARITY_TABLE, Elements
from neardup.store.candidates import proposing
from neardup.store.candidates.exact import BOTH_PREFIXES, CONTAINED
from neardup.store.formats.contents import Contents
from neardup.store.formats.removal_bits import NO_MARKS
from neardup.store.formats.segments import Postings
from neardup.store.store import Store


@pytest.mark.parametrize(("method", "similarity", "least"), WAYS)
@pytest.mark.parametrize("size", [1, 7, 60])
def test_a_stream_is_decided_as_the_batch_is(tmp_path, monkeypatch, method, similarity, least, size):
    set_sizes(monkeypatch, learned=4, growth=2)  # the order of elements changes four times
    options = {"method": method, "similarity": similarity, "min_similarity": least}
    texts = list(near_copies(60, size))
    expected = decisions(texts, **options)
    assert len(expected) > 5
    with Store(tmp_path / "s", **options) as store:
        found = streamed(store, texts[:30], size)
    with Store(tmp_path / "s") as store:  # opened again
        found |= streamed(store, texts[30:], size, 30)
        assert len(store) == len(texts) - len(expected)
    assert found == expected


@given(st.integers(0, 10**6), st.sampled_from(WAYS), st.sampled_from([0.3, 0.5, 0.75, 0.9, 1.0]), st.booleans())
def test_any_threshold(tmp_path_factory, seed, way, least, is_dense):
    method, similarity, usual = way
    options = {"method": method, "similarity": similarity, "min_similarity": least if usual else 0.0}
    texts = list(near_copies(30, seed))
    with Store(tmp_path_factory.mktemp("store") / "s", **options) as store, pytest.MonkeyPatch.context() as patch:
        if is_dense:
            patch.setattr(proposing, "MIN_TEXTS_SAMPLED", 2)
            patch.setattr(proposing, "TEXTS_SAMPLED", 1)
            patch.setattr(proposing, "bitmaps_tell_more", lambda *_: True)
        assert streamed(store, texts, 11) == decisions(texts, **options)


@pytest.mark.parametrize(
    ("method", "similarity"),
    [
        ("minhash", "jaccard"),
        *itertools.product(["exact", "simhash"], ["jaccard", "edit", "weighted", "containment"]),
    ],
)
def test_dense_lines_are_told_apart_by_bitmaps(tmp_path, monkeypatch, method, similarity):
    met, meet = [], Contents.met
    monkeypatch.setattr(Contents, "met", lambda *given: met.append(1) or meet(*given))
    options = {"method": method, "similarity": similarity, "min_similarity": 0.75}
    texts = dense_lines(400, "inserted")
    with Store(tmp_path / "s", **options) as store:
        assert streamed(store, texts, 130) == decisions(texts, **options)
        assert store.verify().is_sound
    assert met or (method, similarity) == ("simhash", "edit")  # of which a store has the order of words alone


@pytest.mark.parametrize(("method", "similarity", "least"), WAYS[:5])
def test_all_matches_are_listed_best_first(tmp_path, method, similarity, least):
    texts = [text for text in near_copies(80, 5) if text]
    with Store(tmp_path / "s", method=method, similarity=similarity, min_similarity=least) as store:
        kept = [row for row, answer in enumerate(store.check_and_add_many(range(60), texts[:60])) if answer.is_new]
        for text in texts[60:]:
            if any(text.casefold() == other.casefold() for other in texts[:60]):
                continue  # it is what that copy was
            answer = store.check(text)
            alike = {row: nd.similarity(texts[row], text, kind=similarity) for row in kept}
            wanted = sorted((row for row in kept if alike[row] >= least), key=lambda row: (-alike[row], row))
            assert [match.id for match in answer.matches] == wanted
            assert [match.similarity for match in answer.matches] == [alike[row] for row in wanted]


def test_a_copy_of_a_removed_text_gets_the_survivor_that_it_had(tmp_path):
    words = [f"w{i}" for i in range(40)]
    first, near, nearer = " ".join(words), " ".join([*words[:-2], "x", "y"]), " ".join([*words[:-2], "x", "z"])
    texts = [first, near, nearer + " q", near.upper()]
    with Store(tmp_path / "s", min_similarity=0.7) as store:
        answers = store.check_and_add_many(["a", "b", "c", "d"], texts)
        assert [answer.duplicate_of for answer in answers] == [None, "a", answers[2].duplicate_of, "a"]
        assert answers[3] == answers[1]
        assert store.check(near) == answers[1]
        assert store.remove(["a"]) == 1
        assert store.check_and_add("e", near).is_new or store.check(near).duplicate_of == "c"


@given(st.lists(st.sets(st.integers(0, 12), max_size=9), max_size=12), st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_similar_sets_have_a_key_in_common(sets, least):
    values = [np.array(sorted(each), np.uint64) for each in sets]
    offsets = np.cumsum([0, *map(len, values)])
    order = learned(np.concatenate([np.empty(0, np.uint64), *values[: len(values) // 2]]))
    elements = Elements(np.concatenate([np.empty(0, np.uint64), *values]), np.ones(offsets[-1]), offsets)
    for similarity in ("jaccard", "containment", "cosine"):
        bound, pairs = Bound(CODES[similarity], least), set()
        for side in CONTAINED if similarity == "containment" else BOTH_PREFIXES:
            stored, asked = (
                keys_of_elements(elements, np.ones(len(sets), np.bool_), order, bound, whole=whole)
                for whole in (side.stores_all, side.asks_all)
            )
            kept = Postings()
            kept.add(stored)
            found = kept.find(asked, NO_MARKS, bound)
            pairs |= set(zip(found.asked.tolist(), found.found.tolist(), strict=True))
        for i, a in enumerate(sets):
            for j, b in enumerate(sets):
                if a and b and set_similarity(similarity, a, b) >= least:
                    assert (i, j) in pairs


def set_similarity(kind, a, b):
    common = len(a & b)
    if kind == "jaccard":
        return common / len(a | b)
    return common / min(len(a), len(b)) if kind == "containment" else common / (len(a) * len(b)) ** 0.5


def test_every_similarity_is_served():
    assert {similarity for _, similarity, _ in WAYS if isinstance(similarity, str)} == set(SIMILARITY_TABLE)
