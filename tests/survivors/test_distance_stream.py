"""Decisions by distance alone: one document after another, in batches, from disk: always what the definition says."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd
from neardup.fingerprints.simhash import Fingerprints, fingerprint_array
from neardup.survivors.distance_stream import DistanceStream

RECIPE = nd.Recipe(bits=64, max_distance=3, min_tokens=4)


def of_new_index(max_distance):
    """A stream over an index that was never saved."""
    return DistanceStream(Path("there is none"), recipe=RECIPE, max_distance=max_distance)


def prints_of(texts):
    """The fingerprints of texts, as a stream takes them."""
    return fingerprint_array(pa.array(texts, pa.large_string()), RECIPE)


def told(decided):
    """For each document None, or the id of the kept one that it duplicates, and the distance."""
    assert [distance < 0 for distance in decided.distances] == [each is None for each in decided.matched]
    return [
        None if each is None else (each, distance)
        for each, distance in zip(decided.matched, decided.distances.tolist(), strict=True)
    ]


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
        found.append(best and (best[1], best[0]))
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
    stream = of_new_index(4)
    stream.max_distance = limit
    found, edges = [], [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    for first, last in pairwise(edges):
        part = slice(first, last)
        prints = Fingerprints(values[part].reshape(-1, 1), digests[part], np.where(short, 1, 9)[part])
        found += told(stream.add_fingerprints(np.arange(first, last), prints))
    assert found == by_definition(values.tolist(), digests[:, 0].tolist(), short.tolist(), limit)


def test_batches_larger_than_what_is_decided_at_a_time_give_the_same():
    values = np.random.default_rng(1).integers(0, 1 << 12, 3_000, np.uint64)
    stream = of_new_index(2)
    prints = Fingerprints(values.reshape(-1, 1), np.zeros((3_000, 2), np.uint64), np.full(3_000, 9))
    nothing = [False] * 3_000
    found = told(stream.add_fingerprints(np.arange(3_000), prints))
    assert found == by_definition(values.tolist(), nothing, nothing, 2)


def test_it_goes_on_where_it_was_saved(tmp_path):
    text = "one two three four five six seven"
    stream = DistanceStream(tmp_path / "ix", recipe=RECIPE)
    ids = pa.array(["a", "s", "t"], pa.large_string())
    first = stream.add_fingerprints(ids, prints_of([text, "Hm, yes", "hm,  YES"]))
    assert told(first) == [None, None, ("s", 0)]
    assert stream.is_new
    stream.save()
    assert not stream.is_new
    again = DistanceStream(tmp_path / "ix")
    assert again.recipe.digest() == RECIPE.digest()
    later = again.add_fingerprints(
        pa.array(["b", "u", "c"], pa.large_string()),
        prints_of([text, "HM, yes", "all of it is quite another text than that"]),
    )
    assert told(later) == [("a", 0), ("s", 0), None]
    again.save()
    assert len(DistanceStream(tmp_path / "ix").index) == 2


def test_a_removed_document_is_forgotten():
    stream = of_new_index(3)
    prints = prints_of(["one two three four five six", "oh"])
    stream.add_fingerprints(np.array([1, 2]), prints)
    assert stream.index.remove([1, 2]) == 2
    assert told(stream.add_fingerprints(np.array([3, 4]), prints)) == [None, None]


def test_what_does_not_go_together_is_refused(tmp_path):
    DistanceStream(tmp_path / "ix", recipe=RECIPE).save()
    with pytest.raises(nd.RecipeMismatch, match="was made by the recipe"):
        DistanceStream(tmp_path / "ix", recipe=nd.Recipe())
    with pytest.raises(nd.OptionError, match="the index was made for 3"):
        DistanceStream(tmp_path / "ix", max_distance=4)
    with pytest.raises(nd.OptionError, match="has no distance of its own"):
        DistanceStream(tmp_path / "new", recipe=nd.Recipe(bits=100))
    nd.Index(max_distance=3).save(tmp_path / "of unknown")
    with pytest.raises(nd.OptionError, match="does not know the recipe"):
        DistanceStream(tmp_path / "of unknown")


def test_a_new_index_takes_a_distance_that_is_safe_alone(tmp_path):
    """That of a named recipe is for candidates; a recipe of one's own says what it says."""
    for recipe, expected in (
        ("default", 3),
        (nd.Recipe(), 3),
        ("default-64", 0),
        ("textbook", 0),
        (nd.Recipe(bits=256), 10),
        (RECIPE, 3),
        (nd.Recipe(max_distance=20), 20),
        (nd.Recipe(word_shingle=2, max_distance=5), 5),
    ):
        assert DistanceStream(tmp_path / "new", recipe=recipe).max_distance == expected
    assert DistanceStream(tmp_path / "new", recipe="default", max_distance=18).max_distance == 18
