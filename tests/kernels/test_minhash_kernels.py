"""MinHash and band kernels against the obvious definitions."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive
from neardup.fingerprints.minhash import KINDS, constants
from neardup.kernels.fingerprints.minhash import (
    EMPTY,
    count_distinct,
    least_key,
    least_of_bins,
    scratch,
    sign,
)
from neardup.kernels.fingerprints.votes import table_size
from neardup.kernels.matching.bands import (
    Band,
    Buckets,
    Sieve,
    fill_buckets,
    hash_band,
    keep_agreeing,
    pairs_of_buckets,
)

hash_lists = st.lists(st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 7)), max_size=40)


def as_hashes(values):
    return np.array(values, np.uint64)


def signed(hashes, *, values, kind, bits, seed):
    found = np.empty(values, np.uint32 if bits == 32 else np.uint16)
    memory = scratch(2 * len(hashes) + 2, values)
    size = sign(
        as_hashes(hashes), len(hashes), constants(kind, values, seed), memory, np.uint64((1 << bits) - 1), found
    )
    return found.tolist(), size


@pytest.mark.parametrize("kind", KINDS)
@given(hashes=hash_lists, values=st.integers(1, 40), bits=st.sampled_from([16, 32]), seed=st.integers(0, 3))
@example(hashes=[], values=4, bits=32, seed=1)
def test_a_signature_is_the_naive_one(kind, hashes, values, bits, seed):
    expected = naive.signature(set(hashes), values=values, kind=kind, bits=bits, seed=seed)
    assert signed(hashes, values=values, kind=kind, bits=bits, seed=seed) == (expected, len(set(hashes)))


@pytest.mark.parametrize("kind", KINDS)
@given(hashes=hash_lists, random=st.randoms(use_true_random=False))
def test_order_and_repetition_change_no_signature(kind, hashes, random):
    again = [*hashes, *hashes[: len(hashes) // 2]]
    random.shuffle(again)
    how = {"values": 16, "kind": kind, "bits": 32, "seed": 1}
    assert signed(hashes, **how) == signed(again, **how)


@given(number=st.integers(0, 2**64 - 1), values=st.integers(1, 300))
def test_a_number_ranks_every_bin_once_and_its_own_first(number, values):
    one, low = as_hashes([number]), 64 - max(1, (values - 1).bit_length())
    ranks = [int(least_key(one, place, values)) >> low for place in range(values)]
    assert ranks == [naive.rank(number, place, values) for place in range(values)]
    assert len(set(ranks)) == values
    bins = np.empty(values, np.uint64)
    least_of_bins(one, bins)
    assert [rank == 0 for rank in ranks] == [key != EMPTY for key in bins]


@given(hashes=hash_lists)
def test_distinct_hashes_are_counted(hashes):
    places = table_size(len(hashes) + 1)
    keys, counts = np.empty(places, np.uint64), np.empty(places, np.uint32)
    left = np.empty(len(hashes), np.uint64)
    assert count_distinct(as_hashes(hashes), len(hashes), keys, counts, left) == len(set(hashes))


@given(
    rows=st.lists(st.tuples(*[st.integers(0, 1)] * 4), max_size=12),
    room=st.integers(1, 5),
    shift=st.sampled_from([61, 63]),
)
def test_a_search_that_stops_for_room_goes_on_where_it_was(rows, room, shift):
    values = np.array(rows, np.uint32).reshape(-1, 4)
    n, shift = len(values), np.uint64(shift)
    sizes = np.ones(n, np.int64)
    sizes[::5] = 0
    found = set()
    for band in range(2):
        hashes, keys, at = np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty(n, np.uint32)
        ends, out = np.empty(1 << (64 - int(shift)), np.int64), np.empty(room, np.uint64)
        buckets = Buckets(shift, ends, keys, at)
        everything = np.arange(n)
        hash_band(values, everything, everything[::-1].copy(), Band(band, 2), hashes)
        filled = fill_buckets(hashes, sizes, buckets)
        assert filled == (sizes > 0).sum()
        no_sieve = Sieve(np.empty((filled, 0), np.uint64), np.uint64(0))
        place = np.zeros(2, np.int64)
        while place[0] < filled:
            listed = out[: pairs_of_buckets(buckets, no_sieve, 0, place, out)]
            left, right = (listed >> np.uint64(32)).astype(np.int64), (listed & np.uint64(0xFFFFFFFF)).astype(np.int64)
            count = keep_agreeing(values, left, right, Band(band, 2), 0, listed)
            new = {(int(pair) >> 32, int(pair) & 0xFFFFFFFF) for pair in listed[:count]}
            assert len(new) == count
            assert not new & found
            found |= new
    assert sorted(found) == naive.pairs_in_bands(rows, sizes.tolist(), 2, 2)
