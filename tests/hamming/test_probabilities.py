"""Closed forms against their definitions: sums in exact fractions, and numbers that are known."""

import importlib.util
import math
from fractions import Fraction

import numpy as np
import pytest

from neardup.errors import OptionError
from neardup.hamming import probabilities
from places import ROOT


@pytest.mark.parametrize("bits", [1, 7, 64, 128, 512])
@pytest.mark.parametrize("cosine", [-1.0, -0.4, 0.0, 0.5, 0.93, 0.9999, 1.0])
def test_distances_are_binomial(bits, cosine):
    p = Fraction(math.acos(cosine) / math.pi) if abs(cosine) < 1 else Fraction(int(cosine < 0))
    total = Fraction(0)
    for distance in range(bits + 1):
        total += math.comb(bits, distance) * p**distance * (1 - p) ** (bits - distance)
        within = probabilities.within_distance(cosine, bits=bits, max_distance=distance)
        missed = probabilities.sieve_miss(cosine, bits=bits, max_distance=distance)
        assert within == pytest.approx(float(total), rel=1e-10, abs=1e-300)
        assert missed == pytest.approx(float(1 - total), rel=1e-9, abs=1e-300)
    assert within == 1
    assert missed == 0


def test_the_simulated_distance_of_random_hyperplanes_is_what_the_formula_says():
    generator = np.random.default_rng(7)
    cosine, bits = 0.9, 64
    planes = generator.standard_normal((20_000, bits, 2))
    x, y = np.array([1.0, 0.0]), np.array([cosine, math.sqrt(1 - cosine**2)])
    distance = ((planes @ x > 0) != (planes @ y > 0)).sum(axis=1)
    for limit in (4, 8, 12):
        expected = probabilities.within_distance(cosine, bits=bits, max_distance=limit)
        assert (distance <= limit).mean() == pytest.approx(expected, abs=0.012)


def test_the_estimate_of_the_cosine_turns_the_probability_round():
    for distance in range(65):
        assert 64 * probabilities.bit_differs(probabilities.estimated_cosine(distance, bits=64)) == pytest.approx(
            distance
        )


def test_prefix_tables_have_the_numbers_of_the_sources():
    hit = probabilities.prefix_hit(6, bits=64, prefix=16, tables=8)
    [row] = probabilities.prefix_table([6], bits=64, prefixes=[16], tables=[8])
    assert (row.distance, row.prefix, row.tables, row.hit) == (6, 16, 8, hit)
    assert round(hit.exact, 4) == 0.7607
    assert round(hit.by_distance, 4) == 0.8436
    assert round(hit.by_prefix, 6) == 0.791520


def test_prefix_tables_hit_what_they_must_and_nothing_that_they_cannot():
    assert probabilities.prefix_hit(0, bits=64, prefix=16, tables=1).exact == 1
    assert probabilities.prefix_hit(49, bits=64, prefix=16, tables=100).exact == 0
    assert probabilities.prefix_hit(12, bits=64, prefix=16, tables=1).exact == pytest.approx(0.021, abs=0.0005)


def test_simulated_prefix_tables_hit_as_often_as_the_exact_form_says():
    generator = np.random.default_rng(3)
    trials, bits, prefix, tables, distance = 4000, 64, 16, 8, 6
    orders = generator.random((trials, tables, bits)).argsort(axis=2)
    agrees = (orders[:, :, :prefix] >= distance).all(axis=2)  # the differing bits are the first ones
    exact = probabilities.prefix_hit(distance, bits=bits, prefix=prefix, tables=tables).exact
    assert agrees.any(axis=1).mean() == pytest.approx(exact, abs=0.02)


def test_capacity_has_the_numbers_of_the_sources():
    assert probabilities.lookups_within(3, bits=64) == 1 + 64 + 2016 + 41_664 == 43_745
    assert probabilities.lookups_within(200, bits=10) == 1024
    assert probabilities.bucket_size(2**26, key_bits=16) == 1024
    assert round(probabilities.bucket_size(50_000_000, key_bits=16)) == 763
    assert (probabilities.least_bits(10**6), probabilities.least_bits(10**9)) == (20, 30)
    assert probabilities.equal_pairs(2**26, bits=64) == pytest.approx(1.2e-4, rel=0.02)


@pytest.mark.parametrize("documents", [0, 1, 2, 23, 256, 257, 4096, 4097, 6000])
@pytest.mark.parametrize("bits", [8, 13, 24, 64])
def test_collisions_are_the_birthday_problem(documents, bits):
    codes = 2**bits
    if documents > codes:
        assert probabilities.collision(documents, bits=bits) == 1
        return
    apart = math.fsum(math.log1p(-i / codes) for i in range(documents))
    assert probabilities.collision(documents, bits=bits) == pytest.approx(-math.expm1(apart), rel=1e-9, abs=1e-300)


def test_twice_the_bits_are_needed_lest_any_collide():
    for documents in (1000, 10**6, 10**9):
        bits = probabilities.bits_without_collision(documents)
        assert probabilities.collision(documents, bits=bits) <= 0.5 < probabilities.collision(documents, bits=bits - 1)
    assert probabilities.bits_without_collision(10**6) == 2 * probabilities.least_bits(10**6)
    assert probabilities.bits_without_collision(10**6, probability=1e-9) == 69


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: probabilities.bit_differs(1.5), "`cosine=1.5`: give a number from -1 to 1."),
        (lambda: probabilities.within_distance(0.5, bits=0, max_distance=1), "`bits=0`: give an integer from 1 up."),
        (lambda: probabilities.sieve_miss(0.5, max_distance=-1), "`max_distance=-1`: give an integer from 0 up."),
        (lambda: probabilities.estimated_cosine(65, bits=64), "`distance=65`: give an integer from 0 to 64"),
        (
            lambda: probabilities.prefix_table([], bits=64, prefixes=[8], tables=[1]),
            r"`distances=\[\]`: give at least one",
        ),
        (lambda: probabilities.prefix_hit(65, bits=64, prefix=8, tables=1), "neither can be more than `bits=64`"),
        (
            lambda: probabilities.prefix_hit(6, bits=64, prefix=8, tables=0.5),
            "`tables=0.5`: give an integer from 1 up.",
        ),
        (lambda: probabilities.bits_without_collision(9, probability=0), "give a number above 0"),
        (lambda: probabilities.bits_without_collision(9, probability=2), "`probability=2`: give a number from 0 to 1."),
    ],
)
def test_what_is_no_probability_or_count_is_refused(call, message):
    with pytest.raises(OptionError, match=message):
        call()


@pytest.mark.long
def test_the_tables_of_the_page_are_what_the_simulations_give():
    spec = importlib.util.spec_from_file_location("make_theory", ROOT / "tools/make_theory.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert (ROOT / "docs/theory.md").read_text(encoding="utf-8") == tool.page(), "run: python tools/make_theory.py"
