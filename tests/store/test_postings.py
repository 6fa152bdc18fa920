"""Postings find what was added, from memory and from segments, merged or not."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.kernels.store.postings import Keys
from neardup.matching.join_keys import Bound, keys_of
from neardup.store.formats import segments as postings
from neardup.store.formats.removal_bits import NO_MARKS, Marks
from neardup.store.formats.segments import Postings, compacted, spilled


def paths(folder):
    """Paths of new files."""
    number = iter(range(1000))
    return lambda: folder / f"segment-{next(number)}"


def found_by(kept, asked, gone=NO_MARKS):
    found = kept.find(keys_of(np.array(asked, np.uint64), np.arange(len(asked))), gone)
    return sorted(zip(found.asked.tolist(), found.found.tolist(), strict=True))


PARTS = st.lists(
    st.tuples(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 40)), max_size=30), st.booleans()), max_size=12
)


@given(PARTS, st.lists(st.integers(0, 22)), st.sets(st.integers(0, 40)), st.booleans())
def test_postings_find_what_was_added(tmp_path_factory, parts, asked, gone, compact):
    kept, expected, new = Postings(), [], paths(tmp_path_factory.mktemp("postings"))
    marks = Marks.of(NO_MARKS)
    marks.set(np.array(sorted(gone), np.int64))
    for part, spill in parts:
        kept.add(keys_of(np.array([key for key, _ in part], np.uint64), np.array([text for _, text in part], np.int64)))
        expected += part
        if spill:
            kept.take(spilled(kept.freeze(), new, 0, NO_MARKS))
    wanted = sorted((i, text) for i, key in enumerate(asked) for other, text in expected if other == key)
    assert found_by(kept, asked) == wanted
    there = [pair for pair in wanted if pair[1] not in gone]
    assert found_by(kept, asked, marks.bits) == there
    assert marks.has(np.arange(60)).tolist() == [number in gone for number in range(60)]
    if compact:
        kept.take(compacted(kept.freeze(), new, 0, marks.bits))
        assert found_by(kept, asked) == there
        assert len(kept.segments) <= 1


def test_segments_are_merged_by_size(tmp_path):
    kept, new = Postings(), paths(tmp_path)
    for part in range(40):
        kept.add(keys_of(np.arange(100, dtype=np.uint64), np.full(100, part)))
        kept.take(spilled(kept.freeze(), new, part, NO_MARKS))
    sizes = [len(segment) for segment in kept.segments]
    assert sum(sizes) == len(kept) == 4000
    assert len(sizes) < 8
    assert all(left >= postings.SIZE_FACTOR * right for left, right in pairwise(sizes))


def test_sizes_and_places_that_do_not_fit_leave_nothing_out():
    kept, many = Postings(), 1_000_000
    facts = (np.array([7], np.int64), np.array([many // 10], np.uint32), np.array([many], np.uint32))
    kept.add(Keys(np.array([5], np.uint64), *facts))
    asked = Keys(np.array([5], np.uint64), np.array([0]), *facts[1:])
    bound = Bound(0, 0.8)
    assert kept.find(asked, NO_MARKS, bound).found.tolist() == [7]


def test_a_segment_that_is_missing_or_another_is_refused(tmp_path):
    kept, new = Postings(), paths(tmp_path)
    kept.add(keys_of(np.arange(9, dtype=np.uint64), np.arange(9)))
    kept.take(spilled(kept.freeze(), new, 9, NO_MARKS))
    [segment] = kept.segments
    listed = segment.listed
    assert len(postings.Segment.read(segment.file.path, listed)) == 9
    with pytest.raises(nd.DataError, match="is another file than the one that the store wrote"):
        postings.Segment.read(segment.file.path, listed | {"seal": "0"})
    segment.file.path.unlink()
    with pytest.raises(nd.DataError, match="is missing. It is made of the other files: repair the store"):
        postings.Segment.read(segment.file.path, listed)


def test_a_table_grows():
    kept = Postings()
    for part in range(5):
        kept.add(keys_of(np.arange(1000, dtype=np.uint64), np.full(1000, part)))
    assert found_by(kept, [5, 999]) == [(i, part) for i in range(2) for part in range(5)]
