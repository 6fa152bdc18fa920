"""Pairs of classes as integers and as lists, against the obvious."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.hamming.candidate_graph import candidate_pairs, candidates_of, within_groups
from neardup.hamming.unique import Unique
from neardup.kernels.hamming.candidates import drop_repeats, link_classes, pack_pairs

pairs = st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] < pair[1]))


@given(pairs=pairs)
def test_lists_have_both_ends_of_every_pair_ascending(pairs):
    packed = np.array([a << 32 | b for a, b in sorted(pairs)], np.uint64)
    starts, near = np.empty(11, np.int64), np.empty(2 * len(packed), np.uint32)
    link_classes(packed, starts, near)
    found = [near[starts[u] : starts[u + 1]].tolist() for u in range(10)]
    assert found == [sorted({a + b - u for a, b in pairs if u in (a, b)}) for u in range(10)]
    assert starts[0] == 0
    assert starts[10] == len(near)


@given(pairs=pairs, seed=st.integers(0, 99))
def test_pairs_of_names_have_the_smaller_one_left(pairs, seed):
    names = np.random.default_rng(seed).permutation(10)
    ends = np.array(sorted(pairs), np.uint32).reshape(-1, 2)
    out = np.empty(len(ends), np.uint64)
    pack_pairs(names, ends[:, 0].copy(), ends[:, 1].copy(), out)
    expected = [sorted((int(names[a]), int(names[b]))) for a, b in ends]
    assert out.tolist() == [a << 32 | b for a, b in expected]


@given(values=st.lists(st.integers(0, 5)))
def test_repeats_are_dropped(values):
    packed = np.sort(np.array(values, np.uint64))
    assert packed[: drop_repeats(packed)].tolist() == sorted(set(values))


@given(pairs=pairs, groups=st.lists(st.integers(-1, 2), min_size=24, max_size=24), seed=st.integers(0, 99))
def test_classes_within_groups_have_the_same_pairs_but_those_across(pairs, groups, seed):
    class_of = np.random.default_rng(seed).integers(0, 10, 24)
    class_of[:10] = np.arange(10)
    order = np.argsort(class_of, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(class_of))))
    packed = np.array([a << 32 | b for a, b in sorted(pairs)], np.uint64)
    whole = candidates_of(np.zeros((24, 1), np.uint64), Unique(np.empty((10, 1), np.uint64), order, starts), packed)
    found = within_groups(whole, np.array(groups))

    def listed(candidates):
        return sorted(
            (p, q)
            for left, right in candidate_pairs(candidates)
            for p, q in zip(left.tolist(), right.tolist(), strict=True)
        )

    assert listed(found) == [(p, q) for p, q in listed(whole) if groups[p] == groups[q]]
