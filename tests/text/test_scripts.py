"""Version 2 of what tokens are: scripts without spaces and emoji, in every measure, method and segmenter, against the definition."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import neardup as nd
from neardup.fingerprints.simhash import fingerprint_array
from neardup.recipe.serialization import check_same, stored_recipe
from neardup.recipe.similarity import similarity_of, similarity_to_store, stored_similarity
from neardup.recipe.tables.parts import NORMALIZERS
from neardup.text.normalizers import normalized
from neardup.text.segmenters.table import tokens_of
from neardup.text.tokenizers import tokens as shown_tokens
from neardup.text.unicode_tables import fold_tables
from strategies import of_all_scripts

SECOND = nd.Recipe(version=2)
some_texts = st.lists(of_all_scripts, max_size=4)
THAI = "ฉันชอบกินข้าวผัดกับเพื่อนที่ร้านอาหารใกล้บ้านทุกวันเสาร์ตอนเย็นหลังเลิกงาน"
CHANGED = THAI.replace("ร้านอาหาร", "ตลาดนัด")
OTHERS = ["one two three four five six seven", "ភាសាខ្មែរជាភាសាផ្លូវការ", "😀😀👍", "😀😀👍🎉", "中文法律第一条"]


def tokens(texts, recipe):
    found = tokens_of(normalized(pa.array(texts, pa.large_string()), recipe.normalize), recipe)
    every = [found.text(i) for i in range(len(found.starts))]
    return [every[first:last] for first, last in zip(found.documents[:-1], found.documents[1:], strict=True)]


@given(some_texts)
def test_tokens_of_version_2_are_those_of_the_definition(texts):
    expected = [naive.tokens(text, 2) for text in texts]
    assert tokens(texts, SECOND) == expected == [shown_tokens(text, 2) for text in texts]
    assert tokens(texts, nd.Recipe(version=2, normalize=[])) == [naive.words(text, 2) for text in texts]


@given(some_texts)
@pytest.mark.parametrize(("segmenter", "cut"), [("characters", naive.characters), ("whitespace", naive.between_spaces)])
def test_other_segmenters_keep_emoji_in_version_2(segmenter, cut, texts):
    expected = [cut(naive.normalize(text), 2) for text in texts]
    assert tokens(texts, nd.Recipe(version=2, segmenter=segmenter)) == expected
    own = nd.Segmenter(str.split, name="split", version="1")
    split = [[t for t in naive.normalize(text).replace("\0", " ").split() if naive.characters(t, 2)] for text in texts]
    assert tokens(texts, nd.Recipe(version=2, segmenter=own)) == split


@given(some_texts)
def test_version_2_normalizes_texts_as_version_1_does(texts):
    column = pa.array(texts, pa.large_string())
    first, second = (fingerprint_array(column, recipe).digests for recipe in (nd.Recipe(), SECOND))
    assert np.array_equal(first, second)


@given(of_all_scripts, of_all_scripts)
@pytest.mark.parametrize("kind", naive.SIMILARITIES)
def test_similarities_follow_the_version_of_the_recipe(kind, a, b):
    b = a[: len(a) // 2] + b
    for recipe, version in ((None, 1), ("all-scripts", 2)):
        found = nd.similarity(a, b, kind=kind, recipe=recipe)
        assert found == pytest.approx(naive.similarity(a, b, kind, version=version), abs=1e-12)


@given(of_all_scripts)
def test_fingerprints_and_signatures_of_version_2_are_those_of_the_definition(text):
    found = nd.fingerprint([text], recipe=SECOND)[0]
    assert (int(found[0]) << 64 | int(found[1])) == naive.fingerprint(text, version=2)
    hashes = {naive.feature_hash(window) for window in naive.shingle_counts(text, 2)}
    assert nd.signatures([text], recipe=SECOND).values[0].tolist() == naive.signature(hashes)


@given(of_all_scripts)
def test_a_comparison_shows_the_tokens_and_the_bits_of_version_2(text):
    shown = nd.compare(text, text, recipe=SECOND).left
    assert list(shown.tokens) == naive.tokens(text, 2)
    assert int(shown.bits, 2) == naive.fingerprint(text, version=2)


@pytest.mark.parametrize(
    "steps", [(), ("marks",), ("letters",), ("marks", "letters", "nfkc_casefold"), ("word_breaks",)]
)
@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
def test_every_method_finds_what_is_similar_in_version_2_after_any_normalizers(method, steps):
    recipe = nd.Recipe(version=2, normalize=steps, max_distance=30)
    texts = [THAI, *OTHERS, CHANGED, THAI + " "]
    found = nd.deduplicate(texts, recipe=recipe, method=method, min_similarity=0.6)
    assert found.survivors == [THAI, *OTHERS] if method != "simhash" else {THAI, *OTHERS} >= set(found.survivors)
    first = nd.deduplicate(texts, recipe=nd.Recipe(normalize=steps, max_distance=30), method=method, min_similarity=0.6)
    assert CHANGED in first.survivors


@pytest.mark.parametrize("measure", ["jaccard", "weighted", "containment", "edit"])
def test_a_similarity_of_version_2_is_that_of_a_recipe_of_version_2(measure):
    second = nd.Similarity(measure=measure, version=2)
    expected = nd.similarity(THAI, CHANGED, kind=measure, recipe="all-scripts")
    assert nd.similarity(THAI, CHANGED, similarity=second) == expected
    assert nd.similarity(THAI, CHANGED, similarity=f"{measure}(version=2)", recipe=SECOND) == expected
    assert expected > 0.5 > nd.similarity(THAI, CHANGED, kind=measure)
    assert second.digest() != nd.Similarity(measure=measure).digest()
    assert str(second) == f"{measure}(version=2)"
    assert (
        similarity_of(str(second)) == stored_similarity(json.loads(json.dumps(similarity_to_store(second)))) == second
    )


def test_a_similarity_of_version_2_refuses_a_recipe_of_version_1_with_the_remedy():
    remedy = (
        r"version 2 and `recipe` of version 1.*Give a recipe with `version=2`, such as `recipe='all-scripts'`, or leave"
    )
    with pytest.raises(nd.OptionError, match=remedy):
        nd.similarity(THAI, CHANGED, similarity="jaccard(version=2)", recipe="default")
    with pytest.raises(nd.OptionError, match=remedy):
        nd.deduplicate([THAI, CHANGED], similarity=nd.Similarity(version=2), recipe=nd.Recipe())
    with pytest.raises(nd.OptionError, match=remedy):
        nd.signatures([THAI], similarity=nd.Similarity(version=2), recipe="default")


def test_versions_that_are_not_known_are_refused():
    for wrong in (0, 3, "2", None, 2.0):
        with pytest.raises(nd.OptionError, match=r"`version=.*`: give one of 1, 2"):
            nd.Recipe(version=wrong)
        with pytest.raises(nd.OptionError, match=r"`version=.*`: give one of 1, 2"):
            nd.Similarity(version=wrong)
    with pytest.raises(nd.RecipeMismatch, match=r"version 3 is recorded.*has versions 1 and 2.*or a newer one"):
        stored_recipe(nd.Recipe().as_dict() | {"version": 3})
    with pytest.raises(nd.OptionError, match="`version=2` with `segmenter='jieba'`: its package decides"):
        nd.Recipe(version=2, segmenter="jieba")
    with pytest.raises(nd.OptionError, match="`version` with `profile='moz'`, which decides that"):
        nd.Recipe(version=2, profile="moz", bits=64)
    with pytest.raises(nd.OptionError, match="`version` of this recipe would be ignored"):
        nd.fingerprint([{"a", "b"}], recipe=SECOND)
    with pytest.raises(nd.OptionError, match="`version` with `measure='cosine'`.*give it to the `Recipe`"):
        nd.Similarity(measure="cosine", version=2)


def test_a_version_that_is_not_recorded_is_version_1():
    values = {name: value for name, value in nd.Recipe().as_dict().items() if name != "version"}
    assert stored_recipe(values) == nd.Recipe()
    assert stored_recipe(SECOND.as_dict()) == SECOND
    with pytest.raises(nd.RecipeMismatch, match="version: 2 there, 1 here"):
        check_same(nd.Recipe(), SECOND.as_dict(), "This file")


def test_signatures_of_two_versions_cannot_be_compared():
    first, second = (nd.signatures([THAI], recipe=recipe) for recipe in (None, "all-scripts"))
    with pytest.raises(nd.RecipeMismatch, match="Signatures of the similarity jaccard cannot be compared"):
        nd.jaccard_estimate(first, second)
    explicit = nd.signatures([THAI], similarity=nd.Similarity(version=2))
    assert nd.jaccard_estimate(second, explicit).similarity[0] == 1.0


def test_a_similarity_with_a_segmenter_of_a_package_goes_with_a_recipe_of_version_2():
    cut = nd.Similarity(segmenter="jieba", word_shingle=1)
    recipes = (nd.Recipe(), SECOND)
    found = {
        nd.deduplicate(["我们的法律", "他们的法律"], similarity=cut, recipe=each).summary.survivors for each in recipes
    }
    assert found == {2}


def test_zero_width_spaces_divide_nothing_that_is_a_token_and_become_spaces_if_asked_for():
    khmer = "ភាសា\u200bខ្មែរ"
    assert naive.tokens(khmer, 2) == shown_tokens(khmer, 2) == shown_tokens(khmer.replace("\u200b", ""), 2)
    breaks = nd.Recipe(normalize=["word_breaks", "nfkc_casefold"])
    assert tokens([khmer], breaks) == [["ភាសា", "ខ្មែរ"]]
    assert tokens([khmer], nd.Recipe()) == [["ភាសាខ្មែរ"]]


def test_marks_and_letters_make_spellings_equal():
    recipe = nd.Recipe(normalize=["marks", "letters", "nfkc_casefold"])
    for left, right in (
        ("مُحَمَّدٌ", "محمد"),
        ("كـــتاب", "كتاب"),
        ("שָׁלוֹם", "שלום"),
        ("naïve café", "naive cafe"),
        ("أحمد إلى", "احمد الي"),
        ("ا\u0654حمد", "احمد"),
        ("فارسی کتاب", "فارسي كتاب"),
        ("ёлка", "елка"),
        ("מלכך", "מלככ"),
    ):
        column = pa.array([left, right], pa.large_string())
        first, second = fingerprint_array(column, recipe).digests.tolist()
        assert first == second, (left, right)
        first, second = fingerprint_array(column, nd.Recipe()).digests.tolist()
        assert first != second, (left, right)


def test_marks_of_scripts_that_need_them_stay():
    for text in ("हिन्दी में", "ภาษาไทยที่", "ខ្មែរ", "தமிழ்", "がぎぐ", "한국어"):
        for step in ("marks", "letters"):
            assert normalized(pa.array([text], pa.large_string()), [step])[0] == text


def test_tables_of_both_versions_fold_alike_and_have_one_type():
    first, second = fold_tables(1), fold_tables(2)
    assert [(a.dtype, a.flags.writeable) for a in first] == [(b.dtype, b.flags.writeable) for b in second]
    every = np.arange(0x110000)
    entries = [t.fold_blocks[t.fold_index[every >> 7].astype(np.int64) << 7 | every & 127] for t in (first, second)]
    without_class = ~np.uint32(3 << 23)
    assert np.array_equal(entries[0] & without_class, entries[1] & without_class)
    changed = np.flatnonzero(entries[0] != entries[1])
    assert {chr(code) for code in changed} == {
        c for c in map(chr, every) if naive.is_single(c, 2) and not naive.is_cjk(c)
    }


def test_the_normalizers_of_spellings_are_listed():
    assert {"marks", "letters", "word_breaks"} <= set(NORMALIZERS)
