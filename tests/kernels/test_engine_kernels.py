"""The kernels of engines against plain definitions: the pairs of documents that have a key in common."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import naive
from neardup.kernels.engines.groups import GroupedKeys, pairs_of_groups
from neardup.kernels.matching.similarities import CODES, prefix_length

SETS = st.lists(st.sets(st.integers(0, 12), min_size=1, max_size=9), min_size=1, max_size=12)
KINDS = st.sampled_from(["jaccard", "containment", "edit", "cosine"])
THRESHOLDS = st.floats(0.05, 1.0) | st.sampled_from([0.5, 2 / 3, 0.75, 0.8, 1.0])


def grouped(sets, kind, threshold):
    """A group for each element: (element, index, position, asks) of its sets, by size; and the same as kernels read them."""
    groups = []
    for element in sorted(set().union(*sets)):
        rows = []
        for index in sorted(range(len(sets)), key=lambda index: (len(sets[index]), index)):
            if element in sets[index]:
                position = sum(other < element for other in sets[index])
                rows.append((index, position, position < prefix_length(CODES[kind], len(sets[index]), threshold)))
        groups.append((element, rows))
    flat = [row for _, rows in groups for row in rows]
    docs, positions, asks = (list(column) for column in zip(*flat, strict=True))
    sizes = [len(sets[index]) for index in docs]
    starts = np.cumsum([0, *(len(rows) for _, rows in groups)])
    keys = GroupedKeys(
        starts,
        np.array(docs),
        np.array(positions, np.int32),
        np.array(sizes, np.int32),
        np.array(asks, np.bool_),
    )
    return groups, keys


def listed(keys, kind, threshold, room):
    """The pairs of all groups, (group, left, right), with room for so many at once, and more where a row has more."""
    place, found = np.zeros(2, np.int64), []
    while place[0] < len(keys.starts) - 1:
        left, right, before = np.empty(room, np.int64), np.empty(room, np.int64), place.copy()
        count = pairs_of_groups(CODES[kind], threshold, keys, place, left, right)
        found += zip(left[:count].tolist(), right[:count].tolist(), strict=True)
        room += (place == before).all()
    return found


@given(SETS, KINDS, THRESHOLDS, st.integers(0, 5))
def test_the_pairs_of_a_group_are_those_that_can_reach_the_threshold(sets, kind, threshold, room):
    groups, keys = grouped(sets, kind, threshold)
    expected = []
    for element, rows in groups:
        of_group = [
            (i, j)
            for place, (j, after, _) in enumerate(rows)
            for i, before, asks in rows[:place]
            if kind == "cosine"
            or (
                asks
                and naive.could_reach(
                    kind, len(sets[i]), len(sets[j]), min(len(sets[i]) - before, len(sets[j]) - after), threshold
                )
            )
        ]
        if kind != "cosine":  # whose prefixes depend on weights
            meeting = naive.pairs_meeting_at(kind, sets, threshold, element)
            assert meeting <= {tuple(sorted(pair)) for pair in of_group}
        expected += of_group
    assert listed(keys, kind, threshold, 1000) == expected
    assert listed(keys, kind, threshold, room) == expected


def test_no_groups_have_no_pairs():
    nothing = np.empty(0, np.int32)
    keys = GroupedKeys(np.zeros(1, np.int64), np.empty(0, np.int64), nothing, nothing, np.empty(0, np.bool_))
    assert listed(keys, "jaccard", 0.5, 4) == []
