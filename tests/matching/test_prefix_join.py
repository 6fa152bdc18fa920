"""The exact join against a look at all pairs: none that is similar enough is missed, and what else is proposed is little."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from neardup.kernels.matching import similarities
from neardup.matching.prefix_join import join
from neardup.matching.prefix_join.counts import ElementCounts, KnownCounts, Runs
from neardup.matching.prefix_join.prefixes import PrefixFile, prefixes_of
from neardup.matching.similarities.table import Elements
from neardup.resources import pair_spool
from neardup.resources.resources import Resources
from neardup.resources.shares import MEMORY_PARTS, SHARES

CODES = {
    "jaccard": similarities.JACCARD,
    "containment": similarities.CONTAINMENT,
    "edit": similarities.EDIT,
    "cosine": similarities.COSINE,
}
HASHES = np.random.default_rng(1).integers(0, 2**64, 2000, np.uint64)
MEMORY = 1 << 26
BUDGET = MEMORY // 2 * MEMORY_PARTS // SHARES["postings"].parts
"""Of which postings have half of MEMORY."""
LEAST = st.one_of(st.sampled_from([1.0, 0.8, 0.5, 1 / 3, 2 / 3, 0.05, 1e-9]), st.floats(0.01, 1.0))


@st.composite
def near_sets(draw):
    """Sets of elements, with near copies of one another; small ones, equal ones and single elements among them."""
    choose = random.Random(draw(st.integers(0, 2**32)))
    universe = HASHES[: choose.choice([3, 10, 60, 400])].tolist()
    sets = []
    for _ in range(choose.randint(1, 25)):
        if sets and choose.random() < 0.6:
            made = set(choose.choice(sets))
            for _ in range(choose.randint(0, 3)):
                made.symmetric_difference_update([choose.choice(universe)])
        else:
            made = set(choose.sample(universe, choose.randint(1, min(len(universe), choose.choice([1, 5, 60])))))
        sets.append(made or {universe[0]})
    return sets


def elements_of(sets, weights=None):
    ordered = [sorted(made) for made in sets]
    values = np.array([x for made in ordered for x in made], np.uint64)
    weighted = [weights[x] for made in ordered for x in made] if weights else []
    return Elements(values, np.array(weighted, np.float64), np.cumsum([0, *map(len, ordered)]))


def join_sets(kind, sets, least, *, weights=None, cells=None, threads=1, **which):
    elements = elements_of(sets, weights)
    counts = ElementCounts(cells or len(elements.values), memory=MEMORY)
    counts.add(elements.values)
    prefixes = prefixes_of(elements, code=CODES[kind], min_similarity=least, counts=counts.of(elements.values))
    packed, cost = join.join_prefixes(
        prefixes,
        np.arange(len(sets)),
        code=CODES[kind],
        min_similarity=least,
        resources=Resources(threads, BUDGET),
        **which,
    )
    found = [(pair >> 32, pair & 0xFFFFFFFF) for pair in packed.tolist()]
    assert found == sorted(set(found))
    assert all(a < b for a, b in found)
    return set(found), cost


@pytest.mark.parametrize("kind", ["jaccard", "containment", "edit"])
@given(sets=near_sets(), least=LEAST, crowded=st.booleans())
def test_no_pair_of_sets_is_missed(kind, sets, least, crowded):
    found, _ = join_sets(kind, sets, least, cells=1 if crowded else None)
    assert naive.similar_sets(kind, sets, least) <= found


@given(sets=near_sets(), least=LEAST, seed=st.integers(0, 2**32))
def test_no_pair_is_missed_by_the_cosine(sets, least, seed):
    choose = random.Random(seed)
    weights = {x: float(choose.choice([1, 1, 2, 3, 50, 1000])) for made in sets for x in made}
    found, _ = join_sets("cosine", sets, least, weights=weights)
    assert naive.similar_sets("cosine", [{x: weights[x] for x in made} for made in sets], least + 1e-12) <= found


@pytest.mark.parametrize("kind", ["jaccard", "containment", "edit"])
@given(sets=near_sets(), least=LEAST)
@settings(max_examples=20)
def test_several_passes_small_rooms_and_threads_give_the_same(kind, sets, least):
    expected, cost = join_sets(kind, sets, least)
    assert cost.passes == 1
    found, cost = join_sets(kind, sets, least, threads=3, posting_memory=10 * join.POSTING_BYTES, pairs_at_once=1)
    assert cost.passes == max(1, -(-cost.postings // 10))
    assert found == expected


@given(sets=near_sets(), least=LEAST, seed=st.integers(0, 2**32))
def test_only_pairs_of_two_sides_are_looked_for(sets, least, seed):
    sides = np.random.default_rng(seed).integers(1, 4, len(sets)).astype(np.uint8)
    everything, _ = join_sets("jaccard", sets, least)
    found, _ = join_sets("jaccard", sets, least, sides=sides)
    assert found == {(a, b) for a, b in everything if sides[a] | sides[b] == 3}


@pytest.mark.parametrize("kind", ["jaccard", "containment", "edit", "cosine"])
@given(sets=near_sets(), others=near_sets(), least=LEAST, seed=st.integers(0, 2**32), passes=st.booleans())
def test_two_lists_are_joined_across_alone_and_a_set_may_be_in_both(kind, sets, others, least, seed, passes):
    both = sets + others
    weights = {x: 1.0 for made in both for x in made}
    names = np.random.default_rng(seed).permutation(2 * len(both))[: len(both)] // 2
    everything, _ = join_sets(kind, both, least, weights=weights)
    pairs = {tuple(sorted((int(names[a]), int(names[b])))) for a, b in everything if a < len(sets) <= b}
    memory = 10 * join.POSTING_BYTES if passes else None
    found, _ = join_sets(kind, both, least, weights=weights, across=len(sets), names=names, posting_memory=memory)
    assert found == {pair for pair in pairs if pair[0] != pair[1]}


def test_what_no_other_set_has_is_not_posted_and_few_pairs_are_proposed():
    choose = random.Random(3)
    alone = [set(choose.sample(HASHES[100 * i : 100 * i + 100].tolist(), 90)) for i in range(19)]
    common = set(HASHES[1900:1910].tolist())
    found, cost = join_sets("jaccard", [made | common for made in alone], 0.8, cells=1 << 22)
    assert (found, cost.postings, cost.visits) == (set(), 0, 0)


@given(sets=near_sets(), least=LEAST)
def test_pairs_that_do_not_fit_go_to_a_file(sets, least):
    expected, _ = join_sets("jaccard", sets, least)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_spool, "PAIR_BYTES", MEMORY // 6)
        found, _ = join_sets("jaccard", sets, least, threads=2)
        assert found == expected
        found, _ = join_sets("jaccard", sets, least, posting_memory=10 * join.POSTING_BYTES)
        assert found == expected


@given(sets=near_sets(), cells=st.integers(1, 1 << 18))
def test_counts_are_never_too_small(sets, cells):
    elements = elements_of(sets)
    counts = ElementCounts(cells, memory=MEMORY)
    for made in sets:
        counts.add(np.array(sorted(made), np.uint64))
    distinct, true = np.unique(elements.values, return_counts=True)
    assert (counts.of(distinct) >= true).all()
    assert int(counts.cells.sum()) == len(elements.values)


@given(sets=near_sets(), cells=st.integers(1, 1 << 18), wanted=st.integers(0, 60), threads=st.integers(1, 3))
def test_elements_that_are_counted_by_region_have_the_same_counts(sets, cells, wanted, threads):
    elements = elements_of(sets)
    rows = np.array([row for row in range(len(sets)) if row % 7 != wanted % 7], np.int64)
    runs = Runs(elements.values, elements.offsets[:-1][rows], elements.offsets[1:][rows])
    alone, by_region = ElementCounts(cells, memory=MEMORY), ElementCounts(cells, memory=MEMORY, clear=False)
    by_region.cells[:] = 7
    for row in rows.tolist():
        alone.add(np.array(sorted(sets[row]), np.uint64))
    assert sum(by_region.count_all(runs, threads=threads)) == len(rows)
    assert np.array_equal(by_region.cells, alone.cells)
    found = by_region.of_runs(runs, threads=threads)
    for start, end in zip(runs.starts.tolist(), runs.ends.tolist(), strict=True):
        assert np.array_equal(found[start:end], alone.of(elements.values[start:end]))


def test_texts_are_counted_by_region_if_they_are_long_and_many():
    def is_worthwhile(documents, each):
        starts = each * np.arange(documents)
        return Runs(np.empty(0, np.uint64), starts, starts + each).is_worthwhile

    assert is_worthwhile(3_000, 768)
    assert not is_worthwhile(4_000, 700)
    assert not is_worthwhile(100, 768)


@given(sets=near_sets(), some=near_sets())
def test_known_elements_are_counted_exactly(sets, some):
    counts = KnownCounts(elements_of(some).values)
    for made in sets:
        counts.add(np.array(sorted(made), np.uint64))
    expected = [sum(element in made for made in sets) for element in counts.known.tolist()]
    assert counts.counts.tolist() == expected
    assert counts.known.tolist() == sorted(set().union(*some))


@pytest.mark.parametrize("kind", ["jaccard", "containment", "edit"])
@given(sets=near_sets(), least=LEAST)
def test_what_is_proposed_is_a_matter_of_the_pair_and_what_prefixes_share_leaves_room(kind, sets, least):
    found, _ = join_sets(kind, sets, least)
    for a, b in found:
        alone, _ = join_sets(
            kind,
            sets,
            least,
            sides=np.array([1 + (i == b) + 2 * (i not in (a, b)) for i in range(len(sets))], np.uint8),
        )
        assert (a, b) in alone


def test_texts_that_share_a_sentence_are_not_proposed():
    choose = random.Random(5)
    shared = set(HASHES[:30].tolist())
    sets = [shared | set(choose.sample(HASHES[30:].tolist(), 200)) for _ in range(60)]
    found, cost = join_sets("jaccard", sets, 0.8)
    assert found == set()
    assert cost.looked_at > 100


def test_counts_stop_at_the_most_that_a_cell_holds():
    counts = ElementCounts(1, memory=MEMORY)
    many = np.full(70_000, 5, np.uint64)
    counts.add(many)
    assert counts.of(many[:1]).tolist() == [65_535]


def test_cells_keep_to_the_memory():
    assert ElementCounts(1 << 30, memory=1 << 20).cells.nbytes == 1 << 20


def test_prefixes_appended_to_a_file_are_those_of_all():
    sets = [set(HASHES[i : i + 30].tolist()) for i in range(0, 300, 3)]
    elements = elements_of(sets)
    counts = ElementCounts(len(elements.values), memory=MEMORY)
    counts.add(elements.values)
    whole = prefixes_of(elements, code=similarities.JACCARD, min_similarity=0.5, counts=counts.of(elements.values))
    with PrefixFile(Resources()) as file:
        for first in range(0, len(sets), 17):
            part = elements_of(sets[first : first + 17])
            file.append(prefixes_of(part, code=similarities.JACCARD, min_similarity=0.5, counts=counts.of(part.values)))
        found = file.whole()
        for name in ("elements", "rests", "starts", "facts", "sizes", "digests"):
            assert np.array_equal(getattr(found, name), getattr(whole, name)), name
    with PrefixFile(Resources()) as file:
        assert len(file.whole()) == 0


@given(counts=st.lists(st.integers(2, 400) | st.integers(2, 65_535), max_size=300), share=st.floats(0, 1))
def test_the_rarest_elements_come_first_ordered_by_count_then_as_they_came(counts, share):
    from neardup.kernels.matching.prefixes import order_by_count

    array, n = np.array(counts, np.uint16), len(counts)
    index, spare = np.arange(n, dtype=np.int32), np.empty(n, np.int32)
    wanted = round(share * n)
    order_by_count(array, n, wanted, index, spare, np.empty(257, np.int64))
    assert index[:wanted].tolist() == sorted(range(n), key=lambda i: counts[i])[:wanted]
