"""The Hamming join: every pair, once, in order, however it is planned."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from neardup.errors import OptionError
from neardup.hamming import block_plan, block_tables, distances, pairs

# ---------------------------------------------------------------------------------------------------------------- data


def flip(rows, flips, seed):
    """`rows` with up to `flips` bits of each changed."""
    random = np.random.default_rng(seed)
    rows = rows.copy()
    for _ in range(flips):
        bits = random.integers(0, 64 * rows.shape[1], len(rows))
        rows[np.arange(len(rows)), bits // 64] ^= np.uint64(1) << (bits % 64).astype(np.uint64)
    return rows


def uniform(n, words, seed):
    return np.random.default_rng(seed).integers(0, 2**64, (n, words), dtype=np.uint64)


def clustered(n, words, seed):
    """Copies of a few fingerprints with some bits changed, and some not changed at all."""
    random = np.random.default_rng(seed)
    centers = uniform(max(1, n // 20), words, seed)
    return flip(centers[random.integers(0, len(centers), n)], 4, seed + 1)


def biased(n, words, seed):
    """Half of the bits are nearly always 0, some never anything else: as short texts and narrow hashes have them."""
    random = np.random.default_rng(seed)
    even, rare = uniform(n, words, seed), np.ones((n, words), np.uint64)
    for _ in range(4):
        rare &= random.integers(0, 2**64, (n, words), dtype=np.uint64)
    rows = (even & np.uint64(0x0000FFFF0000FFFF)) | (rare & np.uint64(0x00FF000000FF0000))
    rows[random.integers(0, n, n // 4)] = rows[random.integers(0, n, n // 4)]
    return rows


def one_word_differs(n, words, seed):
    """All differences lie in one run of 12 bits: every table but a few has a single bucket."""
    rows = np.repeat(uniform(1, words, seed), n, axis=0)
    rows[:, words // 2] ^= np.random.default_rng(seed).integers(0, 2**12, n, dtype=np.uint64) << np.uint64(20)
    return rows


def all_equal(n, words, seed):
    return np.repeat(uniform(1, words, seed), n, axis=0)


KINDS = [uniform, clustered, biased, one_word_differs, all_equal]


def rows_of(found):
    return list(zip(found.left.tolist(), found.right.tolist(), found.distance.tolist(), strict=True))


def all_pairs(rows, max_distance, other=None):
    """What `naive.pairs_within` says, by numpy: for as many rows as that would take minutes for."""
    to = rows if other is None else other
    found = []
    for i in range(len(rows)):
        distance = np.bitwise_count(rows[i] ^ to).sum(axis=1)
        near = np.flatnonzero(distance <= max_distance)
        found += [(i, int(j), int(distance[j])) for j in near if other is not None or j > i]
    return found


@pytest.fixture
def small_buckets(monkeypatch):
    """Scatter into buckets of 32 words, so that a few hundred rows go through every path that millions do."""
    monkeypatch.setattr(block_plan, "BUCKET_BYTES", 256)
    monkeypatch.setattr(block_tables, "INITIAL_PAIRS", 4)


# ---------------------------------------------------------------------------------------------------- the same as naive

fingerprint_sets = st.builds(
    lambda kind, n, words, seed: kind(n, words, seed),
    st.sampled_from(KINDS),
    st.integers(1, 60),
    st.sampled_from([1, 2, 3, 8]),
    st.integers(0, 1000),
)


@given(fingerprint_sets, st.integers(0, 24), st.sampled_from([1, 2, 3]))
def test_a_self_join_finds_exactly_the_naive_pairs_in_order(rows, max_distance, threads):
    found = pairs.join(rows, max_distance=max_distance, threads=threads)
    assert rows_of(found) == naive.pairs_within(rows, max_distance)
    assert (found.left.dtype, found.right.dtype, found.distance.dtype) == (np.int64, np.int64, np.uint16)


@given(fingerprint_sets, st.integers(0, 60), st.integers(0, 24), st.integers(0, 1000))
def test_a_join_of_two_sets_finds_exactly_the_naive_pairs_in_order(rows, n, max_distance, seed):
    random = np.random.default_rng(seed)
    other = flip(rows[random.integers(0, len(rows), n)], 3, seed)
    found = pairs.join(rows, other, max_distance=max_distance)
    assert rows_of(found) == naive.pairs_within(rows, max_distance, other)


@given(st.data(), fingerprint_sets, st.integers(0, 12))
def test_every_plan_finds_the_same_pairs(data, rows, max_distance):
    bits = 64 * rows.shape[1]
    parts = data.draw(st.integers(0, max_distance + 1), "parts")
    most = 1 + (bits - max_distance - 1) // max(1, parts)
    key_blocks = data.draw(st.integers(2, min(most, 6)), "key blocks")
    chosen = block_plan.plan_join(len(rows), bits, max_distance, parts=parts, key_blocks=key_blocks)
    unique = pairs.collapse(rows)
    expected = naive.pairs_within(unique.values, max_distance)
    assert rows_of(pairs.join_unique(unique, max_distance=max_distance, plan=chosen)) == expected


PLANS = [(k, g, r) for k in range(4) for g in range(k + 2) for r in (2, 3, 4, 5)]


@pytest.mark.parametrize(("max_distance", "parts", "key_blocks"), PLANS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.usefixtures("small_buckets")
def test_every_plan_for_a_small_distance_finds_all_pairs(kind, words, max_distance, parts, key_blocks):
    rows = np.unique(kind(500, words, 7), axis=0)
    chosen = block_plan.plan_join(len(rows), 64 * words, max_distance, parts=parts, key_blocks=key_blocks)
    found = pairs.join_unique(pairs.collapse(rows), max_distance=max_distance, threads=2, plan=chosen)
    assert rows_of(found) == all_pairs(rows, max_distance)


@pytest.mark.parametrize(
    ("max_distance", "parts", "key_blocks"), [(3, 2, 2), (3, 1, 2), (3, 2, 4), (6, 3, 3), (0, 1, 2)]
)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("words", [1, 3])
@pytest.mark.usefixtures("small_buckets")
def test_every_plan_joins_two_sets(kind, words, max_distance, parts, key_blocks):
    rows = np.unique(kind(400, words, 7), axis=0)
    other = np.unique(np.concatenate([flip(rows[::2], 3, 1), kind(100, words, 8), rows[:50]]), axis=0)
    chosen = block_plan.plan_join(
        len(rows), 64 * words, max_distance, other=len(other), parts=parts, key_blocks=key_blocks
    )
    found = pairs.join_unique(
        pairs.collapse(rows), pairs.collapse(other), max_distance=max_distance, threads=2, plan=chosen
    )
    assert rows_of(found) == all_pairs(rows, max_distance, other)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("small_buckets")
def test_threads_change_neither_the_pairs_nor_their_order(kind, threads):
    rows = kind(1500, 1, 3)
    found = pairs.join(rows, max_distance=3, threads=threads)
    assert rows_of(found) == all_pairs(rows, 3)


@pytest.mark.parametrize(("n", "words", "max_distance"), [(30_000, 1, 3), (12_000, 2, 16), (12_000, 1, 8)])
def test_many_fingerprints_join_as_brute_force_does(n, words, max_distance):
    near = n // 2
    rows = uniform(n, words, 1)
    rows[near:] = flip(rows[:near], max_distance, 2)
    rows[::7] = rows[3]
    found = pairs.join(rows[5:], max_distance=max_distance)
    chosen = block_plan.plan_join(n, 64 * words, max_distance, parts=0)
    unique = pairs.collapse(rows[5:])
    assert rows_of(pairs.join_unique(unique, max_distance=max_distance)) == rows_of(
        pairs.join_unique(unique, max_distance=max_distance, plan=chosen)
    )
    sample = np.flatnonzero(found.left % 101 == 0)
    expected = [
        (i, j, d)
        for i in range(0, n - 5, 101)
        for _, j, d in all_pairs(rows[5 + i : 6 + i], max_distance, rows[5:])
        if j > i
    ]
    assert list(zip(found.left[sample], found.right[sample], found.distance[sample], strict=True)) == expected


@pytest.mark.usefixtures("small_buckets")
def test_a_bucket_far_larger_than_planned_is_joined_by_plans_of_its_own(monkeypatch):
    levels = []
    join = block_tables._Walk.join

    def spy(walk, left, right, chosen=None, sink=None, level=0):
        levels.append(level)
        join(walk, left, right, chosen, sink, level)

    monkeypatch.setattr(block_tables._Walk, "join", spy)
    rows = uniform(4000, 1, 1)
    rows[:2000] = (rows[0] & np.uint64(0xFFFFFFFF00000000)) | (rows[:2000] & np.uint64(0xFFFFFFFF))
    rows[1000:2000] = flip(rows[:1000], 3, 2)
    rows = np.unique(rows, axis=0)
    chosen = block_plan.plan_join(len(rows), 64, 3, parts=2, key_blocks=2)
    found = pairs.join_unique(pairs.collapse(rows), max_distance=3, plan=chosen)
    assert rows_of(found) == all_pairs(rows, 3)
    assert max(levels) >= 1


# ------------------------------------------------------------------------------------------------------------ the edges


@pytest.mark.parametrize("shape", [(0,), (0, 1), (0, 2), (1,), (1, 3)])
def test_none_and_one_fingerprint_have_no_pairs(shape):
    rows = np.ones(shape, np.uint64)
    assert len(pairs.join(rows, max_distance=3)) == 0
    assert len(pairs.join(rows, rows, max_distance=0)) == len(rows)
    assert len(pairs.join(rows, rows[:0], max_distance=64)) == 0
    assert repr(pairs.join(rows, max_distance=3)) == "Pairs(0 pairs)"


@pytest.mark.parametrize("n", range(2, 10))
def test_few_fingerprints_far_apart_are_found_again(n):
    rows = np.array([0, 2**64 - 1, 2**62, 2**63, 1, 2**63 - 1, 5, 2**61, 7][:n], np.uint64)
    assert rows_of(pairs.join(rows, max_distance=64)) == naive.pairs_within(rows.reshape(-1, 1), 64)


@pytest.mark.parametrize("words", [1, 2])
def test_all_pairs_are_found_at_a_distance_of_all_bits(words):
    rows = np.concatenate([uniform(40, words, 1), np.zeros((1, words), np.uint64), ~np.zeros((1, words), np.uint64)])
    found = pairs.join(rows, max_distance=64 * words)
    assert len(found) == 42 * 41 // 2
    assert found.distance[-1] == 64 * words


def test_one_and_two_dimensions_give_the_same_pairs_and_inputs_stay_as_they_are():
    rows = clustered(300, 1, 5)
    before = rows.copy()
    expected = rows_of(pairs.join(rows, max_distance=3))
    frozen = rows.ravel()
    frozen.flags.writeable = False
    strided = np.repeat(rows.ravel(), 2)[::2]
    for given_as in (rows.ravel(), frozen, strided, np.asfortranarray(rows)):
        assert rows_of(pairs.join(given_as, max_distance=3)) == expected
    np.testing.assert_array_equal(rows, before)


def test_the_first_word_is_the_most_significant():
    rows = np.array([[0, 9], [1, 0], [0, 3]], np.uint64)
    assert pairs.collapse(rows).values.tolist() == [[0, 3], [0, 9], [1, 0]]
    assert distances.distance(rows[1], 2**64) == 0
    assert distances.distances(2**64, rows).tolist() == [3, 0, 3]


def test_a_page_repeated_a_hundred_thousand_times_is_one_row():
    rows = np.concatenate([np.full(100_000, 12345, np.uint64), np.array([12344, 99], np.uint64)])
    unique = pairs.collapse(rows)
    assert repr(unique) == "Unique(3 unique of 100,002 fingerprints of 64 bits)"
    assert unique.sizes.tolist() == [1, 1, 100_000]
    assert rows_of(pairs.join_unique(unique, max_distance=1)) == [(1, 2, 1)]
    with pytest.raises(
        OptionError, match=r"have 5,000,050,000 pairs: more than the .* Use collapse\(\) and join_unique\(\)"
    ):
        pairs.join(rows, max_distance=1, memory=1 << 30)


@given(fingerprint_sets, st.sampled_from([1, 2, 3]))
def test_collapsing_names_every_unique_fingerprint_once_with_its_places(rows, threads):
    found = pairs.collapse(rows, threads=threads)
    members = {}
    for position, row in enumerate(rows.tolist()):
        members.setdefault(tuple(row), []).append(position)
    assert [tuple(row) for row in found.values.tolist()] == sorted(members)
    assert [found.members(u).tolist() for u in range(len(found))] == [members[key] for key in sorted(members)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("words", [1, 2])
def test_collapsing_many_is_a_stable_sort(kind, words):
    rows = np.concatenate([kind(60_000, words, 1), kind(1000, words, 2)])
    found = pairs.collapse(rows, threads=3)
    order = np.lexsort([rows[:, w] for w in reversed(range(words))])
    np.testing.assert_array_equal(found.order, order)
    np.testing.assert_array_equal(found.values, np.unique(rows, axis=0))
    np.testing.assert_array_equal(found.values[np.repeat(np.arange(len(found)), found.sizes)], rows[order])


# ------------------------------------------------------------------------------------------------------------- distance


@given(st.integers(0, 2**128 - 1), st.integers(0, 2**128 - 1))
def test_the_distance_is_the_number_of_differing_bits_however_they_are_given(a, b):
    expected = bin(a ^ b).count("1")
    as_rows = [np.array([x >> 64, x & (2**64 - 1)], np.uint64) for x in (a, b)]
    assert distances.distance(a, b) == distances.distance(*as_rows) == distances.distance(a, as_rows[1]) == expected
    low = (np.uint64(a % 2**64), np.uint64(b % 2**64))
    assert distances.distance(*low) == bin(int(low[0]) ^ int(low[1])).count("1")
    found = distances.distances(a, np.array(as_rows))
    assert found.dtype == np.uint16
    assert found.tolist() == [0, expected]
    assert distances.distances(as_rows[0], np.array(as_rows)).tolist() == [0, expected]


@pytest.mark.parametrize(("a", "b", "expected"), [(0b00101110, 0b00001111, 2), (0b100101, 0b101100, 2)])
def test_the_distances_of_the_worked_examples(a, b, expected):
    assert distances.distance(a, b) == expected


# -------------------------------------------------------------------------------------------------------------- planning


def test_brute_force_is_planned_for_few_and_tables_for_many():
    few, many = block_plan.plan_join(500, 64, 3, threads=2), block_plan.plan_join(16_000_000, 64, 3, threads=2)
    assert (few.tables, few.parts, few.comparisons) == (0, 0, 500 * 499 / 2)
    assert (many.tables, many.blocks, many.parts, many.key_blocks) == (6, 6, 2, 2)
    assert many.key_bits == pytest.approx(64 / 3)


@pytest.mark.parametrize("bits", [64, 128])
@pytest.mark.parametrize("max_distance", range(25))
@pytest.mark.parametrize("n", [0, 1, 1000, 1_000_000, 100_000_000])
def test_there_is_a_plan_for_every_size_and_distance(n, bits, max_distance):
    found = block_plan.plan_join(n, bits, max_distance, threads=2)
    assert found.tables <= block_plan.MAX_TABLES
    assert found.blocks <= bits
    assert found.seconds >= 0
    assert found.comparisons <= n * n / 2
    assert found.budgets == () if not found.parts else sum(found.budgets) == max_distance + 1 - found.parts


def test_a_million_fingerprints_of_128_bits_can_be_joined_at_distance_16():
    found = block_plan.plan_join(1_000_000, 128, 16, threads=2)
    assert found.tables > 0
    assert found.comparisons < 1_000_000**2 / 200


def test_parts_do_with_fewer_tables_than_all_combinations_of_blocks():
    whole, parted = (block_plan.plan_join(10**7, 64, 3, parts=parts, key_blocks=2) for parts in (1, 2))
    assert (whole.blocks, whole.tables, math.comb(5, 2)) == (5, 10, 10)
    assert (parted.blocks, parted.tables, 2 * math.comb(3, 2)) == (6, 6, 6)


@given(st.integers(0, 40), st.integers(1, 8), st.lists(st.integers(0, 39), max_size=40))
def test_in_every_pair_some_part_keeps_to_its_budget(max_distance, parts, positions):
    parts = min(parts, max_distance + 1)
    budgets = block_plan._budgets(max_distance, parts)
    differences = [0] * parts
    for position in positions[:max_distance]:
        differences[position % parts] += 1
    assert any(count <= budget for count, budget in zip(differences, budgets, strict=True))


@given(fingerprint_sets, st.integers(0, 8), st.integers(2, 5), st.data())
def test_blocks_are_a_partition_of_all_bits(rows, max_distance, key_blocks, data):
    parts = data.draw(st.integers(1, max_distance + 1))
    chosen = block_plan.plan_join(1000, 64 * rows.shape[1], max_distance, parts=parts, key_blocks=key_blocks)
    tables = block_plan.cut_blocks(chosen, block_plan.bit_entropy(rows, rows))
    masks = tables[0].masks
    assert [table.part for table in tables] == list(range(parts))
    assert np.bitwise_count(masks).sum() == chosen.bits
    assert (np.bitwise_or.reduce(masks, axis=0) == np.uint64(2**64 - 1)).all()
    assert tables[0].part_starts[-1] == chosen.blocks == len(masks)


def test_bits_that_never_change_do_not_make_a_block():
    rows = uniform(5000, 1, 1) & np.uint64(0xFFFFFFFF)
    entropy = block_plan.bit_entropy(rows, rows)
    assert entropy[:32].max() == 0
    assert entropy[32:].min() > 0.99
    table = block_plan.cut_blocks(block_plan.plan_join(5000, 64, 3, parts=2, key_blocks=2), entropy)[0]
    telling = np.bitwise_count(table.masks & np.uint64(0xFFFFFFFF)).ravel()
    assert telling.min() >= 5
    assert telling.max() <= 6


# -------------------------------------------------------------------------------------------------------------- refusals


ROWS = np.arange(10, dtype=np.uint64)


@pytest.mark.parametrize("max_distance", [-1, 65, 3.0, "3", True, None])
def test_a_distance_outside_of_the_bits_is_refused(max_distance):
    with pytest.raises(OptionError, match=r"is not a whole number from 0 to 64.*Usual are 3 to 10 at 64 bits"):
        pairs.join(ROWS, max_distance=max_distance)
    with pytest.raises(OptionError, match="is not a whole number from 0 to 64"):
        block_plan.plan_join(10, 64, max_distance)


@pytest.mark.parametrize(
    ("fingerprints", "message"),
    [
        ([1, 2], r"fingerprints is a list, not an array. Use numpy.array"),
        (np.arange(3), r"dtype int64; allowed is uint64.*view\(numpy.uint64\)"),
        (np.arange(3.0), r"dtype float64; allowed is uint64.*astype"),
        (np.zeros((2, 2, 2), np.uint64), r"shape \(2, 2, 2\); allowed are \[n\] and \[n, words\]"),
        (np.zeros((2, 11), np.uint64), r"shape \(2, 11\)"),
        (np.zeros((2, 0), np.uint64), r"shape \(2, 0\)"),
    ],
)
def test_what_is_not_an_array_of_fingerprints_is_refused(fingerprints, message):
    for use in (lambda: pairs.join(fingerprints, max_distance=3), lambda: pairs.collapse(fingerprints)):
        with pytest.raises(OptionError, match=message):
            use()
    with pytest.raises(OptionError, match=message):
        distances.distances(1, fingerprints)


def test_a_key_that_is_collapsed_may_be_wider_than_a_fingerprint():
    """By a digest, of two words."""
    keys = np.arange(40, dtype=np.uint64).reshape(4, 10)[[2, 0, 2, 1]]
    assert pairs.collapse(keys).order.tolist() == [1, 3, 0, 2]
    with pytest.raises(OptionError, match="with 1 to 8 words"):
        pairs.join(keys, max_distance=3)


def test_fingerprints_of_two_widths_are_refused():
    with pytest.raises(OptionError, match="of 64 and of 128 bits cannot be joined"):
        pairs.join(ROWS, np.zeros((3, 2), np.uint64), max_distance=3)
    with pytest.raises(OptionError, match="the query has 128 bits, the fingerprints 64"):
        distances.distances(np.zeros(2, np.uint64), ROWS)
    with pytest.raises(OptionError, match="the query has 65 bits, the fingerprints 64"):
        distances.distances(2**64, ROWS)


def test_many_queries_are_refused_with_what_to_call_for_them():
    for queries, rows in (
        (ROWS, ROWS),
        (ROWS[:3].reshape(-1, 1), ROWS),
        (np.zeros((3, 2), np.uint64), np.zeros((4, 2), np.uint64)),
    ):
        with pytest.raises(
            OptionError, match=r"takes one query: call it once for each, or use join\(queries, fingerprints"
        ):
            distances.distances(queries, rows)
    with pytest.raises(OptionError, match=r"an array of int64; allowed is uint64\[words\]"):
        distances.distance(np.zeros(1, np.int64), 1)


@pytest.mark.parametrize("fingerprint", [-1, 1.5, "a", True, None])
def test_what_is_not_one_fingerprint_is_refused(fingerprint):
    with pytest.raises(OptionError, match="is not a fingerprint: allowed are integers from 0 up"):
        distances.distance(fingerprint, 1)


def test_many_fingerprints_are_not_one():
    with pytest.raises(OptionError, match=r"Pass one row; for many use distances\(\)"):
        distances.distance(np.zeros((2, 2), np.uint64), 1)


def test_more_pairs_than_memory_allows_are_refused_before_they_are_made():
    rows = clustered(3000, 1, 1)
    with pytest.raises(OptionError, match=r"have more than 25 pairs within `max_distance=8`: more than fit 1,000 B"):
        pairs.join_unique(pairs.collapse(rows), max_distance=8, memory=1000)
    expected = len(pairs.join(rows, max_distance=8))
    assert len(pairs.join(rows, max_distance=8, memory=expected * pairs.PAIR_BYTES)) == expected
    with pytest.raises(
        OptionError, match="Use a smaller `max_distance`, or allow more `memory`|or a smaller `max_distance`"
    ):
        pairs.join(rows, max_distance=8, memory=expected * pairs.PAIR_BYTES - 1)


@pytest.mark.parametrize("memory", [0, -1, 1.5, "1.5", "lots", "0G", True])
def test_memory_is_a_size(memory):
    with pytest.raises(OptionError, match=f"`memory={memory!r}`: give bytes as a number or as 512M or 4G"):
        pairs.join(ROWS, max_distance=3, memory=memory)


@pytest.mark.parametrize("memory", [1 << 20, "1M", "1.5 MiB", np.int64(1 << 20)])
def test_memory_is_given_in_bytes_or_with_a_unit(memory):
    expected = pairs.join(ROWS, max_distance=3)
    assert pairs.join(ROWS, max_distance=3, memory=memory).left.tolist() == expected.left.tolist()


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True])
def test_threads_are_at_least_one(threads):
    with pytest.raises(OptionError, match="threads="):
        pairs.join(ROWS, max_distance=3, threads=threads)


@pytest.mark.parametrize(("parts", "key_blocks"), [(5, 2), (-1, 2), (1, 1), (1, 62), (4, 17)])
def test_a_plan_that_the_bits_cannot_be_cut_for_is_refused(parts, key_blocks):
    with pytest.raises(OptionError, match="Use 0 to 4 parts, and at least 2 key blocks"):
        block_plan.plan_join(1000, 64, 3, parts=parts, key_blocks=key_blocks)


@pytest.mark.parametrize("bits", [0, 32, 65, 576])
def test_a_plan_is_for_whole_words(bits):
    with pytest.raises(OptionError, match=f"`bits={bits}` is not one of 64, 128"):
        block_plan.plan_join(1000, bits, 0)


def test_a_plan_for_fewer_than_none_is_refused():
    with pytest.raises(OptionError, match="cannot be negative"):
        block_plan.plan_join(-1, 64, 3)


def test_a_plan_for_another_join_is_refused():
    with pytest.raises(
        OptionError, match="the plan is for 64 bits and `max_distance=4`, the join for 64 bits and `max_distance=3`"
    ):
        pairs.join_unique(pairs.collapse(ROWS), max_distance=3, plan=block_plan.plan_join(10, 64, 4))


# ---------------------------------------------------------------------------------------------------------- interpreted


def test_the_join_runs_without_compilation():
    script = """
import numpy as np
from neardup.hamming import block_plan
from neardup.hamming import block_tables
from neardup.hamming import block_plan
from neardup.hamming import distances
from neardup.hamming import pairs
block_plan.BUCKET_BYTES = block_tables.BUCKET_BYTES = 256
random = np.random.default_rng(1)
rows = random.integers(0, 2**64, (150, 2), dtype=np.uint64)
rows[75:] = rows[:75] ^ (np.uint64(1) << random.integers(0, 64, (75, 2)).astype(np.uint64))
chosen = block_plan.plan_join(150, 128, 3, parts=2, key_blocks=2)
found = pairs.join_unique(pairs.collapse(rows), max_distance=3, plan=chosen)
print(len(found), len(pairs.join(rows, rows[:20], max_distance=3)), distances.distances(rows[0], rows)[75])
"""
    environment = {**os.environ, "NEARDUP_KERNELS": "interpreted", "PYTHONWARNINGS": "error"}
    run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert run.stderr == ""
    assert run.stdout.split() == ["75", "40", "2"]
