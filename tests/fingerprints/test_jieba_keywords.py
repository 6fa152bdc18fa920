"""Keywords that other tools find, word by word and weight by weight."""

import gzip
import importlib.metadata
import json
import subprocess
import sys
import warnings
from dataclasses import replace

import jieba
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import naive
import neardup as nd
from neardup.fingerprints.weights.table import FINE
from places import DATA, GOLDEN
from strategies import characters

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import jieba.analyse

LAWS = DATA / "zh_laws_national" / "docs.jsonl.gz"
SAMPLE = 12
TEXTS = [
    "我是拖拉机学院手扶拖拉机专业的。不用多久，我就会升职加薪，当上CEO，走上人生巅峰。蓝翔",
    "他来到了网易杭研大厦……小明硕士毕业于中国科学院计算所——后在日本京都大学深造！ Ｆｕｌｌ width, THE end... 3.14%",
    "",
    "的",
    "a\0b 中国 人民",
    "一 二\r\n\r\n三 IT IT it",
]
METHODS = {"jieba_tfidf": jieba.analyse.extract_tags, "jieba_textrank": jieba.analyse.textrank}


def laws(step):
    with gzip.open(LAWS, "rt", encoding="utf-8") as file:
        return [json.loads(line)["text"] for number, line in enumerate(file) if number % step == 0]


def recipe(name, **fields):
    return nd.Recipe(weights=name, segmenter="jieba", normalize=[], **fields)


@pytest.fixture(autouse=True)
def files_left_open_are_jiebas():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield


def check(name, texts):
    """That ours are jieba's, in its order, to the last place of the fixed point."""
    for text, found in zip(texts, nd.keywords(texts, recipe=recipe(name)), strict=True):
        expected = METHODS[name](text, topK=None, withWeight=True)
        assert [word for word, _ in found] == [word for word, _ in expected]
        assert all(abs(weight - theirs) <= 0.5 / FINE for (_, weight), (_, theirs) in zip(found, expected, strict=True))


@pytest.mark.parametrize("name", METHODS)
def test_words_and_weights_are_those_of_the_package(name):
    check(name, TEXTS)


words = st.sampled_from("法律 国家 应当 来到 大厦 学院 拖拉机 的 了 网易 杭研 A股 THE the 1.5 ... -- C++ ， 。".split())
mixed = st.lists(st.one_of(words, words, words, st.integers(0x4E00, 0x9FD5).map(chr), characters), max_size=60).map(
    "".join
)


@pytest.mark.parametrize("name", METHODS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(mixed, max_size=4))
def test_words_and_weights_of_any_texts_are_those_of_the_package(name, texts):
    check(name, texts)


@pytest.mark.skipif(not LAWS.exists(), reason="the open evaluation data are not in ../shared/data")
@pytest.mark.parametrize("name", METHODS)
def test_words_and_weights_of_laws_are_those_of_the_package(name):
    texts = [text[:8000] for text in laws(130)[:SAMPLE]]
    assert len(texts) == SAMPLE
    check(name, texts)


@pytest.mark.parametrize("name", METHODS)
def test_the_heaviest_are_those_of_the_package(name):
    found = nd.keywords(TEXTS, recipe=recipe(name, keywords=4))
    assert [[word for word, _ in of_text] for of_text in found] == [METHODS[name](text, topK=4) for text in TEXTS]


def test_words_that_a_program_teaches_jieba_change_nothing():
    before = nd.keywords(TEXTS[:1], recipe=recipe("jieba_tfidf"))
    jieba.add_word("拖拉机学院", 10**6)
    try:
        assert "拖拉机学院" in jieba.lcut(TEXTS[0])
        assert nd.keywords(TEXTS[:1], recipe=recipe("jieba_tfidf")) == before
    finally:
        jieba.del_word("拖拉机学院")


def test_loading_the_package_prints_nothing():
    program = (
        "import neardup as nd; from neardup.kernels import compilation; compilation.quiet(); "
        "nd.keywords(['中国人民'], recipe=nd.Recipe(weights='jieba_textrank', segmenter='jieba'))"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def idf():
    """The words of two characters or more that cppjieba's own file has, too."""
    return {word: value for word, value in jieba.analyse.default_tfidf.idf_freq.items() if len(word) > 1}


@pytest.mark.parametrize("text", [TEXTS[0], TEXTS[1]])
def test_cppjiebas_weights_are_counts_times_idf_without_single_characters(text):
    import rjieba

    words = [word for word in rjieba.Jieba().cut(text, True) if any(map(str.isalnum, word))]
    expected = naive.keyword_weights(words, idf())
    found = dict(nd.keywords([text], recipe=recipe("cppjieba"))[0])
    assert found == expected


def test_cppjiebas_keywords_have_the_weights_that_it_publishes():
    found = nd.keywords(TEXTS[:1], recipe=recipe("cppjieba", keywords=5))[0]
    assert [(word, round(weight, 4)) for word, weight in found] == [
        ("蓝翔", 11.7392),
        ("CEO", 11.7392),
        ("升职", 10.8562),
        ("加薪", 10.6426),
        ("手扶拖拉机", 10.0089),
    ]


GO = json.loads((GOLDEN / "go_program.json").read_text(encoding="utf-8"))
"""A published Go program's example, and what a program of 64 bits makes of its texts."""


def test_the_go_programs_example_gives_the_keywords_the_weights_and_the_fingerprints_that_it_publishes():
    of_32_bits = replace(nd.RECIPES["fnv1a"].recipe, hash="fnv1a_32", bits=32, keywords=30)
    for found, expected in zip(nd.keywords(GO["texts"], recipe=of_32_bits), GO["published"]["keywords"], strict=True):
        assert dict(found) == pytest.approx(dict(expected), rel=1e-5)
    values = nd.fingerprint(GO["texts"], recipe=of_32_bits)
    assert [f"{value:032b}" for value in values] == GO["published"]["fingerprints"]
    assert nd.distance(*values) == GO["published"]["distance"] == 8


@pytest.mark.parametrize("name", ["fnv1a", "go-fnv1a"])
def test_22_keywords_and_11_give_the_fingerprints_of_the_compiled_segmenter_as_intended_and_as_written(name):
    expected = GO["64_bits"][name]
    found = nd.compare(*GO["texts"], recipe=name, keywords=GO["64_bits"]["keywords"])
    assert [found.left.bits, found.right.bits] == expected["fingerprints"]
    assert found.distance == expected["distance"]


def test_the_dictionary_of_the_go_programs_segmenter_is_part_of_its_recipe():
    recipes = [nd.RECIPES[name].recipe for name in ("fnv1a", "go-fnv1a", "cppjieba")]
    words = [nd.keywords(GO["texts"][:1], recipe=each)[0][0][0] for each in recipes]
    assert words == ["区块链", "区块链", "区块"]
    assert [each.dictionary and each.dictionary.name for each in recipes] == ["gojieba", "gojieba", None]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("我来到北京清华大学", 0xFEB6372A8750EB1D),  # the test of yanyiwu/gosimhash
        (  # the demonstration of yanyiwu/simhash
            "我是蓝翔技工拖拉机学院手扶拖拉机专业的。不用多久，我就会升职加薪，当上总经理，出任CEO，走上人生巅峰。",
            17831459094038722629,
        ),
    ],
)
def test_texts_have_the_values_that_simhash_and_gosimhash_publish(text, value):
    recipe = replace(nd.RECIPES["cppjieba"].recipe, keywords=5)
    assert nd.fingerprint([text], recipe=recipe).tolist() == [value]


def test_stop_words_of_the_recipe_are_no_keywords(tmp_path):
    words = tmp_path / "stop.txt"
    words.write_text("升职\n就\n", encoding="utf-8")
    plain, fewer = (
        dict(nd.keywords([TEXTS[0]], recipe=recipe("cppjieba", stop_words=each))[0]) for each in ([], [words])
    )
    assert fewer == {word: weight for word, weight in plain.items() if word != "升职"}


def test_the_background_is_what_rarity_is_for_known_words_and_its_median_for_others():
    idf_of, median = jieba.analyse.default_tfidf.idf_freq, jieba.analyse.default_tfidf.median_idf
    found = nd.keywords([TEXTS[0]], recipe=recipe("tfidf", document_frequencies="jieba"))[0]
    assert dict(found) == {
        word: naive.fixed_point(idf_of.get(word, median)) * TEXTS[0].count(word) / 65536
        for word in dict(found)
        if word != "拖拉机"
    } | {"拖拉机": dict(found)["拖拉机"]}
    assert dict(found)["CEO"] == naive.fixed_point(median) / 65536


def test_versions_of_the_package_decide_the_digest():
    assert recipe("jieba_tfidf").as_dict()["weights"] == {
        "name": "jieba_tfidf",
        "jieba": importlib.metadata.version("jieba"),
    }
    assert "weights" in recipe("cppjieba").as_dict()
    assert recipe("cppjieba").digest() != recipe("jieba_tfidf").digest()
