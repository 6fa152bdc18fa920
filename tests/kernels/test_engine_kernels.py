"""The kernels of engines against plain definitions: the pairs of documents that have a key in common."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from neardup.kernels.engines.frequent import count_frequent
from neardup.kernels.engines.groups import (
    ANY,
    REMEMBERED,
    GroupedKeys,
    Kinds,
    mark_shared,
    pairs_of_groups,
    pairs_of_leading,
    pairs_of_tiles,
)
from neardup.kernels.engines.sorting import DIGIT, sort_words
from neardup.kernels.engines.standing import OUT, SURVIVES, UNDECIDED, standing_of_pairs
from neardup.kernels.matching.bitmaps import fill_bitmaps, may_share_enough
from neardup.kernels.matching.similarities import CODES, prefix_length
from neardup.kernels.store.prefixes import Order

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


def hash_of(element):
    return element * 0x9E3779B97F4A7C15 % 2**64


def listed(keys, kind, threshold, room, kernel, *more):
    """The pairs of all groups, (group, left, right), with room for so many at once, and more where a row has more."""
    place, found = np.zeros(3, np.int64), []
    while place[0] < len(keys.starts) - 1:
        left, right, before = np.empty(room, np.int64), np.empty(room, np.int64), place.copy()
        count = kernel(CODES.get(kind, ANY), threshold, keys, *more, place, left, right)
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
    for most in (1000, room):
        is_large = np.zeros(len(groups), np.bool_)
        assert listed(keys, kind, threshold, most, pairs_of_groups, 100, is_large) == expected
        assert not is_large.any()


@given(SETS, KINDS, THRESHOLDS, st.integers(1, 20), st.integers(0, 2), st.data())
def test_groups_with_many_pairs_are_left_and_others_are_not(sets, kind, threshold, room, most_each, data):
    groups, keys = grouped(sets, kind, threshold)
    given_large = data.draw(st.lists(st.booleans(), min_size=len(groups), max_size=len(groups)))
    pairs_of, every, before = [], [], np.array(given_large)
    for number in range(len(groups)):
        others = np.arange(len(groups)) != number
        pairs_of.append(listed(keys, kind, threshold, 1000, pairs_of_groups, 100, others))
        every += pairs_of[-1]
    expected = [
        large or len(pairs) > most_each * len(rows)
        for large, pairs, (_, rows) in zip(given_large, pairs_of, groups, strict=True)
    ]
    is_large = before.copy()
    found = listed(keys, kind, threshold, room, pairs_of_groups, most_each, is_large)
    assert is_large.tolist() == expected
    wanted = [pair for large, pairs in zip(expected, pairs_of, strict=True) if not large for pair in pairs]
    assert Counter(wanted) <= Counter(found) <= Counter(every)
    assert listed(keys, kind, threshold, 1000, pairs_of_groups, most_each, before.copy()) == wanted


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9), max_size=60), st.sampled_from([2, 8, 1024]))
def test_keys_that_come_several_times_are_marked_and_few_others(keys, cells):
    keys, found = np.array(keys, np.uint64), np.empty(len(keys), np.bool_)
    mark_shared(keys, np.zeros(cells, np.uint8), found)
    cell = [int(key) * 0x9E3779B97F4A7C15 % 2**64 >> (65 - cells.bit_length()) for key in keys.tolist()]
    assert found.tolist() == [cell.count(each) > 1 for each in cell]


@pytest.mark.parametrize("kind", ["any", "jaccard", "cosine"])
def test_rows_of_one_document_are_no_pair(kind):
    ones, tens = np.zeros(3, np.int32), np.full(3, 10, np.int32)
    keys = GroupedKeys(np.array([0, 3]), np.array([4, 4, 7]), ones, tens, np.ones(3, np.bool_))
    assert listed(keys, kind, 0.5, 9, pairs_of_groups, 9, np.zeros(1, np.bool_)) == [(4, 7), (4, 7)]
    leads, parts = np.ones(3, np.bool_), np.full(3, -1)
    assert listed(keys, kind, 0.5, 9, pairs_of_leading, leads, parts) == [(4, 7), (4, 7)]


def test_no_groups_have_no_pairs():
    nothing = np.empty(0, np.int32)
    keys = GroupedKeys(np.zeros(1, np.int64), np.empty(0, np.int64), nothing, nothing, np.empty(0, np.bool_))
    assert listed(keys, "jaccard", 0.5, 4, pairs_of_groups, 1, np.empty(0, np.bool_)) == []


@given(SETS, KINDS, THRESHOLDS, st.integers(0, 5), st.randoms())
def test_those_that_lead_are_paired_with_all_that_come_later(sets, kind, threshold, room, chance):
    groups, keys = grouped(sets, kind, threshold)
    order = np.concatenate([chance.sample(range(a, b), b - a) for a, b in pairwise(keys.starts.tolist())])
    keys = GroupedKeys(keys.starts, *(column[order] for column in keys[1:]))
    leads = np.array([chance.random() < 0.5 for _ in order])
    parts = np.array([chance.choice([-1, 0, 1]) for _ in order])
    expected = []
    for begin, end in pairwise(keys.starts.tolist()):
        for i in range(begin, end):
            for j in range(i + 1, end):
                smaller, larger = (i, j) if keys.sizes[i] <= keys.sizes[j] else (j, i)
                rest = min(keys.sizes[at] - keys.positions[at] for at in (i, j))
                sizes = (int(keys.sizes[smaller]), int(keys.sizes[larger]))
                reaches = kind == "cosine" or (
                    keys.asks[smaller] and naive.could_reach(kind, *sizes, int(rest), threshold)
                )
                if leads[i] and reaches and (parts[i] < 0 or parts[i] != parts[j]):
                    expected.append((keys.docs[i], keys.docs[j]))
    assert listed(keys, kind, threshold, 1000, pairs_of_leading, leads, parts) == expected
    assert listed(keys, kind, threshold, room, pairs_of_leading, leads, parts) == expected
    assert groups


EQUAL = {"position": 0, "asks": True, "leads": True, "part": -1, "group": 0, "is_given": False, "print": (0, 0)}
"""What rows of a tile have, if nothing but their sizes and bitmaps tells them apart."""
WORDS = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**63, 2**64 - 1])


def bits_of(words):
    """The numbers of the bits of a bitmap that are set, word after word."""
    return {64 * word + bit for word, value in enumerate(words) for bit in range(64) if value >> bit & 1}


def bits_apart(one, other):
    """In how many bits two bitmaps differ, each folded to the words of the shorter one, from its first word on."""
    bits = 64 * min(len(one), len(other))
    return len({bit % bits for bit in bits_of(one)} ^ {bit % bits for bit in bits_of(other)}) if bits else 0


@given(st.data(), st.integers(0, 3), st.integers(0, 3))
def test_bitmaps_differ_in_the_bits_that_one_of_them_has_when_the_longer_one_is_folded(data, one_log, other_log):
    one, other = (data.draw(st.lists(WORDS, min_size=2**log, max_size=2**log)) for log in (one_log, other_log))
    apart = bits_apart(one, other)
    a, b = 600, 600 + apart % 2
    most = (a + b - apart) // 2  # elements that sets of these sizes have in common, if each bit is of one element
    rows = [{"size": a, "bitmap": one}, {"size": b, "bitmap": other}]
    for first, second in (rows, rows[::-1]):
        drawn = [(1, 1, [EQUAL | first, EQUAL | second])]
        assert pairs_in_tiles(drawn, "edit", most / b) == [(100, 101)]
        assert pairs_in_tiles(drawn, "edit", (most + 1) / b) == []


def pairs_in_tiles(drawn, kind, threshold, *, by_prefix=False, most=None, room=1000):
    """The pairs that the kernel lists of tiles; rows are documents 100, 101, … `most`: the distance, if fingerprints count."""
    flat = [row for _, _, rows in drawn for row in rows]
    column = {name: [row[name] for row in flat] for name in flat[0]}
    starts = np.cumsum([0, *(len(rows) for _, _, rows in drawn)])
    begins = starts[:-1].tolist()
    sides = np.array(
        [(begin + between, begin + first) for begin, (first, between, _) in zip(begins, drawn, strict=True)]
    )
    keys = GroupedKeys(
        starts,
        np.arange(len(flat)) + 100,
        np.array(column["position"], np.int32),
        np.array(column["size"], np.int32),
        np.array(column["asks"]),
    )
    kinds = Kinds(
        np.array(column["group"]),
        np.array(column["is_given"]),
        np.ascontiguousarray(np.array(column["print"], np.uint64)[:, : 0 if most is None else 2]),
        np.array([word for words in column["bitmap"] for word in words], np.uint64),
        np.cumsum([0, *map(len, column["bitmap"])]),
    )
    leads, parts = np.array(column["leads"]), np.array(column["part"])
    more = (leads, parts, sides, by_prefix, most or 0, kinds, np.full((REMEMBERED, 3), -1))
    return listed(keys, kind, threshold, room, pairs_of_tiles, *more)


@st.composite
def tile_rows(draw):
    """Tiles of rows, each (first that is compared, end of those that lead, rows), as a block with itself or with another."""
    row = st.fixed_dictionaries(
        {
            "size": st.integers(1, 6),
            "position": st.integers(0, 5),
            "asks": st.booleans(),
            "leads": st.booleans(),
            "part": st.sampled_from([-1, -1, 0, 1]),
            "group": st.integers(0, 1),
            "is_given": st.booleans(),
            "print": st.tuples(st.integers(0, 15), st.sampled_from([0, 2**64 - 1])),
            "bitmap": st.sampled_from([1, 2]).flatmap(
                lambda words: st.lists(st.integers(0, 7), min_size=words, max_size=words)
            ),
        }
    )
    found = []
    for rows in draw(st.lists(st.lists(row, min_size=1, max_size=7), min_size=1, max_size=4)):
        between = draw(st.integers(0, len(rows)))
        found.append((draw(st.sampled_from([0, between])), between, rows))
    return found


@given(
    tile_rows(),
    KINDS | st.just("any"),
    THRESHOLDS,
    st.booleans(),
    st.none() | st.integers(0, 130),
    st.integers(0, 5),
)
def test_the_pairs_of_a_tile_are_those_that_nothing_known_rules_out(drawn, kind, threshold, by_prefix, most, room):
    def may_match(one, other):
        if (
            most is not None
            and sum((a ^ b).bit_count() for a, b in zip(one["print"], other["print"], strict=True)) > most
        ):
            return False
        if one["group"] != other["group"] or (one["is_given"] and other["is_given"]):
            return False
        if one["part"] == other["part"] != -1:
            return False
        if kind in ("any", "cosine"):
            return True
        smaller, larger = sorted((one, other), key=lambda row: row["size"])
        a, b = smaller["size"], larger["size"]
        asks = smaller["asks"] if a < b else one["asks"]
        rest = min(row["size"] - row["position"] for row in (one, other))
        if by_prefix and not (asks and naive.could_reach(kind, a, b, rest, threshold)):
            return False
        # A bit that differs is of an element that only one of them has.
        apart = bits_apart(one["bitmap"], other["bitmap"])
        return any(
            naive.could_reach(kind, a, b, common, threshold) and apart <= a + b - 2 * common for common in range(b + 1)
        )

    begins = np.cumsum([100, *(len(rows) for _, _, rows in drawn)]).tolist()
    expected = [
        (begin + i, begin + j)
        for begin, (first, between, rows) in zip(begins, drawn, strict=False)
        for i in range(between)
        for j in range(max(i + 1, first), len(rows))
        if rows[i]["leads"] and may_match(rows[i], rows[j])
    ]
    for places in (1000, room):
        found = pairs_in_tiles(drawn, kind, threshold, by_prefix=by_prefix, most=most, room=places)
        assert found == expected


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25),
    st.lists(st.booleans(), min_size=20, max_size=20),
)
def test_what_is_certain_stays_whatever_else_matches(pairs, flags):
    n = 10
    matches = sorted({(max(pair), min(pair)) for pair in pairs if pair[0] != pair[1]})
    is_open, is_fixed = (np.array(some) for some in (flags[:n], flags[n:]))
    starts = np.searchsorted([later for later, _ in matches], np.arange(n + 1))
    found = np.empty(n, np.uint8)
    standing_of_pairs(starts, np.array([earlier for _, earlier in matches], np.int64), is_open, is_fixed, found)
    expected = []
    for p in range(n):
        before = {expected[earlier] for later, earlier in matches if later == p}
        undecided = is_open[p] or UNDECIDED in before
        expected.append(
            SURVIVES if is_fixed[p] else OUT if SURVIVES in before else UNDECIDED if undecided else SURVIVES
        )
    assert found.tolist() == expected


@given(
    SETS,
    st.sampled_from(["jaccard", "containment", "edit", "cosine"]),
    THRESHOLDS,
    st.lists(st.integers(0, 3), min_size=12, max_size=12),
)
def test_bitmaps_tell_only_sets_that_cannot_be_similar(sets, kind, threshold, widths):
    values = np.array([hash_of(element) for each in sets for element in sorted(each)], np.uint64)
    offsets = np.cumsum([0, *map(len, sets)])
    words = [0 if width == 3 else 2**width for width in widths[: len(sets)]]
    starts = np.cumsum([0, *words])
    maps = np.zeros(starts[-1], np.uint64)
    fill_bitmaps(values, offsets, starts, maps)
    pairs = [(i, j) for j in range(len(sets)) for i in range(j)]
    left, right = np.array(pairs, np.int64).reshape(-1, 2).T.copy()
    found, sizes = np.zeros(len(pairs), np.bool_), np.array([len(each) for each in sets])
    may_share_enough(CODES[kind], threshold, sizes, maps, starts, (left, right), found)
    for (i, j), told in zip(pairs, found.tolist(), strict=True):
        common = len(sets[i] & sets[j])
        if kind == "cosine" or naive.could_reach(kind, *sorted((len(sets[i]), len(sets[j]))), common, threshold):
            assert told, (i, j)


def test_bitmaps_tell_most_sets_that_have_nothing_in_common():
    chance = np.random.default_rng(1)
    values = np.sort(chance.integers(0, 2**63, (2, 300), np.uint64))
    maps = np.zeros(8, np.uint64)
    fill_bitmaps(values.ravel(), np.array([0, 300, 600]), np.array([0, 4, 8]), maps)
    found = np.zeros(1, np.bool_)
    pair = (np.array([0]), np.array([1]))
    may_share_enough(CODES["jaccard"], 0.8, np.array([300, 300]), maps, np.array([0, 4, 8]), pair, found)
    assert not found[0]


@given(
    st.lists(st.lists(st.integers(0, 30), unique=True, max_size=12), max_size=40),
    st.integers(0, 3),
    st.sampled_from([8, 64]),
)
def test_frequent_elements_are_counted_from_some_time_on(sets, least, slots):
    values = np.array([value * 0x9E3779B97F4A7C15 % 2**64 for each in sets for value in each], np.uint64)
    offsets = np.cumsum([0, *map(len, sets)])
    sieve = np.zeros(1 << 16, np.uint8)
    order = Order(np.zeros(slots, np.uint64), np.zeros(slots, np.uint32), 64 - (slots - 1).bit_length())
    place = np.zeros(2, np.int64)
    done = count_frequent(values, offsets, least, sieve, order, place)
    found = {int(order.elements[at]): int(order.counts[at]) for at in np.flatnonzero(order.counts)}
    expected = Counter(values[: place[0]].tolist())
    assert found == {value: count for value, count in expected.items() if count > least}
    assert len(found) == place[1]
    assert done == (place[0] == len(values))
    if not done:
        assert 2 * len(found) >= slots
        assert expected[int(values[place[0]])] == least


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 40), max_size=60), st.integers(0, 64), st.integers(0, 64))
def test_words_are_sorted_by_some_bits_and_stay_as_they_are_where_these_agree(values, first, last):
    words, spare = np.array(values, np.uint64), np.zeros(len(values), np.uint64)
    is_moved = sort_words(words, first, last, spare, np.zeros(1 << DIGIT, np.int64))
    mask = (1 << max(last - first, 0)) - 1
    assert (spare if is_moved else words).tolist() == sorted(values, key=lambda value: value >> first & mask)
