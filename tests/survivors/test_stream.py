"""`Stream`: one document after another, in batches, from disk: always what the definition says."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd
from neardup.fingerprints.simhash import Fingerprints
from neardup.hamming.index.index import Index
from neardup.survivors.stream import Match, Stream

RECIPE = nd.Recipe(bits=64, max_distance=3, min_tokens=4)


def by_definition(values, digests, short, limit):
    """For each row None, or the row of the nearest kept one and the distance."""
    kept, found = [], []
    for i in range(len(values)):
        near = [
            (int(values[i] ^ values[j]).bit_count() if not short[i] else 0, j)
            for j in kept
            if short[i] == short[j] and (not short[i] or digests[i] == digests[j])
        ]
        best = min((each for each in near if each[0] <= limit), default=None)
        if best is None:
            kept.append(i)
        found.append(best and Match(best[1], best[0]))
    return found


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 255), st.integers(0, 5), st.booleans()), max_size=60),
    st.integers(0, 4),
    st.lists(st.integers(0, 60), max_size=4),
)
def test_it_keeps_what_the_definition_keeps_however_the_documents_are_cut(rows, limit, cuts):
    values = np.array([row[0] for row in rows], np.uint64)
    digests = np.array([[row[1], 1] for row in rows], np.uint64).reshape(-1, 2)
    short = np.array([row[2] for row in rows], np.bool_)
    stream = Stream(Index(max_distance=4, recipe=RECIPE), max_distance=limit)
    found, edges = [], [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    for first, last in pairwise(edges):
        part = slice(first, last)
        prints = Fingerprints(values[part].reshape(-1, 1), digests[part], np.where(short, 1, 9)[part])
        found += stream.add_fingerprints(np.arange(first, last), prints)
    assert found == by_definition(values.tolist(), digests[:, 0].tolist(), short.tolist(), limit)


def test_batches_larger_than_what_is_decided_at_a_time_give_the_same():
    values = np.random.default_rng(1).integers(0, 1 << 12, 3_000, np.uint64)
    stream = Stream(Index(max_distance=2, recipe=RECIPE))
    prints = Fingerprints(values.reshape(-1, 1), np.zeros((3_000, 2), np.uint64), np.full(3_000, 9))
    nothing = [False] * 3_000
    assert stream.add_fingerprints(np.arange(3_000), prints) == by_definition(values.tolist(), nothing, nothing, 2)


def test_it_goes_on_where_it_was_saved(tmp_path):
    text = "one two three four five six seven"
    stream = Stream(tmp_path / "ix", recipe=RECIPE)
    assert [stream.add("a", text), stream.add("s", "Hm, yes"), stream.add("t", "hm,  YES")] == [
        None,
        None,
        Match("s", 0),
    ]
    stream.save()
    again = Stream(tmp_path / "ix")
    assert again.recipe.digest() == RECIPE.digest()
    assert again.add_many(["b", "u"], [text, "HM, yes"]) == [Match("a", 0), Match("s", 0)]
    assert again.add("c", "all of it is quite another text than that") is None
    again.save()
    assert len(Stream(tmp_path / "ix").index) == 2


def test_a_removed_document_is_forgotten():
    stream = Stream(recipe=RECIPE)
    stream.add_many([1, 2], ["one two three four five six", "oh"])
    assert stream.index.remove([1, 2]) == 2
    assert stream.add_many([3, 4], ["one two three four five six", "oh"]) == [None, None]


def test_what_does_not_go_together_is_refused(tmp_path):
    Stream(tmp_path / "ix", recipe=RECIPE).save()
    with pytest.raises(nd.RecipeMismatch, match="was made by the recipe"):
        Stream(tmp_path / "ix", recipe=nd.Recipe())
    with pytest.raises(nd.OptionError, match="the index was made for 3"):
        Stream(tmp_path / "ix", max_distance=4)
    with pytest.raises(nd.OptionError, match="has no distance of its own"):
        Stream(recipe=nd.Recipe(bits=100))
    with pytest.raises(nd.OptionError, match="does not know the recipe"):
        Stream(Index(max_distance=3))
    with pytest.raises(nd.OptionError, match="1 ids for 2 texts"):
        Stream(recipe=RECIPE).add_many([1], ["a", "b"])
