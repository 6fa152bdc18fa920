"""Signatures: equal to their definition, and estimates without bias that know their own error."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive
import neardup
from neardup.errors import DataError, OptionError, RecipeMismatch
from neardup.fingerprints.minhash import KINDS, Signatures, _variance_factor, constants, jaccard_estimate, signatures
from neardup.kernels.fingerprints.minhash import scratch, sign
from neardup.matching.similarities.table import shingle_sets_of
from strategies import texts

FROZEN = {
    "one-permutation": [[3389962922, 2288302261, 2288255961, 4177822932]],
    "permutations": [[3797908246, 3443560358, 2958071313, 475047543]],
}
KIND = pytest.mark.parametrize("kind", KINDS)


def simulated(kind, *, common, only_a, only_b, pairs, values=32, seed=1, bits=32):
    """Signatures of pairs of random sets: so many shingles in common, and so many of one side's own."""
    total = common + only_a + only_b
    hashes = np.random.default_rng(total).integers(0, 2**64, (pairs, total), dtype=np.uint64)
    memory, mask = scratch(2 * total + 2, values), np.uint64((1 << bits) - 1)
    sides = []
    for first, last in ((0, only_a + common), (only_a, total)):
        found = np.empty((pairs, values), np.uint32 if bits == 32 else np.uint16)
        for row in range(pairs):
            one = np.ascontiguousarray(hashes[row, first:last])
            sign(one, len(one), constants(kind, values, seed), memory, mask, found[row])
        sides.append(Signatures(found, np.full(pairs, last - first), kind, seed))
    return sides


# ------------------------------------------------------------------------------------------------------- what they are


@given(
    items=st.lists(texts, max_size=4),
    values=st.integers(1, 50),
    kind=st.sampled_from(list(KINDS)),
    bits=st.sampled_from([16, 32]),
    seed=st.integers(0, 2**64 - 1),
)
@example(
    items=["", "one", "—", "one two three four", "中文法律第一条", "a 中 b"],
    values=8,
    kind="one-permutation",
    bits=32,
    seed=1,
)
def test_signatures_are_those_of_the_shingle_sets(items, values, kind, bits, seed):
    found = signatures(items, values=values, kind=kind, bits=bits, seed=seed, threads=1)
    sets = [{naive.feature_hash(w) for w in naive.windows(naive.tokens(text), 3, 5)} for text in items]
    expected = [naive.signature(s, values=values, kind=kind, bits=bits, seed=seed) for s in sets]
    assert found.values.tolist() == expected
    assert found.sizes.tolist() == [len(s) for s in sets]
    assert (found.kind, found.bits, found.seed, len(found)) == (kind, bits, seed, len(items))
    assert found.values.dtype == (np.uint32 if bits == 32 else np.uint16)


@given(items=st.lists(texts, max_size=6))
def test_sizes_are_those_of_the_sets_that_are_compared(items):
    found = signatures(items, threads=1)
    sets = shingle_sets_of(pa.array(items, pa.large_string()))
    offsets = sets.offsets if hasattr(sets, "offsets") else sets[1]
    assert found.sizes.tolist() == np.diff(offsets).tolist()


def test_threads_and_the_kind_of_column_change_nothing():
    items = [f"document {i} of many says {i * i} and {i % 7} " * 40 for i in range(1500)]
    one = signatures(items, threads=1)
    many = signatures(pa.chunked_array([items[:700], items[700:]]), threads=3)
    assert (one.values == many.values).all()
    assert (one.sizes == many.sizes).all()


def test_signatures_are_frozen():
    """These numbers may only change together with the version of the recipe."""
    found = signatures(["to be or not to be, that is the question"], values=4)
    assert found.values.tolist() == FROZEN["one-permutation"]
    assert (
        signatures(["to be or not to be, that is the question"], values=4, kind="permutations").values.tolist()
        == FROZEN["permutations"]
    )


def test_rows_of_signatures_are_signatures():
    found = signatures(["a b c d", "a b c e", "x"], values=16)
    assert len(found[1:]) == 2
    assert found[np.array([2, 0])].sizes.tolist() == [1, 2]
    assert repr(found[1:]) == "Signatures(2 of 16 values of 32 bits, one-permutation, seed=1)"
    assert repr(found[0]) == "Signatures(16 values of 32 bits, one-permutation, seed=1)"


def test_no_texts_have_no_signatures():
    found = signatures([])
    assert found.values.shape == (0, 128)
    assert jaccard_estimate(found, found).similarity.shape == (0,)


# ------------------------------------------------------------------------------------------------------------ estimates


@KIND
def test_texts_without_shingles_are_like_no_other(kind):
    found = signatures(["", "— !", "some words of a text"], kind=kind)
    assert found.sizes.tolist() == [0, 0, 3]
    assert not found.values[:2].any()
    for row in range(3):
        estimate = jaccard_estimate(found[0], found[row])
        assert (estimate.similarity, estimate.standard_error) == (0.0, 0.0)


@KIND
def test_equal_sets_are_estimated_as_equal_and_others_by_the_share_that_agrees(kind):
    found = signatures(["a b c d e f", "A, b, c, d, e, f!", "u v w x y z"], kind=kind)
    assert jaccard_estimate(found[0], found[1]).similarity == 1.0
    assert jaccard_estimate(found[0], found[2]).similarity == 0.0
    assert jaccard_estimate(found[0], found[2]).standard_error > 0


def test_one_signature_is_compared_with_each_of_many():
    found = signatures(["a b c d e f", "a b c d e g", "u v w x y z"])
    one_to_many = jaccard_estimate(found[0], found)
    row_by_row = jaccard_estimate(found[[0, 0, 0]], found)
    assert one_to_many.similarity.tolist() == row_by_row.similarity.tolist()
    assert one_to_many.standard_error.tolist() == row_by_row.standard_error.tolist()
    single = jaccard_estimate(found[0], found[1])
    assert isinstance(single.similarity, float)
    assert isinstance(single.standard_error, float)
    assert (single.similarity, single.standard_error) == (one_to_many.similarity[1], one_to_many.standard_error[1])


@KIND
@pytest.mark.parametrize("bits", [16, 32])
@pytest.mark.parametrize(
    ("common", "only_a", "only_b"), [(1, 0, 1), (4, 0, 1), (5, 5, 0), (20, 3, 2), (60, 20, 20), (5, 100, 195)]
)
def test_the_estimate_has_no_bias_and_the_error_that_it_states(kind, bits, common, only_a, only_b):
    pairs = 3000
    estimate = jaccard_estimate(*simulated(kind, common=common, only_a=only_a, only_b=only_b, pairs=pairs, bits=bits))
    true = common / (common + only_a + only_b)
    spread = estimate.similarity.std()
    assert abs(estimate.similarity.mean() - true) < 4.5 * spread / np.sqrt(pairs)
    stated = np.sqrt(np.mean(estimate.standard_error**2))
    # The prior of one agreeing and one other value shows where few agree.
    assert 0.9 * spread < stated < 1.1 * spread + 0.5 / 32


def test_the_estimate_has_no_bias_over_seeds():
    a = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    b = a.replace("seven", "SEVENTH")  # 3 of 12 shingles: 9 in common of 15
    estimates = np.array(
        [
            jaccard_estimate(found[0], found[1]).similarity
            for found in (signatures([a, b], values=24, seed=seed, threads=1) for seed in range(1500))
        ]
    )
    assert abs(estimates.mean() - neardup.similarity(a, b)) < 4.5 * estimates.std() / np.sqrt(len(estimates))


@pytest.mark.parametrize("values", [32, 64, 90])
@pytest.mark.parametrize(("common", "only"), [(1, 1), (4, 1), (8, 8), (30, 10), (100, 25), (600, 200)])
def test_one_permutation_has_a_smaller_error_than_independent_values(common, only, values):
    a, b = simulated("one-permutation", common=common, only_a=0, only_b=only, pairs=1500, values=values)
    similarity = common / (common + only)
    independent = np.sqrt(similarity * (1 - similarity) / values)
    factor = np.sqrt(_variance_factor(np.array([float(common + only)]), values)[0])
    measured = jaccard_estimate(a, b).similarity.std() / independent
    assert measured < 1.06
    # The orders that two shingles give to the bins are not quite independent; an upper bound for 90, which is no power of two.
    assert measured < (1.08 if common > 1 else 1.18) * factor
    assert measured > (0.92 if values != 90 else 0.82) * factor


def test_a_shingle_is_not_hidden_by_another_one_in_its_bin():
    """Where empty bins borrow from other bins, one pair in 2 k shares nothing here, and agrees in nothing."""
    a, b = simulated("one-permutation", common=1, only_a=0, only_b=1, pairs=3000, values=64)
    assert ((a.values == b.values).sum(axis=1) > 0).all()


def test_empty_bins_do_not_agree_by_accident():
    a, b = simulated("one-permutation", common=0, only_a=3, only_b=3, pairs=2000, values=64)
    assert not (a.values == b.values).any()


def test_accidents_of_the_bits_kept_are_taken_off():
    values = np.zeros((1, 1000), np.uint16)
    a = Signatures(values, np.array([50]), "permutations", 1)
    other = values.copy()
    other[0, 250:] = 1
    b = Signatures(other, np.array([50]), "permutations", 1)
    accident = 2.0**-16
    assert jaccard_estimate(a, b).similarity[0] == pytest.approx((0.25 - accident) / (1 - accident), rel=1e-12)
    p = 251 / 1002
    assert jaccard_estimate(a, b).standard_error[0] == pytest.approx(np.sqrt(p * (1 - p) / 1000) / (1 - accident))


# ------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"values": 0}, "`values=0`: give an integer from 1 to 1024"),
        ({"values": 1025}, "values=1025"),
        ({"values": True}, "values=True"),
        ({"values": 12.0}, "values=12.0"),
        ({"seed": -1}, "`seed=-1`: give an integer from 0 to 18446744073709551615"),
        ({"kind": "superminhash"}, "`kind='superminhash'`: give one of one-permutation, permutations"),
        ({"bits": 8}, "`bits=8`: give one of 32, 16"),
        ({"bits": 16.0}, "bits=16.0"),
        ({"threads": 0}, "threads=0"),
    ],
)
def test_impossible_options_are_refused(given, said):
    with pytest.raises(OptionError) as refusal:
        signatures(["a text"], **given)
    assert said in str(refusal.value)


def test_all_problems_are_named_at_once():
    with pytest.raises(OptionError, match="`values=0`.*; `seed=-1`.*; `bits=3`"):
        signatures(["a text"], values=0, seed=-1, bits=3)


def test_texts_that_are_none_are_refused():
    with pytest.raises(OptionError, match="give a list"):
        signatures("a text")
    with pytest.raises(DataError, match="Text 1 is null"):
        signatures(["a text", None])


@pytest.mark.parametrize("other", [{"values": 64}, {"bits": 16}, {"seed": 2}, {"kind": "permutations"}])
def test_signatures_made_differently_are_not_compared(other):
    with pytest.raises(RecipeMismatch, match="128 values of 32 bits, one-permutation, seed=1 cannot be compared"):
        jaccard_estimate(signatures(["a text"]), signatures(["a text"], **other))


def test_different_numbers_of_rows_are_not_compared():
    found = signatures(["a", "b", "c"])
    with pytest.raises(OptionError, match="a has 3 rows, b 2"):
        jaccard_estimate(found, found[:2])


def test_numbers_of_numpy_are_numbers():
    found = signatures(["to be or not to be"], values=np.int64(16), bits=np.uint8(16), seed=np.uint64(3))
    assert repr(found) == repr(signatures(["to be or not to be"], values=16, bits=16, seed=3))
    assert (found.values == signatures(["to be or not to be"], values=16, bits=16, seed=3).values).all()
