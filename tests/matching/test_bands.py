"""Bands: planned for a stated probability, and every pair that agrees in one is found."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from neardup.errors import OptionError
from neardup.fingerprints.minhash import KINDS, Signatures, constants, signatures
from neardup.kernels.fingerprints.minhash import scratch, sign
from neardup.matching.band_plan import Bands, hit_probability, miss_probability, plan_bands
from neardup.matching.bands import find_banded


def made(values, sizes=None):
    sizes = np.ones(len(values), np.int64) if sizes is None else np.array(sizes, np.int64)
    return Signatures(np.asarray(values), sizes, "one-permutation", 1)


def pairs_of(found):
    return list(zip(found.left.tolist(), found.right.tolist(), strict=True))


# -------------------------------------------------------------------------------------------------------- probabilities


def test_the_s_curve_is_its_formula_and_precise_where_it_is_steep():
    bands = Bands(20, 5)
    assert hit_probability(0.8, bands) == pytest.approx(1 - (1 - 0.8**5) ** 20, rel=1e-12)
    assert hit_probability(1e-6, bands) == pytest.approx(20e-30, rel=1e-9)
    assert miss_probability(0.999, Bands(128, 1)) == pytest.approx(1e-384, abs=1e-300)
    found = hit_probability(np.array([0.0, 0.3, 1.0]), bands)
    assert found[0] == 0
    assert found[1] == pytest.approx(0.0475, abs=1e-4)
    assert found[2] == 1
    assert isinstance(hit_probability(0.5, bands), float)
    assert (
        hit_probability(np.linspace(0, 1, 50), bands) + miss_probability(np.linspace(0, 1, 50), bands)
    ) == pytest.approx(1)


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan"), np.array([0.5, 2.0])])
def test_a_similarity_outside_of_0_to_1_is_refused(wrong):
    for curve in (hit_probability, miss_probability):
        with pytest.raises(OptionError, match="give numbers from 0 to 1"):
            curve(wrong, Bands(2, 2))


def agreements(kind, bands, common, only, pairs):
    """The share of pairs of random sets that agree in a band: so many in common, so many that only the second has."""
    total = common + only
    hashes = np.random.default_rng(common).integers(0, 2**64, (pairs, total), dtype=np.uint64)
    memory, chosen = scratch(2 * total + 2, bands.values), constants(kind, bands.values, 1)
    a, b = np.empty(bands.values, np.uint32), np.empty(bands.values, np.uint32)
    hits = 0
    for row in hashes:
        sign(row, common, chosen, memory, np.uint64(0xFFFFFFFF), a)
        sign(row, total, chosen, memory, np.uint64(0xFFFFFFFF), b)
        hits += bool((a == b).reshape(bands.bands, bands.rows).all(axis=1).any())
    return hits / pairs


@pytest.mark.parametrize("total", [10, 60, 400])
@pytest.mark.parametrize("tenths", [2, 5, 7, 9])
def test_permutations_meet_as_often_as_the_s_curve_says(tenths, total):
    bands, pairs = Bands(8, 4), 1500
    common = total * tenths // 10
    share = agreements("permutations", bands, common, total - common, pairs)
    expected = hit_probability(tenths / 10, bands)
    assert abs(share - expected) < 4.5 * np.sqrt(expected * (1 - expected) / pairs) + 1e-3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("total", [5, 10, 40, 100, 400])
def test_pairs_at_the_threshold_are_missed_no_oftener_than_planned(kind, total):
    planned = plan_bands(0.8, miss_probability=0.05)
    pairs = 4000
    missed = 1 - agreements(kind, planned, total * 4 // 5, total // 5, pairs)
    stated = miss_probability(0.8, planned)
    assert stated <= 0.05
    assert missed < stated + 4.5 * np.sqrt(stated / pairs)


# ---------------------------------------------------------------------------------------------------------------- plans


@given(
    similarity=st.floats(0.06, 1.0),
    miss=st.floats(1e-9, 0.5),
    values=st.one_of(st.none(), st.integers(1, 256)),
)
def test_a_plan_misses_no_more_than_asked_uses_all_values_and_has_the_longest_bands(similarity, miss, values):
    try:
        planned = plan_bands(similarity, values=values, miss_probability=miss)
    except OptionError:
        assert (1 - similarity) ** (values or 1024) > miss * (1 - 1e-9)
        return
    assert miss_probability(similarity, planned) <= miss * (1 + 1e-9)
    if values is None:
        others = [Bands(b, r) for r in range(planned.rows + 1, 129) for b in range(1, 128 // r + 1)]
        if planned.bands > 1:
            others.append(Bands(planned.bands - 1, planned.rows))
        assert planned.values <= 128 or planned.rows == 1
    else:
        assert planned.values == values
        others = [Bands(values // r, r) for r in range(planned.rows + 1, values + 1) if values % r == 0]
    assert all(miss_probability(similarity, other) > miss * (1 - 1e-9) for other in others)


def test_plans_of_the_usual_thresholds():
    assert plan_bands(0.8) == Bands(18, 5)
    assert plan_bands(0.9) == Bands(13, 8)
    assert plan_bands(0.5) == Bands(25, 2)
    assert plan_bands(1.0) == Bands(1, 128)
    assert plan_bands(0.8, values=128) == Bands(32, 4)
    assert plan_bands(0.05) == Bands(135, 1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"min_similarity": 0}, "`min_similarity=0`: give a number above 0"),
        ({"min_similarity": 1.5}, "min_similarity=1.5"),
        ({"min_similarity": "0.8"}, "min_similarity='0.8'"),
        ({"min_similarity": 0.8, "values": 0}, "`values=0`: give an integer from 1 to 1024"),
        ({"min_similarity": 0.8, "values": True}, "values=True"),
        ({"min_similarity": 0.8, "miss_probability": 0}, "`miss_probability=0`: give a number between 0 and 1"),
        ({"min_similarity": 0.8, "values": 4}, "`values=4`: it takes at least 5 values"),
        ({"min_similarity": 0.001}, "it takes 6,905 values, more than 1024"),
        ({"min_similarity": 1e-300}, "Use a higher similarity or a higher probability"),
    ],
)
def test_impossible_plans_are_refused(given, said):
    with pytest.raises(OptionError) as refusal:
        plan_bands(**given)
    assert said in str(refusal.value)


@pytest.mark.parametrize("wrong", [(0, 4), (4, 0), (2.0, 4), (True, 4), (4, 2000)])
def test_impossible_bands_are_refused(wrong):
    with pytest.raises(OptionError, match="give an integer from 1 to 1024"):
        Bands(*wrong)


# ---------------------------------------------------------------------------------------------------------------- pairs


@given(
    rows=st.integers(0, 40),
    kinds=st.integers(1, 4),
    bands=st.sampled_from([Bands(1, 6), Bands(6, 1), Bands(2, 3), Bands(3, 2)]),
    dtype=st.sampled_from([np.uint16, np.uint32]),
    far=st.one_of(st.none(), st.integers(0, 128)),
    threads=st.integers(1, 3),
    seed=st.integers(0, 1000),
)
def test_the_pairs_are_the_naive_ones(rows, kinds, bands, dtype, far, threads, seed):
    random = np.random.default_rng(seed)
    values = random.integers(0, kinds, (rows, 6)).astype(dtype)
    sizes = random.integers(0, 4, rows)
    prints = random.integers(0, 2**64, (rows, 2), dtype=np.uint64)
    sieve = {} if far is None else {"fingerprints": prints, "max_distance": far}
    found = find_banded(made(values, sizes), bands, threads=threads, **sieve)
    expected = naive.pairs_in_bands(values.tolist(), sizes.tolist(), bands.bands, bands.rows)
    if far is not None:
        near = {(a, b) for a, b, _ in naive.pairs_within(prints, far)}
        expected = [pair for pair in expected if pair in near]
    assert pairs_of(found) == expected
    assert (found.left.dtype, found.right.dtype) == (np.int64, np.int64)


def test_more_pairs_than_a_chunk_holds_are_all_found():
    found = find_banded(made(np.ones((500, 2), np.uint32)), Bands(2, 1), threads=2)
    assert len(found) == 500 * 499 // 2
    assert pairs_of(found)[:2] == [(0, 1), (0, 2)]
    assert repr(found) == "BandedPairs(124,750 pairs: (0, 1), (0, 2), (0, 3), …)"


def test_slices_of_signatures_and_fingerprints_of_one_word_will_do():
    values = np.tile(np.arange(6, dtype=np.uint32), (8, 1))
    found = find_banded(made(values)[::2], Bands(3, 2), fingerprints=np.arange(4, dtype=np.uint64), max_distance=1)
    assert pairs_of(found) == [(0, 1), (0, 2), (1, 3), (2, 3)]
    values.flags.writeable = False
    assert len(find_banded(made(values), Bands(3, 2))) == 28


def test_texts_without_shingles_are_in_no_band():
    found = find_banded(signatures(["", "!", "a b c d", "", "A B C D"]), Bands(32, 4))
    assert pairs_of(found) == [(2, 4)]


def test_the_sieve_drops_what_is_far_and_only_that():
    values = np.ones((3, 2), np.uint32)
    prints = np.array([[0, 0], [0, 7], [2**64 - 1, 0]], np.uint64)
    bands = Bands(1, 2)
    assert pairs_of(find_banded(made(values), bands, fingerprints=prints, max_distance=3)) == [(0, 1)]
    assert pairs_of(find_banded(made(values), bands, fingerprints=prints, max_distance=64)) == [(0, 1), (0, 2)]
    assert pairs_of(find_banded(made(values), bands, fingerprints=prints, max_distance=67)) == [(0, 1), (0, 2), (1, 2)]


def test_bands_that_leave_values_unused_are_refused_and_the_nearest_named():
    with pytest.raises(OptionError, match="9 bands of 13 rows are 117 values, but the signatures have 128") as refusal:
        find_banded(made(np.ones((2, 128), np.uint32)), Bands(9, 13))
    assert "The nearest are 8 bands of 16 rows; or make signatures of 117 values" in str(refusal.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"fingerprints": np.zeros(3, np.uint64)}, "one of them is missing"),
        ({"max_distance": 3}, "one of them is missing"),
        ({"fingerprints": np.zeros(2, np.uint64), "max_distance": 3}, "there are 2 fingerprints and 3 signatures"),
        ({"fingerprints": np.zeros(3, np.int32), "max_distance": 3}, "uint64"),
        ({"fingerprints": np.zeros(3, np.uint64), "max_distance": 65}, "max_distance=65"),
        ({"memory": 0}, "`memory=0`: give bytes as a number or as 512M or 4G"),
        ({"memory": 1000}, "`memory=1000`: to look for pairs among 3 signatures takes at least"),
        ({"threads": 0}, "threads=0"),
    ],
)
def test_impossible_searches_are_refused(given, said):
    with pytest.raises(OptionError) as refusal:
        find_banded(made(np.ones((3, 4), np.uint32)), Bands(2, 2), **given)
    assert said in str(refusal.value)


def test_a_single_signature_is_no_set_of_them():
    with pytest.raises(OptionError, match=r"the shape \(128,\)"):
        find_banded(signatures(["a text"])[0], Bands(32, 4))


def test_more_pairs_than_fit_the_memory_are_refused_with_what_to_do():
    many = made(np.ones((3000, 2), np.uint32))
    with pytest.raises(OptionError, match="3,000 signatures have more than") as refusal:
        find_banded(many, Bands(2, 1), memory=4_000_000)
    assert "Use bands of more than 1 rows, sieve them by fingerprints, collapse equal signatures" in str(refusal.value)


def test_little_memory_takes_fewer_threads_and_finds_the_same():
    random = np.random.default_rng(3)
    some = made(random.integers(0, 30, (2000, 8)).astype(np.uint32))
    assert pairs_of(find_banded(some, Bands(4, 2), threads=4, memory=900_000)) == pairs_of(
        find_banded(some, Bands(4, 2))
    )


def test_memory_for_a_search_is_given_in_bytes_or_with_a_unit():
    signatures_of_three = made(np.ones((3, 4), np.uint32))
    for memory in (1 << 20, "1M", "1 MiB"):
        assert pairs_of(find_banded(signatures_of_three, Bands(2, 2), memory=memory)) == [(0, 1), (0, 2), (1, 2)]
    with pytest.raises(OptionError, match="`memory='much'`: give bytes as a number or as 512M or 4G"):
        find_banded(signatures_of_three, Bands(2, 2), memory="much")
