"""Which sets may be similar, by the bits of frequent elements, against the definition of the bound."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from neardup.kernels.matching.frequent_bits import TILE
from neardup.kernels.matching.similarities import CODES, required_overlap
from neardup.matching import frequent_bits
from neardup.matching.frequent_bits import FrequentBits
from neardup.matching.similarities.table import Elements
from neardup.resources.resources import Resources

KINDS = ["jaccard", "weighted", "containment", "edit"]


class Sets:
    """Sets in memory, as an `ElementStore` gives them; with weights, if they are dictionaries."""

    def __init__(self, sets):
        self._sets = sets
        self.ends = np.cumsum([len(some) for some in sets])
        self.starts = self.ends - [len(some) for some in sets]

    def sets(self, rows):
        chosen = [sorted(self._sets[row]) for row in rows]
        values = np.array([element for some in chosen for element in some], np.uint64)
        weighted = [self._sets[row] for row in rows if isinstance(self._sets[row], dict)]
        weights = np.array([some[element] for some in weighted for element in sorted(some)], float)
        values.flags.writeable = weights.flags.writeable = False
        return Elements(values, weights, np.cumsum([0, *map(len, chosen)]))


def hashed(numbers):
    """Elements are hashes, whose upper bits tell apart what is counted."""
    return {(number * 0x9E3779B97F4A7C15) % 2**64 for number in numbers}


def met(sets, order, kind, least, *, since=0, **options):
    """The pairs that meet, as places in `order`."""
    bits = FrequentBits.of(
        Sets(sets), np.array(order), similarity=kind, min_similarity=least, resources=Resources(threads=1), **options
    )
    tiles = bits.tiles(len(order))
    for place in range(len(order)):
        tiles.add(np.array([place]))
    pairs = [
        (int(p), int(q))
        for part in tiles.meetings(np.arange(len(order)), since)
        for left, right in part
        for p, q in zip(left, right, strict=True)
    ]
    assert len(set(pairs)) == len(pairs)
    return set(pairs)


families = st.lists(st.sets(st.integers(1, 40), min_size=1, max_size=25).map(hashed), min_size=1, max_size=30)


@pytest.mark.parametrize("kind", KINDS)
@given(sets=families, least=st.sampled_from([0.3, 0.5, 0.7, 0.9, 1.0]), max_bits=st.sampled_from([1, 7, 64, 1 << 14]))
def test_the_pairs_that_meet_are_those_of_the_bound(kind, sets, least, max_bits):
    counts = Counter(element for some in sets for element in some)
    frequent = naive.first_frequent(sets, counts, 2, max_bits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frequent_bits, "MAX_MARK_WORDS", 0)
        found = met(sets, range(len(sets)), kind, least, max_bits=max_bits)
    rests = [sum(counts[element] > 1 for element in some - frequent) for some in sets]
    assert found == {
        (p, q)
        for p in range(len(sets))
        for q in range(p)
        if len(sets[p] & sets[q] & frequent) + min(rests[p], rests[q])
        >= max(1, required_overlap(CODES[kind], len(sets[p]), len(sets[q]), least))
    }
    for p in range(len(sets)):
        for q in range(p):
            if naive.set_similarity("jaccard" if kind == "weighted" else kind, sets[p], sets[q]) >= least:
                assert (p, q) in found


@pytest.mark.parametrize("seed", [1, 2])
def test_many_sets_and_sizes_meet_in_any_order_and_from_any_place(seed):
    choose = random.Random(seed)
    bases = [[*hashed(choose.sample(range(400), choose.randint(3, 300)))] for _ in range(TILE // 10)]
    sets = [set(choose.sample(base, len(base) - 2)) for base in choose.choices(bases, k=TILE + 50)]
    order, since = choose.sample(range(len(sets)), len(sets)), choose.randrange(len(sets))
    found = met(sets, order, "jaccard", 0.9, since=since)
    assert all(since <= q < p for p, q in found)
    for q, p in [sorted(choose.sample(range(len(sets)), 2)) for _ in range(500)]:
        if since <= q and naive.set_similarity("jaccard", sets[order[p]], sets[order[q]]) >= 0.9:
            assert (p, q) in found


@pytest.mark.parametrize("kind", KINDS)
@given(sets=families, least=st.sampled_from([0.5, 0.8]), words=st.integers(1, 3))
def test_marks_leave_out_what_lacks_too_many_of_the_others(kind, sets, least, words):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frequent_bits, "MARKS_EACH", 1 << 20)
        patch.setattr(frequent_bits, "MAX_MARK_WORDS", words)
        found = met(sets, range(len(sets)), kind, least, max_bits=1)
        patch.setattr(frequent_bits, "MAX_MARK_WORDS", 0)
        assert found <= met(sets, range(len(sets)), kind, least, max_bits=1)
    assert {
        (p, q)
        for p in range(len(sets))
        for q in range(p)
        if naive.set_similarity("jaccard" if kind == "weighted" else kind, sets[p], sets[q]) >= least
    } <= found


def test_few_marks_are_shared():
    choose = random.Random(5)
    numbers = [*hashed(range(4000))]
    sets = [{*numbers[:10], *choose.sample(numbers[10:], 20)} for _ in range(200)]
    assert len(met(sets, range(200), "jaccard", 0.6)) < 20


vectors = st.lists(
    st.dictionaries(st.integers(1, 30), st.sampled_from([1, 1, 1, 2, 3, 7, 65536, 32768.0]), min_size=1, max_size=20),
    min_size=2,
    max_size=25,
)


@given(vectors=vectors, least=st.sampled_from([0.2, 0.5, 0.8, 0.95, 1.0]), max_bits=st.sampled_from([1, 7, 64]))
def test_all_vectors_meet_whose_cosine_reaches_the_threshold(vectors, least, max_bits):
    sets = [{next(iter(hashed([number]))): weight for number, weight in some.items()} for some in vectors]
    found = met(sets, range(len(sets)), "cosine", least, max_bits=max_bits)
    for p in range(len(sets)):
        for q in range(p):
            if naive.set_similarity("cosine", sets[p], sets[q]) >= least:
                assert (p, q) in found


def test_vectors_of_equal_weights_meet_like_sets():
    choose = random.Random(7)
    base = [*hashed(range(60))]
    vectors = [dict.fromkeys(choose.sample(base, 40), 65536.0) for _ in range(100)]
    assert len(met(vectors, range(100), "cosine", 0.9)) < 200 < 100 * 99 // 2
