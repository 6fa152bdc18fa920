"""Corpora whose texts are nearly alike: deciding while joining gives what the walk among all candidates gives."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_families import SKETCHES, Forced, Narrowed, corpora, decided

import neardup as nd
from dense_lines import SHAPES, VOCABULARY, dense_lines
from neardup.matching import frequent_bits
from neardup.matching.candidates import narrowed
from neardup.matching.candidates.costs import FEW_PAIRS_PER_DOCUMENT, HELD_EACH, Pairs
from neardup.matching.similarities.table import SIMILARITY_TABLE
from neardup.survivors import dense, families


@pytest.mark.parametrize("shape", ["inserted", "replaced", "deleted"])
@pytest.mark.parametrize("method", ["exact", "minhash", "simhash", "auto"])
def test_dense_lines_are_decided_as_all_their_candidates_are(method, shape, monkeypatch):
    texts = dense_lines(4_200, shape, templates=2, changes=6 if shape == "deleted" else 3)
    options = {"method": method, "min_similarity": 0.6, "keep": "longest"}
    *found, summary = decided(texts, **options, threads=3)
    monkeypatch.setattr(families, "FEW_PAIRS_PER_DOCUMENT", 10**9)
    *expected, of_all = decided(texts, **options, threads=1)
    assert found == expected
    assert 1 < summary.join["survivors_first"] == len(found[0]) < 4_200
    assert "survivors_first" not in of_all.join
    assert summary.candidates < 4_200 < of_all.candidates


@given(seed=st.integers(0, 2**32), block=st.sampled_from([1, 3, 100]), few=st.sampled_from([1, 2, 5]))
def test_blocks_of_any_size_give_the_same(seed, block, few):
    choose = random.Random(seed)
    texts = dense_lines(60, choose.choice(SHAPES), seed, words=choose.choice([12, 30]), templates=choose.randint(1, 3))
    texts += choose.choices(texts, k=5)
    rows = [{"text": text, "site": choose.choice("ab")} for text in texts]
    options = {"method": choose.choice(["exact", "minhash"]), "min_similarity": choose.choice([0.5, 0.7, 0.8])}
    if choose.random() < 0.5:
        options["within"] = "site"
    if choose.random() < 0.5:
        options["against"] = rows[:10]
    *expected, _ = decided(rows, **options)
    with Forced(held_each=HELD_EACH), pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense, "MIN_BLOCK", block)
        patch.setattr(dense, "MAX_BLOCK", 2 * block)
        patch.setattr(dense, "FEW", few)
        *found, _ = decided(rows, **options)
    assert found == expected


def test_texts_that_go_to_files_are_decided_the_same(tmp_path):
    texts = dense_lines(4_200, "inserted")
    options = {"method": "exact", "min_similarity": 0.7}
    *expected, _ = decided(texts, **options)
    *found, summary = decided(texts, **options, memory="16M", temp_dir=str(tmp_path))
    assert found == expected
    assert summary.join["survivors_first"] > 0
    assert list(tmp_path.iterdir()) == []


def test_a_corpus_is_dense_if_listing_takes_longer_than_holding():
    n = 200_000
    few, many = n * n / HELD_EACH / 2, n * n / HELD_EACH
    assert Pairs(FEW_PAIRS_PER_DOCUMENT * n, 7).of_survivors(n) == (FEW_PAIRS_PER_DOCUMENT * n, 7, 0)
    assert Pairs(few, 7).of_survivors(n) == (n + 7, 7, 0)
    assert Pairs(many, 7).of_survivors(n) == (n, 0, n * (n - 1) / 2)


@pytest.mark.parametrize("method", ["exact", "simhash"])
@pytest.mark.parametrize("similarity", ["cosine", "edit"])
def test_words_that_are_in_several_lines_do_not_hide_what_is_alike(method, similarity):
    texts = dense_lines(4_200, "replaced", words=40, changes=5)
    options = {"method": method, "similarity": similarity, "min_similarity": 0.82}
    *found, summary = decided(texts, **options)
    with Forced():
        *expected, _ = decided(texts, **options)
    assert found == expected
    assert method == "simhash" or summary.candidates < 4_200


def test_pairs_are_listed_if_bits_tell_hardly_any_apart(monkeypatch):
    choose = random.Random(4)
    texts = [" ".join(choose.sample(VOCABULARY[:1500], 40)) for _ in range(4_200)]
    options = {"method": "exact", "similarity": "edit", "min_similarity": 0.5}
    monkeypatch.setattr(frequent_bits, "FREQUENT_SHARE", 1)
    monkeypatch.setattr(frequent_bits, "MAX_MARK_WORDS", 0)
    *found, summary = decided(texts, **options)
    assert summary.join["pairs"] > 4_200
    monkeypatch.setattr(frequent_bits, "MAX_MARK_WORDS", 8)
    *expected, summary = decided(texts, **options)
    assert found == expected
    assert summary.join["pairs"] == 0


@given(texts=corpora(), least=st.sampled_from([0.5, 0.7, 0.85]), cluster=st.sampled_from(["star", "components"]))
@pytest.mark.parametrize(
    ("method", "similarity"),
    [*(("exact", similarity) for similarity in SIMILARITY_TABLE), *SKETCHES],
)
def test_every_method_and_similarity_decides_the_same(method, similarity, texts, least, cluster):
    options = {"method": method, "similarity": similarity, "min_similarity": least, "cluster": cluster}
    *expected, _ = decided(texts, **options)
    with Forced(held_each=HELD_EACH):
        *found, _ = decided(texts, **options)
    assert found == expected


@pytest.mark.parametrize(("method", "similarity"), SKETCHES)
@pytest.mark.parametrize("cluster", ["star", "components"])
@given(texts=corpora(), least=st.sampled_from([0.5, 0.7, 0.85]))
def test_sketches_of_many_documents_are_narrowed_first(method, similarity, cluster, texts, least):
    options = {"method": method, "similarity": similarity, "min_similarity": least, "cluster": cluster}
    *expected, _ = decided(texts, **options)
    with Narrowed(held_each=HELD_EACH), pytest.MonkeyPatch.context() as patch:
        patch.setattr(narrowed, "MAX_HELD_SKETCHES", -1)
        *found, summary = decided(texts, **options)
    assert found == expected
    assert summary.join["narrowed"]


@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
@given(texts=corpora(), others=corpora(), least=st.sampled_from([0.5, 0.7, 0.85]))
def test_lists_of_pairs_are_the_same(method, texts, others, least):
    for other in (None, others):
        expected = nd.match(texts, other, method=method, min_similarity=least)
        with Forced(held_each=HELD_EACH):
            found = nd.match(texts, other, method=method, min_similarity=least)
        for name in ("left", "right", "similarity"):
            assert getattr(found, name).tolist() == getattr(expected, name).tolist()


def test_lines_of_the_same_words_in_other_orders_are_not_all_candidates():
    """Their fingerprints are equal, and nearly all survive."""
    texts = dense_lines(4_200, "moved")
    options = {"method": "simhash", "min_similarity": 0.7}
    *found, summary = decided(texts, **options)
    with Forced():
        *expected, _ = decided(texts, **options)
    assert found == expected
    assert summary.candidates < 4_200
