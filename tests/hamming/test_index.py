"""The Hamming index: every method gives what comparing with each fingerprint gives, whatever is added, removed, saved and opened."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import neardup as nd
from neardup.hamming.index import contents, search, segments
from neardup.hamming.index.index import Index
from neardup.hamming.index.methods.table import METHODS

EXACT = [name for name, method in METHODS.items() if method.is_exact]
PROBABLE = [name for name, method in METHODS.items() if not method.is_exact]

VALUES = np.random.default_rng(5).integers(0, 2**64, 3_000, np.uint64)
BASES = np.random.default_rng(7).integers(0, 2**64, (6, 2), np.uint64)


def fingerprint_at(base, flips, words):
    """A fingerprint some bits away from one of a few: clusters, so that there is something to find."""
    row = BASES[base, :words].copy()
    for bit in flips:
        row[bit // 64 % words] ^= np.uint64(1) << np.uint64(bit % 64)
    return row


def naive_distance(a, b):
    return sum((int(x) ^ int(y)).bit_count() for x, y in zip(a.tolist(), b.tolist(), strict=True))


FLIPS = st.lists(st.integers(0, 127), max_size=7)
POINTS = st.tuples(st.integers(0, 5), FLIPS)


class IndexMachine(RuleBasedStateMachine):
    """Documents come and go; what is found is what a list of them gives."""

    method = "scan"

    @initialize(words=st.sampled_from([1, 2]), distance=st.integers(0, 6), strings=st.booleans())
    def begin(self, words, distance, strings):
        if self.method == "neighbours":
            words, distance = 1, min(distance, 2)
        self.words, self.distance, self.strings = words, distance, strings
        self.index = Index(max_distance=distance, bits=64 * words, method=self.method)
        self.there = []  # (id, fingerprint), as they were added
        self.folder = Path(tempfile.mkdtemp(prefix="neardup-test-"))
        self.saved = False

    def teardown(self):
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)

    @rule(points=st.lists(POINTS, min_size=1, max_size=40), first=st.integers(0, 60))
    def add(self, points, first):
        rows = np.array([fingerprint_at(*point, self.words) for point in points])
        ids = [f"d{first + i}" if self.strings else first + i for i in range(len(points))]
        self.index.add(ids, rows)
        self.there += zip(ids, rows, strict=True)

    @rule(gone=st.lists(st.integers(0, 100), max_size=10))
    def remove(self, gone):
        ids = {f"d{i}" if self.strings else i for i in gone}
        expected = sum(name in ids for name, _ in self.there)
        assert self.index.remove(sorted(ids)) == expected
        self.there = [(name, row) for name, row in self.there if name not in ids]

    @rule(point=POINTS, less=st.integers(0, 6))
    def query(self, point, less):
        row, limit = fingerprint_at(*point, self.words), max(0, self.distance - less)
        distances = [(naive_distance(row, other), i, name) for i, (name, other) in enumerate(self.there)]
        expected = [(name, distance) for distance, _, name in sorted(distances) if distance <= limit]
        found = self.index.query(row, limit)
        many = self.index.query_many(np.array([row, row]), limit, threads=2)
        assert many[0] == many[1] == found
        if METHODS[self.method].is_exact:
            assert found == expected
        else:
            assert set(found) <= set(expected)

    @rule()
    def pairs(self):
        rows = self.there
        expected = sorted(
            (i, j, naive_distance(rows[i][1], rows[j][1]))
            for i in range(len(rows))
            for j in range(i + 1, len(rows))
            if naive_distance(rows[i][1], rows[j][1]) <= self.distance
        )
        expected = sorted((str(rows[i][0]), str(rows[j][0]), distance) for i, j, distance in expected)
        found = []
        for part in self.index.pairs(threads=1):
            left, right = (
                side.tolist() if isinstance(side, np.ndarray) else side.to_pylist() for side in (part.left, part.right)
            )
            found += zip(map(str, left), map(str, right), part.distances.tolist(), strict=True)
        if METHODS[self.method].is_exact:
            assert sorted(found) == expected
        else:
            assert set(found) <= set(expected)

    @rule()
    def save(self):
        self.index.save(None if self.saved else self.folder / "index")
        self.saved = True

    @rule()
    def open_again(self):
        if self.saved:
            self.index.save()
            self.index = Index.open(self.folder / "index")
            assert self.index.info(verify=True).damaged == {}

    @rule()
    def merge(self):
        self.index.merge()

    @invariant()
    def counts(self):
        if hasattr(self, "there"):
            assert len(self.index) == len(self.there)


@pytest.mark.parametrize("method", METHODS)
def test_whatever_happens_to_an_index_it_finds_what_a_list_of_its_documents_gives(method, monkeypatch):
    monkeypatch.setattr(segments, "BUFFER_ROWS", 16)
    monkeypatch.setattr(segments, "GROWTH_FACTOR", 3)
    machine = type(f"Machine_{method}", (IndexMachine,), {"method": method})
    machine.TestCase.settings = settings(
        max_examples=25, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
    )
    machine.TestCase("runTest").runTest()


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("rows", ["equal", "one bucket", "near copies", "ascending"])
def test_skewed_fingerprints_are_found_like_any(method, rows):
    n = 3000
    values = {
        "equal": np.full(n, 12345, np.uint64),
        "one bucket": np.arange(n, dtype=np.uint64) << np.uint64(48),
        "near copies": np.uint64(1) << (np.arange(n) % 64).astype(np.uint64),
        "ascending": np.arange(n, dtype=np.uint64),
    }[rows]
    index = Index(max_distance=2, method=method)
    index.add(None, values)
    for query in (values[0], values[n // 2], np.uint64(0)):
        expected = np.bitwise_count(values ^ query)
        found = index.query(query)
        assert [name for name, _ in found] == np.argsort(expected, kind="stable")[: len(found)].tolist()
        assert len(found) == int(np.count_nonzero(expected <= 2))


@pytest.mark.parametrize("method", ["block-tables", "prefix-tables"])
def test_pairs_of_a_large_index_are_those_of_a_join(method):
    choose = np.random.default_rng(3)
    values = choose.integers(0, 2**64, 20_000, np.uint64)
    values[10_000:] = values[:10_000] ^ (np.uint64(1) << choose.integers(0, 64, 10_000).astype(np.uint64))
    index = Index(max_distance=2, method=method)
    for first in range(0, 20_000, 900):
        index.add(None, values[first : first + 900])
    expected = nd.join(values, max_distance=2)
    found = np.concatenate(
        [np.column_stack([part.left, part.right, part.distances]) for part in index.pairs(threads=2)]
    )
    wanted = set(zip(expected.left.tolist(), expected.right.tolist(), expected.distance.tolist(), strict=True))
    if method == "block-tables":
        assert set(map(tuple, found.tolist())) == wanted
        assert len(found) == len(wanted)
    else:
        assert set(map(tuple, found.tolist())) <= wanted
        assert len(found) > 0.9 * len(wanted)


def test_results_of_many_queries_stream_in_order():
    values = np.arange(20_000, dtype=np.uint64)
    index = Index(max_distance=0)
    index.add([f"n{i}" for i in range(20_000)], values)
    parts = list(index.query_stream(values, threads=2))
    assert len(parts) > 1
    assert pa.concat_arrays([part.ids for part in parts]).to_pylist() == [f"n{i}" for i in range(20_000)]


@pytest.mark.parametrize("method", ["scan", "block-tables", "prefix-tables"])
def test_what_very_much_is_near_streams_in_small_parts(method, monkeypatch):
    values = np.repeat(VALUES[:5], 400)
    index = Index(max_distance=3, method=method)
    index.add(None, values)
    index.add(range(2_000, 2_100), VALUES[:100])
    index.merge()
    index.add(range(2_100, 2_200), VALUES[:100])
    queries = np.concatenate([VALUES[:50], VALUES[:5]])
    many = {nearest: index.query_many(queries, nearest=nearest) for nearest in (False, True)}
    pairs = list(index.pairs(threads=1))
    monkeypatch.setattr(search, "DOCUMENTS_AT_ONCE", 1_000)
    for nearest, expected in many.items():
        parts = list(index.query_stream(queries, nearest=nearest, threads=2))
        assert max(len(part.distances) for part in parts) <= 1_000
        assert len(parts) > 1 or nearest
        assert [part[i] for part in parts for i in range(len(part))] == [expected[i] for i in range(len(queries))]
    again = list(index.pairs(threads=1))
    for side in ("left", "right", "distances"):
        listed = [np.concatenate([getattr(part, side) for part in parts]).tolist() for parts in (again, pairs)]
        assert listed[0] == listed[1]
    if method == "prefix-tables":
        assert len(again) > len(pairs)


def test_memory_for_pairs_is_given_in_bytes_or_with_a_unit():
    index = Index(max_distance=3)
    index.add(None, np.array([1, 3, 3, 1 << 40], np.uint64))
    found = [[part.left.tolist() for part in index.pairs(memory=memory)] for memory in (None, 32 << 20, "32M")]
    assert found[0] == found[1] == found[2] != []
    with pytest.raises(nd.OptionError, match="`memory='1K'`: give bytes, at least 16M"):
        list(index.pairs(memory="1K"))


@pytest.mark.parametrize("method", ["block-tables", "prefix-tables"])
def test_equal_fingerprints_are_one_group_instead_of_all_their_pairs(method):
    index = Index(max_distance=3, method=method)
    index.add([f"a{i}" for i in range(100_000)], np.full(100_000, 7, np.uint64))
    index.add(["b", "c", "d", "e"], np.array([2**40, 2**41, 2**40, 6], np.uint64))
    index.remove(["a0", "c"])
    groups = index.groups()
    assert [groups[i] for i in range(len(groups))] == [[f"a{i}" for i in range(1, 100_000)], ["b", "d"]]
    assert repr(groups) == "Groups(2 groups of 100,001 documents)"
    with pytest.raises(IndexError, match="group 2 of 2"):
        groups[2]
    found = [
        pair
        for part in index.pairs(equal=False)
        for pair in zip(part.left.to_pylist(), part.right.to_pylist(), part.distances.tolist(), strict=True)
    ]
    assert found == [("a1", "e", 1), ("b", "e", 3)]


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_a_query_is_an_integer_or_an_array(first, second):
    index = Index(max_distance=64, method="scan")
    index.add([1], np.array([first], np.uint64))
    expected = [(1, (first ^ second).bit_count())]
    assert (
        index.query(second) == index.query(np.uint64(second)) == index.query(np.array([second], np.uint64)) == expected
    )


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Index(max_distance=65), "max_distance=65"),
        (lambda: Index(max_distance=3, bits=65), "`bits=65`: give 64, 128"),
        (lambda: Index(max_distance=3, bits=64.0), "`bits=64.0`: give 64, 128"),
        (lambda: Index(max_distance=3, method=["scan"]), "`method=\\['scan'\\]`: give one of auto"),
        (lambda: Index(max_distance=3, recipe="defalt"), "no recipe 'defalt' \\(did you mean default"),
        (lambda: Index(max_distance=3, recipe=17), "`recipe=17`: give a Recipe"),
        (lambda: Index(max_distance=3, recipe=nd.Recipe(bits=128)), "`bits=64`: fingerprints of this recipe take 128"),
        (
            lambda: Index(max_distance=3, method="prefix-tables", prefix=65),
            "`prefix=65`, `tables=.*`: give a prefix up to 64",
        ),
        (
            lambda: Index(max_distance=3, method="prefix-tables", tables=1001),
            "`tables=1001`: give .* up to 1000 tables",
        ),
        (
            lambda: Index(max_distance=3, method="sorted-beam", permutations=1001),
            "`permutations=1001`: give up to 1000",
        ),
        (lambda: Index(max_distance=3, method="tree"), "`method='tree'`: give one of auto, scan, block-tables"),
        (lambda: Index(max_distance=3, method="scan", blocks=4), "`blocks`: `method='scan'` has no options"),
        (
            lambda: (
                Index(max_distance=3, method="block-tables", blocks=3).add([1], np.zeros(1, np.uint64))
                or Index(max_distance=3, method="block-tables", blocks=3).merge()
            ),
            "blocks=3",
        ),
    ],
)
def test_an_index_that_is_not_possible_is_refused(call, said):
    with pytest.raises(nd.OptionError, match=said):
        call()


def test_what_does_not_go_into_an_index_is_refused_and_nothing_is_added(monkeypatch):
    index = Index(max_distance=3)
    one = np.zeros(1, np.uint64)
    index.add([1], one)
    for ids, rows, said in (
        (["a"], one, "These ids are strings, but those of the index are integers"),
        ([1, 2], one, "2 ids for 1 fingerprint: give one each"),
        ([1.5], one, "ids are of the type double"),
        ([None], one, "Id 0 is null"),
        ([2**64 - 1], one, "does not fit|neither"),
        (7, one, "give a list"),
        ([2], np.zeros((1, 2), np.uint64), "have 128 bits, those of the index 64"),
        ([2], np.zeros(1, np.int64), "dtype int64"),
        (["\ud800"], one, "not valid Unicode"),
    ):
        with pytest.raises(nd.OptionError, match=said):
            index.add(ids, rows)
    with pytest.raises(nd.OptionError, match="are not integers"):
        index.remove(["a"])
    with pytest.raises(nd.OptionError, match="the index was made for 3"):
        index.query(0, 4)
    with pytest.raises(nd.OptionError, match="from 0 to 2\\^64 - 1"):
        index.query(2**64)
    for query in (1.5, "7", None, True):
        with pytest.raises(nd.OptionError, match="give an integer, or an array uint64\\[1\\]"):
            index.query(query)
    for queries in (VALUES, VALUES[:2], np.zeros((3, 2), np.uint64), np.empty(0, np.uint64), [1, 2]):
        with pytest.raises(nd.OptionError, match="For many fingerprints use query_many\\(\\)"):
            index.query(queries)
    with pytest.raises(nd.OptionError, match="fingerprint has dtype int64"):
        index.query(np.zeros(1, np.int64))
    monkeypatch.setattr(contents, "MAX_DOCUMENTS", 1)
    with pytest.raises(nd.OptionError, match="1 document more would be more than 1, removed ones included"):
        index.add([2], one)
    assert len(index) == 1


def test_an_index_of_nothing_finds_nothing():
    index = Index(max_distance=3)
    assert index.query(0) == []
    assert len(index.query_many(np.zeros(3, np.uint64)).distances) == 0
    assert list(index.pairs()) == []
    assert index.remove([1]) == 0
    assert len(index.groups()) == 0
    assert "0 documents" in repr(index)


@pytest.mark.parametrize("method", METHODS)
def test_the_nearest_is_the_first_of_all_neighbors_removed_ones_left_out(method):
    values = np.random.default_rng(3).integers(0, 1 << 9, 6_000, np.uint64)
    index = Index(max_distance=2, method=method)
    for first in range(0, len(values), 1_500):
        index.add(None, values[first : first + 1_500])
    index.remove(range(0, 6_000, 7))
    every, nearest = index.query_many(values[:300]), index.query_many(values[:300], nearest=True)
    assert [nearest[i] for i in range(300)] == [every[i][:1] for i in range(300)]


def test_short_texts_and_state_are_saved_and_removed_with_the_index(tmp_path):
    index = Index(max_distance=3)
    index.add(["a"], VALUES[:1])
    index.add_short(["s", "t", "u"], np.array([[1, 2], [1, 2], [3, 4]], np.uint64))
    index.state = {"offset": 17}
    index.save(tmp_path / "ix")
    again = Index.open(tmp_path / "ix")
    digests = np.array([[1, 2], [3, 4], [5, 6]], np.uint64)
    assert [again.find_short(digests)[i] for i in range(3)] == [[("s", 0), ("t", 0)], [("u", 0)], []]
    assert again.find_short(digests, nearest=True)[0] == [("s", 0)]
    assert (again.state, again.info().short, len(again)) == ({"offset": 17}, 3, 1)
    assert again.remove(["s", "a"]) == 2
    again.add_short(["v"], digests[2:])
    again.save()
    last = Index.open(tmp_path / "ix")
    assert [last.find_short(digests)[i] for i in range(3)] == [[("t", 0)], [("u", 0)], [("v", 0)]]
    assert last.info(verify=True).damaged == {}
    with pytest.raises(nd.OptionError, match="These ids are integers"):
        last.add_short([1], digests[:1])
    with pytest.raises(nd.OptionError, match="cannot change"):
        last.has_strings = False


def test_another_index_is_replaced_only_if_asked(tmp_path):
    first, second = Index(max_distance=3), Index(max_distance=5, method="scan")
    first.add(range(3_000), VALUES[:3_000])
    first.save(tmp_path / "ix")
    second.add(["x"], VALUES[:1])
    with pytest.raises(nd.InputError, match="has an index"):
        second.save(tmp_path / "ix")
    second.save(tmp_path / "ix", overwrite=True)
    assert (len(Index.open(tmp_path / "ix")), Index.open(tmp_path / "ix").max_distance) == (1, 5)
    with pytest.raises(nd.InputError, match="Another process has changed"):
        first.save()


def test_the_distance_of_an_index_is_that_of_its_recipe_by_default():
    assert nd.Index(recipe="fnv1a").max_distance == 3
    assert nd.Index(recipe="fnv1a", max_distance=5).max_distance == 5
    for options in ({}, {"recipe": nd.Recipe(bits=64, word_shingle=4)}):
        with pytest.raises(
            nd.OptionError, match="Give `max_distance`, the largest that will be asked for, such as Index"
        ):
            nd.Index(**options)


def test_the_probability_of_a_hit_names_its_argument_and_is_1_while_all_is_compared():
    index = nd.Index(max_distance=6, bits=64, method="prefix-tables", prefix=16, tables=8)
    assert index.hit_probability() == 1
    with pytest.raises(nd.OptionError, match="`distance=9`: the index was made for 6"):
        index.hit_probability(9)
    with pytest.raises(nd.OptionError, match="`distance=-1` is not a whole number from 0 to 64"):
        index.hit_probability(-1)
