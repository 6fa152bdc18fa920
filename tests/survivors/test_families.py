"""Families of near-equal texts: finding survivors first must give what the walk among all candidates gives."""

import dataclasses
import random
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd
from neardup.hamming.near import near_pairs
from neardup.hamming.unique import collapse
from neardup.matching.band_plan import Bands
from neardup.matching.bands import Placed, find_banded, spool_banded
from neardup.matching.candidates import costs, dense, narrowed
from neardup.matching.candidates.minhash import MinHashJoin
from neardup.matching.candidates.simhash import SimHashJoin
from neardup.matching.similarities.table import SIMILARITY_TABLE
from neardup.resources.pair_spool import ManyPairs, PairSpool
from neardup.resources.resources import Resources
from neardup.resources.temporary_files import TemporaryFiles
from neardup.survivors import families

WORDS = [f"word{i}" for i in range(60)]
EVERYTHING = 10**9


def templated(count, seed=1, *, kinds=1, numbers=3):
    """Lines made from a few templates, each with some numbers of its own."""
    choose = random.Random(seed)
    templates = [choose.sample(WORDS, 40) for _ in range(kinds)]
    lines = []
    for _ in range(count):
        words = list(choose.choice(templates))
        for place in choose.sample(range(40), numbers):
            words[place] = str(choose.randrange(50))
        lines.append(" ".join(words))
    return lines


def decided(texts, **options):
    """Everything that is decided of each document, and what it took."""
    found = nd.deduplicate(texts, **options)
    return found.survivors, found.duplicates.to_pydict(), found.annotations.to_pydict(), found.summary


class Forced:
    """Finds survivors first however few pairs there are, in blocks of a few documents; with `held_each`, as in a dense corpus."""

    def __init__(self, small=3, held_each=0):
        self._small, self._held_each = small, held_each

    def __enter__(self):
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(families, "SMALL_BLOCK_DOCUMENTS", self._small)
        self._patch.setattr(families, "ESTIMATED_DOCUMENTS", EVERYTHING)
        self._patch.setattr(families, "FEW_PAIRS_PER_DOCUMENT", -1)
        self._patch.setattr(narrowed, "FEW_PAIRS_PER_DOCUMENT", -1)
        self._patch.setattr(costs, "HELD_EACH", self._held_each)
        self._patch.setattr(dense, "MEETINGS_PER_PAIR", EVERYTHING)

    def __exit__(self, *_):
        self._patch.undo()


@st.composite
def corpora(draw):
    """Lines of families, equal ones, ones that are equal sets, short ones; in some order."""
    choose = random.Random(draw(st.integers(0, 2**32)))
    lines = templated(
        choose.randint(1, 25), choose.random(), kinds=choose.randint(1, 3), numbers=choose.choice([1, 2, 4])
    )
    lines += [choose.choice(lines).upper() for _ in range(choose.randint(0, 4))]
    lines += [f"{line} {line} {line}" for line in choose.sample(lines, choose.randint(0, min(3, len(lines))))]
    lines += ["", "one", "one two"][: choose.randint(0, 3)]
    choose.shuffle(lines)
    return lines


@pytest.mark.parametrize(
    ("method", "similarity"),
    [
        ("exact", "jaccard"), ("exact", "weighted"), ("exact", "containment"), ("exact", "cosine"), ("exact", "edit"),
        ("minhash", "jaccard"), ("simhash", "jaccard"), ("simhash", "edit"),
    ],
)  # fmt: skip
@given(texts=corpora(), least=st.sampled_from([0.5, 0.7, 0.85]), keep=st.sampled_from(["first", "last", "longest"]))
def test_survivors_found_first_give_the_same_decisions(method, similarity, texts, least, keep):
    options = {"method": method, "similarity": similarity, "min_similarity": least, "keep": keep, "threads": 1}
    *expected, _ = decided(texts, **options)
    with Forced():
        *found, summary = decided(texts, **options)
    assert found == expected
    assert method == "simhash" or summary.join["survivors_first"] > 0


class Narrowed(Forced):
    """Lets sketches list nothing but all pairs, so that their candidates are narrowed; survivors are found first, in blocks."""

    def __enter__(self):
        super().__enter__()
        for join in (MinHashJoin, SimHashJoin):
            self._patch.setattr(join, "pairs", _all_or_too_many(join.pairs))


def _all_or_too_many(pairs):
    def wrapped(self, *args, most=None, **names):
        if most is not None:
            raise ManyPairs
        return pairs(self, *args, **names)

    return wrapped


SKETCHES = [("minhash", "jaccard"), *(("simhash", similarity) for similarity in SIMILARITY_TABLE)]


@pytest.mark.parametrize(("method", "similarity"), SKETCHES)
@given(
    texts=corpora(),
    least=st.sampled_from([0.5, 0.7, 0.85]),
    cluster=st.sampled_from(["star", "components"]),
    threads=st.sampled_from([1, 3]),
)
def test_candidates_that_are_narrowed_give_the_same_decisions(method, similarity, texts, least, cluster, threads):
    options = {"method": method, "similarity": similarity, "min_similarity": least, "cluster": cluster}
    *expected, of_all = decided(texts, **options)
    with Narrowed():
        *found, summary = decided(texts, **options, threads=threads)
    assert found == expected
    assert summary.join["narrowed"]
    assert "narrowed" not in of_all.join
    assert summary.method == method


@pytest.mark.parametrize("method", ["minhash", "simhash"])
@given(texts=corpora(), least=st.sampled_from([0.5, 0.7, 0.85]))
def test_pairs_that_are_narrowed_are_the_same(method, texts, least):
    expected = nd.match(texts, method=method, min_similarity=least)
    with Narrowed():
        found = nd.match(texts, method=method, min_similarity=least)
    for name in ("left", "right", "similarity"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()


@pytest.mark.parametrize("method", ["minhash", "simhash"])
@given(texts=corpora(), reference=corpora(), seed=st.integers(0, 99))
def test_narrowing_heeds_references_and_groups(method, texts, reference, seed):
    choose = random.Random(seed)
    rows = [{"text": text, "site": choose.choice("ab")} for text in texts]
    others = [{"text": text, "site": choose.choice("ab")} for text in reference]
    for options in ({"against": others}, {"within": "site"}, {"against": others, "within": "site"}):
        *expected, _ = decided(rows, **options, method=method)
        with Narrowed():
            *found, _ = decided(rows, **options, method=method)
        assert found == expected, options


@pytest.mark.parametrize("method", ["minhash", "simhash"])
def test_a_large_family_of_survivors_is_narrowed(method, monkeypatch):
    choose = random.Random(1)  # 0.73 alike, and some more
    texts = [
        " ".join(
            [*WORDS[:10], str(choose.randrange(10**4)), *WORDS[10:30], str(choose.randrange(10**4)), *WORDS[30:40]]
        )
        for _ in range(5_000)
    ]
    monkeypatch.setattr(costs, "HELD_EACH", 0)
    *found, summary = decided(texts, method=method, max_distance=60)
    assert summary.join["narrowed"]
    assert summary.candidates < 100_000
    monkeypatch.setattr(families, "FEW_PAIRS_PER_DOCUMENT", EVERYTHING)
    *expected, of_all = decided(texts, method=method, max_distance=60)
    assert found == expected
    assert of_all.candidates > 1_000_000


@pytest.mark.parametrize(("cluster", "free"), [("star", 15_000), ("components", 100)])
def test_narrowing_without_room_is_refused(cluster, free, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    with (
        Narrowed(),
        pytest.raises(nd.OptionError, match="`method='simhash'` with very many candidates takes about .*more room"),
    ):
        nd.deduplicate(templated(40, numbers=2), method="simhash", cluster=cluster)


@given(texts=corpora(), reference=corpora(), distance=st.sampled_from([None, 20, 60]), seed=st.integers(0, 99))
@settings(max_examples=20)
def test_references_groups_and_distances_alone_give_the_same(texts, reference, distance, seed):
    choose = random.Random(seed)
    rows = [{"text": text, "site": choose.choice("ab")} for text in texts]
    others = [{"text": text, "site": choose.choice("ab")} for text in reference]
    by_distance = {} if distance is None else {"max_distance": distance, "min_similarity": 0, "method": "simhash"}
    for options in ({"against": others}, {"within": "site"}, {"against": others, "within": "site"}):
        *expected, _ = decided(rows, **options, **by_distance)
        with Forced():
            *found, _ = decided(rows, **options, **by_distance)
        assert found == expected, options


@pytest.mark.parametrize(
    ("method", "options"),
    [("exact", {}), ("simhash", {}), ("minhash", {}), ("exact", {"memory": "16M", "threads": 3}), ("auto", {})],
)
def test_a_large_family_costs_what_its_survivors_cost(method, options, monkeypatch):
    texts = templated(6_000, kinds=2, numbers=2)
    *found, summary = decided(texts, method=method, min_similarity=0.6, **options)
    monkeypatch.setattr(families, "FEW_PAIRS_PER_DOCUMENT", EVERYTHING)
    *expected, of_all = decided(texts, method=method, min_similarity=0.6, threads=1)
    assert found == expected
    assert summary.join["survivors_first"] < 600
    assert "survivors_first" not in of_all.join
    if "pairs" in summary.join:
        assert summary.join["pairs"] < of_all.join["pairs"] / 10


def test_where_most_survive_all_candidates_are_listed(monkeypatch):
    texts = templated(300, numbers=9)
    *expected, _ = decided(texts, min_similarity=0.95)

    def too_many(*_):
        raise ManyPairs

    monkeypatch.setattr(families._Families, "_pairs_across", too_many)
    with Forced():
        *found, summary = decided(texts, min_similarity=0.95)
    assert found == expected
    assert "survivors_first" not in summary.join


def test_components_and_lists_of_pairs_need_every_pair():
    texts = templated(40, numbers=2)
    with Forced():
        assert "survivors_first" not in decided(texts, cluster="components")[-1].join
        pairs = nd.match(texts, method="exact", min_similarity=0.5)
    assert len(pairs) == len(nd.match(texts, method="exact", min_similarity=0.5)) > 40


def across(pairs, first, names):
    """Those pairs of one below `first` and one from it on, by their names, each once."""
    named = {tuple(sorted((int(names[a]), int(names[b])))) for a, b in pairs if a < first <= b}
    return sorted(pair for pair in named if pair[0] != pair[1])


def unpacked(packed):
    return [(pair >> 32, pair & 0xFFFFFFFF) for pair in packed.tolist()]


@given(seed=st.integers(0, 2**32), threads=st.sampled_from([1, 3]), data=st.data())
def test_bands_join_some_signatures_with_the_others(seed, threads, data):
    random_of = np.random.default_rng(seed)
    n, bands = int(random_of.integers(2, 60)), Bands(4, 2)
    made = nd.signatures(templated(n, seed, numbers=6), values=8)
    first = int(random_of.integers(1, n))
    names = random_of.permutation(2 * n)[:n] // 2
    everything = find_banded(made, bands)
    spool = PairSpool(memory=1 << 20, files=TemporaryFiles(), names=names)
    prints = np.zeros((n, 1), np.uint64)
    how = {"fingerprints": prints, "max_distance": 64, "least_agreeing": 0, "resources": Resources(threads)}
    # They may lie in another order than they are searched in.
    order = random_of.permutation(n)
    lying = dataclasses.replace(made, values=made.values[order], sizes=made.sizes[order])
    at_once = data.draw(st.sampled_from([None, 1, 200]))
    spool_banded(Placed(lying, np.argsort(order), at_once), bands, spool, across=first, **how)
    expected = zip(everything.left.tolist(), everything.right.tolist(), strict=True)
    assert unpacked(spool.all()) == across(expected, first, names)


@given(seed=st.integers(0, 2**32), distance=st.integers(0, 12))
def test_fingerprints_of_two_lists_are_joined(seed, distance):
    random_of = np.random.default_rng(seed)
    one = collapse(random_of.integers(0, 1 << 12, 40, np.uint64)).values
    other = collapse(random_of.integers(0, 1 << 12, 30, np.uint64)).values
    both = np.concatenate([one, other])
    names = random_of.permutation(2 * len(both))[: len(both)] // 2
    pairs = [
        (a, b)
        for a in range(len(both))
        for b in range(a + 1, len(both))
        if int(both[a, 0] ^ both[b, 0]).bit_count() <= distance
    ]
    found = near_pairs(both, len(one), max_distance=distance, names=names)
    assert unpacked(found) == across(pairs, len(one), names)
