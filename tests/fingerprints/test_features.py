"""The general way from texts to fingerprints, by named features, agrees with the one-pass kernel, and with its definition."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import neardup as nd
from neardup.fingerprints.by_features import fingerprint_folded
from neardup.fingerprints.feature_arrays import features_of
from neardup.fingerprints.simhash import fingerprint_array
from neardup.fingerprints.weights.table import heaviest
from neardup.matching.similarities.first_pass import first_pass
from neardup.matching.similarities.table import maker_of
from neardup.recipe.tables.parts import HASHES
from neardup.text.normalizers import fold_texts, normalized
from neardup.text.segmenters.table import tokens_of
from strategies import texts

SIZES = st.sampled_from([(1, 2), (3, 5), (2, 1), (1, 1)])
STEPS = st.lists(st.sampled_from(["digits", "punctuation", "lower", "casefold", "nfkc"]), max_size=2)
"""What may come before texts are folded."""
JACCARD = maker_of("jaccard")


def array(given_texts):
    return pa.array(given_texts, pa.large_string())


@given(
    st.lists(texts, max_size=8),
    st.integers(1, 512),
    st.sampled_from(["uniform", "tf", "log", "sqrt"]),
    SIZES,
    STEPS,
)
@settings(max_examples=60)
def test_named_features_give_the_fingerprints_of_the_one_pass_kernel(given_texts, bits, weights, sizes, steps):
    recipe = nd.Recipe(
        bits=bits, weights=weights, word_shingle=sizes[0], cjk_shingle=sizes[1], normalize=[*steps, "nfkc_casefold"]
    )
    assert not recipe.needs_names
    for found in (fingerprint_array(array(given_texts), recipe), first_pass(array(given_texts), recipe, JACCARD)[0]):
        values, digests, tokens = fingerprint_folded(normalized(array(given_texts), recipe.normalize), recipe)
        np.testing.assert_array_equal(values, found.values)
        np.testing.assert_array_equal(digests, found.digests)
        np.testing.assert_array_equal(tokens, found.tokens)


@pytest.mark.parametrize("steps", [["simplified"], ["shinjitai"], ["simplified", "digits"]])
def test_variants_before_folding_leave_it_to_the_one_pass_kernel(steps):
    pytest.importorskip("opencc", reason="the extra [zh] is not installed")
    given_texts = array(["頭髮 and 2 圖書館", "國民の教養と學術", "", "Ａ乾隆皇帝乾燥", "plain"])
    recipe = nd.Recipe(normalize=[*steps, "nfkc_casefold"], bits=64, max_distance=3)
    values, digests, _ = fingerprint_folded(normalized(given_texts, recipe.normalize), recipe)
    found = fingerprint_array(given_texts, recipe)
    np.testing.assert_array_equal(values, found.values)
    np.testing.assert_array_equal(digests, found.digests)
    for text, value in zip(given_texts.to_pylist(), values[:, 0].tolist(), strict=True):
        assert int(nd.compare(text, text, recipe=recipe).left.bits, 2) == value


@pytest.mark.parametrize("normalize", [[], ["lower"], ["nfkc_casefold", "punctuation"]])
def test_texts_that_are_not_folded_last_need_names(normalize):
    assert nd.Recipe(normalize=normalize).needs_names


@given(st.lists(texts, max_size=8), SIZES)
def test_features_are_the_distinct_windows_in_the_order_of_their_first_occurrence(given_texts, sizes):
    recipe = nd.Recipe(word_shingle=sizes[0], cjk_shingle=sizes[1])
    found = features_of(tokens_of(normalized(array(given_texts), recipe.normalize), recipe), recipe)
    data, offsets = found.names()
    for d, text in enumerate(given_texts):
        mine = range(found.offsets[d], found.offsets[d + 1])
        expected = Counter(naive.windows(naive.tokens(text), *sizes))
        assert [data[offsets[i] : offsets[i + 1]].tobytes().decode() for i in mine] == [" ".join(w) for w in expected]
        assert found.counts[mine.start : mine.stop].tolist() == list(expected.values())


@given(st.lists(st.lists(st.integers(1, 5), max_size=6), max_size=5), st.integers(1, 4))
def test_the_heaviest_features_of_each_text_are_kept_and_of_equal_ones_the_first(weights, most):
    offsets = np.cumsum([0, *map(len, weights)])
    total = int(offsets[-1])
    tokens = tokens_of(fold_texts(array([])), nd.Recipe())
    features = features_of(tokens, nd.Recipe())._replace(offsets=offsets, hashes=np.arange(total, dtype=np.uint64))
    keep = heaviest(
        features, np.array([weight for mine in weights for weight in mine], np.int64), np.full(len(weights), most)
    )
    for d, mine in enumerate(weights):
        best = sorted(range(len(mine)), key=lambda i: -mine[i])[:most]
        assert np.flatnonzero(keep[offsets[d] : offsets[d + 1]]).tolist() == sorted(best)


def test_keywords_are_the_features_that_vote():
    text = "red red red red green green blue"
    recipe = nd.Recipe(weights="tf", keywords=2, bits=64, max_distance=3)
    assert nd.fingerprint([text], recipe=recipe) == nd.fingerprint(
        ["red red red red green green"], recipe=nd.Recipe(weights="tf", bits=64, max_distance=3)
    )
    shown = nd.compare(text, text, recipe=recipe).left
    assert [(feature.name, feature.count, int(feature.weight)) for feature in shown.features] == [
        ("red", 4, 4),
        ("green", 2, 2),
    ]


@given(texts, texts)
@settings(max_examples=40)
def test_the_steps_that_are_shown_give_the_fingerprint(left, right):
    recipe = nd.Recipe(keywords=3, bits=70, max_distance=3)
    shown = nd.compare(left, right, recipe=recipe)
    for steps, text in ((shown.left, left), (shown.right, right)):
        high, low = nd.fingerprint([text], recipe=recipe)[0].tolist()
        assert int(steps.bits, 2) == high << 64 | low


@pytest.mark.parametrize(("count", "weight"), [(1, "1"), (2, "1.414215087890625"), (4, "2"), (9, "3")])
def test_the_weight_sqrt_is_shown_in_parts_of_65536(count, weight):
    recipe = nd.Recipe(weights="sqrt", max_distance=3)
    shown = nd.compare("red " * count, "red", recipe=recipe).left
    assert [str(each.weight) for each in shown.features] == [weight]


def test_the_cosine_is_of_the_features_that_vote():
    recipe = nd.Recipe(weights="tf", keywords=1, bits=64, max_distance=3)
    assert nd.similarity("red red green", "red red blue", kind="cosine", recipe=recipe) == 1.0


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"keywords": 0}, "`keywords=0`: give an integer of at least 1"),
        ({"keywords": 5, "weights": "uniform"}, "none is heavier"),
        ({"segmenter": "word"}, "`segmenter='word'`: give one of words.*did you mean words"),
        ({"normalize": "nfkc_casefold"}, "give a list of names"),
        ({"normalize": ["nfck"]}, "`normalize='nfck'`: give one of nfkc_casefold.*did you mean nfkc"),
    ],
)
def test_recipes_that_contradict_themselves_are_refused(fields, said):
    with pytest.raises(nd.OptionError, match=said):
        nd.Recipe(**fields)


def test_a_hash_of_the_callers_own_is_part_of_the_digest():
    first = nd.HashFunction(lambda feature: feature[0], name="first-byte", version="1", bits=8)
    recipe = nd.Recipe(hash=first, bits=8, weights="tf", max_distance=2)
    assert nd.fingerprint(["abc abc xyz"], recipe=recipe).tolist() == [ord("a")]
    again = nd.HashFunction(lambda feature: feature[0], name="first-byte", version="2", bits=8)
    assert nd.Recipe(hash=again, bits=8).digest() != recipe.digest()
    assert nd.compare("abc", "xyz", recipe=recipe).left.bits == "01100001"


@pytest.mark.parametrize("name", HASHES)
def test_every_hash_gives_fingerprints_and_shows_its_steps(name):
    recipe = nd.Recipe(hash=name, bits=40, max_distance=2)
    text = "the quick brown fox and 文書の指紋"
    assert int(nd.compare(text, text, recipe=recipe).left.bits, 2) == nd.fingerprint([text], recipe=recipe)[0]
