"""Units are dealt to sides as the definition says, as near to the shares as the docstring promises, whatever the order of rows."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_splits as naive
from neardup.survivors.splits.deal import FREE, Units, deal, turns
from neardup.survivors.splits.units import together

shares = st.lists(st.integers(1, 9), min_size=2, max_size=5).map(
    lambda parts: [Fraction(part, sum(parts)) for part in parts]
)
corpora = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=9), max_size=25)
"""Units, as the strata of their documents."""


def units_of(corpus, keys=None):
    of_rows = [unit for unit, strata in enumerate(corpus) for _ in strata]
    strata = [stratum for unit in corpus for stratum in unit]
    keys = range(len(corpus)) if keys is None else keys
    return Units(np.array(of_rows, np.int64), np.array(strata, np.int64), np.array(list(keys), np.uint64))


@given(corpora, shares, st.randoms(use_true_random=False), st.data())
def test_units_are_dealt_as_defined(corpus, shares, random, data):
    keys = random.sample(range(1000), len(corpus))
    dealt = data.draw(st.dictionaries(st.integers(0, max(0, len(corpus) - 1)), st.integers(0, len(shares) - 1)))
    dealt = dealt if corpus else {}
    units = units_of(corpus, keys)
    before = np.array([dealt.get(unit, FREE) for unit in range(len(corpus))], np.int64)
    expected = naive.deal(units.of_rows.tolist(), units.strata.tolist(), keys, shares, dealt)
    assert deal(units, shares, before).tolist() == [expected[unit] for unit in range(len(corpus))]


@given(corpora, shares, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_of_units_does_not_matter(corpus, shares, random):
    keys = random.sample(range(1000), len(corpus))
    order = random.sample(range(len(corpus)), len(corpus))
    one = deal(units_of(corpus, keys), shares)
    other = deal(units_of([corpus[unit][::-1] for unit in order], [keys[unit] for unit in order]), shares)
    assert one[order].tolist() == other.tolist()


@given(st.lists(st.integers(1, 40), max_size=30), st.integers(0, 60), shares)
def test_a_side_has_never_more_than_its_share_by_over_half_a_unit_for_each_other_side(sizes, singles, shares):
    corpus = [[0] * size for size in sizes] + [[0]] * singles
    side = deal(units_of(corpus), shares)
    total, most = sum(map(len, corpus)), (len(shares) - 1) / 2
    for number, share in enumerate(shares):
        mine = [len(unit) for unit, of in zip(corpus, side, strict=True) if of == number]
        assert not mine or sum(mine) - share * total <= most * min(mine)  # the last that it got is its smallest


@given(st.lists(st.integers(1, 9), max_size=30), st.integers(0, 60), shares)
def test_shares_are_met_to_within_half_a_document_for_each_other_side_if_single_documents_fill_them(
    sizes, singles, shares
):
    larger = [[0] * size for size in sizes if size > 1]
    corpus = larger + [[0]] * (singles + sizes.count(1))
    side, total = deal(units_of(corpus), shares), sum(map(len, corpus))
    has = [0] * len(shares)
    for unit, of in zip(corpus, side, strict=True):
        has[of] += len(unit) * (len(unit) > 1)
    if any(got > share * total for got, share in zip(has, shares, strict=True)):
        return
    counts = np.bincount(side[units_of(corpus).of_rows], minlength=len(shares)) if corpus else np.zeros(len(shares))
    for got, share in zip(counts.tolist(), shares, strict=True):
        assert abs(got - share * total) <= (len(shares) - 1) / 2


def test_a_small_side_gets_its_part_of_the_large_units():
    corpus = [[0] * 5 for _ in range(50)] + [[0] * 2 for _ in range(100)] + [[0]] * 550
    side = deal(units_of(corpus), [Fraction(8, 10), Fraction(1, 10), Fraction(1, 10)])
    assert [np.bincount(side[part]).tolist() for part in (slice(50), slice(50, 150), slice(150, None))] == [
        [40, 5, 5],
        [80, 10, 10],
        [440, 55, 55],
    ]


@given(st.lists(st.tuples(st.integers(-300, 300), st.integers(1, 60)), min_size=1, max_size=6), st.integers(0, 200))
def test_turns_are_those_of_taking_one_after_another(given, number):
    scores, steps = (list(each) for each in zip(*given, strict=True))
    left, expected = list(scores), [0] * len(scores)
    for _ in range(number):
        best = left.index(max(left))
        expected[best] += 1
        left[best] -= steps[best]
    assert turns(scores, steps, number) == expected


def test_many_units_are_dealt_at_once():
    side = deal(units_of([[0]] * 100_000), naive.fractions([0.8, 0.1, 0.1]))
    assert np.bincount(side).tolist() == [80_000, 10_000, 10_000]


@given(st.integers(0, 12), st.data())
def test_what_shares_a_label_stays_together(n, data):
    labels = [data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n)) for _ in range(2)]
    expected = naive.together(n, lambda p, q: any(each[p] == each[q] >= 0 for each in labels))
    assert together(n, *(np.array(each, np.int64) for each in labels)).tolist() == expected


@pytest.mark.parametrize("number", [0, 1, 2])
def test_nothing_is_dealt_of_nothing(number):
    units = units_of([[0]] * number)
    assert len(deal(units, naive.fractions([0.5, 0.5]))) == number
