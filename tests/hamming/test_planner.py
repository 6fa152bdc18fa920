"""The planner of Hamming search: the published numbers, one choice for all, and predictions that counting confirms."""

import json
import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd
from neardup.hamming.index.index import Index
from neardup.hamming.index.keyed_tables import KeyPlan, bucket_bits_for
from neardup.hamming.index.methods.block_tables import block_keys
from neardup.hamming.index.methods.multi_index import multi_index_keys
from neardup.hamming.index.methods.neighbors import neighbor_keys
from neardup.hamming.index.methods.prefix_tables import hit_by_masks, prefix_keys, simulated_prefix_hit, tables_for
from neardup.hamming.index.methods.sorted_beam import simulated_beam_hit
from neardup.hamming.index.methods.table import METHODS
from neardup.hamming.index.planning import planner
from neardup.hamming.index.planning.check import check_plan
from neardup.hamming.index.planning.costs import Setting, probes_of, uniform_candidates
from neardup.hamming.index.planning.machine import TYPICAL, Machine, at
from neardup.hamming.index.planning.machine_timing import measure_machine
from neardup.hamming.index.planning.plan_index import sharded
from neardup.hamming.index.planning.planner import best_of, exact_methods, usual_choice, usual_options
from neardup.hamming.index.planning.skew import buckets_of, counted_candidates, key_mask, observed_skew
from neardup.hamming.index.segment import build_segment
from neardup.hamming.probabilities import equal_pairs, prefix_hit


def uniform(rows, words=1, seed=3):
    return np.random.default_rng(seed).integers(0, 2**64, (rows, words), np.uint64)


# ------------------------------------------------------------------------------------------------------------ known numbers


def test_four_tables_of_sixteen_bits_give_1024_candidates_each_at_2_to_the_26():
    keys = block_keys(64, 3, 4)
    assert (len(keys.chosen), {len(key) for key in keys.chosen}) == (4, {16})
    assert uniform_candidates(keys, 2**26) == 4096
    assert round(uniform_candidates(keys, 50_000_000) / 4) == 763
    found = nd.plan(2**26, max_distance=3, bits=64, memory="12G")
    (tables,) = [each for each in found.methods if each.method == "block-tables"]
    assert (tables.options, tables.cost.tables, tables.cost.candidates) == ({"blocks": 4}, 4, 4096)


def test_a_prefix_of_sixteen_bits_in_eight_tables_hits_as_published():
    found = METHODS["prefix-tables"].hit_probability(
        {"prefix": 16, "tables": 8, "seed": 0}, bits=64, distance=6, rows=1
    )
    assert (round(found.exact, 4), round(found.by_distance, 4), round(found.by_prefix, 6)) == (0.7607, 0.8436, 0.79152)
    assert (found.value, found.trials, found.seed) == (found.exact, 20_000, 20050612)
    assert found.simulated == pytest.approx(found.exact, abs=4 * math.sqrt(0.25 / found.trials))


def test_neighbors_look_up_43745_codes_at_distance_three_and_few_uniform_fingerprints_are_equal():
    assert probes_of(neighbor_keys(64, 3)) == [43_745]
    assert f"{equal_pairs(2**26, bits=64):.1e}" == "1.2e-04"


def test_more_tables_have_longer_keys_and_fewer_candidates():
    plans = [block_keys(64, 3, blocks) for blocks in (4, 5, 6)]
    assert [len(keys.chosen) for keys in plans] == [4, 10, 20]
    candidates = [uniform_candidates(keys, 2**26) for keys in plans]
    assert candidates[0] > 50 * candidates[1]


# ----------------------------------------------------------------------------------------------------------- hit probability


@given(
    distance=st.integers(0, 12), prefix=st.integers(1, 30), tables=st.integers(1, 6), bits=st.sampled_from([64, 128])
)
@settings(max_examples=20, deadline=None)
def test_the_simulation_of_prefixes_agrees_with_the_closed_form(distance, prefix, tables, bits):
    simulated, trials = simulated_prefix_hit(distance, bits=bits, prefix=prefix, tables=tables, trials=4000)
    exact = prefix_hit(distance, bits=bits, prefix=prefix, tables=tables).exact
    assert abs(simulated - exact) <= 5 * math.sqrt(max(exact * (1 - exact), 1 / trials) / trials)


def test_sorted_orders_find_what_they_are_said_to_find():
    rows, bits, distance = 20_000, 64, 6
    values, random = uniform(rows), np.random.default_rng(11)
    options = {"permutations": 3, "beam": 4, "seed": 0}
    segment = build_segment(values, np.arange(rows), "sorted-beam", distance, options)
    chosen = random.choice(rows, 2000, replace=False)
    queries = values[chosen].copy()
    for query in queries:
        for bit in random.choice(bits, distance, replace=False):
            query[0] ^= np.uint64(1) << np.uint64(bit)
    found, documents, _ = segment.look_up(queries, 0, len(queries), distance, 0)
    hit = np.isin(found * rows + documents, np.arange(len(queries)) * rows + chosen).sum() / len(queries)
    said, _ = simulated_beam_hit(distance, options, bits=bits, rows=rows)
    # The orders of one index are three draws of permutations, not one for each pair.
    assert hit == pytest.approx(said, abs=0.06)


def test_prefix_tables_are_as_few_as_find_a_pair_with_the_chance():
    count = tables_for(16, bits=64, distance=6, chance=0.95)
    assert prefix_hit(6, bits=64, prefix=16, tables=count).exact >= 0.95
    assert prefix_hit(6, bits=64, prefix=16, tables=count - 1).exact < 0.95
    assert tables_for(60, bits=64, distance=6, chance=0.95) == 0
    assert tables_for(16, bits=64, distance=0, chance=0.95) == 1


def test_an_index_says_its_hit_probability():
    index = Index(max_distance=6, method="prefix-tables", prefix=16, tables=8)
    index.add(np.arange(5000), uniform(5000))
    index.merge()
    assert (
        index.hit_probability() == index.info().hit_probability == pytest.approx(0.7607, abs=0.02)
    )  # 0.7607: the mean
    assert index.hit_probability(0) == 1
    assert index.hit_probability(3) > index.hit_probability(6)
    with pytest.raises(nd.OptionError, match="`distance=7`"):
        index.hit_probability(7)
    assert Index(max_distance=3).hit_probability() == 1
    beam = Index(max_distance=6, method="sorted-beam")
    beam.add(np.arange(5000), uniform(5000))
    beam.merge()
    assert 0.9 < beam.hit_probability() < 1
    assert METHODS["scan"].hit_probability({}, bits=64, distance=3, rows=9) is None


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("bits", "prefix", "distance"), [(64, 16, 1), (64, 12, 3), (128, 100, 1), (128, 20, 2)])
def test_the_hit_probability_of_few_tables_is_counted_exactly(seed, bits, prefix, distance):
    masks = tables_of_keys(prefix_keys(bits, prefix, 6, seed)).masks
    touched = np.zeros((0, 6), bool)
    for differing in combinations(range(bits), distance):
        flipped = key_mask(differing, bits)
        touched = np.concatenate([touched, ((masks & flipped) != 0).any(axis=1)[None]])
    assert hit_by_masks(masks, distance) == pytest.approx(1 - touched.all(axis=1).mean(), abs=1e-12)


def tables_of_keys(keys):
    return planner_tables(uniform(10, keys.bits // 64), keys)[0]


def test_the_mean_over_indexes_is_what_a_plan_says():
    said = [hit_by_masks(tables_of_keys(prefix_keys(64, 16, 8, seed)).masks, 6) for seed in range(300)]
    assert np.mean(said) == pytest.approx(0.7607, abs=4 * np.std(said) / math.sqrt(len(said)))
    assert np.std(said) > 0.005  # so one index is not the mean


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("method", "bits", "distance", "options"),
    [
        ("prefix-tables", 64, 6, {"prefix": 16, "tables": 8}),
        ("prefix-tables", 64, 9, {"prefix": 12, "tables": 30}),
        ("prefix-tables", 128, 4, {"prefix": 90, "tables": 12}),
        ("sorted-beam", 64, 6, {"permutations": 3, "beam": 4}),
        ("sorted-beam", 128, 10, {"permutations": 8, "beam": 8}),
    ],
)
def test_the_hit_probability_of_an_index_is_its_own(method, bits, distance, options, seed):
    rows, trials = 20_000, 4_000
    values, random = uniform(rows, bits // 64, seed=seed), np.random.default_rng(100 + seed)
    index = Index(max_distance=distance, bits=bits, method=method, seed=seed, **options)
    index.add(None, values)
    index.merge()
    chosen = random.choice(rows, trials, replace=False)
    flips = np.zeros((trials, bits), bool)
    np.put_along_axis(flips, random.random((trials, bits)).argsort(axis=1)[:, :distance], True, axis=1)
    queries = values[chosen] ^ np.packbits(flips, axis=1).view(">u8").astype(np.uint64)
    found = index.query_many(queries)
    hit = np.isin(
        np.repeat(np.arange(trials), np.diff(found.offsets)) * rows + found.ids, np.arange(trials) * rows + chosen
    )
    said = index.hit_probability(distance)
    simulated = 0.0 if method == "prefix-tables" and options["tables"] <= 16 else 1 / 20_000
    error = math.sqrt(said * (1 - said) * (1 / trials + simulated))
    assert hit.sum() / trials == pytest.approx(said, abs=4 * error + (method == "sorted-beam") * 0.01)  # of a model


def test_few_rows_are_all_within_the_beam():
    index = Index(max_distance=6, method="sorted-beam", beam=16)
    index.add(None, uniform(12))
    index.merge()
    assert index.hit_probability() == 1
    index.add(None, uniform(5000))
    assert index.hit_probability(0) == 1


# -------------------------------------------------------------------------------------------------------------------- choice


def test_every_method_has_costs_and_its_options_are_chosen():
    assert {"scan", "block-tables", "multi-index", "bit-lists", "neighbours"} <= set(exact_methods())
    assert not {"prefix-tables", "sorted-beam"} & set(exact_methods())
    for name, method in METHODS.items():
        assert method.name == name
        assert set(usual_options(name, bits=64, max_distance=3, rows=1000)) == set(method.option_names)


@pytest.mark.parametrize(
    ("bits", "distance", "rows", "expected"),
    [
        (64, 3, 0, "scan"),
        (64, 3, 2**20, "block-tables"),
        (64, 8, 2**23, "multi-index"),
        (128, 18, 2**26, "multi-index"),
    ],
)
def test_few_are_scanned_small_distances_have_block_tables_and_large_ones_are_probed(bits, distance, rows, expected):
    assert usual_choice(bits=bits, max_distance=distance, rows=rows).method == expected


@pytest.mark.parametrize("bits", [64, 128, 192, 512])
@pytest.mark.parametrize("rows", [0, 1, 100_000, 2**27])
def test_auto_has_a_method_for_every_distance(bits, rows):
    for distance in (0, 1, 3, 7, 20, bits // 2, bits):
        chosen = usual_choice(bits=bits, max_distance=distance, rows=rows)
        assert METHODS[chosen.method].is_exact
        assert set(chosen.options) == set(METHODS[chosen.method].option_names)


def test_auto_takes_a_method_for_each_segment_and_finds_all(tmp_path):
    values = uniform(30_000)
    index = Index(max_distance=3)
    index.add(np.arange(len(values)), values)
    index.merge()
    assert (index.method, index.info().methods) == (
        "auto",
        (usual_choice(bits=64, max_distance=3, rows=30_000).method,),
    )
    index.save(tmp_path / "index")
    again = Index.open(tmp_path / "index")
    assert (again.method, again.info().methods, again.is_exact) == ("auto", index.info().methods, True)
    near = int(values[77, 0]) ^ 7
    assert again.query(near) == index.query(near) == [(77, 3)]


def test_options_without_a_method_leave_those_that_have_them():
    assert usual_choice(bits=64, max_distance=3, rows=2**20, given={"blocks": 3}).method == "multi-index"
    assert Index(max_distance=3, blocks=3).options == {"blocks": 3}


def test_memory_is_worth_time_and_a_limit_is_kept():
    setting = Setting(2**24, 64, 3, TYPICAL)
    free = best_of("block-tables", setting)
    plans = [METHODS["block-tables"].code.cost(setting, {"blocks": blocks}) for blocks in (4, 5, 6)]
    fastest = min(cost.seconds_a_document(setting.rows) for cost in plans)
    assert free.cost.seconds_a_document(setting.rows) <= planner.TIMES_SLOWER * fastest
    assert free.cost.nbytes <= min(
        cost.nbytes for cost in plans if cost.seconds_a_document(setting.rows) <= planner.TIMES_SLOWER * fastest
    )
    assert best_of("block-tables", setting, memory=0).cost.nbytes == min(cost.nbytes for cost in plans)
    assert planner.choose(setting, memory=free.cost.nbytes - 1).cost.nbytes < free.cost.nbytes
    assert planner.choose(setting, memory=1) is None


# --------------------------------------------------------------------------------------------------------------- predictions


@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize("method", METHODS)
def test_predicted_bytes_are_those_of_a_segment(method, words):
    if (method, words) == ("neighbours", 2):
        return
    rows, setting = 3001, Setting(3001, 64 * words, 2, TYPICAL)
    choice = best_of(method, setting)
    segment = build_segment(uniform(rows, words), np.arange(rows), method, 2, choice.options)
    assert choice.cost.nbytes == pytest.approx(segment.nbytes, rel=0.01)


@pytest.mark.parametrize("keys", [block_keys(64, 3, 4), multi_index_keys(64, 6, 3), neighbor_keys(64, 1)])
def test_predicted_candidates_are_those_counted(keys):
    values = uniform(1 << 16)
    tables, _ = planner_tables(values, keys)
    counted = counted_candidates(keys, tables.starts, uniform(64, seed=9))
    assert uniform_candidates(keys, len(values)) == pytest.approx(counted, rel=0.3)


def planner_tables(values, keys):
    from neardup.hamming.index.keyed_tables import build_tables

    return build_tables(values, keys)


def test_candidates_are_counted_by_the_very_buckets():
    keys, values, queries = multi_index_keys(64, 4, 3), uniform(500), uniform(5, seed=8)
    tables, _ = planner_tables(values, keys)
    bits = tables.bucket_bits
    mine = buckets_of(keys, values, bits)
    total = 0
    for t, (key, radius) in enumerate(zip(keys.chosen, keys.radii, strict=True)):
        for query in queries:
            for r in range(radius + 1):
                for flip in combinations(key, r):
                    near = query.copy()
                    for bit in flip:
                        near ^= np.uint64(1) << np.uint64(63 - bit)
                    total += int((mine[t] == buckets_of(keys, near[None], bits)[t, 0]).sum())
    assert counted_candidates(keys, tables.starts, queries) == total / len(queries)


@pytest.mark.parametrize("keys", [block_keys(64, 3, 4), multi_index_keys(64, 6, 3)])
def test_skewed_fingerprints_meet_in_as_many_buckets_as_observed(keys):
    values = uniform(1 << 16)
    values[:, 0] &= values[::-1, 0] & np.roll(values[:, 0], 1)  # each bit is one in an eighth of them
    values = np.unique(values, axis=0)
    np.random.default_rng(2).shuffle(values)
    queries, values = values[:256], values[256:]
    tables, _ = planner_tables(values, keys)
    counted = counted_candidates(keys, tables.starts, queries)
    assert observed_skew(values[::2])(keys, len(values)) == pytest.approx(counted, rel=0.3)
    assert counted > 3 * uniform_candidates(keys, len(values))


def test_fingerprints_given_change_the_plan():
    values = uniform(4000) & np.uint64(0xFFFFFFFFFFFF)  # a block that tells nothing
    even = nd.plan(1_000_000, max_distance=3, bits=64)
    skewed = nd.plan(1_000_000, max_distance=3, fingerprints=values)
    assert skewed.based_on == "the spread of 4,000 fingerprints"
    candidates = [
        next(each.cost.candidates for each in found.methods if each.method == "prefix-tables")
        for found in (even, skewed)
    ]
    assert candidates[1] > candidates[0]


def test_a_check_has_both_columns_and_counts_agree():
    setting = Setting(2**20, 64, 3, TYPICAL)
    choices = [best_of(method, setting) for method in METHODS]
    found = check_plan(choices, setting, None, sample_rows=1 << 14, query_seconds=0.01)
    assert {each.method for each in found} == set(METHODS)
    assert {each.documents for each in found} == {1 << 14}
    assert all(each.agrees for each in found if each.quantity in ("bytes", "candidates"))
    assert all(each.measured > 0 and each.factor >= 1 for each in found)


def test_a_machine_is_measured_by_every_step():
    machine = measure_machine((14, 15))
    assert machine.measured_rows == 1 << 15
    for step in Machine.__dataclass_fields__:
        if step != "source":
            assert machine.seconds(step, 1000) >= 0


def test_a_curve_is_level_before_its_points_and_goes_on_behind_them():
    curve = ((10.0, 1.0), (12.0, 3.0))
    assert [at(curve, x) for x in (0, 10, 11, 12, 14)] == [1, 1, 2, 3, 5]
    assert at(((10.0, 3.0), (12.0, 1.0)), 20) == 1
    assert at(((10.0, 2.0),), 99) == 2


# ----------------------------------------------------------------------------------------------------------- past one machine


def test_eight_billion_do_not_fit_and_are_dealt_out():
    found = nd.plan(8_000_000_000, max_distance=3, bits=64, memory="64G")
    assert (found.method, found.options) == (None, {})
    shards = found.shards
    assert shards.nbytes <= 64 << 30
    assert shards.shards * shards.documents >= 8_000_000_000 > (shards.shards - 1) * shards.documents
    assert shards.machine_seconds == pytest.approx(shards.shards * shards.batch_seconds)
    assert "extrapolated from" in found.machine
    text = str(found)
    assert "Past one machine: no exact method fits in" in text
    assert "an extrapolation from the constants of one machine" in text


def test_a_plan_is_text_and_json():
    found = nd.plan(100_000, max_distance=3, bits=64, memory="1G")
    told = json.loads(found.to_json())
    assert (told["method"], told["documents"], told["shards"]) == (found.method, 100_000, None)
    assert f"auto takes {found.method}" in str(found)
    assert "neighbours cannot be used" in str(nd.plan(100_000, max_distance=3, bits=128, memory="1G"))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: nd.plan(max_distance=3), "Give `documents`, their number, or `fingerprints`"),
        (lambda: nd.plan(0, max_distance=3), "`documents=0`: give an integer from 1 up"),
        (lambda: nd.plan(True, max_distance=3), "`documents=True`"),
        (lambda: nd.plan(10, max_distance=65, bits=64), "`max_distance=65` is not a whole number from 0 to 64"),
        (lambda: nd.plan(10, max_distance=3, bits=100), "`bits=100`: give 64, 128"),
        (lambda: nd.plan(10, max_distance=3, bits=64, fingerprints=uniform(9, 2)), "the fingerprints have 128"),
        (lambda: nd.plan(10, max_distance=3, fingerprints=np.zeros(9, np.uint64)), "1 different fingerprints"),
        (lambda: nd.plan(10, max_distance=3, memory="1"), "`memory='1'`"),
        (lambda: Index(max_distance=3, prefix=9), "`method='auto'` with `prefix"),
        (lambda: Index(max_distance=3, blocks=99), "`blocks=99`"),
        (lambda: sharded(Setting(100, 64, 3, TYPICAL), 10), "not even one document fits"),
        (
            lambda: check_plan([], Setting(100, 64, 3, TYPICAL), uniform(3)),
            "3 different fingerprints are too few for a check",
        ),
    ],
)
def test_what_cannot_be_planned_is_refused(call, said):
    with pytest.raises(nd.OptionError, match=said):
        call()


def test_keys_are_those_that_the_methods_use():
    made = {name: method.code.keys for name, method in METHODS.items() if method.code.keys}
    assert set(made) >= {"block-tables", "multi-index", "neighbours", "prefix-tables"}
    for name, make in made.items():
        options = usual_options(name, bits=64, max_distance=2, rows=5000)
        keys = make(64, 2, options)
        assert isinstance(keys, KeyPlan)
        found = build_segment(uniform(5000), np.arange(5000), name, 2, options).searcher
        assert (found.plan, found.bucket_bits) == (keys, bucket_bits_for(keys, 5000))
