"""Weights: each is what its definition says, whatever the order of the texts and the threads."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import neardup as nd
from guards import not_empty
from neardup.fingerprints.features import weighted_features
from neardup.fingerprints.weights.fixed_point import fixed
from neardup.fingerprints.weights.table import EXTRACTORS, WEIGHT_TABLE
from neardup.kernels.fingerprints.frequencies import begin_buckets, look_up
from neardup.recipe.tables.parts import WEIGHTS
from neardup.recipe.tables.similarities import SIMILARITIES
from neardup.text.normalizers import fold_texts, normalized
from strategies import texts

ZH = "我是拖拉机学院手扶拖拉机专业的。不用多久，我就会升职加薪，当上CEO，走上人生巅峰。蓝翔"
SIZES = st.sampled_from([(1, 2), (3, 5), (1, 1)])
CORPUS = st.lists(texts, max_size=6)


def weights_by_name(text, recipe):
    """What each feature of a text weighs, as an integer."""
    features, weights, _ = weighted_features(normalized(pa.array([text], pa.large_string()), recipe.normalize), recipe)
    data, offsets = features.names()
    names = [data[offsets[i] : offsets[i + 1]].tobytes().decode() for i in range(len(weights))]
    return dict(zip(names, weights.tolist(), strict=True))


def test_every_weight_has_a_definition():
    assert {*WEIGHT_TABLE, *EXTRACTORS} == set(WEIGHTS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("frequencies")


@given(CORPUS, texts, SIZES)
@settings(max_examples=40)
def test_tfidf_is_the_count_times_the_logarithm_of_rarity(folder, corpus, text, sizes):
    tokens = {"word_shingle": sizes[0], "cjk_shingle": sizes[1]}
    found = nd.fit(corpus, folder / "df.parquet", recipe=nd.Recipe(**tokens), overwrite=True)
    assert found.documents == len(corpus)
    recipe = nd.Recipe(weights="tfidf", document_frequencies=found, **tokens)
    expected = naive.tfidf(text, corpus, **tokens)
    assert weights_by_name(text, recipe) == {" ".join(window): weight for window, weight in expected.items()}


@given(texts, SIZES)
@settings(max_examples=60)
def test_textrank_is_what_neighbors_give(text, sizes):
    recipe = nd.Recipe(weights="textrank", word_shingle=sizes[0], cjk_shingle=sizes[1])
    expected = naive.textrank(naive.windows(naive.tokens(text), *sizes))
    assert weights_by_name(text, recipe) == {" ".join(w): naive.fixed_point(score) for w, score in expected.items()}


def test_textrank_prefers_what_stands_among_many():
    text = "hub a b hub c d hub e f hub g h"
    assert nd.keywords([text], recipe=nd.Recipe(weights="textrank", keywords=1))[0][0][0] == "hub"
    assert nd.keywords(["alone"], recipe=nd.Recipe(weights="textrank")) == [
        [("alone", float(fixed(np.array([0.15]))[0]) / 65536)]
    ]


@given(CORPUS, st.sampled_from(["tf", "textrank"]), st.sampled_from([1, 7, "by_length"]))
@settings(max_examples=30)
def test_texts_together_have_the_weights_that_each_has_alone(corpus, weights, most):
    recipe = nd.Recipe(weights=weights, keywords=most)
    assert nd.keywords(corpus, recipe=recipe) == [nd.keywords([text], recipe=recipe)[0] for text in corpus]


@pytest.mark.parametrize(
    ("size", "kept"), [(1, 5), (599, 5), (720, 6), (839, 6), (23_999, 199), (24_000, 200), (60_000, 200)]
)
def test_keywords_by_length_are_one_for_120_bytes_and_at_least_5_and_at_most_200(size, kept):
    words = [f"{number:05}" for number in range(size // 6 + 6)]
    text = " ".join(words)[: size - 1] + "z" if size > 40 else "a b c d e f g"
    recipe = nd.Recipe(weights="tf", keywords="by_length")
    assert len(nd.keywords([text], recipe=recipe)[0]) == kept


@given(st.lists(st.integers(0, 2**64 - 1), unique=True, max_size=40), st.integers(1, 8))
def test_values_are_found_whatever_the_size_of_the_buckets(keys, bits):
    keys = np.array(sorted(keys), np.uint64)
    starts, out = np.empty((1 << bits) + 1, np.int64), np.empty(len(keys) + 1, np.int64)
    shift = np.uint64(64 - bits)
    begin_buckets(keys, shift, starts)
    other = np.uint64(next(value for value in range(50) if value not in set(keys.tolist())))
    look_up(np.append(keys, other), keys, starts, shift, np.arange(len(keys)), np.int64(-1), out)
    assert out.tolist() == [*range(len(keys)), -1]


@given(st.floats(-1e9, 1e9))
def test_fixed_point_is_the_nearest_multiple(value):
    assert (
        abs(Fraction(int(fixed(np.array([value]))[0]), 65536) - Fraction(value))
        <= Fraction(1, 131072) + abs(Fraction(value)) / 2**52
    )


class TestGiven:
    """Features with weights that the caller hands in."""

    @given(
        st.lists(
            st.lists(
                st.tuples(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), st.floats(-1000, 1000)),
                max_size=8,
            ),
            max_size=4,
        ),
        st.integers(1, 200),
    )
    @settings(max_examples=60)
    def test_they_vote_in_any_order(self, documents, bits):
        recipe = nd.Recipe(bits=bits)
        found = nd.fingerprint_features(documents, recipe=recipe)
        np.testing.assert_array_equal(found, nd.fingerprint_features([each[::-1] for each in documents], recipe=recipe))
        for value, document in zip(found.reshape(len(documents), recipe.words).tolist(), documents, strict=True):
            votes = [
                (naive.wide_hash(naive.token_hash(name), bits), naive.fixed_point(Fraction(weight)))
                for name, weight in document
            ]
            expected = naive.simhash(votes, bits)
            assert sum(word << 64 * k for k, word in enumerate(reversed(value))) == expected

    def test_they_give_the_fingerprints_of_texts(self):
        recipe = nd.Recipe(weights="tf", hash="fnv1a_64", bits=64)
        assert nd.fingerprint_features([{"red": 2, "green": 1}], recipe=recipe) == nd.fingerprint(
            ["red green red"], recipe=recipe
        )

    def test_another_tools_fingerprint_comes_of_its_keywords(self):
        given = [("蓝翔", 11.7392), ("CEO", 11.7392), ("升职", 10.8562), ("加薪", 10.6426), ("手扶拖拉机", 10.0089)]
        recipe = nd.Recipe(hash="lookup3", bits=64)
        assert nd.fingerprint_features([given, dict(given)], recipe=recipe).tolist() == [17831459094038722629] * 2
        keywords = nd.Recipe(weights="cppjieba", segmenter="jieba", normalize=[], keywords=5, hash="lookup3", bits=64)
        assert nd.fingerprint([ZH], recipe=keywords).tolist() == [17831459094038722629]

    @pytest.mark.parametrize("weight", [3, 3.0, Decimal("3"), Fraction(3), np.float32(3), np.int8(3)])
    def test_any_kind_of_number_will_do(self, weight):
        recipe = nd.Recipe(bits=64)
        assert nd.fingerprint_features([{"a": weight, "b": 2}], recipe=recipe) == nd.fingerprint_features(
            [{"a": 1}], recipe=recipe
        )

    @pytest.mark.parametrize(
        "weight", [float("nan"), float("inf"), Decimal("nan"), "3", None, True, 1j, np.float64("-inf")]
    )
    def test_weights_that_are_no_finite_numbers_are_refused(self, weight):
        with pytest.raises(nd.DataError, match="Document 1: the weight of 'b' is .*; give a finite number"):
            nd.fingerprint_features([{"a": 1}, {"b": weight}])

    @pytest.mark.parametrize(
        ("documents", "error", "said"),
        [
            ({"a": 1}, nd.OptionError, "documents is a dict: give a list"),
            ("a", nd.OptionError, "documents is a str"),
            (3, nd.OptionError, "documents is a int"),
            ([3], nd.OptionError, "Document 0 is a int: give a dict"),
            (["ab"], nd.OptionError, "Document 0 is a str: give a dict"),
            ([[("a", 1), ("b",)]], nd.OptionError, "Document 0 holds .*; give pairs"),
            ([["ab"]], nd.OptionError, "Document 0 holds 'ab'; give pairs"),
            ([{b"a": 1}], nd.OptionError, "the feature .* is a bytes; give strings"),
            ([{"\ud800": 1}], nd.DataError, "lone surrogate"),
            ([{"a": 2**47}], nd.DataError, "document 0 add up to 2\\^47 or more"),
            ([{"a": 2.0**46, "b": -(2.0**46)}], nd.DataError, "add up to 2\\^47 or more"),
        ],
    )
    def test_what_cannot_be_is_refused(self, documents, error, said):
        with pytest.raises(error, match=said):
            nd.fingerprint_features(documents)

    def test_no_features_are_no_votes(self):
        assert nd.fingerprint_features([{}, []], recipe=nd.Recipe(bits=64)).tolist() == [0, 0]
        assert nd.fingerprint_features([], recipe=nd.Recipe(bits=128)).shape == (0, 2)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"weights": "tfidf"}, "`weights='tfidf'` needs `document_frequencies`: give a file by `neardup fit`"),
        (
            {"weights": "tfidf", "document_frequencies": "none.parquet"},
            "no file 'none.parquet' of document frequencies",
        ),
        ({"weights": "tfidf", "document_frequencies": 3}, "`document_frequencies=3`: give the path"),
        ({"document_frequencies": "jieba", "segmenter": "jieba"}, "only tfidf has a use for them"),
        ({"weights": "tfidf", "document_frequencies": "jieba"}, "they are of Chinese words. Give `segmenter='jieba'`"),
        (
            {"weights": "tfidf", "document_frequencies": "jieba", "segmenter": "jieba", "word_shingle": 2},
            "`document_frequencies='jieba'` with `word_shingle=2`: they are of single words",
        ),
        (
            {"weights": "cppjieba"},
            "`weights='cppjieba'` with `segmenter='words'`: give `segmenter='cppjieba'`, or 'jieba'",
        ),
        ({"weights": "jieba_tfidf", "segmenter": "cppjieba"}, "with `segmenter='cppjieba'`: give `segmenter='jieba'`"),
        ({"weights": "jieba_tfidf", "segmenter": "jieba", "word_shingle": 3}, "with `word_shingle=3`"),
        (
            {"weights": "jieba_textrank", "segmenter": "jieba", "hmm": False, "stop_words": ["zh"]},
            "`hmm` and `stop_words` with `weights='jieba_textrank'`: the package jieba cuts texts",
        ),
        ({"weights": ["tf"]}, "weights=.*'tf'.*: give one of"),
        (
            {"weights": None, "document_frequencies": {}},
            "`weights=None`: give one of.*`document_frequencies={}`: give the path",
        ),
        ({"keywords": ["by_length"]}, "give an integer of at least 1, or 'by_length'"),
        ({"keywords": True}, "`keywords=True`: give an integer"),
        ({"keywords": "by_lenght"}, "`keywords='by_lenght'`: give an integer of at least 1, or 'by_length'"),
        ({"keywords": "by_length", "weights": "uniform"}, "none is heavier"),
        ({"weights": "tf-idf"}, "`weights='tf-idf'`: give one of .*did you mean tfidf"),
        (
            {"keywords": 0, "weights": "cppjieba", "word_shingle": 2},
            "`keywords=0`: .*`segmenter='words'`.*`word_shingle=2`",
        ),
    ],
)
def test_recipes_that_contradict_themselves_are_refused(fields, said):
    with pytest.raises(nd.OptionError, match=said):
        nd.Recipe(**fields)


def test_every_similarity_works_with_every_weight(folder):
    named = nd.fit(["red green", "blue"], folder / "two.parquet", overwrite=True)
    more = {"tfidf": {"document_frequencies": named}}
    for weights in not_empty(WEIGHTS):
        fields = {"segmenter": "jieba"} if weights in ("cppjieba", *EXTRACTORS) else {}
        recipe = nd.Recipe(weights=weights, bits=64, max_distance=3, **fields, **more.get(weights, {}))
        assert nd.similarity(ZH, ZH, kind="cosine", recipe=recipe) == pytest.approx(1.0)
        assert nd.compare(ZH, ZH, recipe=recipe).similarities == pytest.approx(dict.fromkeys(SIMILARITIES, 1.0))
        assert nd.compare(ZH, ZH + "。", recipe=recipe).distance == 0
        steps = nd.compare(ZH, ZH, recipe=recipe).left
        assert int(steps.bits, 2) == nd.fingerprint([ZH], recipe=recipe)[0]


@given(
    st.lists(st.lists(st.sampled_from("red green blue dog cat sat mat".split()), min_size=8, max_size=14), max_size=7),
    st.sampled_from([0.5, 0.8, 0.95]),
)
@settings(max_examples=40)
def test_joins_find_what_is_similar_by_any_weights(folder, documents, least):
    corpus = [" ".join(words) for words in documents]
    named = nd.fit(corpus[::2], folder / "half.parquet", overwrite=True)
    for fields in (
        {"weights": "tfidf", "document_frequencies": named},
        {"weights": "textrank"},
        {"weights": "jieba_tfidf", "segmenter": "jieba"},
    ):
        recipe = nd.Recipe(bits=64, max_distance=3, **fields)
        found = nd.match(corpus, recipe=recipe, similarity="cosine", method="exact", min_similarity=least)
        expected = {
            (i, j)
            for j in range(len(corpus))
            for i in range(j)
            if nd.similarity(corpus[i], corpus[j], kind="cosine", recipe=recipe) >= least
        }
        assert set(zip(found.left.tolist(), found.right.tolist(), strict=True)) == expected


def test_normalized_texts_are_those_that_are_weighed():
    assert fold_texts(pa.array(["ＡＢ"], pa.large_string()))[0] == "ab"
    assert nd.keywords(["ＡＢ ab"], recipe=nd.Recipe(weights="tf")) == [[("ab", 2.0)]]
