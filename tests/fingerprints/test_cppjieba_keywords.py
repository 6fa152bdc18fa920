"""The bits of cppjieba's fingerprints: weights are floating-point numbers, added in the order of its partial sort."""

import functools
import itertools
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import naive_hashes
import neardup as nd
from neardup.fingerprints.profiles.values import weighted_value
from neardup.fingerprints.weights.jieba_package import background
from neardup.kernels.fingerprints.keywords import partial_sort
from neardup.recipe.serialization import check_same, stored_recipe

UNKNOWN = [f"{a}{b}x" for a in "qwzkv" for b in "ptgj"]
KNOWN = ["法律", "国家", "公民", "升职", "加薪", "巅峰", "人生", "学院"]
HASHES = {"cppjieba": naive_hashes.lookup3, "fnv1a": naive_hashes.fnv1a_64, "go-fnv1a": naive_hashes.go_fnv1a}
word_lists = st.lists(st.sampled_from([*UNKNOWN, *KNOWN]), max_size=60)
settings_of_texts = settings(deadline=None, max_examples=60)


@functools.cache
def idf():
    """The lines of cppjieba's own file, in its order."""
    words, values = background()
    return {word: value for word, value in zip(words, values.tolist(), strict=True) if len(word) > 1}


def text_of(words):
    return "，".join(words)


def expected_keywords(words, keywords):
    length = len(text_of(words).encode())
    most = {None: len(words), "by_length": min(max(length // 120, 5), 200)}.get(keywords, keywords)
    return naive.keywords_of_cppjieba(words, idf(), most)


def expected_value(words, keywords, hash_of, bits=64):
    weighted = [(hash_of(word.encode()), weight) for word, weight in expected_keywords(words, keywords)]
    return naive.simhash_in_doubles(weighted, bits)


@given(st.lists(st.lists(st.integers(1, 4), max_size=70), max_size=4), st.lists(st.integers(0, 72), min_size=4))
def test_the_partial_sort_is_that_of_the_cpp_library(weights, most):
    offsets = np.cumsum([0, *map(len, weights)])
    flat = np.array([weight for of_text in weights for weight in of_text], np.float64) * 1.7
    sizes = np.minimum(most[: len(weights)], np.diff(offsets)).astype(np.int64)
    order = np.arange(len(flat))
    partial_sort(flat, sizes, offsets, order)
    assert sorted(order.tolist()) == list(range(len(flat)))
    for d, (first, last) in enumerate(itertools.pairwise(offsets.tolist())):
        found = order[first : first + sizes[d]].tolist()
        assert found == naive.heap_sorted(range(first, last), sizes[d], lambda a, b: flat[a] < flat[b])


@settings_of_texts
@given(st.lists(word_lists, max_size=4), st.sampled_from(["by_length", None, 1, 5, 22]), st.sampled_from(list(HASHES)))
def test_keywords_and_bits_are_the_definitions(given_words, keywords, name):
    recipe = replace(nd.RECIPES[name].recipe, keywords=keywords)
    texts = [text_of(words) for words in given_words]
    assert nd.keywords(texts, recipe=recipe) == [expected_keywords(words, keywords) for words in given_words]
    assert nd.fingerprint(texts, recipe=recipe, threads=1).tolist() == [
        expected_value(words, keywords, HASHES[name]) for words in given_words
    ]


@settings_of_texts
@given(word_lists, st.integers(1, 160))
def test_bits_of_any_width_are_the_definitions(words, bits):
    recipe = replace(nd.RECIPES["cppjieba"].recipe, keywords=None, hash="sha512", bits=bits, max_distance=None)
    hash_of = functools.partial(naive_hashes.hash_feature, name="sha512", bits=bits)
    expected = expected_value(words, None, hash_of, bits)
    row = nd.fingerprint([text_of(words)], recipe=recipe).reshape(-1).tolist()
    assert int("".join(f"{word:016x}" for word in row), 16) == expected


@settings_of_texts
@given(word_lists, word_lists, st.sampled_from(["by_length", 7]))
def test_a_comparison_shows_the_sums_that_decide_the_bits(left, right, keywords):
    recipe = replace(nd.RECIPES["cppjieba"].recipe, keywords=keywords)
    found = nd.compare(text_of(left), text_of(right), recipe=recipe)
    for words, side in ((left, found.left), (right, found.right)):
        assert int(side.bits, 2) == expected_value(words, keywords, naive_hashes.lookup3)
        assert side.bits == "".join("1" if total > 0 else "0" for total in side.sums)
        pairs = [(feature.name, float(feature.weight)) for feature in side.features]
        assert pairs == expected_keywords(words, keywords)
        assert weighted_value(pairs, hash="lookup3") == int(side.bits, 2)


def test_where_weights_cancel_out_their_rounding_decides():
    recipe = replace(nd.RECIPES["cppjieba"].recipe, keywords=None)
    differing = []
    for first in range(12):
        words = UNKNOWN[first : first + 8]
        weighted = expected_keywords(words, None)
        exact = naive.simhash([(naive_hashes.lookup3(w.encode()), Fraction(weight)) for w, weight in weighted], 64)
        [found] = nd.fingerprint([text_of(words)], recipe=recipe).tolist()
        sums = nd.compare(text_of(words), "", recipe=recipe).left.sums[::-1]
        differing += [sums[bit] for bit in range(64) if (exact ^ found) >> bit & 1]
    assert differing
    assert all(0 < total < Decimal("1e-12") for total in differing)


def test_the_mean_is_summed_as_cppjieba_sums_it():
    [[(_, weight)]] = nd.keywords(["qpx"], recipe="cppjieba")
    assert weight.hex() == "0x1.77a78fca7f8e9p+3"  # by cppjieba 5.4.0, compiled


def test_texts_without_keywords_have_no_bits():
    for texts in ([], [""], ["的", "", "。"], ["", "法律"]):
        found = nd.fingerprint(texts, recipe="cppjieba").tolist()
        assert [value != 0 for value in found] == [text == "法律" for text in texts]


def test_bits_do_not_depend_on_threads_or_on_other_texts():
    texts = [text_of(UNKNOWN[i:] + KNOWN[: i % 8]) for i in range(20)] * 30
    alone = [nd.fingerprint([text], recipe="fnv1a").tolist()[0] for text in texts[:20]] * 30
    for threads in (1, 3):
        assert nd.fingerprint(texts, recipe="fnv1a", threads=threads).tolist() == alone


def test_normalized_words_and_other_segmenters_are_weighed_alike():
    recipe = nd.Recipe(weights="cppjieba", segmenter="jieba", hash="lookup3", bits=64, keywords=None, stop_words=["en"])
    [found] = nd.keywords(["ＱＰＸ，QPX，the，法律。"], recipe=recipe)
    mean = naive.keywords_of_cppjieba(["qpx", "qpx", "法律"], idf(), 2)
    assert found == mean
    assert nd.fingerprint(["ＱＰＸ，QPX，the，法律。"], recipe=recipe).tolist() == [
        naive.simhash_in_doubles([(naive_hashes.lookup3(word.encode()), weight) for word, weight in mean], 64)
    ]
    whole, guessed = (nd.keywords(["蓝翔"], recipe=replace(recipe, hmm=hmm))[0] for hmm in (False, True))
    assert ([word for word, _ in whole], [word for word, _ in guessed]) == ([], ["蓝翔"])


def test_cosine_compares_weights_in_fixed_point():
    words = [*UNKNOWN[:3], *KNOWN[:2]]
    left, right = text_of(words), text_of(words[1:])
    recipe = replace(nd.RECIPES["cppjieba"].recipe, keywords=None)
    a, b = ({w: naive.fixed_point(x) for w, x in expected_keywords(each, None)} for each in (words, words[1:]))
    dot = sum(a[word] * b.get(word, 0) for word in a)
    norms = [sum(x * x for x in each.values()) ** 0.5 for each in (a, b)]
    assert nd.similarity(left, right, kind="cosine", recipe=recipe) == pytest.approx(dot / norms[0] / norms[1])
    found = nd.deduplicate([left, right, left], recipe=recipe, method="exact", similarity="cosine", min_similarity=0.8)
    assert found.summary.duplicates == 2


def test_fingerprints_with_exact_sums_are_not_compared_with_these():
    recipe = nd.RECIPES["cppjieba"].recipe
    former = recipe.as_dict()
    former["weights"] = {name: value for name, value in former["weights"].items() if name != "sums"}
    assert stored_recipe(recipe.as_dict()) == replace(recipe, max_distance=None)
    found = stored_recipe(former)
    assert found.as_dict() == former
    assert found.digest() != recipe.digest()
    with pytest.raises(nd.RecipeMismatch, match='weights: .*"jieba": "[0-9.]*"} there, .*"sums": "float64"} here'):
        check_same(recipe, former, "old.parquet")
    with pytest.raises(nd.OptionError, match=r"`weights`: an earlier version .*Make the fingerprints again"):
        nd.fingerprint(["法律"], recipe=found)
    other = recipe.as_dict()
    other["weights"]["jieba"] = "0.0.1"
    with pytest.raises(nd.OptionError, match=r"made with jieba 0\.0\.1.*Install"):
        nd.fingerprint(["法律"], recipe=stored_recipe(other))
