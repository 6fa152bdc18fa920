"""The kernels of the Hamming join, one by one, beside their definitions."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guards import not_empty
from neardup.hamming import block_plan
from neardup.kernels.hamming import buckets, comparisons, distinct, hamming

U64 = np.uint64


def random_rows(n, words, seed):
    return np.random.default_rng(seed).integers(0, 2**64, (n, words), dtype=U64)


def table_of(words, max_distance, parts, key_blocks, part=0, prefix=()):
    chosen = block_plan.plan_join(1000, 64 * words, max_distance, parts=parts, key_blocks=key_blocks)
    tables = block_plan.cut_blocks(chosen, np.ones(64 * words))
    return tables[part]._replace(prefix=np.array(prefix, np.int64))


def one_block(words, mask, max_distance):
    """A table whose only block has the bits `mask` of the last word."""
    masks = np.zeros((1, words), U64)
    masks[0, -1] = mask
    table = block_plan.no_blocks(words, max_distance, np.ones(64 * words))
    spans, widths = np.array([[words - 1, words]]), np.array([20])
    return table._replace(masks=masks, spans=spans, widths=widths, part_starts=np.array([0, 1]), key_blocks=1)


def near_room():
    return np.empty((2, comparisons.NEAR_ROOM), np.int64)


def columns_of(rows, table):
    columns = np.full((2, len(rows) + comparisons.PADDING), rows[0, 0])
    comparisons.fill_columns(rows, 0, len(rows), table.word, table.second, columns)
    return columns


def pairs_in(rows, max_distance, key=None):
    """Pairs of positions within the distance, and with the same bits under `key` in their last word."""
    found = []
    for i in range(len(rows)):
        distance = np.bitwise_count(rows[i] ^ rows).sum(axis=1)
        near = distance <= max_distance
        if key is not None:
            near &= (rows[i, -1] & key) == (rows[:, -1] & key)
        found += [(i, int(j)) for j in np.flatnonzero(near) if j > i]
    return found


def as_values(rows, positions):
    return sorted(rows[i].tolist() + rows[j].tolist() for i, j in positions)


# -------------------------------------------------------------------------------------------------------------- buckets

MASKS = [[0xFF00, 0, 0], [0, 2**64 - 1, 0], [1, 0xF0F0, 0], [2**63, 7, 2**64 - 1], [0, 0, 0]]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("bits", [1, 7, 14])
def test_a_bucket_is_the_upper_bits_of_the_hash_of_the_masked_words(mask, bits):
    rows, mask = random_rows(200, 3, 1), np.array(mask, U64)
    words = np.flatnonzero(mask)
    span = (int(words[0]), int(words[-1]) + 1) if len(words) else (0, 0)
    numbers = np.empty(150, np.int32)
    with np.errstate(over="ignore"):
        buckets.number_buckets(
            rows, 50, 200, buckets.BlockHash(mask, *span, block_plan.MULTIPLIERS, U64(64 - bits)), numbers
        )
    multipliers = [int(m) for m in block_plan.MULTIPLIERS]
    for row, number in not_empty(zip(rows[50:].tolist(), numbers.tolist(), strict=True)):
        total = sum((word & int(m)) * factor for word, m, factor in zip(row, mask, multipliers, strict=False))
        assert number == total % 2**64 >> (64 - bits)


@pytest.mark.parametrize("words", [1, 2, 3])
@pytest.mark.parametrize("bits", [1, 4, 9])
def test_scattering_and_splitting_keep_all_rows_and_their_order_within_a_bucket(words, bits):
    rows, mask = random_rows(300, words, 2), np.full(words, 0xFFFF0000, U64)
    how = buckets.BlockHash(mask, 0, words, block_plan.MULTIPLIERS, U64(64 - bits))
    numbers, counts = np.empty(64, np.int32), np.zeros(1 << bits, np.int64)
    out, whole, ends = np.zeros_like(rows), np.empty(300, np.int32), np.empty((1 << bits) + 1, np.int64)
    with np.errstate(over="ignore"):
        buckets.number_buckets(rows, 0, 300, how, whole)
        expected = np.argsort(whole, kind="stable")
        buckets.count_buckets(rows, 0, 300, how, numbers, counts)
        at = np.cumsum(counts) - counts
        buckets.scatter_rows(rows, 0, 300, how, numbers, at, out)
        np.testing.assert_array_equal(counts, np.bincount(whole, minlength=1 << bits))
        np.testing.assert_array_equal(out, rows[expected])
        np.testing.assert_array_equal(at, np.cumsum(counts))
        out[:] = 0
        buckets.split_rows(rows, 0, 300, how, whole, ends, out)
    np.testing.assert_array_equal(out, rows[expected])
    np.testing.assert_array_equal(ends[:-1], np.cumsum(counts))


# --------------------------------------------------------------------------------------------------------- who reports


@given(
    st.integers(0, 8),
    st.data(),
    st.sampled_from([1, 2, 3]),
    st.integers(0, 2**192 - 1),
    st.lists(st.integers(0, 191), max_size=10),
)
def test_exactly_one_key_of_all_reports_a_pair_and_none_reports_what_is_farther(
    max_distance, data, words, value, flips
):
    parts = data.draw(st.integers(1, max_distance + 1))
    key_blocks = data.draw(st.integers(2, 4))
    other = value
    for bit in flips:
        other ^= 1 << (bit % (64 * words))
    left, right = (
        np.array([[(x >> (64 * w)) % 2**64 for w in reversed(range(words))]], U64)
        for x in (value % 2 ** (64 * words), other % 2 ** (64 * words))
    )
    near, found, reports = np.zeros((2, 1), np.int64), np.zeros((1, 2 * words), U64), 0
    for part in range(parts):
        table = table_of(words, max_distance, parts, key_blocks, part)
        first, last = int(table.part_starts[part]), int(table.part_starts[part + 1])
        for key in combinations(range(first, last), key_blocks):
            reports += comparisons.report(
                left, right, near, 1, comparisons.Bucket(table, np.array(key), key_blocks), found, 0
            )
    distance = int(np.bitwise_count(left ^ right).sum())
    assert reports == (distance <= max_distance)
    if reports:
        assert found.tolist() == [left[0].tolist() + right[0].tolist()]


def test_pairs_beyond_the_room_are_counted_and_not_stored():
    rows = np.arange(50, dtype=U64).reshape(-1, 1)
    table = block_plan.no_blocks(1, 64, np.ones(64))
    near = np.array(list(combinations(range(50), 2))[:100]).T.copy()
    found = np.zeros((7, 2), U64)
    assert comparisons.report(rows, rows, near, 100, comparisons.Bucket(table, table.prefix, 0), found, 3) == 103
    assert found[:3].tolist() == [[0, 0]] * 3
    assert found[3:].tolist() == [[0, 1], [0, 2], [0, 3], [0, 4]]


# ------------------------------------------------------------------------------------------------------------- compare

SIZES = [0, 1, 2, 31, 32, 33, 200]
LARGE = [comparisons.TILE_ROWS - 1, comparisons.TILE_ROWS, comparisons.TILE_ROWS + 1, 2 * comparisons.TILE_ROWS + 3]


def with_near_copies(n, words, seed):
    rows = random_rows(n, words, seed)
    rows[n // 2 :] = rows[: n - n // 2] ^ U64(0b1001)
    return rows


@pytest.mark.parametrize(("n", "words"), [(n, words) for n in SIZES for words in (1, 2, 3)] + [(n, 1) for n in LARGE])
@pytest.mark.parametrize("two", [False, True])
def test_comparing_a_bucket_reports_its_pairs(n, words, two):
    rows = with_near_copies(n + 9, words, n)
    table = block_plan.no_blocks(words, 3, np.ones(64 * words))
    table = table._replace(word=words - 1, second=0 if two and words > 1 else -1)
    columns, found = np.empty((2, n + comparisons.PADDING), U64), np.zeros((n + 1, 2 * words), U64)
    low, high = 5, 5 + n
    both, bucket = comparisons.Range(rows, low, high), comparisons.Bucket(table, table.prefix, 0)
    room = comparisons.Room(columns, 0, near_room(), found, 10**9)
    count = comparisons.compare(both, both, True, bucket, room, 0)
    expected = pairs_in(rows[low:high], 3)
    assert count == len(expected)
    assert sorted(found[:count].tolist()) == as_values(rows[low:high], expected)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("words", [1, 2])
def test_comparing_two_buckets_reports_the_pairs_across(n, m, words):
    left = random_rows(n, words, 1)
    right = random_rows(m, words, 2)
    shared = min(n, m)
    right[:shared] = left[:shared] ^ U64(0b11)
    table = block_plan.no_blocks(words, 2 * words, np.ones(64 * words))
    columns, found = np.empty((2, m + comparisons.PADDING), U64), np.zeros((shared + 1, 2 * words), U64)
    one, other = comparisons.Range(left, 0, n), comparisons.Range(right, 0, m)
    room = comparisons.Room(columns, 0, near_room(), found, 10**9)
    count = comparisons.compare(one, other, False, comparisons.Bucket(table, table.prefix, 0), room, 0)
    assert count == shared
    assert sorted(found[:count].tolist()) == sorted(np.hstack([left[:shared], right[:shared]]).tolist())


@pytest.mark.parametrize(("n", "words"), [(n, words) for n in SIZES for words in (1, 2)] + [(n, 1) for n in LARGE])
def test_comparing_a_run_of_buckets_reports_the_pairs_within_each_and_none_across(n, words):
    key = U64(0xFF << 20)
    rows = with_near_copies(n, words, n)
    rows[n // 3 :: 3] ^= U64(1 << 20)
    rows[:90, -1] = (rows[:90, -1] & ~key) | U64(5 << 20)
    rows = rows[np.argsort(rows[:, -1] & key, kind="stable")].copy()
    reach = int(np.unique(rows[:, -1] & key, return_counts=True)[1].max(initial=0))
    assert reach <= comparisons.RUN_ROWS
    table = one_block(words, key, 3)
    columns, found = np.empty((2, n + comparisons.PADDING), U64), np.zeros((n + 1, 2 * words), U64)
    chosen = np.zeros(1, np.int64)
    room = comparisons.Room(columns, 0, near_room(), found, 10**9)
    count = comparisons.compare_run(comparisons.Range(rows, 0, n), reach, comparisons.Bucket(table, chosen, 1), room, 0)
    expected = pairs_in(rows, 3, key)
    assert count == len(expected)
    assert sorted(found[:count].tolist()) == as_values(rows, expected)


def test_comparing_gives_up_past_the_most_pairs():
    rows, every = np.arange(100, dtype=U64).reshape(-1, 1), 100 * 99 // 2
    table = block_plan.no_blocks(1, 12, np.ones(64))
    found, columns = np.empty((1, 2), U64), columns_of(rows, table)
    room = comparisons.Room(columns, 0, near_room(), found, 1000)
    count = hamming.join_rows(comparisons.Range(rows, 0, 100), rows, True, table, room)
    assert 1000 < count < every
    assert hamming.join_rows(comparisons.Range(rows, 0, 100), rows, True, table, room._replace(most=10**9)) == every


@pytest.mark.parametrize("words", [1, 2])
def test_brute_force_in_slices_reports_what_it_does_at_once(words):
    rows = with_near_copies(300, words, 4)
    table = block_plan.no_blocks(words, 3, np.ones(64 * words))
    columns = columns_of(rows, table)
    found, expected = [], as_values(rows, pairs_in(rows, 3))
    for first in range(0, 300, 70):
        room = comparisons.Room(columns, 0, near_room(), np.empty((200, 2 * words), U64), 10**9)
        count = hamming.join_rows(comparisons.Range(rows, first, min(first + 70, 300)), rows, True, table, room)
        found += room.found[:count].tolist()
    assert sorted(found) == expected


def test_buckets_over_the_limit_are_left_out():
    rows = with_near_copies(60, 1, 1)
    table = table_of(1, 3, 2, 2, prefix=(0,))
    starts = np.array([0, 10, 60])
    levels, ends, numbers = np.empty((1, 50, 1), U64), np.empty((1, 130), np.int64), np.empty(50, np.int32)
    scratch = comparisons.Scratch(
        levels,
        levels,
        ends,
        ends,
        np.empty((8, 3), np.int64),
        np.empty((2, 50 + comparisons.PADDING), U64),
        numbers,
        near_room(),
    )
    found = np.empty((100, 2), U64)
    with np.errstate(over="ignore"):
        counts = [
            hamming.join_buckets(rows, starts, rows, starts, True, 0, 2, table, limit, scratch, found, 10**9)
            for limit in (49, 50)
        ]
    assert counts[0] == 0
    assert counts[1] > 0


# ------------------------------------------------------------------------------------- sorted rows and their positions


@given(
    st.lists(st.tuples(st.sampled_from([0, 1, 2**63, 2**64 - 1]), st.integers(0, 3)), max_size=80),
    st.sampled_from([1, 2]),
)
def test_sorting_buckets_is_a_stable_sort_of_each(values, words):
    rows = np.array(values, U64).reshape(-1, 2)[:, :words].copy()
    n = len(rows)
    starts = np.array([0, n // 3, n // 3, n])
    expected = [i for a, b in pairwise(starts) for i in sorted(range(a, b), key=lambda i: rows[i].tolist())]
    out, order = rows.copy(), np.arange(n)
    spare = np.empty_like(rows), np.empty(n, np.int64), np.empty(2**11 + 1, np.int64)
    distinct.sort_buckets(out, order, starts, 0, 3, *spare, np.empty((1 + n // distinct.INSERTION_ROWS, 2), np.int64))
    assert order.tolist() == expected
    np.testing.assert_array_equal(out, rows[expected])


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40))
def test_runs_of_equal_rows_are_named_once_each(values):
    rows = np.array(sorted(values), U64)
    starts = np.empty(len(rows) + 1, np.int64)
    out = rows.copy()
    count = distinct.name_distinct(out, starts)
    expected, first = np.unique(rows, axis=0, return_index=True)
    np.testing.assert_array_equal(out[:count], expected)
    assert starts[: count + 1].tolist() == [*first.tolist(), len(rows)]


@pytest.mark.parametrize("words", [1, 2, 4])
def test_rows_are_found_among_many_with_the_same_first_word(words):
    rows = random_rows(500, words, 3)
    rows[:400, : words - 1] = 5
    rows[100:, 0] >>= U64(40)
    values = np.unique(rows, axis=0)
    for bits in (1, 3, 12):
        lowest, highest = int(values[0, 0]), int(values[-1, 0])
        shift = max(0, (highest - lowest).bit_length() - bits)
        guide = np.empty(((highest - lowest) >> shift) + 2, np.int64)
        distinct.guide_rows(values, U64(lowest), U64(shift), guide)
        wanted = np.hstack([values[::-1], values])
        out = np.empty(len(values), np.int64)
        distinct.find_rows(values, guide, U64(lowest), U64(shift), wanted, words, out)
        np.testing.assert_array_equal(out, np.arange(len(values)))
        distinct.find_rows(values, guide, U64(lowest), U64(shift), wanted, 0, out)
        np.testing.assert_array_equal(out, np.arange(len(values))[::-1])


def test_pairs_of_groups_become_pairs_of_their_members():
    order, starts = np.array([3, 4, 0, 1, 2]), np.array([0, 2, 3, 5])
    out = np.zeros(10, U64)
    pairs = np.array([0, 1]), np.array([1, 2])
    assert distinct.expand_pairs(*pairs, order, starts, order, starts, True, out) == 4
    assert [(int(x) >> 32, int(x) % 2**32) for x in out[:4]] == [(0, 3), (0, 4), (0, 1), (0, 2)]
    assert distinct.expand_pairs(*pairs, order, starts, order, starts, False, out) == 4
    assert [(int(x) >> 32, int(x) % 2**32) for x in out[:4]] == [(3, 0), (4, 0), (0, 1), (0, 2)]
    distinct.expand_equal(order, starts, out)
    assert [(int(x) >> 32, int(x) % 2**32) for x in out[:2]] == [(3, 4), (1, 2)]
