"""Kernels of elements, similarities and bounds, against the obvious definitions."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

import naive
from neardup.kernels.fingerprints.votes import WEIGHTINGS as WEIGHTS
from neardup.kernels.matching import bounds, similarities
from neardup.kernels.matching.edit import FIRST_BAND, edit_distance, edit_memory
from neardup.kernels.matching.elements import weight
from neardup.kernels.matching.similarities import Stored, similarity_of

thresholds = st.one_of(
    st.sampled_from([0.05, 0.1, 0.2, 0.3, 1 / 3, 0.5, 0.6, 2 / 3, 0.7, 0.8, 0.9, 0.95, 1.0]), st.floats(1e-3, 1)
)
small_sets = st.sets(st.integers(1, 12), max_size=12).map(sorted)
sequences = st.lists(st.integers(1, 4), max_size=30)


def stored(code, a, b, weights=((), ())):
    """Two texts as kernels have them."""
    values, of_values = np.array([*a, *b], np.uint64), np.array([*weights[0], *weights[1]])
    starts, ends = np.array([0, len(a)]), np.array([len(a), len(a) + len(b)])
    return Stored(code, values, of_values, starts, ends, edit_memory(max(len(a), len(b))))


def above(code, a, b, least, weights=((), ())):
    """The similarity by the kernel if it is at least `least`, else None; the kernel gives up exactly where it is below."""
    texts = stored(code, a, b, weights)
    whole, found = similarity_of(texts, 0, 1, 0.0), similarity_of(texts, 0, 1, least)
    assert found == (whole if whole >= least else -1.0)
    assert similarity_of(texts, 1, 0, least) == found
    return found if found >= 0 else None


def occurrences(sequence):
    """The bag of a sequence as a set: each occurrence of an item is an element."""
    seen = Counter()
    found = set()
    for item in sequence:
        found.add((item, seen[item]))
        seen[item] += 1
    return found


@given(a=small_sets, b=small_sets, least=thresholds)
@pytest.mark.parametrize("code", [similarities.JACCARD, similarities.WEIGHTED, similarities.CONTAINMENT])
def test_no_pair_of_sets_at_the_threshold_falls_short_of_the_bounds(code, a, b, least):
    found = above(code, a, b, least)
    common = len(set(a) & set(b))
    other = min(len(a), len(b)) if code == similarities.CONTAINMENT else len(set(a) | set(b))
    assert (found or 0.0) == (common / other if other and common / other >= least else 0.0)
    if found is None:
        return
    assert similarities.sizes_may_match(code, len(a), len(b), least)
    check_prefixes(code, a, b, common, least)


def check_prefixes(code, a, b, common, least):
    small, large = sorted((a, b), key=len)
    needed = similarities.required_overlap(code, len(a), len(b), least)
    assert 1 <= needed <= common
    probing = small if code == similarities.CONTAINMENT else large
    indexed = large if code == similarities.CONTAINMENT else small
    front = set(probing[: similarities.prefix_length(code, len(probing), least)])
    assert front & set(indexed[: similarities.index_length(code, len(indexed), least)])
    if code != similarities.CONTAINMENT:
        assert front & set(indexed[: similarities.prefix_length(code, len(indexed), least)])


@given(a=small_sets, b=small_sets, data=st.data(), least=thresholds)
def test_both_prefixes_of_vectors_at_the_threshold_have_a_feature_in_common(a, b, data, least):
    counts = st.lists(st.sampled_from([1.0, 2.0, 3.0, 65536.0, 113512.0]), min_size=12, max_size=12)
    weights = data.draw(counts)[: len(a)], data.draw(counts)[: len(b)]
    found = above(similarities.COSINE, a, b, least, weights)
    if found is None:
        return
    assert similarities.sizes_may_match(similarities.COSINE, len(a), len(b), least)
    fronts = []
    for items, of_items in zip((a, b), weights, strict=True):
        array = np.array(of_items)
        fronts.append(set(items[: bounds.cosine_prefix(array, 0, len(array), least)]))
    assert fronts[0] & fronts[1]


def test_a_vector_and_its_multiple_have_cosine_one_and_a_prefix_at_every_threshold():
    for n in range(1, 40):
        weights = np.sqrt(np.arange(1, n + 1)).round(3) * 1000
        texts = stored(similarities.COSINE, range(n), range(n), (weights, 3 * weights))
        assert similarity_of(texts, 0, 1, 1.0) == 1.0
        assert 1 <= bounds.cosine_prefix(weights, 0, n, 1.0) <= n


def test_a_cosine_prefix_is_the_shortest_whose_rest_is_short_enough():
    weights = np.array([3.0, 1.0, 2.0, 1.0, 1.0])
    for least in (0.05, 0.3, 0.5, 0.7, 0.9):
        lengths = [n for n in range(6) if (weights[n:] ** 2).sum() < least**2 * 16]
        assert bounds.cosine_prefix(weights, 0, 5, least) == lengths[0]


@given(a=sequences, b=sequences, least=thresholds)
def test_no_pair_of_sequences_at_the_threshold_falls_short_of_the_bounds_of_its_bags(a, b, least):
    found = above(similarities.EDIT, a, b, least)
    if found is None:
        return
    left, right = sorted(occurrences(a)), sorted(occurrences(b))
    assert similarities.sizes_may_match(similarities.EDIT, len(a), len(b), least)
    check_prefixes(similarities.EDIT, left, right, len(set(left) & set(right)), least)


@given(whole=st.integers(0, 10**9), least=thresholds)
def test_the_least_part_is_the_first_number_that_passes_the_comparison(whole, least):
    part = bounds.required_part(whole, least)
    assert part >= 1
    assert whole == 0 or part / whole >= least
    assert part == 1 or (part - 1) / whole < least


@pytest.mark.parametrize("code", [similarities.JACCARD, similarities.CONTAINMENT, similarities.EDIT])
def test_the_least_common_is_the_first_number_that_passes_the_comparison(code):
    for a, b in product(range(1, 25), repeat=2):
        for least in (0.05, 0.1, 0.3, 1 / 3, 0.5, 0.7, 0.8, 0.9, 1.0):
            needed = similarities.required_overlap(code, a, b, least)
            for common in (needed - 1, needed):
                other = {
                    similarities.JACCARD: a + b - common,
                    similarities.CONTAINMENT: min(a, b),
                    similarities.EDIT: max(a, b),
                }[code]
                assert (common > 0 and common / other >= least) == (common == needed), (a, b, least)


@pytest.mark.parametrize("code", [similarities.JACCARD, similarities.CONTAINMENT, similarities.EDIT])
def test_so_many_in_common_may_reach_what_requires_no_more(code):
    for a, b, common in product(range(14), range(14), range(-2, 16)):
        for least in (0.05, 1 / 3, 0.5, 0.8, 0.9, 1.0):
            enough = similarities.required_overlap(code, a, b, least) <= min(common, a, b)
            assert similarities.may_reach(code, common, a, b, least) == enough, (a, b, common, least)


def test_sets_without_elements_reach_nothing_and_need_no_prefix():
    for code in similarities.CODES.values():
        for a, b in (([], []), ([1], []), ([], [1, 2])):
            texts = stored(code, a, b, ([1.0] * len(a), [1.0] * len(b)))
            assert similarity_of(texts, 0, 1, 0.0) == 0.0
            assert similarity_of(texts, 0, 1, 0.01) == -1.0
            assert not similarities.sizes_may_match(code, len(a), len(b), 0.01)
            assert similarities.prefix_length(code, 0, 0.01) == similarities.index_length(code, 0, 0.01) == 0
    assert similarities.required_overlap(similarities.JACCARD, 0, 0, 0.5) == 1


def distance(a, b, most):
    values = np.array([*a, *b], np.uint64)
    return edit_distance(values, 0, len(a), len(a), len(a) + len(b), most, edit_memory(max(len(a), len(b))))


@given(a=sequences, b=sequences, most=st.integers(0, 30))
@example([1] * 30, [2] * 30, 30)
@example([], [1, 2], 2)
def test_the_distance_is_levenshteins_and_is_given_up_only_above_the_limit(a, b, most):
    expected = naive.levenshtein(a, b)
    assert distance(a, b, most) == (expected if expected <= most else -1)


@given(data=st.data(), n=st.integers(1, 300), edits=st.integers(0, 200), seed=st.integers(0, 2**32))
def test_the_distance_of_longer_sequences_is_that_of_rapidfuzz_whatever_the_band(data, n, edits, seed):
    random = np.random.default_rng(seed)
    a = random.integers(1, data.draw(st.sampled_from([2, 20, 1000])), n).tolist()
    b = list(a)
    for _ in range(edits):
        place, kind = int(random.integers(0, len(b) + 1)), int(random.integers(0, 3))
        b[place : place + (kind > 0)] = [] if kind == 1 else [int(random.integers(1, 2000))]
    expected = Levenshtein.distance(a, b)
    for most in sorted({0, 1, expected - 1, expected, expected + 1, FIRST_BAND, 10_000} - {-1}):
        assert distance(a, b, most) == (expected if expected <= most else -1)


def test_the_distance_of_sequences_that_cross_many_strips_and_bands_is_that_of_rapidfuzz():
    random = np.random.default_rng(0)
    shared = random.integers(1, 500, 3000).tolist()
    for cut, fresh in ((1, 1), (63, 0), (64, 64), (700, 3), (5, 900), (1500, 1500)):
        other = [*shared[cut:1800], *random.integers(600, 900, fresh).tolist(), *shared[1800:]]
        expected = Levenshtein.distance(shared, other)
        assert distance(shared, other, 10_000) == distance(other, shared, expected) == expected
        assert distance(shared, other, expected - 1) == -1


def test_tokens_that_fall_into_one_place_of_the_table_are_told_apart():
    a, b = [256 * i for i in range(1, 70)], [256 * i for i in range(5, 80)]
    assert distance(a, b, 100) == naive.levenshtein(a, b)


@given(items=st.lists(st.integers(1, 5), max_size=40))
def test_weights_by_count_are_those_of_the_recipe(items):
    for name, weighting in WEIGHTS.items():
        for count in Counter(items).values():
            assert weight(weighting, count) == naive.WEIGHTS[name](count)
